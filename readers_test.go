package tidemark_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// labelled reports a result with what its server says of it.
func (w *world) labelled(session, name, content string, l tool.Labels) trust.Label {
	w.Helper()
	w.want(policy.Allow, main(session), call(name, `{}`))
	got, err := w.Observe(w.Context(), tidemark.Observation{
		Ref: main(session), Result: tool.Result{Name: name, Args: []byte(`{}`), Content: []byte(content), Labels: l},
	})
	if err != nil {
		w.Fatal(err)
	}
	return got
}

// AUD-01: who wrote a result and who may read it stands in the log, in the evidence and in what people are shown, also after a restart.
func TestAResultHasAnAuthorAndReaders(t *testing.T) {
	w := newWorld(t, "preset: balanced")
	w.ownerSays("a", "Read my mail")
	l := w.labelled("a", "get_email", `{"from":"ann@harbour.example","subject":"Berth","body":"Which one?"}`, tool.Labels{})
	if len(l.Sources) != 1 || l.Sources[0].Author != "ann@harbour.example" || l.Sources[0].Readers != "ann@harbour.example" {
		t.Errorf("sources %+v", l.Sources)
	}
	for _, w := range []*world{w, w.again()} {
		if got := asJSON(t, w.view("a").Taint); !strings.Contains(got, `"readers": "ann@harbour.example"`) {
			t.Errorf("the session does not say who may read what it read: %s", got)
		}
	}
}

// AUD-04: what a server says against its own results counts, and what it says for them only where the policy takes its word.
func TestLabelsOfServersNarrow(t *testing.T) {
	const content = `{"title":"Tides","visibility":"public","content":"Low at six"}`
	for _, tt := range []struct {
		name, policy string
		labels       tool.Labels
		readers      string
		level        trust.Level
	}{
		{"none", "", tool.Labels{}, "everybody", trust.Untrusted},
		{"private", "", tool.Labels{Confidentiality: "private"}, "", trust.Untrusted},
		{"a word that nobody knows", "", tool.Labels{Confidentiality: "open"}, "", trust.Untrusted},
		{"untrusted, of what the policy trusts", "toolOutputTaints: {get_berth: local}", tool.Labels{Integrity: "untrusted"}, "everybody", trust.Untrusted},
		{"trusted raises nothing", "", tool.Labels{Integrity: "trusted", Confidentiality: "private"}, "", trust.Untrusted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.policy)
			w.ownerSays("a", "Read the page")
			l := w.labelled("a", "get_berth", content, tt.labels)
			if l.Level != tt.level || len(l.Sources) != 1 || l.Sources[0].Readers != tt.readers {
				t.Errorf("level %s, sources %+v, want %s and readers %q", l.Level, l.Sources, tt.level, tt.readers)
			}
		})
	}
	for file, want := range map[string]string{"": "", `serverLabels: ["mcp__tides__*"]`: "everybody", `serverLabels: ["mcp__other__*"]`: ""} {
		w := newWorld(t, file)
		w.ownerSays("a", "Read the table")
		l := w.labelled("a", "mcp__tides__get_table", `{"low":"six"}`, tool.Labels{Confidentiality: "public"})
		if len(l.Sources) != 1 || l.Sources[0].Readers != want {
			t.Errorf("with %q: %+v, want %q", file, l.Sources, want)
		}
	}
}
