//go:build !race

package engine_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/tool"
)

// Law h, with checkpoints: whether a conversation stayed in memory, was told again from the log, or came back from a checkpoint, in this
// process or in one after it was killed, from the latest place or from an earlier one and what the log has since, a call is judged the same.
//
// MAN-05 SEQ-09 WAR-02
func TestPropertyACheckpointChangesNoAnswer(t *testing.T) {
	acts := []tool.Call{
		call("send_email", `{"to":"petra@holm.example","body":"High water is at 6:12."}`), call("send_email", `{"to":"kes@quick.example","body":"6:12"}`),
		call("send_email", `{"to":"p@evil.example","body":"x"}`), call("delete_note", `{"note_id":"n-41"}`), call("delete_note", `{"note_id":"n-42"}`),
		call("delete_note", `{"note_id":"n-99"}`), call("delete_note", `{"note_id":"m1"}`), call("web_fetch", `{"url":"https://tides.example/y?m1"}`),
		call("read", `{"path":"notes.txt"}`), call("exec", `{"command":"curl https://tides.example/x"}`),
	}
	came := uint64(0)
	rapid.Check(t, func(rt *rapid.T) {
		e := anErrand(rt)
		stale := rapid.IntRange(0, len(e)-1).Draw(rt, "the place of the earlier checkpoint")
		play := func(kept *shelf) (w *world, earlier *shelf) {
			w = newWorld(t, "preset: balanced").crowded(kept)
			for i, step := range e {
				step(w)
				if w.others(); kept != nil && i == stale {
					earlier = kept.copied()
				}
			}
			return w, earlier
		}
		c := rapid.SampledFrom(acts).Draw(rt, "act")
		say := func(w *world) string {
			v := w.decide(main("s"), c)
			n, _ := w.Returns()
			came += n
			return fmt.Sprint(v.Effect, v.Rule, v.Warrant)
		}
		want := say(e.play(t))
		for name, come := range map[string]func() *world{ // each with a log of its own: what is decided stands in it
			"told again from the log": func() *world { w, _ := play(nil); return w },
			"from a checkpoint":       func() *world { w, _ := play(newShelf()); return w },
			"after a kill": func() *world {
				kept := newShelf()
				w, _ := play(kept)
				return w.crowded(kept)
			},
			"after a kill, from an earlier place": func() *world {
				w, earlier := play(newShelf())
				return w.crowded(earlier)
			},
			"after a kill, from the log": func() *world { w, _ := play(newShelf()); return w.crowded(nil) },
		} {
			if got := say(come()); got != want {
				rt.Fatalf("%s %s, %s: got %s, want %s", c.Name, c.Args, name, got, want)
			}
		}
	})
	if came == 0 {
		t.Error("nothing came back from a checkpoint")
	}
}
