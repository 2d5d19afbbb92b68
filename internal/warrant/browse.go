package warrant

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/page"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
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
	choosing = list("choosing")

	loggingIn = list("logging_in")
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
	for _, w := range arguments.NameWords(path) {
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
func (c *Context) shown(m *toolinfo.Meaning, values []arguments.Leaf, content []byte) {
	for _, w := range arguments.NameWords(unprefixed(m.Tool)) {
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
func (j *judging) browses(values []arguments.Leaf) bool {
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
		case name == "submit" && l.Text == "true" && j.c.argued && !on.searches && !j.c.user.wants(acting):
			j.w.raise(Change)
			j.w.add(Act, l.Path, l.Text, Nothing, "it submits the page, and I could not find that in your words")
		case putsAt(name) || name == "key":
			label := on.field(values, i)
			j.typed(l, label)
			j.chooses(l, on.choices[label] || strings.HasPrefix(name, "values"))
		}
	}
	switch {
	case !j.c.argued:
		j.w.add(Act, "", j.m.Tool, Said, "nobody but you has said anything")
	case on.unknown:
		j.w.raise(Unknown)
		j.w.add(Act, "", j.m.Tool, Nothing, "no page has shown this element")
	case on.promises != 0 && !j.c.user.wants(on.promises):
		j.w.raise(promised(on.promises))
		j.w.add(Act, "", j.m.Tool, Nothing, "I could not find what the page calls it in your words")
	case on.vague:
		j.w.raise(Change)
		j.w.add(Act, "", j.m.Tool, Nothing, "its label on the page is only partly in your words")
	default:
		j.w.add(Act, "", j.m.Tool, Said, "a step on the page, and what it is called promises nothing you did not ask for")
	}
	return true
}

// putsAt reports whether a parameter of a step holds what is put into a field.
func putsAt(name string) bool {
	return strings.HasSuffix(name, "text") || strings.HasSuffix(name, "value") || strings.HasPrefix(name, "values")
}

// pointedAt is what a call points at on a page.
type pointedAt struct {
	promises vocabulary.Classes // grave acts that it promises
	unknown  bool               // nobody knows what one of them is
	vague    bool               // one does something that the user has no words for
	puts     bool               // something is put there
	searches bool               // one is a field to search with
	labels   map[string]string  // of fields, by their references
	choices  map[string]bool    // labels of fields that something is chosen in
}

// pointed finds what a call points at: by reference in what the page printed, or by a selector that goes by what the page calls things.
// Whatever else is pointed at beside it must be known too. A place on the screen is known to nobody.
func (j *judging) pointed(values []arguments.Leaf) pointedAt {
	on := pointedAt{labels: map[string]string{}, choices: map[string]bool{}, unknown: true}
	on.puts = slices.ContainsFunc(values, func(l arguments.Leaf) bool { return putsAt(strings.ToLower(l.Path)) })
	shown := j.c.pages[browser(j.m.Tool)]
	for i := range values {
		l := &values[i]
		switch name := strings.ToLower(l.Path); {
		case name == "x":
			return pointedAt{unknown: true}
		case name == "selector":
			if !on.selected(j, shown, l.Text) {
				return pointedAt{unknown: true}
			}
		case name == "element" || !elements[name]:
		default:
			e, known := page.Element{}, false
			if shown != nil {
				e, known = shown.At(l.Text)
			}
			if !known && l.Quoted && len(l.Text) > 1 && j.c.index.Said(l.Text) {
				on.unknown, on.labels[l.Text] = false, "" // they pointed at it themselves
				continue
			}
			if !known || speechless(&e) {
				return pointedAt{unknown: true}
			}
			on.unknown, on.labels[l.Text] = false, e.Label
			on.note(j, &e)
			on.vague = on.vague || j.c.argued && j.c.calledLess(shown, e.Label)
		}
	}
	return on
}

// selected takes in what a selector finds; false: nobody knows what that is. A selector is the agent's words: what it calls an element says
// nothing of what the element does.
func (on *pointedAt) selected(j *judging, shown *page.Page, selector string) bool {
	if strings.ContainsAny(selector, "#.[:/=") && j.c.verbatim(selector) { // a plain word of theirs is also a kind of element
		on.unknown, on.labels[selector] = false, ""
		return true
	}
	if shown == nil {
		return false
	}
	found := shown.Named(selector)
	for i := range found {
		if speechless(&found[i]) {
			return false
		}
		on.unknown, on.labels[selector] = false, found[i].Label
		on.note(j, &found[i])
	}
	return len(found) > 0
}

// verbatim reports whether a word of the latest messages is a text to the letter.
func (c *Context) verbatim(text string) bool {
	return slices.ContainsFunc(c.asking, func(said string) bool {
		return slices.ContainsFunc(strings.Fields(said), func(w string) bool { return text == w || text == strings.Trim(w, "`'\".,;!?()") })
	})
}

// note takes in what the page says of one element.
func (on *pointedAt) note(j *judging, e *page.Element) {
	c := j.c
	on.searches = on.searches || e.Role == "searchbox" || c.looksFor(e.Label)
	switch {
	case holding[e.Role]: // who writes into a field called "pay" has not paid
		return
	case choosing[e.Role] && on.puts:
		on.choices[e.Label] = true
		return
	}
	on.promises |= c.label(e.Label)
	if shows[e.Role] {
		on.vague = on.vague || c.unwished(e.Label)
		return
	}
	if !c.user.wants(acting) {
		on.promises |= c.acts(e.Label)
	}
	on.vague = on.vague || !c.spokenLabel(e.Label) && !(c.trusts(browser(j.m.Tool)) && logsIn(e.Label))
}

// calledLess reports whether the user's words have all that a page calls another element by, and not all that it calls this one by, which
// has that and more: "Name" is meant, and not "Name of the guarantor".
func (c *Context) calledLess(p *page.Page, label string) bool {
	mine := contentOf(c.vocabulary.Words(label))
	said := func(w string) bool { return c.user.stems[w] || c.user.stems[stem(w)] }
	if len(mine) == 0 || !slices.ContainsFunc(mine, func(w string) bool { return !said(w) }) {
		return false
	}
	less := false
	p.Others(label, func(other string) bool {
		theirs := contentOf(c.vocabulary.Words(other))
		less = len(theirs) > 0 && len(theirs) < len(mine) && !slices.ContainsFunc(theirs, func(w string) bool {
			return !said(w)
		}) && slices.ContainsFunc(theirs, func(w string) bool { return slices.Contains(mine, w) })
		return !less
	})
	return less
}

// contentOf are the words of a label that say something.
func contentOf(words []vocabulary.Word) []string {
	var out []string
	for i := range words {
		if words[i].Kind == vocabulary.Plain && (words[i].Gram == 0 || len(words[i].Acts) > 0) {
			out = append(out, words[i].Stem)
		}
	}
	return out
}

// logsIn reports whether an element only lets somebody in, by all of its words.
func logsIn(label string) bool {
	words := tokens(label)
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !loggingIn[w] })
}

