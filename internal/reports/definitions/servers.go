package definitions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/tool"
)

// ServersLog is the log in which definitions of MCP servers and their acceptance are recorded.
const ServersLog = store.Own + "pins"

// Instructions is what a server's instructions are called where a tool's name would stand. No
// tool can have this name.
const Instructions = "(instructions)"

// servers are the histories of what MCP servers offered: a fold over their log.
type servers struct {
	after int64               // the record that was read last
	known map[string]*History // by server and tool
}

// read folds what is new in the log.
func (s *servers) read(ctx context.Context, log Log) error {
	for {
		page, err := log.Since(ctx, store.EntryQuery{Session: ServersLog, After: s.after, Limit: store.MaxLimit})
		if err != nil {
			return fmt.Errorf("read definitions: %w", err)
		}
		if len(page) == 0 {
			return nil
		}
		for _, r := range page {
			s.after = r.ID
			if e, err := event.FromRecord(r.Record); err == nil && e.Pins != nil { // what is broken, the audit names
				s.apply(r.ID, &e)
			}
		}
	}
}

// apply folds one record.
func (s *servers) apply(id int64, e *event.Event) {
	for i, item := range e.Pins.Items {
		v := Version{Seen: time.Unix(0, e.Time).UTC(), Why: item.Why, Hash: hashOf(item.Hash, item.Hints), at: place{id: id, item: i}}
		switch e.Pins.Act {
		case "first":
			v.State = "first"
		case "held":
			v.State = "hidden"
		case "accepted", "denied":
			v.State = e.Pins.Act
		default:
			continue // of other listings
		}
		h := s.history(e.Pins, item.Name)
		if h == nil {
			continue
		}
		last := h.lastLike(v.Hash)
		switch {
		case e.Pins.Act == "first" || e.Pins.Act == "held":
			if n := len(h.Versions); last == nil || last != &h.Versions[n-1] {
				h.add(v)
			}
			continue
		case last == nil:
			h.add(v)
			last = h.lastLike(v.Hash)
		}
		last.State, last.By, last.Via, last.Note, last.Answered = v.State, e.Pins.By, e.Pins.Via, e.Pins.Note, v.Seen
	}
}

// history is that of one tool, which begins now if it is new; nil where there are too many.
func (s *servers) history(p *event.Pins, name string) *History {
	key := p.ID + " " + name
	h := s.known[key]
	if h == nil && len(s.known) < maxTools {
		if name == "" {
			name = Instructions
		}
		h = &History{Tool: tool.Name(p.Server) + between + tool.Name(name), Server: p.Server, On: p.ID}
		s.known[key] = h
	}
	return h
}

// lastLike is the newest version with a text; nil: there is none.
func (h *History) lastLike(hash string) *Version {
	for i := len(h.Versions) - 1; i >= 0; i-- {
		if h.Versions[i].Hash == hash {
			return &h.Versions[i]
		}
	}
	return nil
}

// hashOf stands for what parts say together.
func hashOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s,", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
