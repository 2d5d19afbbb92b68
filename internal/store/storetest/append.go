package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
	"pgregory.net/rapid"
)

func appendAndLoad(t *testing.T, s engine.Store) {
	want := map[string][]*event.Event{}
	for i, session := range []string{"a", "b", "a", "agent:main:ünïcode/../x?y#z%", "b", "a"} {
		events := Events("turn", 10*i, 1+i)
		mustAppend(t, s, session, uint64(len(want[session])), events)
		want[session] = append(want[session], events...)
	}
	for session, events := range want {
		wantSession(t, s, session, events)
	}
	large := Event("turn", 1)
	large.Decided.Reason = strings.Repeat("x", 3<<20)
	mustAppend(t, s, "large", 0, []*event.Event{large, Event("turn", 2), large})
	wantSession(t, s, "large", []*event.Event{large, Event("turn", 2), large})
	many := Events("turn", 0, 1000) // more than fits one page or one batch
	mustAppend(t, s, "many", 0, many)
	wantSession(t, s, "many", many)
	wantLog(t, s)
}

func emptyLog(t *testing.T, s Store) {
	ctx := t.Context()
	wantSession(t, s, "nobody", []*event.Event{})
	mustAppend(t, s, "nobody", 0, nil)
	if got, err := s.Sessions(ctx, store.SessionQuery{}); err != nil || len(got) != 0 {
		t.Errorf("sessions: got %v and error %v, want none", got, err)
	}
	if got, err := s.Since(ctx, store.EntryQuery{}); err != nil || len(got) != 0 {
		t.Errorf("since: got %v and error %v, want none", got, err)
	}
	if got, err := s.Head(ctx); err != nil || got != (store.Head{}) {
		t.Errorf("head: got %v and error %v, want the zero head", got, err)
	}
	if got, err := s.Stats(ctx); err != nil || got.Records != 0 || got.Sessions != 0 {
		t.Errorf("stats: got %+v and error %v, want no records", got, err)
	}
	if err := s.Ping(ctx); err != nil {
		t.Errorf("ping: %v", err)
	}
	if got := wantWhole(t, s); got.Head != (store.Head{}) || got.Records != 0 {
		t.Errorf("verify: got %+v, want an empty report", got)
	}
}

func conflict(t *testing.T, s engine.Store) {
	for _, at := range []uint64{1, 7} {
		if err := s.Append(t.Context(), "new", at, Events("turn", 0, 1)); !errors.Is(err, engine.ErrConflict) {
			t.Errorf("append to a new session at %d: got %v, want a conflict", at, err)
		}
	}
	events := Events("turn", 0, 3)
	mustAppend(t, s, "s", 0, events)
	before := state(t, s, "s")
	for _, at := range []uint64{0, 1, 2, 4, 1 << 63} {
		err := s.Append(t.Context(), "s", at, Events("turn", 9, 2))
		if !errors.Is(err, engine.ErrConflict) || errors.Is(err, engine.ErrUnavailable) {
			t.Errorf("append at %d: got %v, want a conflict and nothing else", at, err)
		}
	}
	if diff := cmp.Diff(before, state(t, s, "s")); diff != "" {
		t.Errorf("conflicts changed the log (-before +after):\n%s", diff)
	}
	mustAppend(t, s, "s", 3, Events("turn", 3, 1))
	wantSession(t, s, "s", append(events, Event("turn", 3)))
	wantSession(t, s, "new", []*event.Event{})
}

// state is what a log holds of a session, and all it says about its size where it does.
func state(t *testing.T, s engine.Store, session string) []any {
	t.Helper()
	out := []any{collect(t, s.Load(t.Context(), session, 0))}
	full, ok := s.(Store)
	if !ok {
		return out
	}
	head, err := full.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := full.Sessions(t.Context(), store.SessionQuery{})
	if err != nil {
		t.Fatal(err)
	}
	return append(out, head, sessions)
}

