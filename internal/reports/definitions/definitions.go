// Package definitions tells how the definitions of tools became what they are: when each text was first seen, how it
// differs from the one before it, and who accepted it.
//
// It reads a log that is handed in: what MCP servers offered and people accepted, and the lists that hosts told. It
// does no other I/O.
//
// Invariants:
//   - what is remembered between two questions is bounded; texts are not, they are read again;
//   - a text that is gone, or cannot be read, is said to be.
package definitions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/tool"
)

// The bounds of what is told.
const (
	MaxVersions = 32  // of one tool, the newest
	MaxLists    = 256 // of hosts, those that were told last
	maxTools    = 8192
)

// Version is one text of a definition.
type Version struct {
	Seen     time.Time `json:"seen" doc:"when it was first seen"`
	State    string    `json:"state" enum:"told,first,hidden,accepted,denied"` // what people did about it
	Why      string    `json:"why,omitzero" doc:"for what reason it was hidden"`
	By       string    `json:"by,omitzero" doc:"who accepted it, or wants it to stay hidden"`
	Via      string    `json:"via,omitzero" doc:"by which door they said so"`
	Note     string    `json:"note,omitzero" doc:"their words"`
	Answered time.Time `json:"answered,omitzero" doc:"when they said so"`
	Hash     string    `json:"hash" doc:"stands for this text"`
	Diff     string    `json:"diff,omitzero" doc:"what is different from the version before it; of the first, all of it"`

	at place
}

// place is where the text of a version stands in the log.
type place struct {
	id   int64  // of a record of MCP servers; 0: it stands in a host's list
	list string // the log of that list
	item int
}

// History is what became of the definition of one tool of one server, or of one that an agent's host describes.
type History struct {
	Tool     string    `json:"tool" doc:"as policies spell it"`
	Server   string    `json:"server,omitzero" doc:"the MCP server that offers it"`
	On       string    `json:"on,omitzero" doc:"the id of that server"`
	Agent    string    `json:"agent,omitzero" doc:"of a tool that hosts describe: whose host was the first to tell it so"`
	First    time.Time `json:"first" doc:"when it was first seen"`
	Changed  time.Time `json:"changed,omitzero" doc:"when another text was last seen first; absent: it was always the same"`
	Seen     int       `json:"seen" doc:"how many texts were seen"`
	Versions []Version `json:"versions,omitzero" doc:"newest first, at most 32; absent where no tool is named"`
}

// add notes a text that was not seen before.
func (h *History) add(v Version) {
	if h.Seen++; h.Seen == 1 {
		h.First = v.Seen
	} else {
		h.Changed = v.Seen
	}
	if h.Versions = append(h.Versions, v); len(h.Versions) > MaxVersions {
		h.Versions = slices.Delete(h.Versions, 0, 1)
	}
}

// Filter is which histories are wanted; what is empty fits everything.
type Filter struct {
	Tool   string // as a policy, its server or its host spells it
	Server string // its name, or NAME@ID
	Find   string // somewhere in the tool's name
}

func (f *Filter) fits(h *History) bool {
	name, id, _ := strings.Cut(f.Server, "@")
	bare := h.Tool
	if h.Server != "" {
		bare = strings.TrimPrefix(bare, tool.Name(h.Server)+between)
	}
	want := tool.Name(f.Tool)
	return (f.Server == "" || h.Server == name && strings.HasPrefix(h.On, id)) && (f.Tool == "" || want == h.Tool || want == bare) &&
		strings.Contains(h.Tool, strings.ToLower(f.Find))
}

// between stands between the name of an MCP server and that of its tool.
const between = "__"

// Log is what is read.
type Log interface {
	Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error)
	Sessions(ctx context.Context, q store.SessionQuery) ([]store.Session, error)
}

// Book knows the histories. It is safe for concurrent use.
type Book struct {
	log Log

	mu      sync.Mutex
	servers servers          // guarded by mu
	lists   map[string]*list // guarded by mu; of hosts, by their logs
}

// New makes a Book that reads a log when it is asked.
func New(log Log) *Book {
	return &Book{log: log, servers: servers{known: map[string]*History{}}, lists: map[string]*list{}}
}

