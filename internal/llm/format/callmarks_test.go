package format_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/llm/format"
)

func TestCallsOfEveryFormatAreSeenInJSONOfAnUnknownOne(t *testing.T) {
	for _, mark := range []string{
		"tool_calls", "tool_call", "function_call", "functionCall", "tool_use", "toolUse",
		"custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call",
	} {
		if !format.HoldsCall([]byte(`{"x":{"` + mark + `":[]}}`)) {
			t.Errorf("%s: not seen", mark)
		}
		if format.HoldsCall([]byte(`{"text":"say \"` + mark + `\" to it"}`)) {
			t.Errorf("%s: seen in the text of another string", mark)
		}
		if len(mark)+3 > format.LongestCallMark {
			t.Errorf("%s: longer than LongestCallMark allows for", mark)
		}
	}
}
