package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/report"
)

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// log is a hand-made log: each event is written at the second given.
type log struct {
	t       testing.TB
	records []audit.Record
	asks    int
}

func (l *log) add(session string, second float64, e event.Event) {
	l.t.Helper()
	e.Time = start.Add(time.Duration(second * float64(time.Second))).UnixNano()
	r, err := e.Record(session)
	if err != nil {
		l.t.Fatal(err)
	}
	l.records = append(l.records, r)
}

func at(second float64) int64 {
	return start.Add(time.Duration(second * float64(time.Second))).UnixNano()
}

func (l *log) decided(session string, second float64, d event.Decided) {
	l.t.Helper()
	l.add(session, second, event.Event{Kind: event.CallDecided, Decided: &d})
}

// ask holds a call with a question that expires after two minutes.
func (l *log) ask(session string, second float64, rule, tool, kind string) string {
	l.t.Helper()
	l.asks++
	id := fmt.Sprintf("ask-%d", l.asks)
	l.decided(session, second, event.Decided{Tool: tool, Effect: "confirm", Rule: rule, Kind: kind, Ask: &event.Ask{ID: id, Expires: at(second + 120)}})
	return id
}

func (l *log) answer(session string, second float64, verdict string, ids ...string) {
	l.t.Helper()
	l.add(session, second, event.Event{Kind: event.Answered, Answer: &event.Answer{By: "owner", IDs: ids, Verdict: verdict, Until: at(second + 600)}})
}

func (l *log) spend(session string, second float64, rule, tool, id string) {
	l.t.Helper()
	l.decided(session, second, event.Decided{Tool: tool, Effect: "allow", Rule: rule, Spent: id})
}

func (l *log) report(o report.Options) report.Report {
	l.t.Helper()
	b := report.New()
	for _, r := range l.records {
		if err := b.Add(r); err != nil {
			l.t.Fatal(err)
		}
	}
	first := b.Report(o)
	if diff := cmp.Diff(first, b.Report(o), cmpopts.IgnoreUnexported(report.Row{})); diff != "" {
		l.t.Errorf("asking twice gives another report:\n%s", diff)
	}
	return first
}

// row finds the row of a rule.
func row(t *testing.T, r report.Report, rule string) report.Row {
	t.Helper()
	for _, q := range r.Questions {
		if q.Rule == rule {
			return q
		}
	}
	t.Fatalf("no row for %s in %v", rule, r.Questions)
	return report.Row{}
}

// CAU-11
func TestQuestionsAreCountedByWhatBecameOfThem(t *testing.T) {
	l := &log{t: t}
	yes := l.ask("s", 0, "rules.r", "exec", "escalate")
	l.decided("s", 1, event.Decided{Tool: "exec", Effect: "confirm", Rule: "rules.r", Kind: "escalate"}) // tried again
	l.answer("s", 10, "approve", yes)
	l.spend("s", 11, "rules.r", "exec", yes)
	no := l.ask("s", 20, "rules.r", "exec", "escalate")
	l.answer("s", 40, "deny", no)
	l.ask("s", 100, "rules.r", "exec", "escalate") // expires at 220
	unused := l.ask("s", 300, "rules.r", "exec", "escalate")
	l.answer("s", 330, "approve", unused) // lapses at 930
	old := l.ask("s", 1000, "rules.r", "exec", "escalate")
	l.decided("s", 1010, event.Decided{Tool: "exec", Effect: "confirm", Rule: "rules.r", Kind: "escalate", Ask: &event.Ask{ID: "ask-new", Expires: at(1130), Replaces: old}})
	l.answer("s", 1040, "deny", "ask-new", "ask-unknown")
	l.ask("s", 2000, "rules.r", "exec", "escalate") // open
	l.ask("other", 50, "rules.r", "exec", "escalate")
	l.decided("s", 2001, event.Decided{Tool: "exec", Effect: "deny", Rule: "rules.r", Kind: "escalate"})
	l.decided("s", 2002, event.Decided{Tool: "read", Effect: "allow", Rule: "taintPolicy.owner"})

	got := l.report(report.Options{})
	want := report.Row{
		Rule: "rules.r", Tool: "exec", Kind: "escalate", Held: 9, Denied: 1, Asked: 7, Yes: 2, No: 2, Expired: 2, Pending: 1, Unused: 1,
		YesShare: 0.5, MedianMs: 25_000, P90Ms: 40_000,
	}
	if diff := cmp.Diff([]report.Row{want}, got.Questions, cmpopts.IgnoreUnexported(report.Row{})); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
	totals := report.Totals{Calls: 12, Allowed: 2, Held: 9, Denied: 1, ByApproval: 1, Asked: 7, Yes: 2, No: 2, Expired: 2, Pending: 1}
	if diff := cmp.Diff(totals, got.Totals); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
}

