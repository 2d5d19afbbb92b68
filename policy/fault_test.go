package policy_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/policy"
)

func TestFaultsTellErrorsFromWarnings(t *testing.T) {
	refused := policy.Fault{File: "p.yaml", Line: 2, Col: 3, Text: "no such mode", Hint: "write allow"}
	warned := policy.Fault{File: "p.yaml", Text: "raised", Warning: true}
	both := policy.Faults{refused, warned}

	var found policy.Faults
	if !errors.As(both.Err(), &found) || !cmp.Equal(found, policy.Faults{refused}) {
		t.Errorf("errors: got %v, want the one that is no warning", both.Err())
	}
	if got := both.Warnings(); !cmp.Equal(got, policy.Faults{warned}) {
		t.Errorf("warnings: got %v, want the one that is", got)
	}
	if err := both.Warnings().Err(); err != nil {
		t.Errorf("warnings alone: got %v, want no error", err)
	}
	if len(both) != 2 || both[0] != refused {
		t.Errorf("asking changed the list: %v", both)
	}
	if got, want := both.Error(), "p.yaml:2:3: no such mode\np.yaml: warning: raised"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	want := "p.yaml:2:3: no such mode\n    b: no\n      ^\n  hint: write allow\np.yaml: warning: raised\n"
	if got := both.Render([]byte("a: 1\nb: no\n")); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestAPolicyStandsInsideAHostsFile(t *testing.T) {
	at := policy.Section{Path: []string{"guards", "tidemark"}, Keys: []string{"taintPolicy"}, Preset: "classic"}
	want := mustParse(t, "preset: classic\ntaintPolicy: {untrusted: hide}")
	for name, tt := range map[string]struct{ file, src string }{
		"as YAML":  {"host.yaml", "name: host\nguards: {tidemark: {url: x, taintPolicy: {untrusted: hide}}}"},
		"as JSON5": {"host.json5", "{guards: {tidemark: {url: 'x', taintPolicy: {untrusted: 'hide'}}}} // ours"},
	} {
		set, faults := at.Parse(tt.file, []byte(tt.src))
		if set == nil || set.Version() != want.Version() {
			t.Errorf("%s: got %v, want the policy of a file of ours", name, faults)
		}
	}
	empty, faults := at.Parse("host.yaml", []byte("name: host"))
	if empty == nil || empty.Settings().Preset != "classic" {
		t.Errorf("no section: got %v, want the preset alone", faults)
	}
}

func TestFaultsOfASectionPointIntoTheHostsFile(t *testing.T) {
	at := policy.Section{Path: []string{"guard"}, Keys: []string{"taintPolicy"}}
	for name, tt := range map[string]struct{ src, want string }{
		"a mode nobody knows": {"guard: {taintPolicy: {shared: no}}",
			`host.yaml:1:31: guard.taintPolicy.shared must be allow, confirm, deny or restrict, not "no"`},
		"a section that is text": {"guard: yes", "host.yaml:1:8: guard must be a map, not text"},
		"a file that is no YAML": {"guard: [", ""},
	} {
		set, faults := at.Parse("host.yaml", []byte(tt.src))
		if set != nil || faults.Err() == nil || tt.want != "" && faults.Error() != tt.want {
			t.Errorf("%s: got %v, want %q", name, faults, tt.want)
		}
	}
}

func TestARedactorThatNobodyMadeRemovesEverything(t *testing.T) {
	var none policy.Redactor
	if got := none.Text("hello"); got != "[REDACTED]" {
		t.Errorf("text: got %q", got)
	}
	if got := none.Preview([]byte("hello"), 20); got != "[REDACTED]" {
		t.Errorf("preview: got %q", got)
	}
	if got := string(none.Args("send", []byte(`{"to":"a"}`))); got != `"[REDACTED]"` {
		t.Errorf("arguments: got %s", got)
	}
}