// All are the histories that fit, without their versions, those that changed last first.
func (b *Book) All(ctx context.Context, f Filter) ([]History, error) {
	all, err := b.find(ctx, f)
	for i := range all {
		all[i].Versions = nil
	}
	return all, err
}

// Of is all that is known of the tools that fit, the newest version first.
func (b *Book) Of(ctx context.Context, f Filter) ([]History, error) {
	all, err := b.find(ctx, f)
	if err != nil {
		return nil, err
	}
	texts := texts{log: b.log, lists: map[string][]event.Offered{}}
	for i := range all {
		if err := texts.fill(ctx, all[i].Versions, all[i].Seen > len(all[i].Versions)); err != nil {
			return nil, err
		}
		slices.Reverse(all[i].Versions)
	}
	return all, nil
}

// find reads what is new in the log, and finds what fits.
func (b *Book) find(ctx context.Context, f Filter) ([]History, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.servers.read(ctx, b.log); err != nil {
		return nil, err
	}
	if err := b.readLists(ctx); err != nil {
		return nil, err
	}
	out := []History{}
	for _, known := range []map[string]*History{b.servers.known, b.hosts()} {
		for _, h := range known {
			if f.fits(h) {
				one := *h
				one.Versions = slices.Clone(h.Versions)
				out = append(out, one)
			}
		}
	}
	last := func(h *History) time.Time {
		if h.Changed.IsZero() {
			return h.First
		}
		return h.Changed
	}
	slices.SortFunc(out, func(x, y History) int {
		return cmp.Or(last(&y).Compare(last(&x)), cmp.Compare(x.Tool, y.Tool), cmp.Compare(x.On, y.On), cmp.Compare(x.Agent, y.Agent))
	})
	return out, nil
}

// texts reads the texts of versions back.
type texts struct {
	log   Log
	lists map[string][]event.Offered
}

// fill adds to each version how it differs from the one before it. cut says that there were versions before the first.
func (t *texts) fill(ctx context.Context, all []Version, cut bool) error {
	from, was := "nothing", []byte(nil)
	if cut {
		from = "(older versions are not told)"
	}
	for i := range all {
		v := &all[i]
		p, ok, err := t.text(ctx, v.at)
		if err != nil {
			return err
		}
		to := v.Seen.UTC().Format(time.RFC3339)
		is := []byte(nil)
		switch {
		case !ok:
			v.Diff = "(its text is not kept, or not any more)\n"
		case p.Text == "":
			v.Diff, ok = "(too large to be shown)\n", false
		default:
			is = Readable(p)
			if v.Diff = Diff(from, was, to, is); v.Diff == "" {
				v.Diff = "(the same for people; what differs is not shown to models)\n"
			}
		}
		if from, was = to, is; !ok {
			from = "(the version before it cannot be shown)"
		}
	}
	return nil
}

// text is what stands at a place; not ok: nothing that can be read.
func (t *texts) text(ctx context.Context, at place) (p event.Pin, ok bool, err error) {
	if at.id == 0 {
		offered, read := t.lists[at.list]
		if !read {
			e, _, err := recordOf(ctx, t.log, store.EntryQuery{Session: at.list, Limit: 1})
			if err != nil {
				return p, false, err
			}
			offered = e.Offered
			t.lists[at.list] = offered
		}
		if at.item >= len(offered) {
			return p, false, nil
		}
		return pinOf(&offered[at.item]), true, nil
	}
	e, ok, err := recordOf(ctx, t.log, store.EntryQuery{After: at.id - 1, Limit: 1})
	if err != nil || !ok || e.Pins == nil || at.item >= len(e.Pins.Items) {
		return p, false, err
	}
	return e.Pins.Items[at.item], true, nil
}

// recordOf reads one record; not ok: it is not there, or cannot be read.
func recordOf(ctx context.Context, log Log, q store.EntryQuery) (e event.Event, ok bool, err error) {
	page, err := log.Since(ctx, q)
	if err != nil {
		return e, false, fmt.Errorf("read definitions: %w", err)
	}
	if len(page) == 0 {
		return e, false, nil
	}
	e, fault := event.FromRecord(page[0].Record)
	return e, fault == nil, nil
}
