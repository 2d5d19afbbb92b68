package definitions

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/tool"
)

// hostsLog begins the names of the logs that hold what hosts describe: one for each list that differs.
const hostsLog = store.Own + "tools:"

// list is what is remembered of a list: it never changes.
type list struct {
	at    time.Time
	agent string
	tools []described
}

type described struct{ name, hash string }

// readLists reads the lists that were told last, as far as they are not known yet, and forgets older ones.
// Preconditions: mu is held.
func (b *Book) readLists(ctx context.Context) error {
	logs, err := b.log.Sessions(ctx, store.SessionQuery{Prefix: hostsLog, Own: true, Limit: MaxLists})
	if err != nil {
		return fmt.Errorf("read definitions: %w", err)
	}
	known := make(map[string]*list, len(logs))
	for _, l := range logs {
		if known[l.Name] = b.lists[l.Name]; known[l.Name] != nil {
			continue
		}
		e, ok, err := recordOf(ctx, b.log, store.EntryQuery{Session: l.Name, Limit: 1})
		if err != nil {
			return err
		}
		known[l.Name] = &list{at: time.Unix(0, l.FirstTime).UTC(), agent: e.Agent}
		if ok { // what is broken, the audit names
			known[l.Name].tools = hashes(e.Offered)
		}
	}
	b.lists = known
	return nil
}

func hashes(all []event.Offered) []described {
	out := make([]described, len(all))
	for i := range all {
		p := pinOf(&all[i])
		out[i] = described{tool.Name(all[i].Name), hashOf(p.Text, p.Hints)}
	}
	return out
}

// hosts are the histories of what hosts described: each text once, by when it was told first.
// Preconditions: mu is held.
func (b *Book) hosts() map[string]*History {
	logs := slices.SortedFunc(maps.Keys(b.lists), func(x, y string) int { return b.lists[x].at.Compare(b.lists[y].at) })
	out := map[string]*History{}
	seen := map[string]bool{}
	for _, log := range logs {
		l := b.lists[log]
		for i, d := range l.tools {
			key := l.agent + "\x00" + d.name
			h := out[key]
			if h == nil && len(out) < maxTools {
				h = &History{Tool: d.name, Agent: l.agent}
				out[key] = h
			}
			if h == nil || seen[key+"\x00"+d.hash] {
				continue
			}
			seen[key+"\x00"+d.hash] = true
			h.add(Version{Seen: l.at, State: "told", Hash: d.hash, at: place{list: log, item: i}})
		}
	}
	return out
}

// pinOf is a host's definition in the form of a server's.
func pinOf(o *event.Offered) event.Pin {
	members := map[string]any{"name": o.Name}
	if o.Description != "" {
		members["description"] = o.Description
	}
	if o.Schema != "" {
		members["inputSchema"] = o.Schema // what is no JSON is a text
		if v := strictjson.Value(o.Schema); v.IsValid() {
			members["inputSchema"] = v
		}
	}
	hints := map[string]bool{}
	for name, is := range map[string]*bool{
		"readOnlyHint": o.ReadOnly, "destructiveHint": o.Destructive, "openWorldHint": o.OpenWorld, "of the host itself": o.Host,
	} {
		if is != nil {
			hints[name] = *is
		}
	}
	p := event.Pin{Name: o.Name}
	if raw, err := strictjson.Marshal(members); err == nil {
		p.Text = string(raw)
	}
	if raw, err := strictjson.Marshal(hints); err == nil && len(hints) > 0 {
		p.Hints = string(raw)
	}
	return p
}
