package confined_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/confined"
)

func TestWhatAFileToolLeavesIsReadFromItsArguments(t *testing.T) {
	const patch = "*** Begin Patch\n*** Add File: .github/workflows/ci.yml\n+on: push\n+\n+jobs: {}\n*** Update File: /w/CLAUDE.md\n@@\n # rules\n-one\n+two\n\n*** Delete File: old.txt\n*** End Patch\n"
	for _, tt := range []struct {
		tool, args string
		want       []confined.Ordered
	}{
		{"write", `{"path":"/w/a","content":"x\n"}`, []confined.Ordered{{Path: "/w/a", Whole: true, Text: "x\n"}}},
		{"write", `{"path":"./b/../.mcp.json","file_text":"","description":"d"}`, []confined.Ordered{{Path: "/w/.mcp.json", Whole: true}}},
		{"edit", `{"path":"/w/a","old_string":"x","new_string":"y"}`, []confined.Ordered{{Path: "/w/a", Edits: []confined.Replaced{{Old: "x", New: "y"}}}}},
		{"edit", `{"path":"/w/a","edits":[{"oldText":"x","newText":"y"},{"old_str":"y","new_str":"","replace_all":true}]}`,
			[]confined.Ordered{{Path: "/w/a", Edits: []confined.Replaced{{Old: "x", New: "y"}, {Old: "y", All: true}}}}},
		{"apply_patch", fmt.Sprintf(`{"patch":%q}`, patch), []confined.Ordered{
			{Path: "/w/.github/workflows/ci.yml", Whole: true, Text: "on: push\n\njobs: {}\n"},
			{Path: "/w/CLAUDE.md", Edits: []confined.Replaced{{Old: "# rules\none\n\n", New: "# rules\ntwo\n\n"}}},
		}},
		{"write", `{"path":"/w/a","content":"x","file_text":"y"}`, nil},
		{"write", `{"path":"/w/a","content":{"a":1}}`, nil},
		{"write", `{"content":"x"}`, nil},
		{"write", `{"path":"/w/a","content":"x","old_string":"y","new_string":"z"}`, nil},
		{"edit", `{"path":"/w/a","edits":["x"]}`, nil},
		{"edit", `{"path":"/w/a","edits":[]}`, nil},
		{"edit", `{"path":"/w/a","old_string":"x"}`, nil},
		{"exec", `{"path":"/w/a","content":"x"}`, nil},
		{"read", `{"path":"/w/a"}`, nil},
		{"apply_patch", `{"patch":"*** Begin Patch\n*** Add File: a\n+x\n"}`, nil},
		{"apply_patch", `{"patch":"*** Begin Patch\n*** Update File: a\n*** Move to: CLAUDE.md\n@@\n-x\n+y\n*** End Patch"}`, nil},
		{"apply_patch", `{"patch":"*** Begin Patch\n*** Add File: a\nx\n*** End Patch"}`, nil},
		{"apply_patch", `{"patch":"--- a\n+++ b\n"}`, nil},
		{"write", fmt.Sprintf(`{"path":"/w/a","content":%q}`, strings.Repeat("x", 300<<10)), nil},
	} {
		var args map[string]any
		if err := json.Unmarshal([]byte(tt.args), &args); err != nil {
			t.Fatal(err)
		}
		for i := range tt.want {
			tt.want[i].Step = 7
		}
		if diff := cmp.Diff(tt.want, confined.OrderedBy(tt.tool, args, "/w", 7)); diff != "" {
			t.Errorf("%s %.200s: %s", tt.tool, tt.args, diff)
		}
	}
	if got := confined.OrderedBy("write", map[string]any{"path": "a", "content": "x"}, "", 1); got != nil {
		t.Errorf("nobody knows where it lies: %v", got)
	}
}

func TestOrdersAreOfTheirSessionAndNotTooMany(t *testing.T) {
	var o confined.Orders
	o.Note("a", []confined.Ordered{{Path: "/1", Text: "x"}})
	for i := range 40 {
		o.Note("b", []confined.Ordered{{Step: uint64(i), Path: "/2", Text: strings.Repeat("y", 100<<10)}})
	}
	if got := o.Of("a"); len(got) != 1 || got[0].Path != "/1" {
		t.Errorf("%v", got)
	}
	got := o.Of("b")
	if len(got) != 5 || got[4].Step != 39 || got[0].Step != 35 {
		t.Errorf("%d of them", len(got))
	}
	for i := range 200 {
		o.Note("c", []confined.Ordered{{Step: uint64(i), Path: "/3", Text: strings.Repeat("z", 200<<10)}})
	}
	if got := o.Of("a"); len(got) != 0 {
		t.Errorf("it is kept for good: %v", got)
	}
	if got := o.Of("none"); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
