package torture_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/postgres"
	"github.com/tidemark/tidemark/internal/store/rows"
	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/trust"
)

// check asks a server what it knows of a session, and holds it against what was told before.
func (l *life) check(ctx context.Context, s *server) error {
	if l.records == 0 {
		return nil
	}
	var v struct {
		Records uint64 `json:"records"`
		Taint   struct {
			Level trust.Level `json:"level"`
		} `json:"taint"`
		Grants []struct {
			ID string `json:"id"`
		} `json:"grants"`
		Writes []struct {
			ID     string `json:"id"`
			Status string `json:"status"`
		} `json:"writes"`
	}
	err := s.call(ctx, http.MethodGet, "/v1/sessions/"+url.PathEscape(l.name), nil, &v)
	if refusedBy(err) {
		l.violated("it is gone, with %d acknowledged records", l.records)
		return nil
	}
	if err != nil {
		return err
	}
	if v.Records < l.records {
		l.violated("%d records, %d were acknowledged", v.Records, l.records)
	}
	if v.Taint.Level > l.level {
		l.violated("it is %s, and was acknowledged as %s", v.Taint.Level, l.level)
	}
	grants, writes := map[string]bool{}, map[string]string{}
	for _, g := range v.Grants {
		grants[g.ID] = true
	}
	for _, w := range v.Writes {
		writes[w.ID] = w.Status
	}
	for id, want := range l.grants {
		if grants[id] != want {
			l.violated("the grant %s: in force %t, acknowledged %t", id, grants[id], want)
		}
	}
	for id, want := range l.writes {
		if writes[id] != want {
			l.violated("the write %s is %q, acknowledged as %q", id, writes[id], want)
		}
	}
	if err := l.checkPeople(ctx, s); err != nil {
		return err
	}
	return l.checkLabels(ctx, s)
}

func (l *life) checkPeople(ctx context.Context, s *server) error {
	if len(l.people) == 0 {
		return nil
	}
	var page struct {
		People []struct {
			Name string `json:"name"`
		} `json:"people"`
	}
	if err := s.call(ctx, http.MethodGet, "/v1/people", nil, &page); err != nil {
		return err
	}
	found := map[string]bool{}
	for _, p := range page.People {
		found[p.Name] = true
	}
	for name, want := range l.people {
		if found[name] != want {
			l.violated("%s has a token: %t, acknowledged %t", name, found[name], want)
		}
	}
	return nil
}

func (l *life) checkLabels(ctx context.Context, s *server) error {
	if len(l.labels) == 0 {
		return nil
	}
	var page struct {
		Labels []struct {
			Key string `json:"key"`
		} `json:"labels"`
	}
	if err := s.call(ctx, http.MethodGet, "/v1/labels?limit=1000&prefix="+url.QueryEscape("file:work/"+l.name+"-"), nil, &page); err != nil {
		return err
	}
	found := map[string]bool{}
	for _, row := range page.Labels {
		found[row.Key] = true
	}
	for key, want := range l.labels {
		if found[key] != want {
			l.violated("the label %s: there %t, acknowledged %t", key, found[key], want)
		}
	}
	return nil
}

// ledger is what a look at the whole log found.
type ledger struct {
	kinds   map[event.Kind]int
	spent   map[string]int      // approvals by how often they were
	calls   map[string][]string // by call id, what was decided
	results map[string]bool
	after   int64 // the last record that was read
}

func newLedger() *ledger {
	return &ledger{kinds: map[event.Kind]int{}, spent: map[string]int{}, calls: map[string][]string{}, results: map[string]bool{}}
}

// openLog opens the log of a house for reading, beside its server.
func (h *house) openLog(ctx context.Context) (*rows.Reader, error) {
	if h.store != "" {
		r, err := postgres.OpenReadOnly(ctx, h.store)
		if err != nil {
			return nil, err
		}
		return r.Reader, nil
	}
	r, err := sqlite.OpenReadOnly(ctx, h.data+"/tidemark.db")
	if err != nil {
		return nil, err
	}
	return r.Reader, nil
}

// read reads what is new in the log.
func (g *ledger) read(ctx context.Context, log *rows.Reader) error {
	for {
		page, err := log.Since(ctx, store.EntryQuery{After: g.after, Limit: store.MaxLimit})
		if err != nil || len(page) == 0 {
			return err
		}
		for _, rec := range page {
			g.after = rec.ID
			e, err := event.FromRecord(rec.Record)
			if err != nil {
				return err
			}
			g.note(&e)
		}
	}
}

func (g *ledger) note(e *event.Event) {
	g.kinds[e.Kind]++
	switch {
	case e.Kind == event.CallDecided:
		d := e.Decided
		g.calls[d.CallID] = append(g.calls[d.CallID], d.Effect)
		if d.Effect == "allow" && strings.HasPrefix(d.Spent, "ask-") {
			g.spent[d.Spent]++
		}
	case e.Kind == event.ResultSeen:
		g.results[e.Seen.CallID] = true
	}
}

// holds looks for everything in the log that clients were told, and for what must not be there.
func (g *ledger) holds(lives []*life, f *faults) {
	for id, n := range g.spent {
		if n > 1 {
			f.add("the approval %s was spent %d times", id, n)
		}
	}
	for _, l := range lives {
		for id, told := range l.told {
			switch got := g.calls[id]; {
			case told == "result":
				if !g.results[id] {
					f.add("the result %s was acknowledged and is not in the log", id)
				}
			case len(got) == 0:
				f.add("the verdict on %s was acknowledged as %s and is not in the log", id, told)
			case got[len(got)-1] != told:
				f.add("the verdict on %s was acknowledged as %s, the log says %v", id, told, got)
			}
		}
		clear(l.told) // found once, they are covered by the head that is looked for later
	}
}

// verify checks every chain, and that every head that was noted before is still there.
func verify(ctx context.Context, log *rows.Reader, heads []store.Head, f *faults) error {
	report, err := log.Verify(ctx, nil)
	if err != nil {
		return err
	}
	for _, b := range report.Breaks {
		f.add("the log is broken: %v", b)
	}
	for _, h := range heads {
		if at, err := log.HeadAt(ctx, h.Batch); err != nil || at != h {
			f.add("the head %d:%s that was noted is not in the ledger (%v)", h.Batch, h.Hash, err)
		}
	}
	return nil
}
