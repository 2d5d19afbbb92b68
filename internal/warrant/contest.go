package warrant

import (
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/origin"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

var bids = list("bids")

// commanding reports whether a text tells its reader to do something.
func (c *Context) commanding(text string) bool {
	prev := ""
	for _, w := range c.vocabulary.Words(text) {
		acts := c.vocabulary.ClassesOf(w).Any(acting) && !w.Gram.Has(vocabulary.Done) && !w.Gram.Has(vocabulary.Function)
		if (acts || bids[w.Text] || w.Gram.Has(vocabulary.Polite)) && !articles[prev] {
			return true
		}
		prev = w.Text
	}
	return false
}

// bidden reports whether the sentence around a value tells somebody to do something.
func (c *Context) bidden(m origin.Mention) bool {
	return c.commanding(m.Before) || c.commanding(m.After)
}

// told reports whether any text tells somebody to do something with a value.
func (c *Context) told(v string) bool {
	found := false
	all := c.index.Mentions(v, func(m origin.Mention) bool {
		found = c.bidden(m)
		return !found
	})
	return found || !all || c.lost // of what nobody looked at, anything may be told
}

// contested reports whether free text speaks for a value. Where a value stands too often to
// look at every place, it is.
func (c *Context) contested(value string, target bool) bool {
	short := len(origin.Normal(value)) < 5
	found := false
	all := c.index.Mentions(value, func(m origin.Mention) bool {
		before, after := tokens(m.Before), tokens(m.After)
		switch {
		case len(before)+len(after) < 2 && !(target && c.bidden(m)): // a name and its value
		case short:
			found = numberedBefore(before) && c.bidden(m)
		case target:
			found = c.orders(before) || c.orders(after)
		default:
			found = c.bidden(m)
		}
		return !found
	})
	return found || !all || c.lost
}

// numberedBefore reports whether a word like "id" or "file" stands just before.
func numberedBefore(words []string) bool {
	for i := len(words) - 1; i >= 0 && i >= len(words)-4; i-- {
		switch w := words[i]; {
		case numbered[w]:
			return true
		case w != "with" && w != "the":
			return false
		}
	}
	return false
}

// orders reports whether words beside an address are a sentence, or order something: text
// that speaks of an address speaks for it.
func (c *Context) orders(words []string) bool {
	return anyOf(words, stops) || c.commanding(strings.Join(words, " "))
}

// recordContested reports whether free text speaks for the record of a value by another
// of its fields.
func (c *Context) recordContested(value string) bool {
	found := false
	c.index.Siblings(value, func(text string) bool {
		words := tokens(text)
		if len(words) > 6 || c.index.Said(text) || datish.MatchString(text) {
			return true
		}
		telling := false
		for _, w := range words {
			telling = telling || distinctive(w) && len(w) > 3
		}
		found = telling && c.contested(text, false)
		return !found
	})
	return found
}
