package warrant

import "github.com/tidemark/tidemark/internal/warrant/origin"

// What a text says of a value nobody here understands: whether it orders, warns or only tells is not looked at, so that another
// language or another wording is never better than plain English. It counts that somebody wrote of it. A text that only lists
// things (listing.go) says nothing of any of them.

// isWritten reports whether a value stands in what somebody wrote: of results that the user named too, unless those are passed over.
// Of what nobody looked at, it does.
func (c *Context) isWritten(v string, named bool) bool {
	found := false
	all := c.index.Mentions(v, func(m origin.Mention) bool {
		found = !c.lists[m.Step] && (named || !m.Named)
		return !found
	})
	return found || !all || c.lost
}

// contested reports whether free text speaks of a value: more stands beside it than a name for it, or it is somewhere to go to.
// Where a value stands too often to look at every place, it is.
func (c *Context) contested(value string, target bool) bool {
	found := false
	all := c.index.Mentions(value, func(m origin.Mention) bool {
		found = !c.lists[m.Step] && (target && m.Free || len(tokens(m.Before))+len(tokens(m.After)) >= 2)
		return !found
	})
	return found || !all || c.lost
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