// CAU-11
func TestALetThroughCallIsCountedByWhoLetItThrough(t *testing.T) {
	l := &log{t: t}
	id := l.ask("s", 0, "r", "exec", "escalate")
	l.add("s", 1, event.Event{Kind: event.Answered, Answer: &event.Answer{IDs: []string{id}, Verdict: "approve", Grant: &event.Grant{ID: "grant-1"}}})
	l.spend("s", 2, "r", "exec", "grant-1")
	l.spend("s", 3, "r", "exec", "grant-1")
	l.add("s", 4, event.Event{Kind: event.TryFailed, Answer: &event.Answer{By: "owner"}})
	l.add("s", 5, event.Event{Kind: event.GrantRevoked, Answer: &event.Answer{IDs: []string{"grant-1"}}})
	opinion := event.Opinion{Kind: "caution", Answer: "consistent", Source: "web_fetch", Settled: "allow", Cached: true}
	l.decided("s", 6, event.Decided{Tool: "write", Effect: "allow", Rule: "x", Opinion: &opinion, Ruling: &event.Ruling{Allow: true, By: "webhook", Cached: true}})
	l.decided("s", 7, event.Decided{Tool: "write", Effect: "deny", Rule: "verifier.failMode", Opinion: &opinion, Ruling: &event.Ruling{By: "failMode", Failed: true}})

	got := l.report(report.Options{})
	want := report.Totals{
		Calls: 5, Allowed: 3, Held: 1, Denied: 1, ByGrant: 2, ByAuditor: 1, ByVerifier: 1,
		Asked: 1, Yes: 1, WrongCodes: 1, Grants: 1, Revoked: 1,
	}
	if diff := cmp.Diff(want, got.Totals); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]report.VerifierRow{{By: "failMode", Denied: 1, Failed: 1}, {By: "webhook", Allowed: 1, Cached: 1}}, got.Verifier); diff != "" {
		t.Errorf("verifier (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]report.AuditRow{{Source: "web_fetch", Tool: "write", Asked: 2, Consistent: 2, Cached: 2}}, got.Auditor); diff != "" {
		t.Errorf("auditor (-want +got):\n%s", diff)
	}
}

// CAU-11
func TestWhatTheAuditorBlockedAndAPersonApprovedIsOverridden(t *testing.T) {
	l := &log{t: t}
	block := func(second float64, answer, failed string) string {
		l.asks++
		id := fmt.Sprintf("ask-%d", l.asks)
		d := event.Decided{
			Tool: "message", Effect: "confirm", Rule: "caution.web_fetch", Kind: "intent-block", Ask: &event.Ask{ID: id, Expires: at(second + 120)},
			Opinion: &event.Opinion{Kind: "caution", Answer: answer, Source: "web_fetch", Failed: failed, Settled: "block"},
		}
		l.decided("s", second, d)
		d.Ask = nil
		l.decided("s", second+1, d) // tried again, with the same opinion
		return id
	}
	l.answer("s", 5, "approve", block(0, "inconsistent", ""))
	l.answer("s", 15, "deny", block(10, "inconsistent", ""))
	l.answer("s", 25, "approve", block(20, "unsure", ""))
	l.answer("s", 35, "approve", block(30, "unsure", "timeout"))
	want := []report.AuditRow{{Source: "web_fetch", Tool: "message", Asked: 4, Inconsistent: 2, Unsure: 1, Failed: 1, Blocked: 3, Overridden: 2}}
	if diff := cmp.Diff(want, l.report(report.Options{}).Auditor); diff != "" {
		t.Errorf("auditor (-want +got):\n%s", diff)
	}
}

