package doctor_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/reports/doctor"
)

// MCP-40
func TestServersThatAreNotBehindTidemarkAreNamed(t *testing.T) {
	look := func() ([]doctor.MCPServer, error) {
		return []doctor.MCPServer{
			{Agent: "claude", Name: "files", Behind: true}, {Agent: "claude", Name: "mail"}, {Agent: "claude", Name: "hub", Why: "it is odd"},
			{Agent: "codex", Name: "git", File: "config.toml", Lost: true}, {Agent: "codex", Name: "time"},
		}, errors.New("cursor: no")
	}
	got := map[string]string{}
	for _, f := range doctor.CheckServers(look).Run(t.Context()) {
		got[f.Name+" "+f.Grade.String()+" "+f.Fix] += f.Text
	}
	want := map[string]string{
		"settings limit ":                       "not looked at: cursor: no",
		"claude good ":                          "behind Tidemark: files",
		"claude limit tidemark mcp wrap claude": "not behind Tidemark, so nobody notices when their tools change: mail",
		"claude limit ":                         "hub is not behind Tidemark: it is odd",
		"codex broken tidemark mcp wrap codex":  "git was behind Tidemark, and config.toml was changed: it no longer is",
		"codex limit tidemark mcp wrap codex":   "not behind Tidemark, so nobody notices when their tools change: time",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if none := doctor.CheckServers(func() ([]doctor.MCPServer, error) { return nil, nil }).Run(t.Context()); len(none) > 0 {
		t.Errorf("without servers: %v", none)
	}
}

// MCP-40
func TestAWrappedServerIsProvedByACanary(t *testing.T) {
	const refuses = `read -r line; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Blocked.\nRule: canary"}],"isError":true}}'; cat >/dev/null`
	for name, c := range map[string]struct {
		relay []string
		want  string
		grade doctor.Grade
	}{
		"it refuses":             {[]string{"sh", "-c", refuses, "x", "--"}, "the canary was blocked: Rule: canary", doctor.Good},
		"it passes everything":   {[]string{"sh", "-c", `shift; exec "$@"`, "x", "--"}, "THE CANARY WAS NOT BLOCKED: the server got the call", doctor.Broken},
		"it ends without a word": {[]string{"sh", "-c", "echo why >&2", "x", "--"}, "could not be tried: what the agent starts gave no answer: why", doctor.Broken},
		"it is not there":        {[]string{"/no/such/tidemark", "mcp", "--"}, "could not be tried", doctor.Broken},
	} {
		t.Run(name, func(t *testing.T) {
			look := func() ([]doctor.MCPServer, error) {
				return []doctor.MCPServer{{Agent: "claude", Name: "files", Behind: true, Relay: c.relay}}, nil
			}
			for _, f := range doctor.CheckServers(look).Run(t.Context()) {
				if f.Name == "claude, files" {
					if f.Grade != c.grade || !strings.Contains(f.Text, c.want) {
						t.Errorf("got %v %q, want %v %q", f.Grade, f.Text, c.grade, c.want)
					}
					return
				}
			}
			t.Error("it was not tried")
		})
	}
}
