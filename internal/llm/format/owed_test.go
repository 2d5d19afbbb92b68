package format_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/llm/format"
)

func TestOwedCallsAreSettledInTheirOwnForm(t *testing.T) {
	for kind, want := range map[string]string{
		"function_call":        `{"type":"function_call_output","call_id":"c\"1","output":"no\n<way>"}`,
		"custom_tool_call":     `{"type":"custom_tool_call_output","call_id":"c\"1","output":"no\n<way>"}`,
		"local_shell_call":     `{"type":"local_shell_call_output","call_id":"c\"1","output":"no\n<way>"}`,
		"shell_call":           `{"type":"shell_call_output","call_id":"c\"1","output":[{"stdout":"","stderr":"no\n<way>","outcome":{"type":"exit","exit_code":126}}]}`,
		"apply_patch_call":     `{"type":"apply_patch_call_output","call_id":"c\"1","status":"failed","output":"no\n<way>"}`,
		"computer_call":        "",
		"mcp_approval_request": `{"type":"mcp_approval_response","approval_request_id":"c\"1","approve":false,"reason":"no\n<way>"}`,
		`x","a":"`:             "",
		"":                     "",
	} {
		got := format.Owed{Kind: kind, CallID: `c"1`, Text: "no\n<way>"}.Output()
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
	if got := (format.Owed{Kind: "function_call", Text: "no"}).Output(); got != nil {
		t.Errorf("a call without an id: got %s, want nothing", got)
	}
}

func TestOwedCallsComeBeforeWhatIsNew(t *testing.T) {
	owed := []format.Owed{{Kind: "function_call", CallID: "a", Text: "no"}, {Kind: "computer_call", CallID: "b"}, {Kind: "function_call", CallID: "c", Text: "no"}}
	const settled = `{"type":"function_call_output","call_id":"a","output":"no"},{"type":"function_call_output","call_id":"c","output":"no"}`
	for name, c := range map[string]struct {
		api        format.API
		body, want string
		messages   []strictjson.Value
	}{
		"a list":         {format.Responses, `{"input": [ {"role":"user","content":"x"}],"n":1}`, `{"input": [` + settled + `, {"role":"user","content":"x"}],"n":1}`, nil},
		"an empty list":  {format.Responses, `{"input":[ ]}`, `{"input":[` + settled + ` ]}`, nil},
		"a text":         {format.Responses, `{"input":"a\u0041"}`, `{"input":[` + settled + `,{"role":"user","content":"a\u0041"}]}`, nil},
		"no input":       {format.Responses, `{"model":"m"}`, `{"model":"m","input":[` + settled + `]}`, nil},
		"another list":   {format.Responses, `{"input":"a"}`, `{"input":[` + settled + `,{"role":"user","content":"y"}]}`, []strictjson.Value{strictjson.Value(`{"role":"user","content":"y"}`)}},
		"another format": {format.Chat, `{"messages":[]}`, `{"messages":[]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := format.NewCache(4).Read(c.api, "t", []byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Apply(format.Edit{Owed: owed, Messages: c.messages})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := format.NewCache(4).Read(c.api, "t", got); err != nil {
				t.Errorf("read again: %v", err)
			}
		})
	}
}
