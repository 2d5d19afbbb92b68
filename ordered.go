package tidemark

import (
	"context"
	"fmt"

	"github.com/tidemark/tidemark/internal/confined"
)

// Written is what an allowed call of the host's own file tool leaves of one file, as far as its arguments say it.
type Written struct {
	Step  uint64
	Path  string     // whole
	Whole bool       // it holds Text afterwards
	Text  string     // else this is replaced in it, one after the other
	Edits []Replaced //
}

// Replaced is one replacement in a text: of the only place where Old stands, or of all.
type Replaced struct {
	Old, New string
	All      bool
}

// Written is what calls of the session's own file tools leave that were allowed, the latest last. A box of the session asks for it: what
// comes to a guarded place while it is open and is exactly that was ordered, whoever wrote it. It is asked with the ticket of any command
// that was begun in the box. What was allowed before a restart is not known any more.
func (m *Monitor) Written(ctx context.Context, ticket string) ([]Written, error) {
	given, err := m.tickets().Begun(ctx, ticket)
	if err != nil {
		return nil, fmt.Errorf("written: %w", ticketError(err))
	}
	var out []Written
	for _, o := range m.orders.Of(given.Session) {
		w := Written{Step: o.Step, Path: o.Path, Whole: o.Whole, Text: o.Text}
		for _, e := range o.Edits {
			w.Edits = append(w.Edits, Replaced(e))
		}
		out = append(out, w)
	}
	return out, nil
}

// noteOrdered remembers what a call leaves that has its permit.
func (m *Monitor) noteOrdered(x *step, v *Verdict) {
	if v.Permit == nil || v.Permit.boxed || !x.live.owns(v.Tool) {
		return
	}
	if args, err := x.args.Fields(); err == nil {
		m.orders.Note(x.live.name, confined.OrderedBy(v.Tool, args, x.folder, v.Step))
	}
}