func TestOnlyRecordsOfTheTimeAskedForCount(t *testing.T) {
	l := &log{t: t}
	for hour := range 10 {
		l.ask("s", float64(hour*3600), "r", "exec", "escalate")
	}
	got := l.report(report.Options{Since: start.Add(4*time.Hour + 10*time.Minute)})
	if r := row(t, got, "r"); r.Asked != 6 || r.Expired != 5 || r.Pending != 1 {
		t.Errorf("got %d asked, %d expired, %d open; want 6, 5, 1", r.Asked, r.Expired, r.Pending)
	}
	if want := start.Add(4 * time.Hour); !got.From.Equal(want) {
		t.Errorf("from: got %s, want %s", got.From, want)
	}
	if got := (&log{t: t}).report(report.Options{}); !got.From.IsZero() || got.Questions == nil || got.Suggestions == nil {
		t.Errorf("of no records: got %+v, want empty lists", got)
	}
}

// An answer may stand later in the log than a newer record of another session.
func TestSessionsMayComeOneAfterAnother(t *testing.T) {
	l := &log{t: t}
	l.ask("b", 5000, "r", "exec", "escalate")
	id := l.ask("a", 0, "r", "exec", "escalate")
	l.answer("a", 60, "approve", id)
	if r := row(t, l.report(report.Options{}), "r"); r.Yes != 1 || r.Expired != 0 || r.Pending != 1 {
		t.Errorf("got %+v, want one yes and one open", r)
	}
}

