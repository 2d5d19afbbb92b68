package warrant

import (
	"net/url"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/page"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/tool"
)

var (
	pointing = list("pointing")
	elements = list("elements")
	paging   = list("paging")
	typing   = list("typing")
	showing  = list("showing")
	holding  = list("fields")
	shows    = list("shows")
	turning  = list("turning")
	sheets   = list("sheets")
)

// points reports whether every word of a tool's name is one of pages and pointing: one word more, and it is a
// tool that does something else too, or instead.
func points(words []string) bool {
	found := false
	for _, w := range words {
		if !pointing[w] && !paging[w] {
			return false
		}
		found = found || pointing[w]
	}
	return found
}

// pageParam reports whether a parameter is one of those that a step on a page takes.
func pageParam(path string) bool {
	for _, w := range leaves.NameWords(path) {
		if !elements[w] && !typing[w] && !paging[w] {
			return false
		}
	}
	return true
}

// browser is by what the tools of one browser are told from those of another: the server they are of, or the word
// for pages that their names begin with.
func browser(name string) string {
	if i := strings.LastIndex(name, "__"); i >= 0 {
		return name[:i]
	}
	if first, _, _ := strings.Cut(name, "_"); paging[first] {
		return first
	}
	return ""
}

// shown keeps what a browser's tools print of a page. Tools with one word more in their names are of something else,
// and print what anybody wrote.
func (c *Context) shown(m *meaning.Meaning, values []leaves.Leaf, content []byte) {
	for _, w := range leaves.NameWords(unprefixed(m.Tool)) {
		if !pointing[w] && !paging[w] && !showing[w] {
			return
		}
	}
	key := browser(m.Tool)
	p := c.pages[key]
	if p == nil {
		if len(c.pages) >= mostBrowsers {
			return
		}
		p = &page.Page{}
		c.pages[key] = p
	}
	for i := range values {
		if l := &values[i]; l.Quoted && startsURL(l.Text) {
			p.Host = hostOf(l.Text)
		}
	}
	p.Show(string(content))
}

