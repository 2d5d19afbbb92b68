// Package pins remembers what the tools of MCP servers looked like when their owner began to
// use them, and hides what became something else until a person has looked at it.
//
// It reads and writes a log of its own and does no other I/O. It starts no goroutine.
//
// Invariants:
//   - a definition is compared with the accepted one, never with the one seen last;
//   - what was seen changed stays hidden until a person accepts, also where it changes back;
//   - nothing but the first listing of a server, and a person, accepts anything; that it is a person,
//     and proven where that is required, is for the doors to see to, as with every other answer;
//   - what cannot be read, recorded or compared is not passed on;
//   - names are compared as policies compare them, and one that could be taken for another is hidden.
package pins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/redact"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/definitions"
)

// LogName is the log in which definitions and their acceptance are recorded.
const LogName = definitions.ServersLog

// Mode is what counts as accepted without a person.
type Mode string

// The modes.
const (
	First  Mode = ""       // what a server offers when it is first used
	Review Mode = "review" // nothing
	Off    Mode = "off"    // everything whose name can be told from others
)

// Server is an upstream as its owner configured it: another program or address under an old
// name is another server.
type Server struct {
	Name    string   `json:"name"`
	Command []string `json:"command,omitzero"`
	URL     string   `json:"url,omitzero"`
}

