package engine_test

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/policy"
)

// A clock that goes backward revives nothing, here or after a restart, and time goes on from there.
func TestAClockThatGoesBackRevivesNothing(t *testing.T) {
	for name, again := range map[string]func(*world) *world{
		"in one process":  func(w *world) *world { return w },
		"after a restart": (*world).again,
	} {
		t.Run(name, func(t *testing.T) {
			w, c, _ := held(t, byLevels)
			w.TB = t
			vote := engine.Vote{Session: "s", Approve: true, For: time.Minute, Where: approval.Where{"stage": "*"}}
			vote.IDs = []string{w.want(policy.Confirm, main("s"), c).Held.ID}
			if _, err := w.Answer(t.Context(), vote); err != nil {
				t.Fatal(err)
			}
			w.want(policy.Allow, main("s"), call("deploy", `{"stage":"two"}`)) // by the grant
			asked := w.want(policy.Confirm, main("s"), call("release", `{}`)).Held.ID
			w.clock.advance(2 * time.Hour)
			w.want(policy.Confirm, main("s"), call("deploy", `{"stage":"three"}`))
			w.clock.advance(-2 * time.Hour)
			w = again(w)
			w.want(policy.Confirm, main("s"), call("deploy", `{"stage":"four"}`))
			if _, err := w.Answer(t.Context(), engine.Vote{Session: "s", IDs: []string{asked}, Approve: true}); err == nil {
				t.Error("a question that had expired was answered")
			}
			vote.IDs = []string{w.want(policy.Confirm, main("s"), call("deploy", `{"stage":"five"}`)).Held.ID}
			if _, err := w.Answer(t.Context(), vote); err != nil {
				t.Fatal(err)
			}
			w.want(policy.Allow, main("s"), call("deploy", `{"stage":"six"}`))
			w.clock.advance(2 * time.Minute) // time stands still nowhere: a grant of a minute ends
			w.want(policy.Confirm, main("s"), call("deploy", `{"stage":"seven"}`))
		})
	}
}