// hostOf is the host of an address; empty where it has none.
func hostOf(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// trusts reports whether the user spoke of the place that a browser is at, or of what it is a part of: secrets they
// gave are for there.
func (c *Context) trusts(browser string) bool {
	p := c.pages[browser]
	if p == nil {
		return false
	}
	for h := strings.TrimPrefix(p.Host, "www."); strings.Contains(h, "."); _, h, _ = strings.Cut(h, ".") {
		if c.index.Said(h) || c.index.Said("www."+h) {
			return true
		}
	}
	return false
}

const mostBrowsers = 16 // that are told apart

// browses judges what is done to an element of a page by what the page calls the element, and by what
// is typed; it reports whether the call is such a one. What the agent calls it says nothing.
func (j *judging) browses(values []leaves.Leaf) bool {
	if !j.tool().points {
		return false
	}
	at := false
	for i := range values {
		if !pageParam(values[i].Path) {
			return false
		}
		at = at || elements[strings.ToLower(values[i].Path)]
	}
	if !at {
		return false
	}
	j.w.Deed = Read
	on := j.pointed(values)
	for i := range values {
		switch l, name := &values[i], strings.ToLower(values[i].Path); {
		case strings.HasSuffix(name, "text") || strings.HasSuffix(name, "value") || name == "key" || name == "values":
			j.typed(l, on.field(values, i))
		}
	}
	switch {
	case !j.c.argued:
		j.w.add(Act, "", j.m.Tool, Said, "nobody but you has said anything")
	case on.unknown:
		j.w.raise(Unknown)
		j.w.add(Act, "", j.m.Tool, Nothing, "no page showed what stands there")
	case on.promises != 0 && !j.c.user.wants(on.promises):
		j.w.raise(promised(on.promises))
		j.w.add(Act, "", j.m.Tool, Nothing, "I could not find what the page calls it in your words")
	case on.vague:
		j.w.raise(Change)
		j.w.add(Act, "", j.m.Tool, Nothing, "it does not say what it does, and I could not find it in your words")
	default:
		j.w.add(Act, "", j.m.Tool, Said, "a step on the page, and what it is called promises nothing you did not ask for")
	}
	return true
}

// pointedAt is what a call points at on a page.
type pointedAt struct {
	promises vocabulary.Classes // grave acts that it promises
	unknown  bool               // nobody knows what one of them is
	vague    bool               // one does something, nobody knows what, and the user only wants to look
	labels   map[string]string  // of fields, by their references
}

// pointed finds what a call points at: by reference in what the page printed, or by a selector, which says itself what
// is looked for. A place on the screen is known to nobody.
func (j *judging) pointed(values []leaves.Leaf) pointedAt {
	on := pointedAt{labels: map[string]string{}, unknown: true}
	shown := j.c.pages[browser(j.m.Tool)]
	for i := range values {
		l := &values[i]
		switch name := strings.ToLower(l.Path); {
		case name == "selector" && on.unknown:
			on.unknown, on.promises = false, on.promises|j.c.label(l.Text)
		case name == "element" || name == "x" || !elements[name]:
		default:
			e, known := page.Element{}, false
			if shown != nil {
				e, known = shown.At(l.Text)
			}
			if !known && l.Quoted && len(l.Text) > 1 && j.c.index.Said(l.Text) {
				known = true // they pointed at it themselves
			}
			if !known || speechless(&e) {
				return pointedAt{unknown: true}
			}
			on.unknown, on.labels[l.Text] = false, e.Label
			if !holding[e.Role] { // who writes into a field called "pay" has not paid
				on.promises |= j.c.label(e.Label)
			}
			if !shows[e.Role] && !holding[e.Role] && !j.c.user.wants(acting) {
				on.promises |= j.c.acts(e.Label)
				on.vague = on.vague || on.promises == 0 && !j.c.spokenLabel(e.Label)
			}
		}
	}
	return on
}

// speechless reports whether an element does something and is called by signs only.
func speechless(e *page.Element) bool {
	return e.Role == "button" && !strings.ContainsFunc(e.Label, unicode.IsLetter)
}

// field is what the page calls the field that a value is put into; empty where it is not known.
func (on *pointedAt) field(values []leaves.Leaf, at int) string {
	if !strings.Contains(values[at].Path, "[]") {
		for _, label := range on.labels {
			return label // there is one
		}
		return ""
	}
	for i := at - 1; i >= 0; i-- { // of a list of fields the members of each stand together
		if label, ok := on.labels[values[i].Text]; ok && strings.Contains(values[i].Path, "[]") {
			return label
		}
	}
	return ""
}

// promised is the deed of what the words on a page promise.
func promised(c vocabulary.Classes) Deed {
	switch {
	case c.Any(vocabulary.Grant):
		return Grant
	case c.Any(vocabulary.Pay):
		return Pay
	case c.Any(vocabulary.Delete):
		return Delete
	case c.Any(vocabulary.Send | vocabulary.Publish | vocabulary.Execute):
		return Send
	}
	return Change
}

// label are the grave acts that an element's words promise: words that also mean something
// harmless promise nothing, but for money and deletion.
func (c *Context) label(text string) vocabulary.Classes {
	var out vocabulary.Classes
	for _, w := range c.vocabulary.Words(text) {
		a := c.vocabulary.ClassesOf(w)
		mild := a.Any(vocabulary.Create | vocabulary.Change | vocabulary.Tidy | vocabulary.Read)
		if a.Any(vocabulary.Pay|vocabulary.Delete) || a.Any(vocabulary.Send|vocabulary.Grant|vocabulary.Publish) && !mild {
			out |= a
		}
	}
	return out
}

// acts are the acts that an element's words promise to do to something that they name: who only wants to look closes no account,
// and a window without a name may be closed.
func (c *Context) acts(text string) vocabulary.Classes {
	var out vocabulary.Classes
	thing := false
	for _, w := range c.vocabulary.Words(text) {
		a := c.vocabulary.ClassesOf(w)
		if !a.Any(vocabulary.Read) {
			out |= a
		}
		thing = thing || len(w.Things) > 0
	}
	if !thing {
		return 0
	}
	return out
}

// spokenLabel reports whether who only wants to look may press what a page calls so: the user has a word of it, it says that it shows
// something, or it only turns pages and folds. "Continue" goes on with whatever stands beside it.
func (c *Context) spokenLabel(label string) bool {
	words := c.vocabulary.Words(label)
	turns, paged := len(words) > 0, false
	for _, w := range words {
		if len(w.Text) > 2 && w.Gram == 0 && c.user.stems[w.Stem] || c.vocabulary.ClassesOf(w).Any(vocabulary.Read) {
			return true
		}
		paged = paged || sheets[w.Text]
		turns = turns && turning[w.Text]
	}
	return turns || paged
}

// wants reports whether the user asks for an act of some classes.
func (h *heard) wants(classes vocabulary.Classes) bool {
	for _, cl := range h.scope() {
		if cl.orders() && cl.classes.Any(classes) {
			return true
		}
	}
	return false
}

// typed judges what is put into a field of a page: the agent's own words are fine, those of
// a text that others wrote are not. Where the page calls the field one for a secret, that is what it holds.
func (j *judging) typed(l *leaves.Leaf, label string) {
	if label != "" && l.Text != "" && meaning.Of(tool.Definition{Name: j.m.Tool}).Unseen(label).Role == meaning.Credential {
		e, why := j.key(l.Text)
		if e >= Entailed && j.c.argued && !j.c.trusts(browser(j.m.Tool)) {
			e, why = Nothing, "you did not speak of the place that it is given to"
		}
		if e < Entailed {
			j.w.raise(Change)
			j.w.add(Key, l.Path, l.Text, e, why)
			return
		}
	}
	if e, why := j.evidence(l.Text, false); e == Nothing && j.c.inText(l.Text) {
		j.w.raise(Change)
		j.slot(Object, l.Path, l.Text, e, why)
	}
}
