package pins

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
)

// The bounds of what is kept of one server.
const (
	maxAccepted = 4096
	maxHeld     = 512
	maxVersions = 32               // of one definition that is another every time
	window      = 10 * time.Minute // in which a first listing must come to its end
)

// ErrResult is in every error about a result that cannot be read.
var ErrResult = errors.New("the result cannot be read")

// List is shown the result of a tools/list, one page of it, and answers with what the client
// may be shown: the same bytes where nothing is hidden, else the same object without the
// tools that are not accepted. Cursor is what the client asked with.
func (k *Keeper) List(ctx context.Context, s Server, _ string, result []byte) ([]byte, error) {
	var d jsonspan.Doc
	if err := d.Read(result); err != nil {
		return nil, fmt.Errorf("%w: the list of tools: %w", ErrResult, err)
	}
	if d.Kind(0) != '{' {
		return nil, fmt.Errorf("%w: the list of tools is no object", ErrResult)
	}
	list, whole := jsonspan.None, true
	for m := range d.Each(0) {
		switch string(d.Key(m)) {
		case "tools":
			list = m
		case "nextCursor":
			whole = d.Kind(m) == 0
		}
	}
	if list == jsonspan.None {
		return result, nil
	}
	if d.Kind(list) != '[' {
		return nil, fmt.Errorf("%w: tools is no list", ErrResult)
	}
	var page []event.Pin
	var spans []jsonspan.Span
	for e := range d.Each(list) {
		p, err := definitionOf(strictjson.Value(d.Raw(e)))
		if err != nil {
			p = event.Pin{Why: err.Error()} // nothing can be said of it, so it is not shown
		}
		page, spans = append(page, p), append(spans, d.Member(e))
	}
	shown, err := k.see(ctx, s, page, whole)
	if err != nil {
		return nil, err
	}
	return without(result, spans, shown), nil
}

// Hello is shown the result of an initialize or a server/discover, and answers like List.
func (k *Keeper) Hello(ctx context.Context, s Server, result []byte) ([]byte, error) {
	words, bare, err := greeting(result)
	if err != nil {
		return nil, err
	}
	p, err := instructionsOf(words)
	if err != nil {
		return nil, err
	}
	ok, err := k.greeted(ctx, s, p, string(words) == noWords)
	switch {
	case err != nil:
		return nil, err
	case ok:
		return result, nil
	}
	return bare, nil
}

// noWords are the instructions of a server that has none.
const noWords = `""`

// greeting takes the instructions out of a greeting, and says what they are.
func greeting(result []byte) (words strictjson.Value, bare []byte, err error) {
	var d jsonspan.Doc
	if err := d.Read(result); err != nil {
		return nil, nil, fmt.Errorf("%w: the greeting: %w", ErrResult, err)
	}
	if d.Kind(0) != '{' {
		return nil, nil, fmt.Errorf("%w: the greeting is no object", ErrResult)
	}
	var spans []jsonspan.Span
	var shown []bool
	words = strictjson.Value(noWords)
	for m := range d.Each(0) {
		these := strings.EqualFold(string(d.Key(m)), "instructions") // some readers take any case
		if these && d.Kind(m) != 0 {
			words = strictjson.Value(d.Raw(m))
		}
		spans, shown = append(spans, d.Member(m)), append(shown, !these)
	}
	return words, without(result, spans, shown), nil
}

// without is the text without those of its members that are not shown, and one comma for each.
func without(src []byte, spans []jsonspan.Span, shown []bool) []byte {
	var out []byte
	at, kept := 0, false
	for i, s := range spans {
		if shown[i] {
			kept = true
			continue
		}
		out = append(out, src[at:s.Start]...)
		switch {
		case i+1 < len(spans): // with what stands before the next
			at = spans[i+1].Start
		case kept: // the last one: with the comma behind the last that stays
			out = out[:bytes.LastIndexByte(out, ',')]
			at = s.End
		default:
			at = s.End
		}
	}
	if at == 0 {
		return src
	}
	return append(out, src[at:]...)
}