func failedStep(t *testing.T, s engine.Store) {
	mustAppend(t, s, "s", 0, Events("turn", 0, 2))
	before := state(t, s, "s")
	bad := Event("turn", 3)
	bad.Turn = "\xff is not text"
	for name, step := range map[string]func() error{
		"an event that cannot be encoded": func() error {
			return s.Append(t.Context(), "s", 2, []*event.Event{Event("turn", 2), bad})
		},
		"a session without a name":    func() error { return s.Append(t.Context(), "", 0, Events("turn", 0, 1)) },
		"a name that is not text":     func() error { return s.Append(t.Context(), "a\xffb", 0, Events("turn", 0, 1)) },
		"a name with a zero byte":     func() error { return s.Append(t.Context(), "a\x00b", 0, Events("turn", 0, 1)) },
		"a name that is far too long": func() error { return s.Append(t.Context(), strings.Repeat("a", 5000), 0, Events("turn", 0, 1)) },
	} {
		if err := step(); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	if up, ok := s.(Upkeep); ok && up.Ping(t.Context()) != nil {
		t.Errorf("ping: %v", up.Ping(t.Context()))
	}
	if diff := cmp.Diff(before, state(t, s, "s")); diff != "" {
		t.Errorf("failed steps changed the log (-before +after):\n%s", diff)
	}
	mustAppend(t, s, "s", 2, Events("turn", 2, 1))
	wantSession(t, s, "s", Events("turn", 0, 3))
}

func model(t *testing.T, s engine.Store) {
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		want := map[string][]*event.Event{}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			session := fmt.Sprintf("round %d %s", round, rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "session"))
			at := rapid.IntRange(0, len(want[session])+1).Draw(rt, "at")
			events := Events("turn", rapid.IntRange(0, 1000).Draw(rt, "first"), rapid.IntRange(1, 3).Draw(rt, "events"))
			err := s.Append(t.Context(), session, uint64(at), events)
			switch fits := at == len(want[session]); {
			case fits && err == nil:
				want[session] = append(want[session], events...)
			case fits || !errors.Is(err, engine.ErrConflict):
				rt.Fatalf("append at %d of %d: got %v", at, len(want[session]), err)
			}
		}
		for session, events := range want {
			wantSession(t, s, session, events)
		}
	})
	wantLog(t, s)
}

func loadParts(t *testing.T, s engine.Store) {
	mustAppend(t, s, "s", 0, Events("turn", 0, 700))
	all := collect(t, s.Load(t.Context(), "s", 0))
	for _, after := range []uint64{0, 1, 255, 256, 257, 699, 700, 701, 1 << 63, 1<<64 - 1} {
		got := collect(t, s.Load(t.Context(), "s", after))
		want := all[min(after, 700):]
		if len(got) != len(want) || !slices.EqualFunc(got, want, func(a, b audit.Record) bool { return a.Hash == b.Hash }) {
			t.Errorf("load after %d: got %d records, want %d", after, len(got), len(want))
		}
	}
	again := s.Load(t.Context(), "s", 300)
	for range 2 { // the sequence starts anew each time
		n := 0
		for rec, err := range again {
			if err != nil || rec.Seq != uint64(301+n) {
				t.Fatalf("load after 300: got record %d with error %v, want %d", rec.Seq, err, 301+n)
			}
			if n++; n == 20 {
				// The store can be used inside the loop.
				mustAppend(t, s, "other", uint64(len(collect(t, s.Load(t.Context(), "other", 0)))), Events("turn", 0, 1))
				break
			}
		}
	}
	mine := collect(t, s.Load(t.Context(), "s", 699))
	mine[0].Body[0] = 'X'
	if got := collect(t, s.Load(t.Context(), "s", 699)); got[0].Body[0] != '{' {
		t.Error("changing a loaded body changed the log")
	}
}

func closed(t *testing.T, s Store) {
	ctx := t.Context()
	mustAppend(t, s, "s", 0, Events("turn", 0, 1))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
	}
	_, sessions := s.Sessions(ctx, store.SessionQuery{})
	_, turns := s.Turns(ctx, "s")
	_, since := s.Since(ctx, store.EntryQuery{})
	_, head := s.Head(ctx)
	_, headAt := s.HeadAt(ctx, 1)
	_, stats := s.Stats(ctx)
	_, verify := s.Verify(ctx, nil)
	for name, err := range map[string]error{
		"append": s.Append(ctx, "s", 1, Events("turn", 1, 1)), "append again": s.Append(ctx, "s", 1, Events("turn", 1, 1)),
		"load": lastError(s, ctx, "s"), "load turn": turnError(s, ctx), "sessions": sessions, "turns": turns, "since": since,
		"head": head, "head at": headAt, "stats": stats, "verify": verify, "ping": s.Ping(ctx),
	} {
		if !errors.Is(err, engine.ErrUnavailable) {
			t.Errorf("%s: got %v, want the log to be unavailable", name, err)
		}
	}
}

func lastError(s engine.Store, ctx context.Context, session string) (last error) {
	for _, err := range s.Load(ctx, session, 0) {
		last = err
	}
	return last
}

func turnError(s Store, ctx context.Context) (last error) {
	for _, err := range s.LoadTurn(ctx, "s", "turn") {
		last = err
	}
	return last
}

func gaveUp(t *testing.T, s engine.Store) {
	mustAppend(t, s, "s", 0, Events("turn", 0, 3))
	reason := errors.New("the caller has a reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	answers := map[string]error{"append": s.Append(ctx, "s", 3, Events("turn", 3, 1)), "load": lastError(s, ctx, "s")}
	if up, ok := s.(Upkeep); ok {
		answers["ping"] = up.Ping(ctx)
	}
	for name, err := range answers {
		if !errors.Is(err, context.Canceled) || !errors.Is(err, engine.ErrUnavailable) {
			t.Errorf("%s: got %v, want it cancelled and unavailable", name, err)
		}
	}
	wantSession(t, s, "s", Events("turn", 0, 3))
}