func TestWhatCannotBeReadIsAnErrorAndOtherKindsAreNotRead(t *testing.T) {
	b := report.New()
	for range 2 {
		if err := b.Add(audit.Record{Kind: "call.decided", Body: []byte("{"), Session: "s", Seq: 3}); err == nil || !strings.Contains(err.Error(), `record 3 of session "s"`) {
			t.Errorf("half a record: got %v", err)
		}
		if err := b.Add(audit.Record{Kind: "call.decided", Body: []byte(`{"decided":{"tool":"x","effect":"maybe"}}`)}); err == nil {
			t.Error("an unknown effect: got no error")
		}
		for _, kind := range []string{"result.seen", "turn.began", "of.tomorrow"} {
			if err := b.Add(audit.Record{Kind: kind, Body: []byte("{")}); err != nil {
				t.Errorf("%s: got %v, want it left alone", kind, err)
			}
		}
	}
	if got := b.Report(report.Options{}).Totals; got != (report.Totals{}) {
		t.Errorf("got %+v, want nothing counted", got)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	l := &log{t: t}
	b := report.New()
	for i := range 3000 {
		l.records = l.records[:0]
		l.ask("s", 0, fmt.Sprintf("rule-%d", i), "exec", "escalate")
		if err := b.Add(l.records[0]); err != nil {
			t.Fatal(err)
		}
	}
	got := b.Report(report.Options{})
	if len(got.Questions) != 2001 || got.Questions[0].Rule != "(others)" || got.Questions[0].Asked != 1000 {
		t.Errorf("got %d rows, the first of %s asked %d times; want 2001 and 1000 others", len(got.Questions), got.Questions[0].Rule, got.Questions[0].Asked)
	}
}

// Sessions that end with a question nobody answered are not kept for ever.
func TestOpenQuestionsAreBounded(t *testing.T) {
	l := &log{t: t}
	l.ask("s", 0, "r", "exec", "escalate")
	b := report.New()
	const many = 22_000
	for i := range many {
		r := l.records[0]
		r.Session = fmt.Sprint(i)
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.Report(report.Options{}).Totals; got.Asked != many || got.Expired != 10_000 || got.Pending != many-10_000 {
		t.Errorf("got %+v, want half of the first 20000 counted as expired", got)
	}
}

// Twelve thousand answers are more than a sample keeps and more than there are
// streaks; the numbers stay the same each time.
func TestALongLogGivesTheSameNumbersEachTime(t *testing.T) {
	read := func() report.Report {
		l := &log{t: t}
		b := report.New()
		for i := range 12_000 {
			l.records = l.records[:0]
			session := fmt.Sprintf("s%d", i)
			id := l.ask(session, 0, "r", "exec", "escalate")
			l.answer(session, float64(i%100)+0.5, "approve", id)
			for _, r := range l.records {
				if err := b.Add(r); err != nil {
					t.Fatal(err)
				}
			}
		}
		return b.Report(report.Options{})
	}
	first := read()
	r := row(t, first, "r")
	if r.Yes != 12_000 || r.MedianMs < 45_000 || r.MedianMs > 55_000 || r.P90Ms < 85_000 || r.P90Ms > 95_000 {
		t.Errorf("got %+v, want a median near 50 s and a p90 near 90 s", r)
	}
	if diff := cmp.Diff(first, read(), cmpopts.IgnoreUnexported(report.Row{})); diff != "" {
		t.Errorf("the second time (-first +second):\n%s", diff)
	}
}

// CAU-11
func TestTotalsAddUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := &log{t: t}
		var open []string
		second := 0.0
		for range rapid.IntRange(0, 60).Draw(rt, "events") {
			second += rapid.Float64Range(0, 60).Draw(rt, "later")
			session := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "session")
			rule := rapid.SampledFrom([]string{"r1", "r2"}).Draw(rt, "rule")
			switch rapid.IntRange(0, 4).Draw(rt, "what") {
			case 0:
				open = append(open, l.ask(session, second, rule, "exec", "escalate"))
			case 1:
				l.decided(session, second, event.Decided{Tool: "exec", Effect: rapid.SampledFrom([]string{"allow", "deny", "confirm"}).Draw(rt, "effect"), Rule: rule})
			default:
				if len(open) > 0 {
					id := rapid.SampledFrom(open).Draw(rt, "id")
					l.answer(session, second, rapid.SampledFrom([]string{"approve", "deny"}).Draw(rt, "verdict"), id)
					l.spend(session, second, rule, "exec", id)
				}
			}
		}
		got := l.report(report.Options{})
		sum := report.Totals{}
		for _, r := range got.Questions {
			if r.Asked != r.Yes+r.No+r.Expired+r.Pending || r.Unused > r.Yes {
				rt.Fatalf("a row does not add up: %+v", r)
			}
			sum.Held, sum.Denied, sum.Asked, sum.Yes, sum.No = sum.Held+r.Held, sum.Denied+r.Denied, sum.Asked+r.Asked, sum.Yes+r.Yes, sum.No+r.No
			sum.Expired, sum.Pending = sum.Expired+r.Expired, sum.Pending+r.Pending
		}
		tt := got.Totals
		if tt.Calls != tt.Allowed+tt.Held+tt.Denied || tt.Asked != tt.Yes+tt.No+tt.Expired+tt.Pending {
			rt.Fatalf("the totals do not add up: %+v", tt)
		}
		if tt.Held != sum.Held || tt.Denied != sum.Denied || tt.Asked != sum.Asked || tt.Yes != sum.Yes || tt.No != sum.No || tt.Expired != sum.Expired || tt.Pending != sum.Pending {
			rt.Fatalf("the rows are not the totals: %+v and %+v", sum, tt)
		}
		if _, err := strictjson.Marshal(got); err != nil {
			rt.Fatalf("encode: %v", err)
		}
	})
}

func FuzzAdd(f *testing.F) {
	l := &log{t: f}
	l.answer("s", 1, "approve", l.ask("s", 0, "r", "exec", "escalate"))
	for _, r := range l.records {
		f.Add(r.Kind, r.Body, r.Time)
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte, when int64) {
		b := report.New()
		_ = b.Add(audit.Record{Session: "s", Kind: kind, Body: body, Time: when})
		r := b.Report(report.Options{})
		if err := r.Render(&strings.Builder{}, 80, true); err != nil {
			t.Fatalf("render: %v", err)
		}
	})
}