// see compares a page with what is accepted, records what is new, and says of each tool
// whether it is shown.
func (k *Keeper) see(ctx context.Context, s Server, page []event.Pin, whole bool) ([]bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var shown []bool
	err := k.record(ctx, func() ([]event.Pins, error) {
		now := k.known(s)
		v := &viewing{k: k, server: s, known: now.clone(), fresh: k.fresh(now)}
		v.page(page, whole)
		shown = v.shown(page)
		return v.news, nil
	})
	return shown, err
}

// known is what is known of a server; of a new one nothing.
// Preconditions: mu is held.
func (k *Keeper) known(s Server) *Known {
	id := k.id(s)
	if known := k.state.Servers[id]; known != nil {
		return known
	}
	return newKnown(id, s.Name, s.at())
}

// id is s.ID, remembered for servers that are reached over HTTP: it is asked before every call.
// Preconditions: mu is held.
func (k *Keeper) id(s Server) string {
	if len(s.Command) > 0 {
		return s.ID()
	}
	at := address{s.Name, s.URL}
	if k.ids[at] == "" {
		if k.ids == nil || len(k.ids) > maxIDs {
			k.ids = map[address]string{}
		}
		k.ids[at] = s.ID()
	}
	return k.ids[at]
}

// address is a server over HTTP.
type address struct{ name, url string }

const maxIDs = 1024

// fresh reports whether a server's first listing is still going on, so that what it offers is
// what its owner configured.
func (k *Keeper) fresh(known *Known) bool {
	began := known.Listed == 0 || k.opts.Now().Sub(time.Unix(0, known.Listed)) < window
	return k.opts.Mode == First && !known.Whole && began
}

// viewing is one page of a listing while it is compared.
type viewing struct {
	k      *Keeper
	server Server
	known  *Known
	fresh  bool
	twins  map[string]int  // names of the page, folded, to how many different ones there are
	double map[string]bool // names that the page has with several definitions
	news   []event.Pins
}

// note records something of one kind.
func (v *viewing) note(act string, items []event.Pin, whole bool) {
	if len(items) == 0 && !whole {
		return
	}
	p := event.Pins{Act: act, ID: v.known.ID, Server: v.known.Server, At: v.known.At, Items: items, Whole: whole}
	v.known.apply(&p)
	v.news = append(v.news, p)
}

// page works out what is new.
func (v *viewing) page(page []event.Pin, whole bool) {
	v.count(page)
	var taken, kept []event.Pin
	seen := map[string]bool{} // of this page
	for _, p := range page {
		if p.Why != "" || seen[p.Name+" "+p.Hash+p.Rest] {
			continue
		}
		seen[p.Name+" "+p.Hash+p.Rest] = true
		was, known := v.known.Accepted[p.Name]
		_, waits := v.known.Held[p.Name]
		same := known && same(was, p) && loosened(was, p) == ""
		p.Why = v.why(p)
		switch {
		case p.Why == "" && !known:
			taken = append(taken, p)
		case same && v.double[p.Name]: // the other one is held
		case same && waits:
			p.Why = "it had changed, and is now as accepted again"
			fallthrough
		case p.Why != "":
			if v.keeps(p) {
				kept = append(kept, p)
			}
		}
	}
	if v.k.opts.Mode == Off {
		return
	}
	v.note(first, taken, whole && !v.known.Whole)
	v.note(held, kept, false)
}

// count finds names of the page that could be taken for one another, and those that are there
// with several definitions.
func (v *viewing) count(page []event.Pin) {
	v.twins, v.double = map[string]int{}, map[string]bool{}
	names := map[string]event.Pin{}
	for _, p := range page {
		first, twice := names[p.Name]
		if !twice {
			names[p.Name] = p
			v.twins[fold(p.Name)]++
		}
		v.double[p.Name] = v.double[p.Name] || twice && (first.Hash != p.Hash || first.Rest != p.Rest)
	}
}

// keeps reports whether a held definition is worth a record: it is another than the one that
// waits, and the server has not filled the log with others.
func (v *viewing) keeps(p event.Pin) bool {
	was, waits := v.known.Held[p.Name]
	if waits && was.Hash == p.Hash && was.Rest == p.Rest {
		return false
	}
	_, accepted := v.known.Accepted[p.Name] // what was accepted always has room to be held
	return v.known.Versions[p.Name] < maxVersions && (waits || accepted || len(v.known.Held) < maxHeld) && len(p.Name) <= 2*maxName
}

