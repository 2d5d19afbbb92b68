package pins

import (
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/definitions"
)

// difference is what a definition that is held changes in the accepted one, for people.
func difference(was event.Pin, known bool, is, other event.Pin) string {
	if is.Text == "" {
		return "(too large to be shown)\n"
	}
	from, old := "nothing", []byte(nil)
	if known {
		from, old = "accepted", definitions.Readable(was)
	}
	if out := definitions.Diff(from, old, "offered", definitions.Readable(is)); out != "" {
		return out
	}
	between := ""
	if other.Text != "" {
		between = difference(was, known, other, event.Pin{})
	}
	return again + "\n" + between
}

// again stands before what a definition was meanwhile.
const again = "(it is again as it was accepted; meanwhile it was:)"
