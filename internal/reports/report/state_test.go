package report_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/report"
)

// busy is a log of some weeks: sessions that begin and end, answers that come late or never, opinions, rulings, and records that are
// written after newer ones of others.
func busy(t testing.TB, records int, days float64) *log {
	l := &log{t: t}
	r := rand.New(rand.NewPCG(7, 7))
	type open struct {
		session, id, rule string
		second            float64
	}
	var waiting []open
	for i := range records {
		second := float64(i)/float64(records)*days*86400 - r.Float64()*7200
		session, rule := fmt.Sprint("s", r.IntN(1+i/50)), fmt.Sprint("rules.r", r.IntN(6))
		switch r.IntN(8) {
		case 0, 1:
			waiting = append(waiting, open{session, l.ask(session, second, rule, "exec", "escalate"), rule, second})
		case 2, 3:
			if len(waiting) > 0 {
				q := waiting[len(waiting)-1]
				waiting = waiting[:len(waiting)-1]
				verdict := []string{"approve", "deny", "agree"}[r.IntN(3)]
				l.answer(q.session, q.second+r.Float64()*150, verdict, q.id)
				if verdict == "approve" && r.IntN(2) == 0 {
					l.spend(q.session, q.second+160, q.rule, "exec", q.id)
				}
			}
		case 4:
			l.decided(session, second, event.Decided{
				Tool: "web_fetch", Effect: "deny", Rule: rule, Ruling: &event.Ruling{By: "webhook", Failed: r.IntN(3) == 0},
				Opinion: &event.Opinion{Kind: "caution", Answer: "inconsistent", Source: "page", Settled: "block"},
			})
		case 5:
			l.add(session, second, event.Event{Kind: event.TurnBegan, Began: &event.Began{}})
		default:
			l.decided(session, second, event.Decided{
				Tool: "read", Effect: []string{"allow", "confine"}[r.IntN(2)], Rule: rule, Item: &event.Covering{ID: "m1", Giver: "contract"},
				Shadow: &event.Shadow{Effect: "deny", Rule: "candidate"},
			})
		}
	}
	return l
}

func windows() []report.Options {
	out := []report.Options{{}}
	for _, d := range []time.Duration{time.Hour, 26 * time.Hour, 9 * 24 * time.Hour, 19*24*time.Hour + 5*time.Hour, 20*24*time.Hour - time.Hour, 50 * 24 * time.Hour} {
		out = append(out, report.Options{Since: start.Add(d)})
	}
	return out
}

func same(t *testing.T, what string, want, got *report.Builder) {
	t.Helper()
	for _, w := range windows() {
		if diff := cmp.Diff(want.Report(w), got.Report(w), cmpopts.IgnoreUnexported(report.Row{})); diff != "" {
			t.Fatalf("%s, since %s (-want +got):\n%s", what, w.Since, diff)
		}
	}
}

// CAU-11: counts that are written down and taken up again, at whichever record, are those of a count without a break.
func TestCountsThatAreWrittenDownGoOn(t *testing.T) {
	l := busy(t, 4000, 20)
	whole, kept := report.New(), report.New()
	for i, r := range l.records {
		if err := whole.Add(r); err != nil {
			t.Fatal(err)
		}
		if err := kept.Add(r); err != nil {
			t.Fatal(err)
		}
		if i%97 != 0 {
			continue
		}
		raw, err := kept.State()
		if err != nil {
			t.Fatal(err)
		}
		if kept, err = report.Resume(raw); err != nil {
			t.Fatal(err)
		}
		if again, err := kept.State(); err != nil || string(again) != string(raw) {
			t.Fatalf("record %d: what was read is not what was written (%v)", i, err)
		}
	}
	same(t, "after all", whole, kept)
}