// why says for what reason a definition is not shown; "" where it is, or is taken for the
// first one.
func (v *viewing) why(p event.Pin) string {
	if bad := named(p.Name); bad != "" {
		return bad
	}
	was, known := v.known.Accepted[p.Name]
	switch {
	case v.double[p.Name]:
		return "the server lists it twice, each time with another definition"
	case known && !same(was, p):
		return "it is not what was accepted"
	case known:
		return loosened(was, p)
	case v.k.opts.Mode != Off && v.known.Held[p.Name].Why != "": // it waits already, and nothing but a person ends that
		return v.known.Held[p.Name].Why
	case v.twin(p.Name) != "":
		return v.twin(p.Name)
	case v.k.reserved[fold(p.Name)]:
		return "it has the name of a tool that policies know by itself"
	case v.k.opts.Mode == Off:
		return ""
	case p.Text == "":
		return fmt.Sprintf("its definition has more than %d bytes", maxDefinition)
	case v.k.opts.Mode == Review:
		return "nobody has accepted it yet"
	case !v.fresh || len(v.known.Accepted) >= maxAccepted:
		return "it is new"
	}
	return ""
}

// twin says which accepted tool, or other tool of the page, a new name could be taken for.
func (v *viewing) twin(name string) string {
	if v.twins[fold(name)] > 1 {
		return "another tool of the server has nearly the same name"
	}
	for other := range v.known.Accepted {
		if other != name && other != "" && fold(other) == fold(name) {
			return "the server's tool " + other + " has nearly the same name"
		}
	}
	return ""
}

// shown says of each tool of the page whether the client may see it, by what is accepted now.
func (v *viewing) shown(page []event.Pin) []bool {
	out := make([]bool, len(page))
	for i, p := range page {
		if v.k.opts.Mode == Off {
			out[i] = p.Why == "" && named(p.Name) == "" && v.twins[fold(p.Name)] == 1 && !v.k.reserved[fold(p.Name)]
			continue
		}
		was, known := v.known.Accepted[p.Name]
		_, waits := v.known.Held[p.Name]
		out[i] = p.Why == "" && known && !waits && same(was, p) && loosened(was, p) == "" && p.Name != ""
	}
	return out
}

// greeted compares a server's instructions, and says whether they are shown. A server that has
// none shows nothing.
func (k *Keeper) greeted(ctx context.Context, s Server, p event.Pin, none bool) (bool, error) {
	if k.opts.Mode == Off {
		return true, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	ok := false
	err := k.record(ctx, func() ([]event.Pins, error) {
		now := k.known(s)
		v := &viewing{k: k, server: s, known: now.clone(), fresh: k.fresh(now)}
		was, known := now.Accepted[""]
		_, waits := now.Held[""]
		switch {
		case none && known:
			ok = true
		case known && was.Hash == p.Hash:
			ok = !waits
			if p.Why = "the instructions had changed, and are now as accepted again"; waits && v.keeps(p) {
				v.note(held, []event.Pin{p}, false)
			}
		case !known && p.Text != "" && (none || k.opts.Mode == First):
			v.note(first, []event.Pin{p}, false)
			ok = true
		default:
			ok = false
			if p.Why = "the instructions are not what was accepted"; !known {
				p.Why = "nobody has accepted the instructions yet"
			}
			if v.keeps(p) {
				v.note(held, []event.Pin{p}, false)
			}
		}
		return v.news, nil
	})
	return ok && err == nil, err
}

// Call says why a tool may not be called, for the model and its user: "" where it may.
func (k *Keeper) Call(ctx context.Context, s Server, name string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.look(ctx); err != nil {
		return "", err
	}
	known := k.state.Servers[k.id(s)]
	if known == nil {
		known = k.nobody
	}
	v := &viewing{k: k, known: known}
	_, accepted := known.Accepted[name]
	waits, isHeld := known.Held[name]
	bad := named(name)
	switch {
	case bad != "":
	case isHeld:
		bad = waits.Why
	case accepted, k.fresh(known), k.opts.Mode == Off && v.twin(name) == "" && !k.reserved[fold(name)]:
		return "", nil
	default:
		bad = "nobody has accepted it"
	}
	return fmt.Sprintf("This tool of the server %s is not used: %s. Its owner can look at it: tidemark mcp review %s",
		s.Name, bad, s.Name), nil
}