// speechless reports whether an element does something and is called by signs only.
func speechless(e *page.Element) bool {
	return e.Role == "button" && !strings.ContainsFunc(e.Label, unicode.IsLetter)
}

// field is what the page calls the field that a value is put into; empty where it is not known.
func (on *pointedAt) field(values []arguments.Leaf, at int) string {
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

// typed judges what is put into a field of a page: the agent's own words are fine, those of
// a text that others wrote are not. Where the page calls the field one for a secret, that is what it holds.
func (j *judging) typed(l *arguments.Leaf, label string) {
	if label != "" && l.Text != "" && toolinfo.Of(tool.Definition{Name: j.m.Tool}).Unseen(label).Role == toolinfo.Credential {
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
	j.gives(l)
}

// gives judges the addresses, accounts and sums that are put into a field: those are the user's to give, whether or not they stand on the
// page. Others of one digit are how many there are to be, where something is ordered.
func (j *judging) gives(l *arguments.Leaf) {
	if !j.c.argued || j.c.index.Said(l.Text) {
		return
	}
	for _, p := range valueindex.Targets(l.Text) {
		if p.Kind == valueindex.Host && !knownTLD(p.Text) {
			continue
		}
		e, why := j.evidence(p.Text, false)
		if p.Kind == valueindex.URL || p.Kind == valueindex.Host {
			e, why = j.c.carried(p.Text)
		}
		if e < Followed {
			j.w.raise(Change)
			j.slot(Aim, l.Path, p.Text, Nothing, cmp.Or(why, "I could not find it in your words"))
			return
		}
	}
	sum := strings.TrimFunc(l.Text, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Sc, r) })
	if !wholeSum.MatchString(sum) || len(sum) == 1 && j.c.user.wants(acting) || j.counted(sum) || j.c.saidNow(sum) {
		return
	}
	if e, why := j.evidence(sum, false); e == Nothing && j.c.index.Of(sum).Class == valueindex.Unseen {
		j.w.raise(Change)
		j.slot(Measure, l.Path, l.Text, Nothing, cmp.Or(why, "I could not find this number in your words"))
	}
}

// wholeSum is a number and nothing else.
var wholeSum = regexp.MustCompile(`^\d+(?:[.,']\d+)*$`)

// chooses judges what is chosen in a field: each of its words is the user's.
func (j *judging) chooses(l *arguments.Leaf, choice bool) {
	if !choice || !j.c.argued || j.c.index.Said(l.Text) {
		return
	}
	words := j.c.vocabulary.Words(l.Text)
	for i := range words {
		w := &words[i]
		other := w.Kind == vocabulary.Number && len(w.Text) > 1 && !j.counted(w.Text) && !j.c.saidNow(w.Text)
		if other || w.Kind == vocabulary.Plain && w.Gram == 0 && len(w.Text) > 2 && !j.c.spokenWord(w) {
			j.w.raise(Change)
			j.slot(Object, l.Path, l.Text, Nothing, "it is chosen on the page, and I could not find it in your words")
			return
		}
	}
}
