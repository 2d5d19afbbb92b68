//go:build !race

// What is measured here, and the laws in files like this one, start nothing beside themselves: the race detector has nothing to find
// and takes five times as long. scripts/test runs them without it.
package engine_test

import (
	"fmt"
	"testing"

	"github.com/tidemark/tidemark/policy"
)

func TestIdleSessionsAreSmall(t *testing.T) {
	const sessions = 10_000
	got := heap(func() any {
		w := newWorldOn(t, byLevels, nowhere{})
		for i := range sessions {
			s := fmt.Sprintf("session-%d", i)
			w.ownerSays(s, "what is on the page?")
			w.tools(main(s), "read", "exec", "web_fetch")
			w.taints(s)
			w.want(policy.Confirm, main(s), call("exec", `{"command":"ls"}`))
			w.end(main(s))
		}
		return w
	})
	t.Logf("%d idle sessions: %.1f MB, %d bytes each", sessions, float64(got)/megabyte, got/sessions)
	if got > 200*megabyte {
		t.Errorf("got %d MB, want less than 200", got/megabyte)
	}
}

func TestALongSessionIsSmall(t *testing.T) {
	if got := heap(func() any {
		w := newWorldOn(t, byLevels, nowhere{})
		w.ownerSays("s", "go")
		grow(t, w, "s", 100_000)
		return w
	}); got > 20*megabyte {
		t.Errorf("100,000 events: got %d MB, want less than 20", got/megabyte)
	}
	if got := heap(func() any {
		w := newWorldOn(t, byLevels, nowhere{})
		w.ownerSays("s", "go")
		for i := range 20_000 { // an agent that invents tools and asks without end
			name := fmt.Sprintf("tool_%d", i)
			w.decide(main("s"), call(name, `{}`))
			w.observe(main("s"), name, "x")
		}
		return w
	}); got > 20*megabyte {
		t.Errorf("20,000 invented tools: got %d MB, want less than 20", got/megabyte)
	}
}
