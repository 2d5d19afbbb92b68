package commands_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/commands"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/tool"
)

// WAR-05: everybody sees one reading of a call.
func TestEveryCommandOfACallIsRead(t *testing.T) {
	for _, tt := range []struct {
		tool, args string
		want       string // the programs, in order; "?" where something cannot be read
	}{
		{"bash", `{"command":"ls | wc"}`, "ls wc"},
		{"bash", `{"commands":["ls","pwd"]}`, "ls ls pwd"},
		{"bash", `{"input":"ls"}`, "ls"},
		{"bash", `{"command":"ls","workdir":"/home/me/boats","timeout":5,"description":"Lists boats"}`, "ls"},
		{"bash", `{"command":["sh","-c","ls"]}`, "sh ls"},
		{"bash", `{"command":"ls","before":"pwd"}`, "pwd ls"},
		{"deploy", `{"script":"make"}`, "make"},
		{"deploy", `{"pre_command":"make"}`, "make"},
		{"deploy", `{"steps":{"cmd":"make"}}`, "make"},
		{"deploy", `{"note":"make"}`, ""},
		{"deploy", `{"command":7}`, "?"},
		{"deploy", `{"command":{"text":"ls"}}`, "?"},
		{"deploy", `{"command":null}`, ""},
		{"powershell", `{"command":"Get-ChildItem"}`, "powershell"},
	} {
		var fields map[string]any
		if err := json.Unmarshal([]byte(tt.args), &fields); err != nil {
			t.Fatal(err)
		}
		lines, ok := commands.Of(shell.NewReader(), toolinfo.Of(tool.Definition{Name: tt.tool}), fields)
		var got []string
		for _, l := range lines {
			for i := range l.Runs {
				got = append(got, l.Runs[i].Name)
			}
		}
		if !ok {
			got = append(got, "?")
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.tool, tt.args, s, tt.want)
		}
	}
}

func TestMoreCommandsThanAnybodyReadsAreUnreadable(t *testing.T) {
	list := make([]any, 300)
	for i := range list {
		list[i] = "ls -l"
	}
	if _, ok := commands.Of(shell.NewReader(), &toolinfo.Meaning{Tool: "deploy"}, map[string]any{"commands": list}); ok {
		t.Error("they were read")
	}
}
