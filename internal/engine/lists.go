package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/warrant/sayings"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/tool"
)

// maxKeptTools bounds the bytes of definitions that are kept of one list.
const maxKeptTools = 512 << 10

// maxLists bounds how many lists are kept of one session: a host that writes the time into a
// description has another one with each call.
const maxLists = 64

// toolsLog begins the names of the logs that hold definitions: one for each list that differs, since
// most sessions are offered the same.
const toolsLog = reserved + "tools:"

// offered knows the lists that are in the log already.
type offered struct {
	mu    sync.Mutex
	lists map[tool.Digest]bool // guarded by mu
}

// keepTools has the log hold what a host describes, so that whoever judges the session next knows it
// too. It names the list where that is another than before, and nothing where it is the same.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) keepTools(ctx context.Context, s *sessionEntry, defs []tool.Definition) (*tool.Digest, error) {
	same := func(a, b tool.Definition) bool { return sameTool(a, b) && sameHint(a.Host, b.Host) }
	if !m.Reads() || s.State.Tools != (tool.Digest{}) && s.toldAt == s.State.Tools && slices.EqualFunc(s.told, defs, same) {
		return nil, nil //nolint:nilnil // nothing new
	}
	e := &event.Event{Kind: event.ToolsOffered, Time: m.table.At(s.Entry), Agent: s.State.Agent}
	h, size, text := sha256.New(), 0, true
	for _, d := range defs {
		o := event.Offered{
			Name: d.Name, Description: d.Description, Schema: string(d.Schema),
			ReadOnly: d.ReadOnly, Destructive: d.Destructive, OpenWorld: d.OpenWorld, Host: d.Host,
		}
		line, err := json.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("keep definitions: %w", err)
		}
		size += len(line)
		text = text && utf8.ValidString(o.Name+o.Description+o.Schema)
		h.Write(append(line, 0))
		e.Offered = append(e.Offered, o)
	}
	sum := tool.Digest(h.Sum(nil))
	if s.lists++; size > maxKeptTools || !text || s.lists > maxLists {
		sum = tool.Digest{}
	} else if err := m.offered.keep(ctx, m.store, sum, e); err != nil {
		return nil, err
	}
	if sum == s.State.Tools {
		return nil, nil //nolint:nilnil // another server was told the same
	}
	return &sum, nil
}

// keep writes a list, where nobody has: its log has one record.
func (o *offered) keep(ctx context.Context, log Store, list tool.Digest, e *event.Event) error {
	o.mu.Lock()
	known := o.lists[list]
	o.mu.Unlock()
	if known {
		return nil
	}
	if err := log.Append(ctx, toolsLog+list.String(), 0, []*event.Event{e}); err != nil && !errors.Is(err, ErrConflict) {
		return fmt.Errorf("keep definitions: %w", unavailable(err))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.lists) >= maxOffers || o.lists == nil {
		o.lists = map[tool.Digest]bool{}
	}
	o.lists[list] = true
	return nil
}

// recallTools reads what the host described, where another monitor was told, or this one before a
// restart. Without it tools are understood by their names.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) recallTools(ctx context.Context, s *sessionEntry) error {
	at := s.State.Tools
	if at == s.toldAt || !m.Reads() {
		return nil
	}
	var e event.Event // of a list that was not kept, nothing is known
	if at != (tool.Digest{}) {
		var err error
		if e, err = m.eventAt(ctx, toolsLog+at.String(), 1); err != nil {
			return fmt.Errorf("read definitions: %w", err)
		}
	}
	s.told = nil
	for _, o := range e.Offered {
		s.told = append(s.told, tool.Definition{
			Name: o.Name, Description: o.Description, Schema: []byte(o.Schema),
			ReadOnly: o.ReadOnly, Destructive: o.Destructive, OpenWorld: o.OpenWorld, Host: o.Host,
		})
	}
	s.toldAt = at
	s.offered(m.readTools(withOffers(s.told, s.offers), m.policy.Load().For(s.State.Agent)))
	return nil
}

