package pins

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
)

// entriesOf are the listings besides tools, and where their entries stand.
var entriesOf = map[string]string{
	"resources/list": "resources", "resources/templates/list": "resourceTemplates", "prompts/list": "prompts",
}

// plainMembers are what a listing has besides entries, without a word for a model.
var plainMembers = []string{"nextCursor", "ttlMs", "cacheScope", "resultType"}

// maxEntries bounds what is remembered of one listing.
const maxEntries = 512

// listing is what was listed when a server was first used.
type listing struct {
	entries map[string]bool // by hash
	whole   bool            // it came to its end
}

// take folds a record of a listing.
func (k *Known) take(p *event.Pins) {
	l := k.Lists[p.List]
	if l == nil {
		l = &listing{entries: map[string]bool{}}
		k.Lists[p.List] = l
	}
	for _, pin := range p.Items {
		l.entries[pin.Hash] = true
	}
	l.whole = l.whole || p.Whole
}

// Same reports whether one page of a listing of resources or prompts has nothing but what the server listed when it
// was first used, to the last page of that listing and while its tools were new too. Such a page says no more than
// definitions do that count as accepted. Any other is content, and no person is asked about it.
func (k *Keeper) Same(ctx context.Context, s Server, method string, result []byte) (bool, error) {
	items, whole, ok := entries(method, result)
	if !ok || k.opts.Mode != First {
		return false, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	same := false
	err := k.record(ctx, func() ([]event.Pins, error) {
		known := k.known(s)
		l := known.Lists[method]
		if l == nil {
			l = &listing{}
		}
		fresh := slices.DeleteFunc(slices.Clone(items), func(p event.Pin) bool { return l.entries[p.Hash] })
		if same = len(fresh) == 0 && l.whole; same {
			return nil, nil
		}
		began := known.Listed == 0 || k.opts.Now().Sub(time.Unix(0, known.Listed)) < window
		if same = !l.whole && began && len(l.entries)+len(fresh) <= maxEntries; !same || len(fresh) == 0 && !whole {
			return nil, nil
		}
		news := event.Pins{Act: listed, List: method, ID: known.ID, Server: known.Server, At: known.At, Items: fresh, Whole: whole}
		return []event.Pins{news}, nil
	})
	return same && err == nil, err
}

// entries reads a page. One that says anything besides its entries is none that could be remembered.
func entries(method string, result []byte) (items []event.Pin, whole, ok bool) {
	var all map[string]strictjson.Value
	var list []strictjson.Value
	where := entriesOf[method]
	if where == "" || strictjson.Unmarshal(result, &all) != nil || strictjson.Unmarshal(all[where], &list) != nil {
		return nil, false, false
	}
	for name := range all {
		if name != where && !slices.Contains(plainMembers, name) {
			return nil, false, false
		}
	}
	for _, raw := range list {
		var named struct {
			Name string `json:"name"`
		}
		_, hash, err := canonical(raw)
		if err != nil || raw.Kind() != '{' || strictjson.Unmarshal(raw, &named) != nil || len(raw) > maxDefinition {
			return nil, false, false
		}
		items = append(items, event.Pin{Name: text.Head(named.Name, maxName), Hash: hash})
	}
	next := all["nextCursor"]
	return items, len(next) == 0 || next.Kind() == 'n', true
}

// maxSaid bounds what is said again after a start.
const maxSaid = 4 << 20

// EachSaid visits what servers have said of their tools and of themselves that was accepted, those that were first used last first: a
// conversation may have read it before this start.
func (k *Keeper) EachSaid(visit func(server, text string) error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := slices.SortedFunc(maps.Values(k.state.Servers), func(a, b *Known) int {
		return cmp.Or(cmp.Compare(b.Listed, a.Listed), cmp.Compare(a.ID, b.ID))
	})
	size := 0
	for _, s := range all {
		for _, name := range slices.Sorted(maps.Keys(s.Accepted)) {
			p := s.Accepted[name]
			for _, said := range []string{p.Text, p.Hints, p.More} {
				if size += len(said); size > maxSaid {
					return nil
				}
				if err := visit(s.Server, said); said != "" && err != nil {
					return err
				}
			}
		}
	}
	return nil
}
