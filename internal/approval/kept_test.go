package approval_test

import (
	"slices"
	"testing"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/tool"
)

func kept(raw string, free ...string) approval.Kept {
	args := tool.NewArgs([]byte(raw))
	return approval.Keep("send_email", "ask-1", &args, func(path, _ string) bool { return slices.Contains(free, path) })
}

// A grant keeps what decides, unless the person frees it.
//
// WAR-10
func TestWhatAGrantKeeps(t *testing.T) {
	const asked = `{"to":"ann@a.example","subject":"x","body":"y","draft":true,"account":{"id":7,"note":"n"}}`
	with := func(to, subject, more string) string {
		return `{"to":` + to + `,"subject":"` + subject + `","body":"z","draft":true,"account":{"id":7,"note":"m"}` + more + `}`
	}
	const same = `"ann@a.example"`
	for name, tt := range map[string]struct {
		args  string
		where approval.Where
		want  bool
	}{
		"the very call":                           {asked, nil, true},
		"another text":                            {with(same, "other", ""), nil, true},
		"another recipient":                       {with(`"eve@e.example"`, "x", ""), nil, false},
		"one recipient more":                      {with(`["ann@a.example","eve@e.example"]`, "x", ""), nil, false},
		"an argument that was not there":          {with(same, "x", `,"bcc":"eve@e.example"`), nil, false},
		"an argument that is gone":                {`{"to":"ann@a.example","subject":"x","body":"y","account":{"id":7,"note":"n"}}`, nil, false},
		"another value deep inside":               {`{"to":"ann@a.example","subject":"x","body":"y","draft":true,"account":{"id":8,"note":"n"}}`, nil, false},
		"a recipient the person freed":            {with(`"bob@a.example"`, "x", ""), approval.Where{"to": "*@a.example"}, true},
		"a constraint elsewhere frees nothing":    {with(`"eve@e.example"`, "x", ""), approval.Where{"subject": "x"}, false},
		"a recipient beyond what was freed":       {with(`"eve@e.example"`, "x", ""), approval.Where{"to": "*@a.example"}, false},
		"a list is no plain value, and not freed": {with(`["bob@a.example"]`, "x", ""), approval.Where{"to": "*@a.example"}, false},
		"arguments that cannot be read":           {`{"to":1,"to":2}`, nil, false},
		"a freed argument that was never there":   {with(same, "x", `,"bcc":"bob@a.example"`), approval.Where{"bcc": "*@a.example"}, true},
		"a null where something was":              {with("null", "x", ""), nil, false},
		"a name with a dot for one with folders":  {`{"to":"ann@a.example","subject":"x","body":"y","draft":true,"account":{"note":"n"},"account.id":7,"x":1}`, nil, false},
	} {
		k := kept(asked, "subject", "body", "account.note")
		args := tool.NewArgs([]byte(tt.args))
		if got := k.Fits("send_email", &args, tt.where) && tt.where.Fits(&args); got != tt.want {
			t.Errorf("%s: fits %v, want %v", name, got, tt.want)
		}
	}
}

// WAR-10
func TestWhatAGrantKeepsIsSaid(t *testing.T) {
	k := kept(`{"to":"a","body":"b"}`, "body")
	if got := k.String(); got != "with the same to and any body" {
		t.Errorf("got %q", got)
	}
	if got := k.Without(approval.Where{"to": "*"}).String(); got != "with any body" {
		t.Errorf("with to freed: got %q", got)
	}
	var none approval.Kept
	if args := tool.NewArgs([]byte(`{}`)); none.Fits("", &args, nil) {
		t.Error("the zero Kept fits a call")
	}
	if k := kept(`{"id":9007199254740993}`); k.Salt != "" {
		t.Error("a number that is not kept exactly is kept")
	}
	if a, b := kept(`{"pin":"1234"}`), kept(`{"pin2":"1234"}`); a.Fixed["pin"] == b.Fixed["pin2"] {
		t.Error("the same value is told by its digest")
	}
}
