package policy_test

import (
	"testing"

	"github.com/tidemark/tidemark/policy"
)

// VER-09: what the file adds is removed besides what is removed anyway.
func TestTheFileAddsToRedaction(t *testing.T) {
	const file = `
redaction:
  fields:
    - {tools: [send_email], fields: [body]}
    - {fields: [ssn, card]}
    - {tools: upload, fields: blob, sized: true}
  patterns:
    - {name: ticket, regex: 'TCK-[0-9]{6}'}
`
	shipped, own := mustParse(t, "").Redactor(), mustParse(t, file).Redactor()
	for _, tt := range []struct{ name, tool, args, shipped, own string }{
		{"a field of one tool", "send_email", `{"to":"bob","body":"hello"}`, `{"to":"bob","body":"hello"}`, `{"to":"bob","body":"[REDACTED]"}`},
		{"the same field of another tool", "message", `{"body":"hello"}`, `{"body":"hello"}`, `{"body":"hello"}`},
		{"a field of every tool", "crm", `{"ssn":"1","name":"bob"}`, `{"ssn":"1","name":"bob"}`, `{"ssn":"[REDACTED]","name":"bob"}`},
		{"a field whose size is told", "upload", `{"blob":"12345"}`, `{"blob":"12345"}`, `{"blob":"[REDACTED: 5 chars]"}`},
		{"a pattern", "crm", `{"note":"see TCK-123456."}`, `{"note":"see TCK-123456."}`, `{"note":"see [REDACTED]."}`},
		{"what is shipped", "write", `{"path":"a","content":"hello"}`, `{"path":"a","content":"[REDACTED: 5 chars]"}`, `{"path":"a","content":"[REDACTED: 5 chars]"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(shipped.Args(tt.tool, []byte(tt.args))); got != tt.shipped {
				t.Errorf("without the file: got %s, want %s", got, tt.shipped)
			}
			if got := string(own.Args(tt.tool, []byte(tt.args))); got != tt.own {
				t.Errorf("with the file: got %s, want %s", got, tt.own)
			}
		})
	}
}

// VER-09
func TestAnAgentsRedactionIsTheFiles(t *testing.T) {
	s := mustParse(t, "redaction: {fields: [{fields: [ssn]}]}\nagents: {helper: {defaultEffect: deny}}")
	const want = `{"ssn":"[REDACTED]"}`
	if got := string(s.For("helper").Redactor().Args("crm", []byte(`{"ssn":"1"}`))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// VER-09
func TestFaultsOfRedaction(t *testing.T) {
	src := `redaction:
  field: [a]
  fields:
    - {tools: [write]}
    - {fields: [], size: true}
    - body
    - {fields: [a], sized: 1}
  patterns:
    - {name: open, regex: 'a('}
    - {name: all, regex: 'x*'}
    - {regex: abc}
    - {name: none}
    - {name: '', regex: abc}
`
	want := `p.yaml:2:3: unknown key "field" in redaction
      field: [a]
      ^
  hint: did you mean fields?
p.yaml:4:7: redaction.fields[0] needs fields
        - {tools: [write]}
          ^
p.yaml:5:7: redaction.fields[1] needs fields
        - {fields: [], size: true}
          ^
p.yaml:5:20: unknown key "size" in redaction.fields[1]
        - {fields: [], size: true}
                       ^
  hint: did you mean sized?
p.yaml:6:7: redaction.fields[2] must be a map, not text
        - body
          ^
p.yaml:6:7: redaction.fields[2] needs fields
        - body
          ^
p.yaml:7:28: redaction.fields[3].sized must be true or false, not a whole number
        - {fields: [a], sized: 1}
                               ^
p.yaml:9:27: redaction.patterns[0]: compile pattern "open": error parsing regexp: missing closing ): ` + "`a(`" + `
        - {name: open, regex: 'a('}
                              ^
p.yaml:10:26: redaction.patterns[1]: compile pattern "all": it matches the empty string
        - {name: all, regex: 'x*'}
                             ^
p.yaml:11:7: redaction.patterns[2] needs name and regex
        - {regex: abc}
          ^
p.yaml:12:7: redaction.patterns[3] needs name and regex
        - {name: none}
          ^
p.yaml:13:7: redaction.patterns[4] needs name and regex
        - {name: '', regex: abc}
          ^
p.yaml:13:14: redaction.patterns[4].name must not be empty
        - {name: '', regex: abc}
                 ^
`
	wantFaults(t, src, want)
}

func TestFaultsOfRedactionByKind(t *testing.T) {
	for src, want := range map[string]string{
		"redaction: all":                               "p.yaml:1:12: redaction must be a map, not text",
		"redaction: {fields: {a: b}}":                  "p.yaml:1:21: redaction.fields must be a list, not a map",
		"redaction: {patterns: [{name: a, regex: 7}]}": "p.yaml:1:24: redaction.patterns[0] needs name and regex\np.yaml:1:41: redaction.patterns[0].regex must be text, not a whole number",
	} {
		_, faults := policy.Parse("p.yaml", []byte(src))
		if got := faults.Error(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", src, got, want)
		}
	}
}
