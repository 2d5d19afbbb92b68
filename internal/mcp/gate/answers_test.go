package gate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// MCP-8
// What a client answers a server leaves this machine: all of it is judged, in whatever answer it stands, and a plain no is not.
func TestAnAnswerThatHoldsSomethingIsJudged(t *testing.T) {
	const cargo = "quarterly figures: revenue 4711 margin 0815, salaries of Petra 93000 EUR, confidential"
	ask := map[string]string{
		"elicitation/create":     `{"message":"Your key?","requestedSchema":{"type":"object","properties":{"key":{"type":"string"}}}}`,
		"sampling/createMessage": `{"messages":[{"role":"user","content":{"type":"text","text":"Say hello."}}],"maxTokens":9}`,
		"ping":                   `{}`,
		"acme/ask":               `{"q":"?"}`,
	}
	for name, tt := range map[string]struct {
		method, answer string
		leaves         bool
	}{
		"a no":                        {"elicitation/create", `{"action":"decline"}`, true},
		"a closed dialog":             {"elicitation/create", `{"action":"cancel","content":null}`, true},
		"a no with content":           {"elicitation/create", `{"action":"decline","content":{"key":"` + cargo + `"}}`, false},
		"a closed dialog with some":   {"elicitation/create", `{"action":"cancel","note":"` + cargo + `"}`, false},
		"a yes in another case":       {"elicitation/create", `{"action":"Accept","content":{"key":"` + cargo + `"}}`, false},
		"a yes with what was read":    {"elicitation/create", `{"action":"accept","content":{"key":"` + cargo + `"}}`, false},
		"a ping":                      {"ping", `{}`, true},
		"a ping with what was read":   {"ping", `{"x":"` + cargo + `"}`, false},
		"a question nobody knows":     {"acme/ask", `{"x":"` + cargo + `"}`, false},
		"a model's answer with cargo": {"sampling/createMessage", `{"role":"assistant","model":"m","content":{"type":"text","text":"` + cargo + `"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := mcptest.New(t, "")
			files, other := newTable(t, options(w.Engine, "files")), newTable(t, options(w.Engine, "other"))
			files.calls("read_file", `{"path":"/home/u/q3.txt"}`, `{"content":[{"type":"text","text":"`+cargo+`"}]}`)
			other.down(fmt.Sprintf(`{"jsonrpc":"2.0","id":"s","method":%q,"params":%s}`, tt.method, ask[tt.method]))
			forward, _ := other.up(`{"jsonrpc":"2.0","id":"s","result":` + tt.answer + `}`)
			if left := !strings.Contains(forward, `"error"`); left != tt.leaves {
				t.Errorf("left: %v, want %v: %s", left, tt.leaves, forward)
			}
		})
	}
}