// offered notes what the model is offered, where that is something new.
// Preconditions: s.mu is held.
func (s *sessionEntry) offered(defs []tool.Definition) {
	if slices.EqualFunc(s.tools, defs, sameTool) {
		return
	}
	s.tools, s.meant, s.latest, s.prepared = defs, nil, nil, 0
	if s.heard != nil {
		s.heard.Tools(defs)
	}
}

// withOffers adds what servers offer to what the host describes: of a tool in both, the host's is
// what its model reads.
func withOffers(defs, offers []tool.Definition) []tool.Definition {
	out := slices.Clip(defs)
	for _, o := range offers {
		if !slices.ContainsFunc(defs, func(d tool.Definition) bool { return tool.Name(d.Name) == tool.Name(o.Name) }) {
			out = append(out, o)
		}
	}
	return out
}

// sameTool reports whether two definitions say the same: hosts repeat them with every
// model call, and understanding them costs more than comparing.
func sameTool(a, b tool.Definition) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema) &&
		(a.Reading == nil) == (b.Reading == nil) &&
		sameHint(a.ReadOnly, b.ReadOnly) && sameHint(a.Destructive, b.Destructive) && sameHint(a.OpenWorld, b.OpenWorld)
}

func sameHint(p, q *bool) bool { return p == q || p != nil && q != nil && *p == *q }

// described is definitions as a planner sees them.
func described(tools []tool.Definition) []intent.Definition {
	out := make([]intent.Definition, len(tools))
	for i, d := range tools {
		out[i] = intent.Definition{Name: d.Name, Description: text.Cover(d.Description, 500)}
		for _, p := range toolinfo.Of(d).Params {
			if len(out[i].Params) < 32 {
				out[i].Params = append(out[i].Params, text.Cover(p.Path, 64))
			}
		}
	}
	return out
}

// maxOffers bounds how many tools of servers a session knows.
const maxOffers = 4096

// Offer tells what a server offers in a session beside the host's own tools, where the host does not
// describe them itself. All its names begin with the server's and "__"; what the server offered
// before is replaced.
func (m *Monitor) Offer(ctx context.Context, ref Ref, server string, defs []tool.Definition) error {
	prefix := tool.Name(server) + "__"
	of := func(d tool.Definition) bool { return strings.HasPrefix(tool.Name(d.Name), prefix) }
	if slices.ContainsFunc(defs, func(d tool.Definition) bool { return !of(d) }) {
		return fmt.Errorf("offer tools: one is not named after its server %q", server)
	}
	for _, d := range defs {
		if err := m.Hear(server, d.Description+"\n"+sayings.Plain(d.Schema)); err != nil {
			return fmt.Errorf("offer tools: %w", err)
		}
	}
	err := m.with(ctx, ref, func(s *sessionEntry) error {
		set := m.policy.Load().For(s.State.Agent)
		now := append(slices.DeleteFunc(slices.Clone(s.offers), of), defs...)
		if len(now) > maxOffers { // what nobody hears of must not be shown
			return fmt.Errorf("more than %d tools of servers in one session", maxOffers)
		}
		s.offers = now
		s.offered(m.readTools(withOffers(s.told, s.offers), set))
		return nil
	})
	if err != nil {
		return fmt.Errorf("offer tools: %w", err)
	}
	return nil
}

// ErrRoom is returned where there is no room for what a server says.
var ErrRoom = errors.New("there is no room for more of what the server says")

// Hear tells what a server says of itself, or of its own accord, such as a log message. It argues in every session, because
// nobody here knows in which of them it is read: a value that stands in it has nobody behind it. No session is worth less for it.
func (m *Monitor) Hear(server, said string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.spoken.Load()
	if now == nil {
		now = &sayings.Book{}
	}
	more, ok := now.With(tool.Name(server), said)
	if !ok {
		return ErrRoom
	}
	m.spoken.Store(more)
	return nil
}

// HearJSON is Hear for a JSON text: its values and keys, as they read.
func (m *Monitor) HearJSON(server string, said []byte) error {
	return m.Hear(server, sayings.Plain(said))
}
