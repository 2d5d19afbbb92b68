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
		own := tool.Usual(strings.Fields(names))
		if got := strings.Join(slices.Sorted(maps.Keys(warrant.Hosted(own, list))), " "); got != want {
			t.Errorf("%s: got %q, want %q", names, got, want)
		}
	}
}

// WAR-09: the door says which tools are the host's own, and a name makes none of them.
func TestWhatTheDoorDeclaresIsTheHostsOwn(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		name  string
		tools []tool.Definition
		tool  string
		want  bool
	}{
		{"nobody says", []tool.Definition{{Name: "bash"}, {Name: "write_file"}}, "write_file", false},
		{"nobody says, of a shell", []tool.Definition{{Name: "bash"}, {Name: "write_file"}}, "bash", false},
		{"it is named", []tool.Definition{{Name: "Edit"}}, "edit", true},
		{"it is named and declared another's", []tool.Definition{{Name: "edit", Host: &no}}, "edit", false},
		{"it is declared", []tool.Definition{{Name: "bash", Host: &yes}, {Name: "write_file", Host: &yes}}, "write_file", true},
		{"it is declared another's", []tool.Definition{{Name: "bash", Host: &yes}, {Name: "write_file", Host: &no}}, "write_file", false},
		{"another is declared", []tool.Definition{{Name: "bash", Host: &yes}, {Name: "write_file"}}, "write_file", false},
		{"a shell that nobody declared", []tool.Definition{{Name: "read", Host: &yes}, {Name: "bash"}}, "bash", false},
		{"the host's own, but no tool of a workspace", []tool.Definition{{Name: "post", Host: &yes}}, "post", false},
		{"first declared, then another's", []tool.Definition{{Name: "bash", Host: &yes}, {Name: "bash", Host: &no}}, "bash", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := warrant.New(words)
			x.User("Look after the boats")
			x.Host([]string{"edit"})
			x.Tools(c.tools)
			if got, _ := x.Is(warrant.FactWorkspace, c.tool); got != c.want {
				t.Errorf("%s is of the workspace: %v, want %v", c.tool, got, c.want)
			}
		})
	}
}
