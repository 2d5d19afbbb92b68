package tidemark

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/tool"
)

// askedSize bounds how many recent calls a session remembers.
const askedSize = 128

// asked remembers recent calls that somebody wanted to run: those that were let
// through for the host to ask about are not among them until it does.
type asked struct {
	calls []named
	next  int
}

type named struct{ id, tool string }

func (a *asked) add(id, tool string) {
	if len(a.calls) < askedSize {
		a.calls = append(a.calls, named{id, tool})
		return
	}
	a.calls[a.next] = named{id, tool}
	a.next = (a.next + 1) % askedSize
}

// Asked reports whether a recent call was decided here before it was run, with whatever
// outcome. A call that was only left to its host does not count. It goes by the call's id;
// hosts shorten ids for some models, and what is left of one is enough. Where the format
// has no ids, any call of the tool does, and for the zero call any at all.
func (m *Monitor) Asked(ctx context.Context, ref Ref, call tool.Call) (bool, error) {
	found := false
	err := m.with(ctx, ref, func(s *session) error {
		id, name := plainID(call.ID), tool.Name(call.Name)
		found = id == "" && name == "" && len(s.state.asked.calls) > 0
		for _, c := range s.state.asked.calls {
			found = found || id != "" && sameCall(plainID(c.id), id) || id == "" && name != "" && c.tool == name
		}
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("look for call in session %q: %w", ref.Session, err)
	}
	return found, nil
}

// sameCall reports whether an id that was asked about is of the call of another: the same,
// cut where a host cuts ids, or with it as a part: a call inside another one carries its id.
func sameCall(asked, id string) bool {
	const cut, part = 40, 6
	if len(id) > cut || len(asked) == cut {
		id = id[:min(len(id), cut)]
	}
	return asked == id || len(asked) > cut && asked[:cut] == id || len(id) >= part && strings.Contains("_"+asked+"_", "_"+id+"_")
}

// plainID is what every spelling of a call's id has in common: a host may add its own
// after a bar, and write other characters in place of those a model refuses.
func plainID(id string) string {
	id, _, _ = strings.Cut(id, "|")
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, id)
}
