package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
)

// Asker is a store that knows where questions were asked.
type Asker interface {
	Asking(ctx context.Context, now int64) ([]string, error)
	Asked(ctx context.Context, id string) (session string, err error)
}

// asks checks that questions are found, by a store that finds them.
func asks(t *testing.T, s Store) {
	a, ok := s.(Asker)
	if !ok {
		return
	}
	ask := func(session string, at uint64, id string, minutes int64) {
		e := Event("turn", 1)
		e.Decided.Ask = &event.Ask{ID: id, Expires: e.Time + minutes*60e9}
		mustAppend(t, s, session, at, []*event.Event{Event("turn", 0), e})
	}
	ask("a", 0, "ask-1", 5)
	ask("b", 0, "ask-2", 10)
	ask("a", 2, "ask-3", 20)
	mustAppend(t, s, "c", 0, Events("turn", 0, 3))
	if err := s.Append(t.Context(), "a", 0, Events("turn", 0, 1)); !errors.Is(err, engine.ErrConflict) {
		t.Errorf("got %v, want a conflict", err)
	}
	start := Event("turn", 1).Time
	for minutes, want := range map[int64][]string{0: {"a", "b"}, 7: {"a", "b"}, 12: {"a"}, 20: nil} {
		got, err := a.Asking(t.Context(), start+minutes*60e9)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("after %d minutes: error %v (-want +got):\n%s", minutes, err, diff)
		}
	}
	for id, want := range map[string]string{"ask-1": "a", "ask-2": "b", "ask-3": "a"} {
		if got, err := a.Asked(t.Context(), id); got != want || err != nil {
			t.Errorf("question %s: got session %q and error %v, want %q", id, got, err, want)
		}
	}
	for _, id := range []string{"", "ask-9", "a\x00b", "\xff"} {
		if got, err := a.Asked(t.Context(), id); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("question %q: got session %q and error %v, want not found", id, got, err)
		}
	}
}
