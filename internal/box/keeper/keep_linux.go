package keeper

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/box"
)

// What a session's commands changed in the copy of the home folder, and what was put aside of the workspace, is a question when a command
// has ended: one for all of it. Nobody waits for the answer but the keeper. A yes keeps what the question named, as it was shown; a no
// throws it away. What nobody answered about waits for `tidemark box take | drop`, as everything does that is in no question.

// keeping is what people are asked to keep of one box.
type keeping struct {
	mu     sync.Mutex // held by who settles anything, and while the box is ended
	ticket string     // guarded by mu, as the rest: of the last command, in whose name is asked
	line   string
	open   string          // what the open question is about; empty: none is open
	done   map[string]bool // what is not asked about again: things as they were, and, after a no, whatever becomes of them
	said   map[string]bool // what of the workspace was agreed to, or not, while the box was open, by where it is and its sum
	notes  []string        // for the next command's caller
}

// turns are the waits for answers: one for each session, whatever boxes it has.
type turns struct {
	mu   sync.Mutex
	held map[string]turn // guarded by mu
}

type turn struct {
	stop  context.CancelFunc
	ended chan struct{} // closed when nobody waits any more
}

// next takes the place of the wait before, which ends.
func (t *turns) next(ctx context.Context, session string) (waits context.Context, before, mine turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held == nil {
		t.held = map[string]turn{}
	}
	before = t.held[session]
	waits, stop := context.WithCancel(ctx)
	mine = turn{stop, make(chan struct{})}
	t.held[session] = mine
	return waits, before, mine
}

// over forgets a wait that has ended.
func (t *turns) over(session string, mine turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(mine.ended)
	if t.held[session].ended == mine.ended {
		delete(t.held, session)
	}
}

// mostKept is how many files one question is about: each is named in it.
const mostKept = 12

// asks begins a question about what is to be kept, where there is anything that nobody was asked about, and says so for the caller.
func (k *Keeper) asks(ctx context.Context, h *held, ticket, line string) []string {
	if k.o.Asker == nil || ctx.Err() != nil || h.box == nil {
		return nil
	}
	q := &h.keeping
	q.mu.Lock()
	defer q.mu.Unlock()
	if ticket != "" {
		q.ticket, q.line = ticket, line
	}
	notes := q.notes
	q.notes = nil
	list, more := h.offered(k.o.Data)
	list = slices.DeleteFunc(list, func(o offer) bool { return q.done[o.id()] || q.done[o.path] })
	batch := list[:min(len(list), mostKept)]
	key := keyOf(batch)
	if len(batch) == 0 || key == q.open || q.ticket == "" {
		return notes
	}
	q.open = key
	w := wantedKept(batch, more+len(list)-len(batch), q.line)
	ticket = q.ticket
	waits, before, mine := k.turns.next(ctx, h.grant.Session)
	k.work.Add(1)
	go func() {
		defer k.work.Done()
		defer k.turns.over(h.grant.Session, mine)
		defer mine.stop()
		if before.stop != nil { // this one is about the same and more, or of another box
			before.stop()
			<-before.ended
		}
		s, err := k.whetherKept(waits, ticket, w)
		k.settle(h, batch, s, err, waits.Err() != nil)
	}()
	return append(notes, toldKept(batch))
}

// How long an answer about what is to be kept is waited for in all, and how long after the monitor could not be asked.
const (
	keepWaits = 24 * time.Hour
	keepAgain = 3 * time.Second
	keepTries = 100
)

