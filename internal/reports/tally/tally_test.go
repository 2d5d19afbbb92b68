package tally_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/internal/reports/tally"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/postgres"
	"github.com/tidemark/tidemark/internal/store/retention"
	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/internal/test/pgtest"
)

var cluster *pgtest.Cluster

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m, func(c *pgtest.Cluster) { cluster = c })) }

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// kept is a log that is kept.
type kept interface {
	tally.Log
	retention.Log
	Append(ctx context.Context, session string, at uint64, events []*event.Event) error
}

// both are the logs that ship: a file, and a database that other servers write too.
func both(t *testing.T, test func(t *testing.T, log kept)) {
	t.Run("sqlite", func(t *testing.T) {
		log, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = log.Close() })
		test(t, log)
	})
	t.Run("postgres", func(t *testing.T) {
		log, err := postgres.Open(t.Context(), cluster.New(t), postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = log.Close() })
		test(t, log)
	})
}

// counting counts how many records are read.
type counting struct {
	tally.Log
	read int
}

func (c *counting) Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error) {
	page, err := c.Log.Since(ctx, q)
	c.read += len(page)
	return page, err
}

// work is a session with a question that is answered, a call that a verifier refused, and one that ran.
func work(t *testing.T, log kept, n int) {
	t.Helper()
	at := start.Add(time.Duration(n) * time.Hour)
	id, name := fmt.Sprint("ask-", n), fmt.Sprint("s", n)
	events := []*event.Event{
		{Kind: event.CallDecided, Decided: &event.Decided{Tool: "exec", Effect: "confirm", Rule: "rules.r", Ask: &event.Ask{ID: id, Expires: at.Add(time.Hour).UnixNano()}}},
		{Kind: event.Answered, Answer: &event.Answer{By: "owner", IDs: []string{id}, Verdict: "approve", Until: at.Add(time.Hour).UnixNano()}},
		{Kind: event.CallDecided, Decided: &event.Decided{Tool: "exec", Effect: "allow", Rule: "rules.r", Spent: id}},
		{Kind: event.CallDecided, Decided: &event.Decided{Tool: "post", Effect: "deny", Rule: "verifier", Ruling: &event.Ruling{By: "webhook"}}},
	}
	for i, e := range events {
		e.Time = at.Add(time.Duration(i) * time.Second).UnixNano()
	}
	if err := log.Append(t.Context(), name, 0, events); err != nil {
		t.Fatal(err)
	}
}

// whole counts the log as it is, all of it.
func whole(t *testing.T, log tally.Log, o report.Options) report.Report {
	t.Helper()
	b := report.New()
	q := store.EntryQuery{Limit: store.MaxLimit}
	for {
		page, err := log.Since(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			if q.After = e.ID; b.Add(e.Record) != nil {
				t.Fatal("a record cannot be read")
			}
		}
		if len(page) == 0 {
			return b.Report(o)
		}
	}
}

func equal(t *testing.T, log tally.Log, counts *tally.Tally) report.Report {
	t.Helper()
	var got report.Report
	for _, o := range []report.Options{{Since: start.Add(30 * time.Hour)}, {}} {
		var err error
		if got, err = counts.Report(t.Context(), o, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole(t, log, o), got, cmpopts.IgnoreUnexported(report.Row{})); diff != "" {
			t.Fatalf("since %s (-the whole log +counts):\n%s", o.Since, diff)
		}
	}
	return got
}

