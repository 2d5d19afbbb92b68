package ordered_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box/ordered"
)

// What a call leaves is told by what stood there and what was ordered since, and by nothing else.
func TestWhatACallLeavesFollowsFromWhatStoodThere(t *testing.T) {
	base, none := "one two two\n", (*string)(nil)
	edit := func(n uint64, old, now string, all bool) ordered.Order {
		return ordered.Order{Number: n, Path: "p", Edits: []ordered.Edit{{Old: old, New: now, All: all}}}
	}
	for name, tt := range map[string]struct {
		base   *string
		after  uint64
		orders []ordered.Order
		want   string
	}{
		"whole":                  {none, 0, []ordered.Order{{Number: 1, Path: "p", Whole: true, Text: "a"}}, "a"},
		"of another file":        {none, 0, []ordered.Order{{Number: 1, Path: "q", Whole: true, Text: "a"}}, ""},
		"from before":            {&base, 3, []ordered.Order{{Number: 3, Path: "p", Whole: true, Text: "a"}}, ""},
		"an edit":                {&base, 0, []ordered.Order{edit(1, "one", "1", false)}, "1 two two\n"},
		"of nothing":             {none, 0, []ordered.Order{edit(1, "one", "1", false)}, ""},
		"a new file by an edit":  {none, 0, []ordered.Order{edit(1, "", "a", false)}, "a"},
		"not where a file is":    {&base, 0, []ordered.Order{edit(1, "", "a", false)}, ""},
		"which of two":           {&base, 0, []ordered.Order{edit(1, "two", "2", false)}, ""},
		"all":                    {&base, 0, []ordered.Order{edit(1, "two", "2", true)}, "one 2 2\n"},
		"one after the other":    {&base, 0, []ordered.Order{edit(2, "1 two", "2", false), edit(1, "one", "1", false)}, "1 two two\n|2 two\n"},
		"the first of them fell": {&base, 0, []ordered.Order{edit(1, "one", "1", false), edit(2, "one", "9", false)}, "1 two two\n|9 two two\n"},
	} {
		var list []string
		for _, o := range ordered.Outcomes(tt.base, tt.after, "p", tt.orders) {
			list = append(list, o.Text)
		}
		if got := strings.Join(list, "|"); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