// whetherKept asks until there is an answer. It is the monitor that says when it is too late for one.
func (k *Keeper) whetherKept(ctx context.Context, ticket string, w Wanted) (Said, error) {
	ctx, cancel := context.WithTimeout(ctx, keepWaits)
	defer cancel()
	failed, wait := 0, time.Duration(0)
	for {
		s, err := k.o.Asker.Ask(ctx, ticket, w, wait)
		var no *Refusal
		switch {
		case ctx.Err() != nil:
			return Said{}, ctx.Err()
		case errors.As(err, &no):
			return Said{Why: no.Reason}, nil
		case err == nil && s.Open && !s.Allow:
			failed, wait = 0, oneWait
			continue
		case err == nil && (s.Allow || s.No || wait > 0 || failed > 2):
			return s, nil
		case failed > keepTries:
			return Said{}, err
		}
		failed++
		pause := keepAgain
		if err == nil { // the question before this one is being withdrawn
			pause = keepAgain / 10
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// settle does what was answered, to what is still as it was shown.
func (k *Keeper) settle(h *held, batch []offer, s Said, err error, stopped bool) {
	q := &h.keeping
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open != keyOf(batch) {
		return // it is part of another question by now
	}
	if q.open = ""; stopped {
		return // and may be asked about again
	}
	for i := range batch {
		q.done[batch[i].id()] = true
	}
	if err != nil || !s.Allow && !s.No {
		return // they wait
	}
	now, _ := h.offered(k.o.Data)
	for i := range now { // a no is not worn down by the same files, or by those that had no room in the question
		q.done[now[i].path] = q.done[now[i].path] || s.No
	}
	for i := range batch {
		o := &batch[i]
		at := slices.IndexFunc(now, func(n offer) bool { return n.id() == o.id() })
		switch {
		case at < 0:
			q.notes = append(q.notes, o.name()+" has been changed since it was shown: it was neither kept nor thrown away")
		case s.Allow:
			q.notes = append(q.notes, k.keeps(h, &now[at]))
		default:
			q.notes = append(q.notes, k.drops(h, &now[at]))
		}
	}
}

func (k *Keeper) keeps(h *held, o *offer) string {
	var err error
	switch {
	case o.aside != nil:
		err = o.aside.Take()
	case o.change == nil:
		h.keeping.said[o.id()] = true
		return o.name() + " is kept: it is put in its place when the box has ended"
	default:
		c := o.change
		if err = keepHome(h.want.Home, c.Path, c.Was, c.Mode, func(root *os.Root, fresh string) error {
			return root.WriteFile(fresh, c.Text, 0o600)
		}); err == nil {
			h.box.Kept(c.Path, c.Sum)
		}
	}
	if err != nil {
		k.o.Say("session %s: %v", h.grant.Session, err)
		return o.name() + " was not kept: something else is in its place by now"
	}
	return o.name() + " is kept: a person said yes"
}

func (k *Keeper) drops(h *held, o *offer) string {
	switch {
	case o.aside != nil:
		if err := o.aside.Drop(); err != nil {
			k.o.Say("session %s: %v", h.grant.Session, err)
		}
	case o.change == nil:
		h.keeping.said[o.id()] = false
	default:
		h.box.Refused(o.change.Path, o.change.Sum)
	}
	return o.name() + " is not kept: a person said no"
}

// left settles what was said of things while their box was open, and asks about what was found when it was ended.
func (k *Keeper) left(ctx context.Context, h *held) {
	h.keeping.mu.Lock()
	for _, o := range h.afterwards(k.o.Data) {
		yes, said := h.keeping.said[o.id()]
		switch {
		case said && yes:
			if err := o.aside.Take(); err != nil {
				k.o.Say("session %s: %v", h.grant.Session, err)
			}
		case said:
			_ = o.aside.Drop() // it is in the list of what boxes left, then
		}
	}
	h.keeping.mu.Unlock()
	k.asks(ctx, h, "", "")
}

// offered is what could be kept now: of a box that is open what it has in its layer and has put aside, else what it left.
func (h *held) offered(data string) (list []offer, more int) {
	h.mu.Lock()
	closed := h.closed
	h.mu.Unlock()
	if closed {
		return h.afterwards(data), 0
	}
	changes, more := h.box.Changes()
	for _, c := range changes {
		if o, ok := ofChange(h.want.Home, c); ok {
			list = append(list, o)
		} else {
			more++
		}
	}
	for _, a := range h.box.Aside() {
		if o, ok := ofAside(Aside{Path: a.Path, Kept: a.Kept}); ok && !filepath.IsAbs(a.Path) && !h.box.Stands(a.Path) {
			list = append(list, o)
		}
	}
	sortOffers(list)
	return list, more
}

// afterwards is what a box left that has ended.
func (h *held) afterwards(data string) (list []offer) {
	for _, a := range AsideIn(data) {
		if filepath.Dir(filepath.Dir(filepath.Dir(a.Kept))) != h.record.Folder || a.Path == "" || h.box.Stands(a.Path) {
			continue
		}
		if o, ok := ofAside(a); ok {
			o.aside = &a
			list = append(list, o)
		}
	}
	sortOffers(list)
	return list
}

// sortOffers puts first what is known to run, so that nothing hides it, and the same things always in the same order.
func sortOffers(list []offer) {
	slices.SortFunc(list, func(a, b offer) int {
		switch {
		case (a.what == "") == (b.what == ""):
			return strings.Compare(a.path, b.path)
		case a.what == "":
			return 1
		}
		return -1
	})
}

// begin makes the books of what is to be kept.
func (q *keeping) begin() { q.done, q.said = map[string]bool{}, map[string]bool{} }

// describe is what a file of the home folder is.
func describe(home, path string, c *box.Change) string {
	below, err := filepath.Rel(home, path)
	if err != nil {
		return ""
	}
	return box.Describe(below, c.Mode, c.Text)
}
