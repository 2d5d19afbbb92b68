package httpapi_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/hook"
)

// WAR-09: a host says itself which tools are its own, beside the definitions, which servers
// write, or with the turn; a name makes nobody's tool the workspace.
func TestTheHostSaysWhichToolsAreItsOwn(t *testing.T) {
	const tools = `[{"name":"bash"},{"name":"write_file","host":true,"description":"writes a file"}]`
	for _, c := range []struct {
		name, own, turn string
		block           bool
	}{
		{name: "it does not say", block: true},
		{name: "it is one of its own", own: `,"hostTools":["bash","write_file"]`},
		{name: "it is a server's", own: `,"hostTools":["bash"]`, block: true},
		{name: "none is", own: `,"hostTools":[]`, block: true},
		{name: "it says so with the turn", turn: `,"hostTools":["write_file"]`},
		{name: "it says otherwise beside the definitions", own: `,"hostTools":["bash"]`, turn: `,"hostTools":["write_file"]`, block: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := open(t, "")
			from := strings.TrimSuffix(owner("s"), "}") + c.turn + "}"
			w.must(hook.NameMessageReceived, `{"content":"What is on the page?"}`, from)
			w.must(hook.NameBeforeLLMCall, `{"messages":[],"model":"m","iteration":0,"tools":`+tools+c.own+`}`, owner("s"))
			w.fetch("s")
			a := w.before("s", "write_file", `{"path":"notes/a.md","content":"a summary"}`)
			if got := a.at("block") == true; got != c.block {
				t.Errorf("blocked %v, want %v: %s", got, c.block, a.raw)
			}
		})
	}
}
