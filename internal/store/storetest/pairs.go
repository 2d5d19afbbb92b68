package storetest

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/standing"
	"github.com/tidemark/tidemark/internal/store/retention"
)

// prunedPairs checks that which values names stand for is the same for servers that share a log, and for one that starts later; that
// it ends when somebody takes it back, when what is old is pruned, and when a person is forgotten; and that others keep theirs.
func prunedPairs(t *testing.T, s Store) {
	at := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	names := func() *standing.Names { return standing.NewNames(s, "tidemark:pairs", true) }
	one, two := names(), names()
	give := func(l *standing.Names, person, id, name string) {
		t.Helper()
		p := event.Pair{ID: id, Person: person, Name: name, Said: name, Value: "acct-" + id, Deed: "pay", Path: "account"}
		if err := l.Give(t.Context(), at.UnixNano(), p, &event.Answer{By: person, Via: "http"}); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(when string, now time.Time, want int, people ...string) {
		t.Helper()
		for name, l := range map[string]*standing.Names{"the one": one, "the other": two, "a third": names()} {
			got := 0
			for _, person := range people {
				list, err := l.Of(t.Context(), person, now.UnixNano())
				if err != nil {
					t.Fatal(err)
				}
				got += len(list)
			}
			if got != want {
				t.Errorf("%s: %s knows %d pairs, want %d", when, name, got, want)
			}
		}
	}
	give(one, "chat:ilse", "pair-1", "sailmaker")
	give(two, "chat:ilse", "pair-2", "rigger")
	give(two, "chat:tor", "pair-3", "sailmaker")
	wants("given", at, 2, "chat:ilse")
	wants("given", at, 1, "chat:tor")
	wants("somebody else", at, 0, "chat:ils", "agent:")
	if err := two.End(t.Context(), at.UnixNano(), "pair-2", &event.Answer{By: "ilse"}); err != nil {
		t.Fatal(err)
	}
	wants("taken back", at, 1, "chat:ilse")
	prune := func(now time.Time, r retention.Request) {
		t.Helper()
		r.Now, r.By = now, "the clock"
		if _, err := retention.Prune(t.Context(), s.(retention.Log), r); err != nil {
			t.Fatal(err)
		}
	}
	later := at.Add(2 * time.Minute)
	prune(later, retention.Request{Person: "chat:ilse", Why: "they asked for it"})
	wants("forgotten", later, 0, "chat:ilse")
	wants("forgotten", later, 1, "chat:tor")
	month := at.AddDate(0, 1, 0)
	prune(month, retention.Request{Limits: retention.Limits{event.PruneArguments: {Age: 24 * time.Hour}}})
	wants("too old", month.Add(time.Minute), 0, "chat:tor")
	report, err := s.Verify(t.Context(), nil)
	if err != nil || len(report.Breaks) > 0 {
		t.Errorf("the log is not whole: %v %v", report.Breaks, err)
	}
}
