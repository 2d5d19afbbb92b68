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
	n := 13
	if r.name == "gemini" { // after thirty steps it asks its model whether it goes in circles
		n = 36
	}
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
	out := w.turn(fmt.Sprintf("Append the numbers from 1 to %d to steps.txt, with one command for each.", n))
	if got := strings.Fields(w.file("steps.txt")); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("steps.txt has %q, want %q; it printed:\n%s", got, want, tail([]byte(out)))
	}
}
