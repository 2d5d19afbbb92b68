package warrant

import (
	"slices"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// What an element of a page is called, held against what the user wants.

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

// spokenLabel reports whether an element may be pressed by what the page calls it: each of its words is the user's, or one that turns
// pages, folds or shows something, and it has one of those. A word for more than one, a denial and an act must be the user's. "Continue"
// goes on with whatever stands beside it, and so does "OK".
func (c *Context) spokenLabel(label string) bool {
	meant, looks := 0, false
	words := c.vocabulary.Words(label)
	for i := range words {
		w := &words[i]
		classes := c.vocabulary.ClassesOf(*w)
		switch {
		case w.Gram&(vocabulary.Negation|vocabulary.Exception|vocabulary.Dissent) != 0:
			return false
		case turning[w.Text], sheets[w.Text], c.spokenWord(w):
			meant++
		case w.Gram.Has(vocabulary.Quantity):
			return false
		case w.Gram&^vocabulary.Whole != 0, w.Kind == vocabulary.Number:
		case utf8.RuneCountInString(w.Text) <= 2 && w.Text[0] < utf8.RuneSelf:
		case classes.Any(vocabulary.Read) && !classes.Any(acting):
			looks = true
			meant++
		case looks && len(w.Acts) == 0: // it shows something
		default:
			return false
		}
	}
	return meant > 0
}

// harmlessActs are those of which a page may have another word than the user.
const harmlessActs = vocabulary.Create | vocabulary.Tidy | vocabulary.Publish | vocabulary.Send | vocabulary.Read

// spokenWord reports whether the user has a word that a page uses, and denies nothing with it. An act must be one that they order, or of
// the class of such a one.
func (c *Context) spokenWord(w *vocabulary.Word) bool {
	act := len(w.Acts) > 0 && len(w.Things) == 0
	if classes := c.vocabulary.ClassesOf(*w); act && classes.Any(acting) && classes&^harmlessActs == 0 && c.user.wants(classes&acting) {
		return true
	}
	for _, cl := range c.user.scope() {
		if cl.denies || act && !cl.orders() {
			continue
		}
		named := cl.stems.has(w.Stem) || cl.stems.has(w.Text) || slices.ContainsFunc(w.Things, cl.things.has)
		if named || cl.orders() && slices.ContainsFunc(w.Acts, cl.acts.has) {
			return true
		}
	}
	return false
}

// unwished reports whether what leads somewhere is called by an act that the user does not want: its first word is one, and no thing.
func (c *Context) unwished(label string) bool {
	words := c.vocabulary.Words(label)
	for i := range words {
		w := &words[i]
		if w.Gram != 0 && len(w.Acts) == 0 {
			continue
		}
		classes := c.vocabulary.ClassesOf(*w)
		return len(words) > i+1 && classes.Any(acting) && !classes.Any(vocabulary.Read) && len(w.Things) == 0 && !c.spokenLabel(label)
	}
	return false
}

// looksFor reports whether a field is one to search with.
func (c *Context) looksFor(label string) bool {
	return slices.ContainsFunc(c.vocabulary.Words(label), func(w vocabulary.Word) bool {
		classes := c.vocabulary.ClassesOf(w)
		return classes.Any(vocabulary.Read) && !classes.Any(acting)
	})
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
