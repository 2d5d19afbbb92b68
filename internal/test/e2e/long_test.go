//go:build e2e

package e2e_test

import (
	"fmt"
	"strings"
	"testing"
)

// longTurn: an honest turn of many steps is not cut off, and a server that restarts in the middle
// of it holds nothing.
func longTurn(t *testing.T, r *rig) {
	const n = 13
	w := open(t, r, with{})
	var steps []step
	var want []string
	for i := 1; i <= n; i++ {
		s := r.run(w, fmt.Sprintf("echo %d >> steps.txt", i))
		if i == 7 {
			s.before = func() {
				w.shut()
				w.serve()
			}
		}
		steps, want = append(steps, s), append(want, fmt.Sprint(i))
	}
	w.model.script(append(steps, step{say: done})...)
	out := w.turn("Append the numbers from 1 to 13 to steps.txt, with one command for each.")
	if got := strings.Fields(w.file("steps.txt")); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("steps.txt has %q, want %q; it printed:\n%s", got, want, tail([]byte(out)))
	}
}