// CAU-11: a report is that of the whole log and reads what is new alone: after a restart, after what others wrote, and after a kill that
// left an older file.
func TestAReportReadsWhatIsNew(t *testing.T) {
	both(t, func(t *testing.T, log kept) {
		path, key := filepath.Join(t.TempDir(), "counts"), []byte("key")
		for i := range 60 {
			work(t, log, i)
		}
		first := tally.New(log, path, key)
		equal(t, log, first)
		if err := first.Save(t.Context()); err != nil {
			t.Fatal(err)
		}
		work(t, log, 60)
		equal(t, log, first) // and is killed: it never writes that down
		work(t, log, 61)

		c := &counting{Log: log}
		if got := equal(t, log, tally.New(c, path, key)); got.Totals.Asked != 62 || got.Verifier[0].Denied != 62 {
			t.Errorf("got %+v", got.Totals)
		}
		if c.read > 20 {
			t.Errorf("%d records were read again", c.read)
		}
		for what, other := range map[string]*tally.Tally{"another key": tally.New(c, path, []byte("kez")), "no file": tally.New(c, path+"x", key)} {
			c.read = 0
			if equal(t, log, other); c.read < 200 {
				t.Errorf("%s: %d records were read, so a file was believed that nobody here wrote", what, c.read)
			}
		}
	})
}

// CAU-11: what was taken out of the log is in no report after that.
func TestAReportForgetsWhatWasPruned(t *testing.T) {
	both(t, func(t *testing.T, log kept) {
		path, key := filepath.Join(t.TempDir(), "counts"), []byte("key")
		for i := range 40 {
			work(t, log, i)
		}
		counts := tally.New(log, path, key)
		if got := equal(t, log, counts); got.Verifier[0].Denied != 40 {
			t.Fatalf("got %+v", got.Verifier)
		}
		out, err := retention.Prune(t.Context(), log, retention.Request{
			Limits: map[string]retention.Limit{event.PruneEvents: {Age: 20 * time.Hour}}, Now: start.Add(40 * time.Hour), By: "t",
		})
		if err != nil || out.Records == 0 {
			t.Fatal(out, err)
		}
		if got := equal(t, log, counts); got.Verifier[0].Denied >= 40 || got.Totals.Asked != 40 {
			t.Errorf("got %+v and %+v", got.Verifier, got.Totals)
		}
		if err := counts.Save(t.Context()); err != nil {
			t.Fatal(err)
		}
		c := &counting{Log: log}
		if equal(t, log, tally.New(c, path, key)); c.read > 5 {
			t.Errorf("%d records were read again: that something was pruned is not known to be counted", c.read)
		}
	})
}

// A file that is damaged, or of another log, is none.
func TestCountsOfAnotherLogAreNone(t *testing.T) {
	open := func() kept {
		log, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = log.Close() })
		return log
	}
	path, key := filepath.Join(t.TempDir(), "counts"), []byte("key")
	one, two := open(), open()
	for i := range 20 {
		work(t, one, i)
		work(t, two, 100+i)
	}
	counts := tally.New(one, path, key)
	equal(t, one, counts)
	if err := counts.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, two, tally.New(two, path, key))
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(raw); i += 41 {
		raw[i] ^= 1
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		raw[i] ^= 1
		c := &counting{Log: one}
		if _, err := tally.New(c, path, key).Report(t.Context(), report.Options{}, nil); err != nil || c.read < 80 {
			t.Fatalf("byte %d is another and the file was believed (%d records read, %v)", i, c.read, err)
		}
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v (%v)", info.Mode(), err)
	}
}

// A record that cannot be read is named, each time, and nothing is counted twice for it.
func TestARecordThatCannotBeReadIsNamed(t *testing.T) {
	log, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	for i := range 3 {
		work(t, log, i)
	}
	broken := &breaking{Log: log, at: 7}
	counts := tally.New(broken, "", nil)
	for range 2 {
		var named *tally.UnreadableError
		if _, err := counts.Report(t.Context(), report.Options{}, nil); !errors.As(err, &named) || named.ID != 7 {
			t.Fatalf("got %v", err)
		}
	}
	broken.at = 0
	if got := equal(t, log, counts); got.Totals.Calls != 9 {
		t.Errorf("got %+v", got.Totals)
	}
}

// breaking is a log one of whose records is not as it was.
type breaking struct {
	tally.Log
	at int64
}

func (b *breaking) Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error) {
	page, err := b.Log.Since(ctx, q)
	for i := range page {
		if page[i].ID == b.at {
			page[i].Record = audit.Record{Session: page[i].Session, Seq: page[i].Seq, Kind: string(event.CallDecided), Body: []byte("{")}
		}
	}
	return page, err
}
