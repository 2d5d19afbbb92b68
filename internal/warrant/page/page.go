// Package page knows what the elements of a page are called, from the pages that a browser's own tools printed: an
// accessibility tree with references, or a list of numbered elements.
//
// Invariants:
//   - an element is what the page calls it, never what whoever points at it does;
//   - what a page prints twice under one reference has both names: text on a page that looks like an element adds a
//     name, and takes none away;
//   - there are bounds, and what lies beyond them is not known.
//
// It is pure.
package page

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Element is one thing on a page that can be pointed at.
type Element struct {
	Role  string // as the page has it: button, link, textbox; empty where it does not say
	Label string // what it is called
}

// Page is what is known of the elements of the pages that were shown. The zero Page knows none.
type Page struct {
	Host     string // of the address that was gone to last; empty: none was
	elements map[string]Element
}

const (
	maxElements = 4096
	maxLabel    = 200
	maxLine     = 2000
)

var (
	// `- button "Close account" [disabled] [ref=e42]`, also several on a line.
	referred = regexp.MustCompile(`(?:([\pL\d_-]+)(?: "((?:[^"\\]|\\.)*)")?)?(: [^\[\]"]{1,200})?((?: ?\[[^\[\]]*\])*?)` +
		` ?\[ref=([\w-]{1,40})\]`)
	// `uid=1_4 button "Close account"`
	uid = regexp.MustCompile(`\buid=([\w-]{1,40})(?: ([\pL\d_-]+))?(?: "((?:[^"\\]|\\.)*)")?`)
	// `[5] Search`, `[5]<button type=submit>Search</button>`
	numbered = regexp.MustCompile(`^[\s*-]*\[(\d{1,6})\]\s*(?:<\s*([a-zA-Z]+)([^<>]*)/?>)?\s*([^<\[\]]{0,200})`)
)

// Show takes in what a page printed. What it does not name stays as it was: browsers print only what has changed.
func (p *Page) Show(content string) {
	found := map[string]Element{}
	for line := range strings.Lines(content) {
		if len(line) > maxLine {
			line = line[:maxLine]
		}
		for _, m := range referred.FindAllStringSubmatch(line, 64) {
			note(found, m[5], Element{m[1], m[2] + strings.TrimPrefix(m[3], ":")})
		}
		for _, m := range uid.FindAllStringSubmatch(line, 64) {
			note(found, m[1], Element{m[2], m[3]})
		}
		if m := numbered.FindStringSubmatch(line); m != nil {
			note(found, m[1], Element{strings.ToLower(m[2]), strings.TrimSpace(m[3] + " " + m[4])})
		}
	}
	if p.elements == nil {
		p.elements = map[string]Element{}
	}
	for ref, e := range found {
		if _, known := p.elements[ref]; known || len(p.elements) < maxElements {
			p.elements[ref] = e
		}
	}
}

// note adds a name to an element of the page at hand.
func note(found map[string]Element, ref string, e Element) {
	e.Label = strings.TrimSpace(e.Label)
	if was, known := found[ref]; known {
		if e.Label = was.Label + " " + e.Label; e.Role != was.Role {
			e.Role = "" // nobody knows which
		}
	}
	if len(found) < maxElements {
		if len(e.Label) > maxLabel {
			e.Label = e.Label[:maxLabel]
		}
		e.Label = strings.ToValidUTF8(e.Label, "")
		found[ref] = e
	}
}

// At is the element that a reference stands for; false where no page showed it.
func (p *Page) At(ref string) (Element, bool) {
	ref = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(ref), "ref="), "uid=")
	e, ok := p.elements[ref]
	return e, ok
}

// spoken are the selectors that find an element by what the page calls it, and by nothing else. What alternates, descends or
// negates, and what goes by a mark in the page's source, is none of them: nobody knows what it finds.
var spoken = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`(?:[a-z]{1,12})?(?::has-text|:text|:text-is|:contains)\((?:"([^"\\]+)"|'([^'\\]+)')\)`,
	`text=(?:"([^"\\]+)"|([^"'<>,|]+))`,
	`(?:[a-z]{1,12})?\[aria-label=(?:"([^"\\]+)"|'([^'\\]+)')\]`,
	`role=[a-z]{1,12}\[name=(?:"([^"\\]+)"|'([^'\\]+)')\]`,
}, "|") + `)$`)

// Named are the elements that a selector may find: those that the page calls so, or by more words. None: nobody knows.
func (p *Page) Named(selector string) []Element {
	m := spoken.FindStringSubmatch(strings.TrimSpace(selector))
	if m == nil {
		return nil
	}
	text := strings.ToLower(strings.TrimSpace(strings.Join(m[1:], "")))
	if text == "" {
		return nil
	}
	var out []Element
	for _, ref := range slices.Sorted(maps.Keys(p.elements)) {
		if e := p.elements[ref]; strings.Contains(strings.ToLower(e.Label), text) {
			out = append(out, e)
		}
	}
	return out
}

// Others calls do with what the other elements of a page are called, until it returns false.
func (p *Page) Others(label string, do func(label string) bool) {
	for _, e := range p.elements {
		if e.Label != label && e.Label != "" && !do(e.Label) {
			return
		}
	}
}

// Size is about how many bytes are kept.
func (p *Page) Size() int {
	n := 0
	for ref, e := range p.elements {
		n += len(ref) + len(e.Role) + len(e.Label) + 48
	}
	return n
}
