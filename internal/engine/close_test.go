package engine_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/policy"
)

// A session whose host has stopped asking is closed to acts at every door, over a restart too, until its owner resets its trust.
func TestASessionIsClosedToActsWhoseHostDoesNotAsk(t *testing.T) {
	w := newWorld(t, "")
	w.fresh("s", "Mend the build")
	if v := w.in("/w", "s", runs("ls")); v.Effect != policy.Allow {
		t.Fatalf("before: %s by %s", v.Effect, v.Rule)
	}
	if err := w.Close(t.Context(), main("s"), "its host ran a call that no hook was asked about"); err != nil {
		t.Fatal(err)
	}
	w.fresh("other", "Mend the build")
	for when, m := range map[string]*world{"now": w, "after a restart": w.again()} {
		if v := m.in("/w", "s", runs("ls")); v.Effect != policy.Deny || v.Rule != engine.RuleClosed {
			t.Errorf("%s: got %s by %s", when, v.Effect, v.Rule)
		}
		if v := m.in("/w", "other", runs("ls")); v.Effect != policy.Allow {
			t.Errorf("%s, another session: got %s by %s", when, v.Effect, v.Rule)
		}
	}
}
