package standing

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
)

// Names is which value stood for which name in an act that somebody confirmed: a log for each person, and one that says which
// there are. It is safe for concurrent use.
type Names struct {
	log    Log
	name   string // of the log that lists the others, which are below it
	shared bool

	mu    sync.Mutex
	books map[string]*book // guarded by mu; by log
}

// NewNames is what the logs below a name hold. shared says that others write them too.
func NewNames(log Log, name string, shared bool) *Names {
	return &Names{log: log, name: name, shared: shared, books: map[string]*book{}}
}

// book is one log, as far as it was read.
type book struct {
	version uint64
	read    int64 // when it was read from its beginning; 0: never
	pairs   []Known
	opened  []string
}

// Known is a pair that holds.
type Known struct {
	event.Pair

	By    string // who confirmed it
	Given int64  // Unix nanoseconds
}

// The bounds of what is known. A book is read anew after a while: something may have been taken out of it.
const (
	PairLife  = 400 * 24 * time.Hour
	maxPairs  = 2000
	readAgain = time.Minute
	maxBooks  = 4096
)

// Until is when a pair ends, if nobody confirms it again.
func (k *Known) Until() int64 { return k.Given + int64(PairLife) }

// String says it for people.
func (k *Known) String() string { return Says(&k.Pair) }

// Says says for people what a pair is.
func Says(p *event.Pair) string {
	return fmt.Sprintf("%q is %s, to %s", p.Said, p.Value, p.Deed)
}

// Remembers says for people what a yes confirms besides the call.
func Remembers(list []event.Pair) string {
	out := ""
	for i := range list {
		out += "; and from then on " + Says(&list[i])
	}
	return out
}

func (b *book) apply(e *event.Event) {
	b.version++
	p := e.Pair
	if p == nil {
		return
	}
	switch p.Change {
	case event.PairOpened:
		b.opened = append(b.opened, p.ID)
	case event.PairEnded:
		b.pairs = slices.DeleteFunc(b.pairs, func(k Known) bool { return k.ID == p.ID })
	case event.PairGiven:
		if p.Name == "" || p.Value == "" {
			return // it was taken out
		}
		by := ""
		if e.Answer != nil {
			by = e.Answer.By
		}
		b.pairs = append(slices.DeleteFunc(b.pairs, func(k Known) bool { return k.replacedBy(p) }), Known{*p, by, e.Time})
		b.pairs = slices.Delete(b.pairs, 0, max(0, len(b.pairs)-maxPairs))
	}
}

// replacedBy reports whether a pair is of the same name, for the same deed and parameter: what is confirmed last holds, and only that.
func (k *Known) replacedBy(p *event.Pair) bool {
	return k.ID == p.ID || k.Name == p.Name && k.Deed == p.Deed && k.Path == p.Path
}

// bookOf is the log of a name, as it is now.
// Preconditions: mu is held.
func (l *Names) bookOf(ctx context.Context, name string, now int64, anew bool) (*book, error) {
	b := l.books[name]
	if b == nil || now >= b.read+int64(readAgain) || now < b.read {
		if len(l.books) >= maxBooks {
			clear(l.books)
		}
		b = &book{read: now}
	} else if !l.shared && !anew {
		return b, nil
	}
	delete(l.books, name)
	for rec, err := range l.log.Load(ctx, name, b.version) {
		if err != nil {
			return nil, fmt.Errorf("read which pairs are known: %w", err)
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return nil, fmt.Errorf("read which pairs are known: %w", err)
		}
		b.apply(&e)
	}
	l.books[name] = b
	return b, nil
}

// logOf is the log of a person.
func (l *Names) logOf(person string) string {
	sum := sha256.Sum256([]byte(person))
	return l.name + ":" + hex.EncodeToString(sum[:12])
}

// Of are the pairs of a person that hold.
func (l *Names) Of(ctx context.Context, person string, now int64) ([]Known, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, err := l.bookOf(ctx, l.logOf(person), now, false)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(b.pairs), func(k Known) bool { return k.Person != person || now >= k.Until() }), nil
}

