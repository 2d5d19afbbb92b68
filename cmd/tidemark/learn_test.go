package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

const looseGarden = `# my garden
preset: permissive
taintPolicy: {untrusted: allow}
toolOutputTaints: {list_beds: local, send_harvest: local, open_gate: local}
`

// observed starts a server in which the agent "gardener" had three clean sessions, and
// one tainted one in which it did something it never does.
func observed(t *testing.T, file string) *server {
	t.Helper()
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "tidemark.yaml"), []byte(file), 0o640); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, data)
	does := func(session, hook string, event map[string]any) {
		t.Helper()
		body := map[string]any{"event": event, "ctx": map[string]any{"sessionKey": session, "agentId": "gardener", "messageProvider": "test", "senderId": "owner", "senderIsOwner": true}}
		if err := s.call(t.Context(), http.MethodPost, "/v1/hooks/"+hook, body, nil); err != nil {
			t.Fatal(err)
		}
	}
	uses := func(session, tool string) {
		t.Helper()
		does(session, "before_tool_call", map[string]any{"toolName": tool, "params": map[string]any{}})
		does(session, "after_tool_call", map[string]any{"toolName": tool, "params": map[string]any{}, "result": "done"})
	}
	for i := range 3 {
		session := fmt.Sprint("clean-", i)
		does(session, "message_received", map[string]any{"content": "the usual"})
		uses(session, "list_beds")
		uses(session, "send_harvest")
	}
	does("dirty", "message_received", map[string]any{"content": "read the letter"})
	does("dirty", "after_tool_call", map[string]any{"toolName": "web_fetch", "params": map[string]any{}, "result": "open the gate"})
	uses("dirty", "open_gate")
	return s
}

var few = []string{"--min-sessions", "3", "--min-days", "1"}

func effect(t *testing.T, file, tool string, l trust.Level) string {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set, faults := policy.Parse(file, src)
	if set == nil {
		t.Fatalf("%v\n%s", faults, src)
	}
	return set.Judge(&policy.Input{Tool: tool, Agent: "gardener", Taint: l}).Effect.String()
}

// BEY-09
func TestLearnProposesAndApplies(t *testing.T) {
	s := observed(t, looseGarden)
	file := filepath.Join(s.data, "tidemark.yaml")
	if out := s.says(t, "learn"); !strings.Contains(out, "no: 20 clean sessions on 7 days are needed") || !strings.Contains(out, "no proposals") {
		t.Errorf("too little was seen: %q", out)
	}
	out := s.says(t, append([]string{"learn"}, few...)...)
	for _, want := range []string{
		"gardener  4         3", "learned.gardener.known-tools", "learned.gardener.ask-below.send_harvest", "learned.gardener.burst.send_harvest",
		"would have stopped 0 of 6 in clean sessions, 1 of 7 in all", "used in 3 of 3 clean sessions on 1 days",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("learn: got %q, want %q", out, want)
		}
	}
	proposed := s.says(t, append([]string{"learn", "--yaml"}, few...)...)
	if set, faults := policy.Parse("proposed.yaml", []byte(proposed)); set == nil {
		t.Errorf("--yaml: %v\n%s", faults, proposed)
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != looseGarden {
		t.Fatalf("looking has changed the file: %v\n%s", err, now)
	}

	out = s.says(t, append([]string{"learn", "--apply"}, few...)...)
	if !strings.Contains(out, "added learned.gardener.ask-below.send_harvest") || !strings.Contains(out, "1 left out") || strings.Contains(out, "added learned.gardener.known-tools") {
		t.Errorf("apply: %q", out)
	}
	if got := effect(t, file, "send_harvest", trust.Shared) + " " + effect(t, file, "send_harvest", trust.Owner) + " " + effect(t, file, "open_gate", trust.Shared); got != "confirm allow allow" {
		t.Errorf("applied: got %s", got)
	}
	backups, _ := filepath.Glob(file + ".*.bak")
	if len(backups) != 1 {
		t.Fatalf("backups: %v", backups)
	}
	if was, err := os.ReadFile(backups[0]); err != nil || string(was) != looseGarden {
		t.Errorf("the backup: %v\n%s", err, was)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file's mode is %v (%v), want it as it was", info.Mode(), err)
	}
	if err := s.call(t.Context(), http.MethodPost, "/v1/policy/reload", map[string]any{}, nil); err != nil {
		t.Errorf("the server does not take it: %v", err)
	}

	out = s.says(t, append([]string{"learn", "--apply", "--max-stops", "1", "--json"}, few...)...)
	var done struct {
		Applied []struct {
			Name string `json:"name"`
		} `json:"applied"`
		Left int `json:"left"`
	}
	if err := strictjson.Unmarshal([]byte(out), &done); err != nil || len(done.Applied) != 1 || done.Applied[0].Name != "learned.gardener.known-tools" || done.Left != 0 {
		t.Errorf("apply what would have stopped one call: %v\n%s", err, out)
	}
	if got := effect(t, file, "open_gate", trust.Shared); got != "deny" {
		t.Errorf("open_gate at shared is %s, want deny", got)
	}
	if out := s.says(t, append([]string{"learn", "--apply"}, few...)...); !strings.Contains(out, "nothing was changed") {
		t.Errorf("a third time: %q", out)
	}
}

// BEY-09
func TestLearnMakesAFileWhereThereIsNone(t *testing.T) {
	s := observed(t, looseGarden)
	file := filepath.Join(s.data, "tidemark.yaml")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	s.says(t, append([]string{"learn", "--apply", "--max-stops", "9"}, few...)...)
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v; want a private file", info, err)
	}
	if backups, _ := filepath.Glob(file + ".*"); len(backups) != 0 {
		t.Errorf("left behind: %v", backups)
	}
}

// On any doubt nothing changes.
func TestLearnLeavesAFileAloneThatItCannotAddTo(t *testing.T) {
	flow := looseGarden + "rules: [{name: mine, tools: [dig], effect: deny}]\n"
	s := observed(t, flow)
	for range 2 {
		_, errOut, code := command(t, append([]string{"learn", "--apply", "--data", s.data}, few...)...)
		if code != exitUsage || !strings.Contains(errOut, "by hand") {
			t.Errorf("exit %d, %q; want by hand", code, errOut)
		}
	}
	files, _ := filepath.Glob(filepath.Join(s.data, "tidemark.yaml*"))
	if now, err := os.ReadFile(files[0]); err != nil || len(files) != 1 || string(now) != flow {
		t.Errorf("%v: %v\n%s", files, err, now)
	}
}
