package httpapi_test

import (
	"testing"

	"github.com/tidemark/tidemark/hook"
)

// WAR-09: a host says itself which tools are its own, beside the definitions, which servers
// write; then a name makes nobody's tool the workspace.
func TestTheHostSaysWhichToolsAreItsOwn(t *testing.T) {
	const tools = `[{"name":"bash"},{"name":"write_file","host":true,"description":"writes a file"}]`
	for _, c := range []struct {
		name, own string
		block     bool
	}{
		{"it does not say", ``, false},
		{"it is one of its own", `,"hostTools":["bash","write_file"]`, false},
		{"it is a server's", `,"hostTools":["bash"]`, true},
		{"none is", `,"hostTools":[]`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := open(t, "")
			w.say("s", "What is on the page?")
			w.must(hook.NameBeforeLLMCall, `{"messages":[],"model":"m","iteration":0,"tools":`+tools+c.own+`}`, owner("s"))
			w.fetch("s")
			a := w.before("s", "write_file", `{"path":"notes/a.md","content":"a summary"}`)
			if got := a.at("block") == true; got != c.block {
				t.Errorf("blocked %v, want %v: %s", got, c.block, a.raw)
			}
		})
	}
}
