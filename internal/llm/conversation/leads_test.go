package conversation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/trust"
)

// Many texts are known again, each by its own words, when the table of their runs has grown many times, and after it was
// written anew; and those of others are not.
func TestManyTextsAreKnownByTheirRuns(t *testing.T) {
	w := newWorld(t)
	notes := w.keep()
	page := func(i int) string {
		var b strings.Builder
		for j := range 40 {
			fmt.Fprintf(&b, "word%d%c%d ", i, 'a'+j%26, j)
		}
		return b.String()
	}
	const pages = 150
	for i := range pages {
		w.read(page(i))
	}
	look := func(when string) {
		t.Helper()
		for i := 0; i < pages; i += 7 {
			c := w.chat("a")
			c.send(user(fmt.Sprintf("Number %d, a letter came for me today, with this in the middle of it:\n%s\nWhat do you make of it?", i, page(i))))
			c.want(trust.Untrusted)
		}
		c := w.chat("a")
		c.send(user(when + ": a letter came for me today, with this in the middle of it:\n" + page(pages+1) + "\nWhat do you make of it?"))
		c.want(trust.Owner)
	}
	look("at once")
	notes.full = true
	look("written anew")
	w.restart()
	look("after a restart")
}
