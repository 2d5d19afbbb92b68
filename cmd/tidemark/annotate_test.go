package main

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/policy"
)

// SEQ-02: whatever a server calls its tools, what is printed is a policy file.
func FuzzAnnotate(f *testing.F) {
	for _, s := range []string{
		`[]`, `[{"name":"dig"}]`, `{"tools":["a: b","\n- x","'","\"*\"","# c"]}`, `{"result":{"tools":[{"name":"x","inputSchema":{"properties":{"to":{}}}}],"nextCursor":"1"}}`,
		`[{"type":"function","function":{"name":"y","description":"Sends\u2028 mail.","parameters":{"type":"object"}}}]`, `[{"name":"a","name":"b"}]`, `{"tools":{}}`, `[1]`, `{`, ``,
		`[{"name":"a","annotations":{"readOnlyHint":true,"destructiveHint":null}}]`, `[{"name":"\ufffd"},{"name":"Dig"},{"name":"dig"}]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		var out, errOut strings.Builder
		code := run(t.Context(), []string{"annotate", "-"}, strings.NewReader(src), &out, &errOut)
		if code != exitOK {
			if !strings.HasPrefix(errOut.String(), "tidemark: annotate: stdin") || out.Len() > 0 {
				t.Fatalf("exit %d, printed %q and %q", code, out.String(), errOut.String())
			}
			return
		}
		if len(out.String()) > 1<<19 {
			return // more than a policy file may have
		}
		if set, faults := policy.Parse("f.yaml", []byte(out.String())); set == nil {
			t.Fatalf("%v\n%s", faults, out.String())
		}
	})
}

// SEQ-02: a server's own hints are heard where they make a tool graver.
func TestDefinitionsAreReadWhole(t *testing.T) {
	d, err := definition([]byte(`{"name":"water","description":"Waters.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}}`))
	if err != nil || d.Name != "water" || d.Description != "Waters." || string(d.Schema) != `{"type":"object"}` {
		t.Errorf("got %+v, %v", d, err)
	}
	if d.ReadOnly == nil || *d.ReadOnly || d.Destructive == nil || !*d.Destructive || d.OpenWorld == nil || !*d.OpenWorld {
		t.Errorf("hints: got %v %v %v", d.ReadOnly, d.Destructive, d.OpenWorld)
	}
	if m := meaning.Of(d); m.Gravity != meaning.High {
		t.Errorf("a tool that can destroy is %s", m.Gravity)
	}
}

func TestALongListIsRefused(t *testing.T) {
	var out, errOut strings.Builder
	code := run(t.Context(), []string{"annotate"}, strings.NewReader(strings.Repeat(" ", maxToolList+1)), &out, &errOut)
	if code != exitUsage || !strings.Contains(errOut.String(), "more than 16 MiB") {
		t.Errorf("exit %d, %q", code, errOut.String())
	}
}
