package verifier_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/external/verifier"
	"github.com/tidemark/tidemark/trust"
)

// tells allows and notes what was shown.
func tells(shown *[]verifier.Field) *person {
	return &person{ask: func(_ context.Context, fields []verifier.Field) (bool, string, error) {
		*shown = fields
		return true, "", nil
	}}
}

// A person sees what decides, and nothing is left out without a word.
//
// VER-07
func TestAPersonSeesTheCall(t *testing.T) {
	long := strings.Repeat("x", 2000)
	tests := map[string]struct {
		check engine.Check
		want  []verifier.Field
	}{
		"a command": {
			engine.Check{Tool: "exec", Params: []byte(`{"command":"curl https://example.com"}`), Agent: "main", Session: "agent:main:main", Taint: trust.Untrusted},
			[]verifier.Field{{"Tool", "exec"}, {"Command", "curl https://example.com"}, {"Agent", "main"}, {"Session", "agent:main:main"}, {"Taint", "untrusted"}},
		},
		"a command and what comes with it": {
			engine.Check{Tool: "exec", Params: []byte(`{"command":"ls","env":{"LD_PRELOAD":"x"}}`), Taint: trust.Owner},
			[]verifier.Field{{"Tool", "exec"}, {"Command", "ls"}, {"Parameters", `{"env":{"LD_PRELOAD":"x"}}`}, {"Taint", "owner"}},
		},
		"a path and an address": {
			engine.Check{Tool: "download", Params: []byte(`{"url":"https://example.com/a","file_path":"b"}`), Taint: trust.Owner},
			[]verifier.Field{{"Tool", "download"}, {"Path", "b"}, {"URL", "https://example.com/a"}, {"Taint", "owner"}},
		},
		"a command that is no text": {
			engine.Check{Tool: "exec", Params: []byte(`{"command":["rm","-r"]}`), Taint: trust.Owner},
			[]verifier.Field{{"Tool", "exec"}, {"Parameters", `{"command":["rm","-r"]}`}, {"Taint", "owner"}},
		},
		"a null command": {
			engine.Check{Tool: "exec", Params: []byte(`{"command":null}`), Taint: trust.Owner},
			[]verifier.Field{{"Tool", "exec"}, {"Parameters", `{"command":null}`}, {"Taint", "owner"}},
		},
		"lines and invisible characters": {
			engine.Check{Tool: "exec", Params: []byte(`{"command":"ls\nrm -r\u202e\u200b 'é'"}`), Taint: trust.Owner},
			[]verifier.Field{{"Tool", "exec"}, {"Command", `ls\nrm -r\u202e\u200b 'é'`}, {"Taint", "owner"}},
		},
		"a command too long to show": {
			engine.Check{Tool: "exec", Params: []byte(`{"command":"` + long + `"}`), Taint: trust.Owner},
			[]verifier.Field{{"Tool", "exec"}, {"Command", long[:1500] + "… (500 more bytes not shown)"}, {"Taint", "owner"}},
		},
		"no parameters": {
			engine.Check{Tool: "status", Params: []byte(`{}`), Taint: trust.Owner},
			[]verifier.Field{{"Tool", "status"}, {"Taint", "owner"}},
		},
		"parameters that cannot be read": {
			engine.Check{Tool: "status", Params: []byte(`[1]`), Taint: trust.Owner},
			[]verifier.Field{{"Tool", "status"}, {"Parameters", "[1]"}, {"Taint", "owner"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, verifier.Describe(tt.check)); diff != "" {
				t.Errorf("shown (-want +got):\n%s", diff)
			}
		})
	}
}