// CAU-11: a report of a window is the count of the records in it, made by hand.
func TestAReportOfAWindowIsACountOfItsRecords(t *testing.T) {
	l := busy(t, 4000, 20)
	b := report.New()
	for _, r := range l.records {
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range windows() {
		got := b.Report(w)
		since := w.Since.UTC().Truncate(time.Hour)
		if newest := l.records[len(l.records)-1].Time; w.Since.Before(time.Unix(0, newest).Add(-96 * time.Hour)) {
			since = since.Truncate(24 * time.Hour)
		}
		var calls, asked, denied, failed int
		for _, r := range l.records {
			e, err := event.FromRecord(r)
			if err != nil {
				t.Fatal(err)
			}
			if d := e.Decided; d != nil && (w.Since.IsZero() || !time.Unix(0, r.Time).Before(since)) {
				calls++
				if d.Ask != nil {
					asked++
				}
				if d.Effect == "deny" {
					denied++
				}
				if d.Ruling != nil && d.Ruling.Failed {
					failed++
				}
			}
		}
		rulings := 0
		for _, v := range got.Verifier {
			rulings += v.Failed
		}
		if tt := got.Totals; tt.Calls != calls || tt.Asked != asked || tt.Denied != denied || rulings != failed {
			t.Errorf("since %s: got %d calls, %d asked, %d denied, %d failed; want %d, %d, %d, %d",
				w.Since, tt.Calls, tt.Asked, tt.Denied, rulings, calls, asked, denied, failed)
		}
		if tt := got.Totals; tt.Asked != tt.Yes+tt.No+tt.Expired+tt.Pending {
			t.Errorf("since %s: the totals do not add up: %+v", w.Since, tt)
		}
	}
}

// What is kept does not grow with the log for ever: the oldest parts become one, and the sums stay.
func TestOldPartsBecomeOne(t *testing.T) {
	b := report.New()
	const days, each = 30, 2100
	var records []audit.Record
	for i := range each {
		d := event.Decided{Tool: "read", Effect: "allow", Rule: "r", Item: &event.Covering{ID: fmt.Sprint(i), Giver: "contract"}}
		e := event.Event{Kind: event.CallDecided, Decided: &d}
		r, err := e.Record("s")
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	for day := range days {
		for _, r := range records {
			r.Time, r.Session = start.Add(time.Duration(day)*24*time.Hour).UnixNano(), fmt.Sprint("day ", day)
			if err := b.Add(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	raw, err := b.State()
	if err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(string(raw), `"giver":"contract"`); rows > 52_000 {
		t.Errorf("%d rows are kept", rows)
	}
	if got := b.Report(report.Options{}); got.Totals.Calls != days*each || len(got.Items) != 2001 {
		t.Errorf("got %d calls and %d items", got.Totals.Calls, len(got.Items))
	}
}

func TestWhatNobodyWroteDownIsNotTakenUp(t *testing.T) {
	l := busy(t, 200, 2)
	b := report.New()
	for _, r := range l.records {
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := b.State()
	if err != nil {
		t.Fatal(err)
	}
	for old, wrong := range map[string]string{`"v":2`: `"v":3`, `"part":`: `"part":99`, `"row":`: `"row":99`, `"audit":-1`: `"audit":77`, `"floor"`: `"flour"`} {
		if bad := strings.Replace(string(raw), old, wrong, 1); bad == string(raw) {
			t.Errorf("%s is not in it", old)
		} else if _, err := report.Resume([]byte(bad)); err == nil {
			t.Errorf("%s was taken up", wrong)
		}
	}
	if _, err := report.Resume(raw[:len(raw)/2]); err == nil {
		t.Error("half of it was taken up")
	}
}

func FuzzResume(f *testing.F) {
	l := busy(f, 60, 2)
	b := report.New()
	for _, r := range l.records {
		if err := b.Add(r); err != nil {
			f.Fatal(err)
		}
	}
	raw, err := b.State()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := report.Resume(raw)
		if err != nil {
			return
		}
		for _, r := range l.records {
			if err := b.Add(audit.Record{Session: r.Session, Kind: r.Kind, Body: r.Body, Time: r.Time}); err != nil {
				t.Fatal(err)
			}
		}
		b.Report(report.Options{Since: start})
	})
}
