package warrant_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/tool"
)

// WAR-07: only the host's own tools are described to whoever draws a contract.
func TestOnlyAHostWithAShellHasToolsOfItsOwn(t *testing.T) {
	for names, want := range map[string]string{
		"bash read_file send_email":       "bash read_file",
		"read_file write_file send_email": "", // anybody may call a tool so
		"mcp__x__bash read_file":          "",
		"":                                "",
	} {
		var list []tool.Definition
		for name := range strings.FieldsSeq(names) {
			list = append(list, tool.Definition{Name: name})
		}
		if got := strings.Join(slices.Sorted(maps.Keys(warrant.Hosted(list))), " "); got != want {
			t.Errorf("%s: got %q, want %q", names, got, want)
		}
	}
}
