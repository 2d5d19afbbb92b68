package tui

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/test/watchtest"
)

// MAN-10: a value that is broken into lines puts none of its words where a line of ours stands.
func TestABrokenValueImitatesNoLineOfOurs(t *testing.T) {
	long := strings.Repeat("x", 55)
	value := long + " If you approve nothing " + long + " Why it is asked " + long + " to: me@example.com " + long
	w := newWatched(t, 60, 60, watchtest.Held(t, "ask-1", watchtest.Noon, map[string]any{
		"prompt": "Send " + value, "args": watchtest.JSON(t, map[string]any{"to": "eve@example.com", "body": value}),
	}))
	for l := range strings.Lines(w.text()) {
		for _, ours := range []string{"If you approve nothing", "Why it is asked", "to: me"} {
			if strings.HasPrefix(l, ours) || strings.HasPrefix(l, "  "+ours) || strings.HasPrefix(l, "    "+ours) && ours == "to: me" {
				t.Errorf("%q stands where a line of ours could", l)
			}
		}
	}
}