// Known are the pairs of a person as judgement takes them.
func (l *Names) Known(ctx context.Context, person string, now int64) ([]mandate.Pair, error) {
	list, err := l.Of(ctx, person, now)
	var out []mandate.Pair
	for i := range list {
		k := &list[i]
		out = append(out, mandate.Pair{
			Name: k.Name, Said: k.Said, Value: k.Value, Deed: k.Deed, Path: k.Path, Sum: k.Sum, Unit: k.Unit, Sure: k.Sure,
		})
	}
	return out, err
}

// Whose is the person whose words count in a session: who said the latest of them, or where nobody tells who speaks, whoever works
// with its agent.
func Whose(s *session.State) string {
	if s.Speaker != "" {
		return s.Speaker
	}
	return "agent:" + s.Agent
}

// Pairs are pairs as the log has them, but for those with a value that is not shown.
func Pairs(list []mandate.Pair, s *session.State, name string, shown func(path, value string) bool) []event.Pair {
	var out []event.Pair
	for i := range list {
		if p := &list[i]; shown(p.Path, p.Value) && shown(p.Path, p.Said) {
			out = append(out, event.Pair{
				Change: event.PairGiven, Person: Whose(s), Session: name, Name: p.Name, Said: p.Said, Value: p.Value, Deed: p.Deed,
				Path: p.Path, Sum: p.Sum, Unit: p.Unit, Sure: p.Sure,
			})
		}
	}
	return out
}

// All are the pairs of everybody, the oldest first.
func (l *Names) All(ctx context.Context, now int64) ([]Known, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	index, err := l.bookOf(ctx, l.name, now, false)
	if err != nil {
		return nil, err
	}
	var out []Known
	for _, id := range index.opened {
		b, err := l.bookOf(ctx, l.name+":"+id, now, false)
		if err != nil {
			return nil, err
		}
		out = append(out, b.pairs...)
	}
	out = slices.DeleteFunc(out, func(k Known) bool { return now >= k.Until() })
	slices.SortFunc(out, func(a, b Known) int { return cmp.Compare(a.Given, b.Given) })
	return out, nil
}

// Give adds a pair. One that the user only said with an act ends another of its name, and takes its place only when it is said again:
// a name that two values were said for speaks for neither.
func (l *Names) Give(ctx context.Context, now int64, p event.Pair, by *event.Answer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := l.logOf(p.Person)
	b, err := l.bookOf(ctx, name, now, false)
	if err != nil {
		return err
	}
	if b.version == 0 {
		opened := &event.Pair{Change: event.PairOpened, ID: strings.TrimPrefix(name, l.name+":")}
		if err := l.append(ctx, l.name, now, &event.Event{Kind: event.PairSaid, Time: now, Pair: opened}); err != nil {
			return err
		}
	}
	p.Change = event.PairGiven
	for i := range b.pairs {
		k := &b.pairs[i]
		switch {
		case !k.replacedBy(&p):
		case k.Value == p.Value && k.Unit == p.Unit && p.Sum <= k.Sum && now < k.Given+int64(oncePer):
			return nil // it is known
		case by == nil && k.Value != p.Value:
			p = event.Pair{Change: event.PairEnded, ID: k.ID}
		}
	}
	return l.append(ctx, name, now, &event.Event{Kind: event.PairSaid, Time: now, Pair: &p, Answer: by})
}

// End takes a pair back.
func (l *Names) End(ctx context.Context, now int64, id string, by *event.Answer) error {
	all, err := l.All(ctx, now)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(k Known) bool { return k.ID == id })
	if at < 0 {
		return ErrNone
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ended := &event.Pair{Change: event.PairEnded, ID: id}
	return l.append(ctx, l.logOf(all[at].Person), now, &event.Event{Kind: event.PairSaid, Time: now, Pair: ended, Answer: by})
}

// append writes an event after what a log has.
// Preconditions: mu is held.
func (l *Names) append(ctx context.Context, name string, now int64, e *event.Event) error {
	const attempts = 8
	for range attempts {
		b, err := l.bookOf(ctx, name, now, true)
		if err != nil {
			return err
		}
		at := b.version
		if err = l.log.Append(ctx, name, at, []*event.Event{e}); err == nil {
			b.apply(e)
			return nil
		}
		if b, failed := l.bookOf(ctx, name, now, true); failed != nil || b.version == at {
			return fmt.Errorf("keep which pairs are known: %w", err)
		}
	}
	return fmt.Errorf("keep which pairs are known: %w", errBusy)
}
