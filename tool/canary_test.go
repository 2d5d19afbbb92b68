package tool_test

import (
	"testing"

	"github.com/tidemark/tidemark/tool"
)

// BEY-13: what doctor and the installers send is a canary; a text that quotes the mark is not.
func TestACanaryIsACallAndNotAQuotation(t *testing.T) {
	const mark = tool.Canary
	for _, tt := range []struct {
		name, args string
		want       bool
	}{
		{"as doctor sends it", `{"command":"echo ` + mark + `"}`, true},
		{"as an installer tries an agent", `{"command":"echo ` + mark + ` > '/tmp/a b/ran'","description":"x"}`, true},
		{"a redirection without blanks", `{"cmd":"echo ` + mark + `>out"}`, true},
		{"a list of words", `{"command":["bash","-lc","echo ` + mark + ` > out"]}`, true},
		{"a list of commands", `{"commands":[{"command":"echo ` + mark + `"}],"timeout":5}`, true},
		{"the mark in an argument made for it", `{"canary":"` + mark + `"}`, true},
		{"the mark as a command", `{"command":" ` + mark + `\n"}`, true},
		{"a bare command", `echo ` + mark, true},
		{"a page that quotes the mark", `{"content":"doctor sends ` + mark + ` through every door"}`, false},
		{"a page that quotes the whole command", `{"body":"they run echo ` + mark + ` and look"}`, false},
		{"a script that goes on after it", `{"command":"echo ` + mark + `\nrm -rf /"}`, false},
		{"a command beside it", `{"command":"echo ` + mark + `; ls"}`, false},
		{"a search for the mark", `{"query":"` + mark + `"}`, false},
		{"a search in files", `{"command":"grep -rn ` + mark + ` ."}`, false},
		{"the mark as a name", `{"` + mark + `":1}`, false},
		{"half an object", `{"command":"echo ` + mark, false},
		{"nothing of it", `{"command":"ls"}`, false},
		{"far too deep", `{"a":{"b":{"c":{"d":{"e":{"command":"echo ` + mark + `"}}}}}}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tool.IsCanary([]byte(tt.args)); got != tt.want {
				t.Errorf("IsCanary(%s) = %t", tt.args, got)
			}
		})
	}
}
