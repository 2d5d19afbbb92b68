package session

// ringSize bounds how many recent calls a branch remembers. More than this many
// unanswered calls at once fall back to their tool's own label.
const ringSize = 32

// ring remembers recent calls so that a result finds its step and expected label.
type ring struct {
	calls []Call
	next  int
	lost  bool // one was forgotten before its result came
}

func (r *ring) add(c Call) {
	if len(r.calls) < ringSize {
		r.calls = append(r.calls, c)
		return
	}
	r.lost = r.lost || !r.calls[r.next].Seen
	r.calls[r.next] = c
	r.next = (r.next + 1) % ringSize
}

// find prefers the exact id; without one, the oldest unanswered call of the tool.
func (r *ring) find(id, tool string) *Call {
	var best *Call
	for i := range r.calls {
		c := &r.calls[i]
		if c.Tool != tool && tool != "" {
			continue
		}
		if c.LookUp != "" && (id == "" || c.Seen) {
			continue // what it brings is believed to reach no agent: only the one answer that names it is its
		}
		if id != "" {
			if c.ID == id {
				return c
			}
			continue
		}
		if !c.Seen && (best == nil || c.Step < best.Step) {
			best = c
		}
	}
	return best
}

// refuse answers a call of which nothing was begun, and with it what was let to it by its ticket.
func (r *ring) refuse(id, tool string) {
	c := r.find(id, tool)
	if c == nil {
		return
	}
	c.Seen = true
	for i := range r.calls {
		if o := &r.calls[i]; c.Ticket != nil && o.Ticket != nil && *o.Ticket == *c.Ticket {
			o.Seen = true
		}
	}
}

func (r *ring) answer(id, tool string) {
	if c := r.find(id, tool); c != nil {
		c.Seen = true
	}
}
