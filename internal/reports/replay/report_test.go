package replay_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/replay"
	"github.com/tidemark/tidemark/trust"
)

func TestASummaryCountsQuestionsAndStops(t *testing.T) {
	var s replay.Summary
	for _, o := range outcomes(t, "f", file(t, "trace.jsonl")+"{\n", replay.Trace, replay.Options{}) {
		s.Add(&o)
	}
	want := replay.Summary{Runs: 3, Bad: 1, Quiet: 0, Calls: 10, Asks: 4, Denials: 2, Stopped: 3}
	if diff := cmp.Diff(want, s, cmpopts.IgnoreUnexported(replay.Summary{})); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if got := s.AsksPerRun(); got != 4.0/3 {
		t.Errorf("got %v questions per run, want 4/3", got)
	}
	rows := s.Rows()
	if len(rows) == 0 || rows[0].Tool != "water_bed" || rows[0].Asks != 3 || rows[0].Runs != 2 {
		t.Errorf("got %+v, want water_bed first: 3 questions in 2 runs", rows)
	}
	var empty replay.Summary
	if empty.AsksPerRun() != 0 || len(empty.Rows()) != 0 {
		t.Error("an empty summary counts something")
	}
}

func TestASummaryStaysSmallHoweverManyNamesThereAre(t *testing.T) {
	var s replay.Summary
	for i := range 5000 {
		s.Add(&replay.Outcome{ID: "r", Calls: []replay.Decision{{Decision: replay.Ask, Rule: "r", Tool: fmt.Sprint("tool", i)}}})
	}
	if n := len(s.Rows()); n > 2001 || s.Asks != 5000 {
		t.Errorf("got %d rows and %d questions, want at most 2001 rows and all 5000 counted", n, s.Asks)
	}
}

func TestTargetsAreMetByAQuestionOrADenial(t *testing.T) {
	o := replay.Outcome{ID: "a:b", Calls: []replay.Decision{{Decision: replay.Allow}, {Step: 1, Decision: replay.Ask}, {Step: 2, Decision: replay.Deny}}}
	targets := replay.NewTargets([]string{"a:b", "a:b:0", "a:b:1", "a:b:2", "elsewhere", "a"})
	targets.Add(&o)
	if diff := cmp.Diff([]string{"a", "a:b:0", "elsewhere"}, targets.Missed()); diff != "" {
		t.Errorf("missed (-want +got):\n%s", diff)
	}
	if got := replay.NewTargets(nil).Missed(); len(got) != 0 {
		t.Errorf("got %v missed of none", got)
	}
}

// What stands in a recording is text on the page, whatever it looks like.
//
// BEY-04
func TestThePageEscapesWhatRecordingsHold(t *testing.T) {
	const evil = `</pre></details><script>alert(1)</script><img src=x onerror=alert(2)>" onclick="x` + "\x00\xff"
	o := replay.Outcome{ID: evil, Calls: []replay.Decision{
		{ID: evil, Decision: replay.Ask, Rule: evil, Reason: evil, Shown: evil, Taint: evil, Tool: evil, Args: []byte(`{"to":"</code><script>alert(3)</script>","` + "</style>" + `":1}`)},
		{ID: evil, Step: 1, Decision: replay.Deny, Tool: "x", Args: []byte("<script>not JSON")},
		{ID: evil, Step: 2, Decision: replay.Allow, Tool: "y", Args: []byte(`{"a":"` + strings.Repeat("long ", 1000) + `"}`)},
	}}
	var b strings.Builder
	p := replay.NewPage(&b, "title "+evil)
	var s replay.Summary
	for _, o := range []*replay.Outcome{&o, {ID: "bad", Err: errors.New(evil)}, {ID: "quiet"}} {
		p.Add(o)
		s.Add(o)
	}
	if err := p.Close(&s); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, bad := range []string{"<script", "<img", "</pre></details><", `" onclick`, "\x00", "\xff", "http:", "https:", "src=", "url(", "@import"} {
		if strings.Contains(strings.ReplaceAll(page, "src=x onerror", ""), bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for _, want := range []string{"&lt;script&gt;alert(1)", "&lt;script&gt;alert(3)", "prefers-color-scheme: dark", "Content-Security-Policy", `class="quiet"`, "not replayed", "long …", "<b class=\"deny\">1 denied</b>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestAPageThatCannotBeWrittenSaysSo(t *testing.T) {
	p := replay.NewPage(full{}, "t")
	for range 200 {
		p.Add(&replay.Outcome{ID: "r", Calls: []replay.Decision{{Tool: "x", Shown: strings.Repeat("x", 100)}}})
	}
	if err := p.Close(&replay.Summary{}); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("got %v, want the full disk", err)
	}
}

func TestAQuestionShowsValuesAsTheyAre(t *testing.T) {
	q := engine.Question{
		Prompt: "Allow it?", Tool: "water_bed",
		Sources: []trust.Source{{Level: trust.Untrusted, Step: 2, Kind: "tool_result", Tool: "almanac_page", Excerpt: "bed 9"}},
		Words:   []event.Said{{Turn: 1, Text: "water it"}},
	}
	tests := []struct{ name, args, want string }{
		{"strings lose their quotes", `{"to":"a \"b\"\nc"}`, "\n  to:\n    | a \"b\"\n    | c\n"},
		{"objects and lists are taken apart", `{"a":{"b":[1,"x",{"c":null}]}}`, "\n  a.b[0]: 1\n  a.b[1]: x\n  a.b[2].c: null\n"},
		{"what was cut is shown as far as it goes", `{"to":"bob","body":"half a sen`, "\n  to: bob\n  (rest): \"half a sen\n"},
		{"no JSON is shown whole", `to=bob`, "\n  (rest): to=bob\n"},
		{"what follows is shown too", `{"a":1} {"b":2}`, "\n  a: 1\n  (rest): {\"b\":2}\n"},
		{"a bare string", `"x"`, "\n  : x\n"},
		{"nothing", ``, "Call: water_bed\nYou said"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q.Args = tt.args
			got := replay.Show(&q)
			if !strings.HasPrefix(got, "Allow it?\nCall: water_bed\n") || !strings.Contains(got, tt.want) ||
				!strings.Contains(got, "\nYou said: “water it”\nWas read: almanac_page at step 2 “bed 9”\nIf you approve: ") {
				t.Errorf("got\n%s\nwant %q in it", got, tt.want)
			}
		})
	}
}

func FuzzShow(f *testing.F) {
	for _, s := range []string{``, `{}`, `{"a":[`, `{"a":"b","a":{"c":[1]}}`, strings.Repeat("[", 500), "\xff", `"x" y`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		if got := replay.Show(&engine.Question{Prompt: "p", Tool: "t", Args: args}); !strings.HasPrefix(got, "p\nCall: t") {
			t.Fatalf("got %q", got)
		}
	})
}
