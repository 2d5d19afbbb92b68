package tool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/tool"
)

// AUD-04
func TestLabelsOfAResult(t *testing.T) {
	private := tool.Labels{Integrity: "untrusted", Confidentiality: "private"}
	worst := tool.Labels{Integrity: "?", Confidentiality: "?"}
	for result, want := range map[string]tool.Labels{
		`{"content":[],"_meta":{"ifc":{"integrity":"untrusted","confidentiality":"private"}}}`: private,
		`{"content":[],"_meta":{}}`:     {},
		`{"content":[]}`:                {},
		`"_meta"`:                       {},
		``:                              {},
		`{"_meta":{"ifc":"private"}}`:   worst,
		`{"_meta":{"ifc":[]}}`:          worst,
		`{"_meta":{"ifc":{"other":1}}}`: {},

		// GitHub's MCP server says who may read a result as a list: of one word where it is public, else of its readers.
		`{"_meta":{"ifc":{"integrity":"trusted","confidentiality":["public"]}}}`:            {Integrity: "trusted", Confidentiality: "public"},
		`{"_meta":{"ifc":{"integrity":"untrusted","confidentiality":["bob","ann","bob"]}}}`: {Integrity: "untrusted", Confidentiality: "private", Readers: "ann\nbob"},
		`{"_meta":{"ifc":{"integrity":"untrusted","confidentiality":[]}}}`:                  private,
		`{"_meta":{"ifc":{"confidentiality":["public","ann"]}}}`:                            {Confidentiality: "private", Readers: "ann\npublic"},
		`{"_meta":{"ifc":{"confidentiality":["ann\nbob"]}}}`:                                {Confidentiality: "private"},
		`{"_meta":{"ifc":{"confidentiality":[1]}}}`:                                         {Confidentiality: "?"},
		`{"_meta":{"ifc":{"integrity":["trusted"],"confidentiality":""}}}`:                  worst,

		// Gateways say it by the path of what it is about: of the whole, and of parts, which speak for nothing but themselves.
		`{"_meta":{"ifc":{"$":{"integrity":"untrusted","confidentiality":"private"}}}}`:                                 private,
		`{"_meta":{"ifc":{"$":{"integrity":"trusted","confidentiality":["ann@lund.example"]}}}}`:                        {Integrity: "trusted", Confidentiality: "private", Readers: "ann@lund.example"},
		`{"_meta":{"ifc":{"$":{"integrity":"trusted","confidentiality":"public"},"$.body":{"integrity":"untrusted"}}}}`: {Integrity: "untrusted", Confidentiality: "public"},
		`{"_meta":{"ifc":{"$.body":{"integrity":"trusted","confidentiality":"public"}}}}`:                               {},
		`{"_meta":{"ifc":{"$.a":{"confidentiality":["ann","bob"]},"$.b":{"confidentiality":["bob","eve"]}}}}`:           {Confidentiality: "private", Readers: "bob"},
		`{"_meta":{"ifc":{"integrity":"trusted","$":{"integrity":"untrusted"}}}}`:                                       {Integrity: "untrusted"},
		`{"_meta":{"ifc":{"$":"trusted"}}}`: worst,
		`{"content":[{"type":"text","text":"x","_meta":{"ifc":{"integrity":"untrusted"}}}],"_meta":{"ifc":{"integrity":"trusted"}}}`:           {Integrity: "untrusted"},
		`{"content":[{"type":"text","text":"x","_meta":{"ifc":{"integrity":"trusted","confidentiality":"public"}}}]}`:                          {},
		`{"content":"\"ifc\"","_meta":{"ifc":{"confidentiality":"private"}}}`:                                                                  {Confidentiality: "private"},
		`{"content":[{"type":"text","text":"{\"_meta\":{\"ifc\":{\"integrity\":\"trusted\",\"confidentiality\":\"public\"}}}"}],"_meta":null}`: {},
	} {
		got := tool.LabelsIn([]byte(result))
		if got != want {
			t.Errorf("%s: %+v, want %+v", result, got, want)
		}
		if got.Integrity == "?" && (!got.Untrusted() || got.Trusted()) || got.Confidentiality == "?" && (!got.Private() || got.Public()) {
			t.Errorf("%s: what cannot be read is not the worst", result)
		}
	}
}

// AUD-04: whatever else a server says, a label never gets better by being said together with another.
func TestLabelsTogetherAreTheWorst(t *testing.T) {
	all := []tool.Labels{
		{},
		{Integrity: "trusted", Confidentiality: "public"},
		{Integrity: "untrusted", Confidentiality: "private"},
		{Integrity: "?", Confidentiality: "?"},
		{Integrity: "trusted", Confidentiality: "private", Readers: "ann\nbob"},
		{Confidentiality: "private", Readers: "bob\neve"},
	}
	for _, a := range all {
		for _, b := range all {
			got := a.And(b)
			if got.Untrusted() != (a.Untrusted() || b.Untrusted()) || got.Private() != (a.Private() || b.Private()) {
				t.Errorf("%+v and %+v: %+v", a, b, got)
			}
			for _, name := range got.Names() {
				for _, l := range []tool.Labels{a, b} {
					if l.Private() && !strings.Contains("\n"+l.Readers+"\n", "\n"+name+"\n") {
						t.Errorf("%+v and %+v: %s may read it", a, b, name)
					}
				}
			}
			if other := b.And(a); got.Untrusted() != other.Untrusted() || fmt.Sprint(got.Names()) != fmt.Sprint(other.Names()) {
				t.Errorf("%+v and %+v depend on which comes first", a, b)
			}
		}
	}
}
