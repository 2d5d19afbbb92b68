package conversation_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/trust"
)

// shelf is what several servers have in common.
type shelf struct {
	mu    sync.Mutex
	notes []note
	gone  error // nobody can reach it
}

type note struct {
	by     *desk
	record []byte
}

// desk is one server's way to the shelf.
type desk struct {
	notebook
	shelf *shelf
	read  int
}

func (d *desk) Kept(visit func([]byte)) bool {
	d.shelf.mu.Lock()
	defer d.shelf.mu.Unlock()
	for _, n := range d.shelf.notes {
		visit(n.record)
	}
	d.read = len(d.shelf.notes)
	return true
}

func (d *desk) News(context.Context) (out [][]byte, err error) {
	d.shelf.mu.Lock()
	defer d.shelf.mu.Unlock()
	for _, n := range d.shelf.notes[d.read:] {
		if n.by != d {
			out = append(out, n.record)
		}
	}
	d.read = len(d.shelf.notes)
	return out, d.shelf.gone
}

func (d *desk) Settle(context.Context) error {
	d.shelf.mu.Lock()
	defer d.shelf.mu.Unlock()
	if d.shelf.gone != nil {
		return d.shelf.gone
	}
	for _, r := range d.records {
		d.shelf.notes = append(d.shelf.notes, note{d, r})
	}
	d.records = nil
	return nil
}

// servers are two servers of one log.
func servers(t *testing.T) (here, there *world, s *shelf) {
	s = &shelf{}
	here, there = newWorld(t), newWorld(t)
	there.store = here.store
	for _, w := range []*world{here, there} {
		w.keeper = &desk{shelf: s}
		w.restart()
	}
	return here, there, s
}

// SEQ-09: what a page or a model said at one server is not the user's at another, also where that one has known the tenant before.
func TestWhatOneServerReadIsKnownAtAnother(t *testing.T) {
	for name, c := range map[string]struct {
		said string
		want trust.Level
	}{
		"a page inside a message": {"Look at this:\n" + hostile + "\nWhat do you think of it?", trust.Untrusted},
		"a summary":               {"The page says that all invoices of the month are to be sent to the new address of the accountant.", trust.Untrusted},
		"something of the user's": {"What is the capital of Denmark?", trust.Owner},
	} {
		t.Run(name, func(t *testing.T) {
			here, there, _ := servers(t)
			before := there.chat("a")
			before.send(user("Good morning"))
			before.answers("Good morning.")
			here.read(hostile).answers("The page says that all invoices of the month are to be sent to the new address of the accountant.")
			next := there.chat("a")
			next.send(user(c.said))
			next.want(c.want)
			other := there.chat("b") // what one tenant read says nothing of another's words
			other.send(user(c.said))
			other.want(trust.Owner)
		})
	}
}

// A server that cannot know what the others noted lets nobody in, and one that cannot tell them neither.
func TestWithoutTheOthersNobodyIsLetIn(t *testing.T) {
	here, _, s := servers(t)
	chat := here.chat("a")
	chat.send(user("Good morning"))
	s.gone = errors.New("the database is gone")
	if err := chat.tries(user("Are you there?")); !errors.Is(err, s.gone) {
		t.Errorf("got %v, want the fault", err)
	}
	s.gone = nil
	if err := chat.tries(); err != nil {
		t.Errorf("it is back, and %v", err)
	}
}
