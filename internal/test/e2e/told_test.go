//go:build e2e

package e2e_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// outOfDisk is what the server answers when it cannot write its log.
var outOfDisk = spoiler{"out of disk", nil, func(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, `{"detail":"the log cannot be written"}`)
}}

// told: whatever is wrong with the server, the person reads why on the agent's own output,
// and not only the model.
func told(t *testing.T, r *rig) {
	for _, tt := range []struct {
		name, want string
		spoil      *spoiler
	}{
		{"unreachable", notRunning, nil},
		{"hanging", "no answer within", &spoilers[len(spoilers)-1]},
		{"out of disk", "the log cannot be written", &outOfDisk},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := open(t, r, with{})
			mark, last := r.run(w, "echo ran > ran.txt"), step{say: done}
			mark.before = w.shut
			if tt.spoil != nil {
				var between *middle
				mark.before = func() { between = w.between(*tt.spoil) }
				last.before = func() { between.leave() }
			}
			w.model.script(mark, last)
			out := w.turn("Run the command that makes ran.txt.")
			if got := w.file("ran.txt"); got != "" {
				t.Errorf("ran.txt: got %q, want none", got)
			}
			if !strings.Contains(out, tt.want) {
				t.Errorf("the person was not told %q; it printed:\n%s", tt.want, tail([]byte(out)))
			}
		})
	}
	if r.mute != "" { // it shows that a prompt was refused, and never why
		return
	}
	t.Run("a prompt", func(t *testing.T) {
		w := open(t, r, with{})
		w.shut()
		if out := w.turn("Run the command that makes ran.txt."); !strings.Contains(out, notRunning) {
			t.Errorf("the person was not told; it printed:\n%s", tail([]byte(out)))
		}
	})
}
