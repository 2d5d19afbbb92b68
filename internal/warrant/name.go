package warrant

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

var (
	generic = list("generic")
	moving  = list("moving")
	binding = list("binding")
	secrets = list("secrets")
)

// naming is what the name of a tool says. It is compared with what the user asks for; by
// itself it earns nothing.
type naming struct {
	verbs   []vocabulary.ActID
	verb    string
	nouns   []vocabulary.Word
	total   int
	thing   bool               // it says what kind of thing it acts on
	generic bool               // its verb stands for any act of its class
	classes vocabulary.Classes // of its verb, whatever the tool does with it: update_payment changes something
	moves   bool               // it moves money to somebody, or back
	binds   bool               // what it does others build on at once
}

func (c *Context) named(m *toolinfo.Meaning) *naming {
	if n := c.namings[m.Tool]; n != nil {
		return n
	}
	words := c.nameOf(m)
	n := &naming{moves: anyOf(words, moving), binds: anyOf(words, binding)}
	for _, w := range c.vocabulary.Name(strings.Join(words, "_")) {
		if w.Gram.Has(vocabulary.Function) || len(w.Text) < 2 {
			continue
		}
		n.total++
		if n.verbs != nil || len(w.Acts) == 0 || len(w.Things) > 0 && n.total > 1 {
			n.nouns = append(n.nouns, w)
			n.thing = n.thing || len(w.Things) > 0
			continue
		}
		n.verbs, n.verb = w.Acts, w.Stem
		for _, id := range w.Acts {
			n.generic = n.generic || generic[c.vocabulary.Act(id).Name]
			n.classes |= c.vocabulary.Act(id).Classes
		}
	}
	if len(words) > 0 { // read alone, the first word may mean more than among the others
		for _, w := range c.vocabulary.Name(words[0]) {
			n.verbs = append(n.verbs[:len(n.verbs):len(n.verbs)], w.Acts...)
		}
	}
	if n.verb == "" {
		n.verb, n.generic = m.Verb, generic[m.Verb]
	}
	c.namings[m.Tool] = n
	return n
}

// nameOf are the words of a tool's name without what most tools share: the name of their server, but no verb.
func (c *Context) nameOf(m *toolinfo.Meaning) []string {
	return c.callable(m).words
}

func (c *Context) unshared(m *toolinfo.Meaning) []string {
	words := arguments.NameWords(unprefixed(c.names[m.Tool]))
	if len(c.offered) < 4 || len(words) < 2 || c.isVerb(words[0]) {
		return words
	}
	n := 0
	for name := range c.offered {
		if strings.HasPrefix(name, words[0]) {
			n++
		}
	}
	if n*2 > len(c.offered) {
		return words[1:]
	}
	return words
}

// isVerb reports whether a word is one by which tools of any kind say what they do.
func (c *Context) isVerb(word string) bool {
	return slices.ContainsFunc(c.vocabulary.Name(word), func(w vocabulary.Word) bool {
		return slices.ContainsFunc(w.Acts, func(id vocabulary.ActID) bool { return generic[c.vocabulary.Act(id).Name] })
	})
}

// unprefixed is a tool's name without its server's.
func unprefixed(name string) string {
	if i := strings.LastIndex(name, "__"); i >= 0 {
		return name[i+2:]
	}
	return name
}

// match is how well a clause asks for a tool.
type match struct {
	verb   bool // it asks for the very act
	class  bool // it asks for an act of that class, and the tool's verb stands for all of them
	full   bool // it has every word of the tool's name
	chosen bool // it asks for what the arguments choose
	bare   bool // it denies something: to speak of a thing in it asks for nothing
	nouns  int  // words of the tool's name that it has
	soft   int  // words of its parameters that it has
}

// speaks reports whether a clause speaks of what the tool acts on, and denies nothing.
func (m *match) speaks() bool { return m.nouns > 0 && !m.bare }

// lacks reports whether a clause has a verb that stands for any act of its class, and no word for what the tool does it to: who
// creates a note creates no post.
func (n *naming) lacks(found match) bool { return n.generic && len(n.nouns) > 0 && found.nouns == 0 }

// asked reports whether a clause asks for an act of the class of the tool's, or of its verb's:
// an update of a payment is asked for by a change, a booking by no other act than its own.
func (n *naming) asked(cl *clause, m *toolinfo.Meaning) bool {
	own := n.classes
	if deedOf(m).grave() {
		own &= vocabulary.Change
	}
	if n.generic && cl.classes.Any(own) {
		return true
	}
	return (n.generic || m.Act == toolinfo.Pay && !n.moves) && cl.classes.Any(classesOf(m.Act))
}

func (c *Context) matches(cl *clause, m *toolinfo.Meaning) match {
	var out match
	n := c.named(m)
	for _, id := range n.verbs {
		out.verb = out.verb || cl.acts.has(id)
	}
	out.verb = out.verb || n.verb != "" && (cl.doing.has(n.verb) || kin(&cl.doing, n.verb))
	out.class = n.asked(cl, m)
	for _, w := range n.nouns {
		if cl.names(w) {
			out.nouns++
		}
	}
	covered := out.nouns
	if out.verb || out.class {
		covered++
	}
	out.full = n.total > 1 && covered >= n.total
	return out
}

// names reports whether a clause speaks of what a word of a tool's name means.
func (c *clause) names(w vocabulary.Word) bool {
	hit := c.has(w.Stem)
	for _, id := range w.Things {
		hit = hit || c.things.has(id)
	}
	for _, id := range w.Acts {
		hit = hit || c.acts.has(id)
	}
	return hit
}

// classesOf are the classes of words by which people ask for an act of a tool.
func classesOf(a toolinfo.Act) vocabulary.Classes {
	switch a {
	case toolinfo.Read:
		return vocabulary.Read
	case toolinfo.Create:
		return vocabulary.Create
	case toolinfo.Change:
		return vocabulary.Change
	case toolinfo.Delete:
		return vocabulary.Delete
	case toolinfo.Send:
		return vocabulary.Send | vocabulary.Publish
	case toolinfo.Pay:
		return vocabulary.Pay
	case toolinfo.Execute:
		return vocabulary.Execute
	case toolinfo.Grant:
		return vocabulary.Grant
	}
	return 0
}
