package warrant

import (
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

var (
	pointing = list("pointing")
	elements = list("elements")
	paging   = list("paging")
	typing   = list("typing")
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

// browses judges what is done to an element of a page by what the element says, and by what
// is typed; it reports whether the call is such a one.
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
	var label vocabulary.Classes
	for i := range values {
		l := &values[i]
		switch name := strings.ToLower(l.Path); {
		case name == "element" || name == "selector" || name == "fields[].name":
			label |= j.c.label(l.Text)
		case strings.HasSuffix(name, "text") || strings.HasSuffix(name, "value") || name == "key" || name == "values":
			j.typed(l)
		}
	}
	if label != 0 && j.c.argued && !j.c.user.wants(label) {
		j.w.Deed = Send
		j.w.add(Act, "", j.m.Tool, Nothing, "I could not find what the button says in your words")
		return true
	}
	j.w.add(Act, "", j.m.Tool, Said, "a step on the page, and the button promises nothing you did not ask for")
	return true
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

// wants reports whether the user asks for an act of some classes.
func (h *heard) wants(classes vocabulary.Classes) bool {
	for _, cl := range h.scope() {
		if !cl.question && cl.classes.Any(classes) {
			return true
		}
	}
	return false
}

// typed judges what is put into a field of a page: the agent's own words are fine, those of
// a text that others wrote are not.
func (j *judging) typed(l *leaves.Leaf) {
	if e, why := j.evidence(l.Text, false); e == Nothing && j.c.inText(l.Text) {
		j.w.Deed = Change
		j.slot(Object, l.Path, l.Text, e, why)
	}
}
