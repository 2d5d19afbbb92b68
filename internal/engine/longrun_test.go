//go:build !race

package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/policy"
)

// WAR-02: a session that read more than it is told again from its log is put aside while it goes on, so that it comes back as it was: after
// a restart, and after a record that could not be written. Without a checkpoint, or with one from before what the log no longer tells, its
// beginning is lost.
func TestALongSessionComesBackAsItWas(t *testing.T) {
	store, kept := newFakeStore(), newShelf()
	w := newWorldOn(t, "preset: balanced", store)
	early := w.crowded(kept)
	early.runErrand()
	early.others()
	old := kept.copied()
	if old.kept["s"] == nil {
		t.Fatal("there is no checkpoint")
	}
	w = w.crowded(kept, func(o *engine.Options) { o.MaxHeard = 1 << 30 })
	for i := range 14 {
		w.runs(main("s"), call("web_fetch", `{"url":"https://news.example"}`), chance(byte(i), 650<<10))
	}
	w.crowded(kept).wantMails(policy.Allow)

	down := errors.New("the disk does not answer")
	store.append = func(context.Context, string, uint64, []*event.Event) error { return down }
	if _, err := w.Decide(t.Context(), main("s"), call("send_email", toPetra)); !errors.Is(err, down) {
		t.Fatalf("got %v of a store that is down", err)
	}
	store.append = nil
	w.wantMails(policy.Allow)

	for name, kept := range map[string]*shelf{"an old checkpoint": old, "none": nil} {
		if v := w.crowded(kept).decide(main("s"), call("send_email", toPetra)); v.Effect != policy.Confirm {
			t.Errorf("%s: %s by %s", name, v.Effect, v.Rule)
		}
	}
}