// ID is one name for the name and what it is.
func (s Server) ID() string {
	raw, err := strictjson.Marshal(s)
	if err != nil { // a name that is no UTF-8: another server than any that can be written
		raw = fmt.Appendf(nil, "%q %q %q", s.Name, s.Command, s.URL)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// at is what it is, for people: without what could be a secret.
func (s Server) at() string {
	if s.URL != "" {
		u, err := url.Parse(s.URL)
		if err != nil {
			return "an address that cannot be read"
		}
		return u.Scheme + "://" + u.Host + u.Path
	}
	return redact.New().Text(strings.Join(s.Command, " "))
}

// Options are what a Keeper needs.
type Options struct {
	Store engine.Store
	Now   func() time.Time
	Mode  Mode
	// Reserved are names of tools that mean something to policies by themselves.
	Reserved []string
	// Shared says that other servers write the log too: it is read each time before an answer.
	Shared bool
}

// Keeper knows the accepted definitions. It is safe for concurrent use, also beside others on
// the same log.
type Keeper struct {
	opts     Options
	reserved map[string]bool
	nobody   *Known // what is known of a server that was never seen; never changed

	mu      sync.Mutex
	state   State                    // guarded by mu
	changed map[string]chan struct{} // guarded by mu; by server, closed when something was accepted
	ids     map[address]string       // guarded by mu; of servers over HTTP
}

// Open reads the log of definitions.
func Open(ctx context.Context, o Options) (*Keeper, error) {
	switch {
	case o.Store == nil || o.Now == nil:
		return nil, errors.New("open pins: store and clock are needed")
	case !slices.Contains([]Mode{First, Review, Off}, o.Mode):
		return nil, fmt.Errorf("open pins: unknown mode %q", o.Mode)
	}
	k := &Keeper{opts: o, reserved: map[string]bool{}, changed: map[string]chan struct{}{}, nobody: newKnown("", "", "")}
	for _, name := range o.Reserved {
		k.reserved[fold(name)] = true
	}
	return k, k.load(ctx)
}

// load reads what is new in the log.
// Preconditions: mu is held, or nobody else has the Keeper yet.
func (k *Keeper) load(ctx context.Context) error {
	for rec, err := range k.opts.Store.Load(ctx, LogName, k.state.Version) {
		if err != nil {
			return fmt.Errorf("read pins: %w", err)
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return fmt.Errorf("read pins: %w", err)
		}
		k.apply(&e)
	}
	return nil
}

// look reads what other servers may have written since.
// Preconditions: mu is held.
func (k *Keeper) look(ctx context.Context) error {
	if !k.opts.Shared {
		return nil
	}
	return k.load(ctx)
}

// apply folds one record, and tells who waits for it.
// Preconditions: mu is held, or nobody else has the Keeper yet.
func (k *Keeper) apply(e *event.Event) {
	k.state.Apply(e)
	if e.Pins == nil || e.Pins.Act != accepted {
		return
	}
	if c := k.changed[e.Pins.ID]; c != nil {
		close(c)
		delete(k.changed, e.Pins.ID)
	}
}

// attempts bounds how often somebody else may be faster.
const attempts = 8

// record writes what step makes of the state, after whatever another process wrote meanwhile.
// Preconditions: mu is held.
func (k *Keeper) record(ctx context.Context, step func() ([]event.Pins, error)) error {
	var err error
	for range attempts {
		if err := k.load(ctx); err != nil {
			return err
		}
		news, fault := step()
		if fault != nil || len(news) == 0 {
			return fault
		}
		events := make([]*event.Event, len(news))
		for i := range news {
			events[i] = &event.Event{Kind: event.PinsChanged, Time: k.opts.Now().UnixNano(), Pins: &news[i]}
		}
		if err = k.opts.Store.Append(ctx, LogName, k.state.Version, events); err == nil {
			for _, e := range events {
				k.apply(e)
			}
			return nil
		}
		if !errors.Is(err, engine.ErrConflict) {
			break
		}
	}
	return fmt.Errorf("record pins: %w", err)
}

// next is closed when a person next accepts definitions of a server.
func (k *Keeper) next(s Server) <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	id := s.ID()
	if k.changed[id] == nil {
		k.changed[id] = make(chan struct{})
	}
	return k.changed[id]
}

// Known is what is known of a server.
type Known struct {
	ID, Server, At string
	Listed         int64 // when tools of it were first seen, Unix nanoseconds; 0: never
	Whole          bool  // its tools were listed to the end
	Accepted       map[string]event.Pin
	Held           map[string]event.Pin
	Other          map[string]event.Pin // of what is held: how it was last that was not accepted
	Versions       map[string]int       // of what is held: in how many it was seen
	Asked          map[string]int64     // of what is held: since when, Unix nanoseconds
	Denied         map[string]bool      // of what is held: a person wants it to stay so
	Lists          map[string]*listing  // besides tools, by method
	Times          int                  // how often a person accepted something of it
}

func newKnown(id, server, at string) *Known {
	return &Known{
		ID: id, Server: server, At: at, Accepted: map[string]event.Pin{}, Held: map[string]event.Pin{}, Other: map[string]event.Pin{},
		Versions: map[string]int{}, Asked: map[string]int64{}, Denied: map[string]bool{},
		Lists: map[string]*listing{},
	}
}

// State is what the log says: a fold over its records.
type State struct {
	Version uint64
	Servers map[string]*Known // by ID
}

// What a record says.
const (
	first    = "first"
	held     = "held"
	accepted = "accepted"
	denied   = "denied"
	listed   = "listed"
)

// Apply folds one record.
func (s *State) Apply(e *event.Event) {
	s.Version++
	p := e.Pins
	if p == nil {
		return
	}
	if s.Servers == nil {
		s.Servers = map[string]*Known{}
	}
	k := s.Servers[p.ID]
	if k == nil {
		k = newKnown(p.ID, p.Server, p.At)
		s.Servers[p.ID] = k
	}
	if p.Act == listed {
		k.take(p)
		return
	}
	if k.Listed == 0 && (p.Whole || slices.ContainsFunc(p.Items, func(i event.Pin) bool { return i.Name != "" })) {
		k.Listed = e.Time
	}
	k.apply(p)
	if p.Act == held {
		for _, pin := range p.Items {
			k.Asked[pin.Name] = e.Time
		}
	}
}

func (k *Known) apply(p *event.Pins) {
	k.Whole = k.Whole || p.Whole
	if p.Act == accepted {
		k.Times++
	}
	for _, pin := range p.Items {
		switch p.Act {
		case first, accepted:
			k.Accepted[pin.Name] = pin
			if p.Act == accepted {
				delete(k.Held, pin.Name)
				delete(k.Versions, pin.Name)
				delete(k.Other, pin.Name)
				delete(k.Asked, pin.Name)
				delete(k.Denied, pin.Name)
			}
		case denied:
			k.Denied[pin.Name] = true
		case held:
			delete(k.Denied, pin.Name) // of this one nobody has said anything
			k.Held[pin.Name] = pin
			if pin.Hash != k.Accepted[pin.Name].Hash {
				k.Other[pin.Name] = pin
			}
			k.Versions[pin.Name]++
		}
	}
}

// clone is a copy that can be changed.
func (k *Known) clone() *Known {
	c := *k
	c.Accepted, c.Held, c.Other, c.Versions = maps.Clone(k.Accepted), maps.Clone(k.Held), maps.Clone(k.Other), maps.Clone(k.Versions)
	c.Asked, c.Denied = maps.Clone(k.Asked), maps.Clone(k.Denied)
	return &c
}
