package tool_test

import (
	"testing"

	"github.com/tidemark/tidemark/tool"
)

// AUD-04
func TestLabelsOfAResult(t *testing.T) {
	for result, want := range map[string]tool.Labels{
		`{"content":[],"_meta":{"ifc":{"integrity":"untrusted","confidentiality":"private"}}}`: {Integrity: "untrusted", Confidentiality: "private"},
		`{"content":[],"_meta":{}}`:     {},
		`{"content":[]}`:                {},
		`"_meta"`:                       {},
		``:                              {},
		`{"_meta":{"ifc":"private"}}`:   {Integrity: "?", Confidentiality: "?"},
		`{"_meta":{"ifc":[]}}`:          {Integrity: "?", Confidentiality: "?"},
		`{"_meta":{"ifc":{"other":1}}}`: {},
	} {
		got := tool.LabelsIn([]byte(result))
		if got != want {
			t.Errorf("%s: %+v, want %+v", result, got, want)
		}
		if got.Integrity == "?" && (!got.Untrusted() || !got.Private() || got.Public()) {
			t.Errorf("%s: what cannot be read is not the worst", result)
		}
	}
}
