package warrant

import (
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/origin"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// act is the evidence that the user asked for what the tool does.
func (c *Context) act(m *meaning.Meaning, j *judging) (Evidence, string) {
	if c.user.looks == c.user.turn && c.user.turn > 0 {
		return Nothing, "you said to change nothing"
	}
	if j.promises != nil {
		return Said, "it is what your message asks for"
	}
	best, why := Nothing, "nothing you said asks for it"
	asked, near := false, false
	n := c.named(m)
	for _, cl := range c.user.scope() {
		match := c.matches(cl, m, n)
		if match.refused {
			return Nothing, "you said not to: " + strings.TrimSpace(cl.text)
		}
		asked = asked || cl.classes.Any(acting) && !cl.question
		near = near || match.nouns > 0
		if cl.question {
			continue
		}
		verb := match.verb || match.class
		switch {
		case match.full, verb && match.nouns > 0, match.verb && (j.tied || j.n == 0), verb && j.tied && !j.loose:
			best, why = Said, "you asked: "+strings.TrimSpace(cl.text)
		case j.allSaid && j.n > 0 && (verb || match.nouns > 0):
			best, why = Said, "you asked: "+strings.TrimSpace(cl.text)
		}
	}
	if c.agreed != nil {
		return Nothing, "your message does not ask for it"
	}
	if best == Said {
		return best, why
	}
	if j.allSaid && j.n > 0 && asked && gravities[j.w.Deed] < gravities["delete"] {
		return Said, "every value in it is yours"
	}
	if asked && !j.loose && !j.textual && gravities[j.w.Deed] <= gravities["change"] && (near || c.family(m)) {
		return Entailed, "a step of what you asked for"
	}
	if (asked || c.pointed()) && !j.textual && j.entails(n) {
		return Entailed, "a step that what you asked for takes"
	}
	if c.user.delegates > 0 && c.user.delegates == c.user.turn {
		return Delegated, "you told it to do what it reads"
	}
	return best, why
}

// family reports whether a warranted act was done with a tool of the same kind.
func (c *Context) family(m *meaning.Meaning) bool {
	for _, d := range c.done {
		if d.thing != "" && d.thing == m.Thing {
			return true
		}
	}
	return false
}

// naming is what the name of a tool says.
type naming struct {
	verbs   []vocabulary.ActID
	verb    string
	nouns   []vocabulary.Word
	total   int
	generic bool
	moves   bool // it moves money to somebody, or back
	enters  bool // it logs in, or proves who one is
	holds   bool // it only gets something ready: a cart, a draft, a choice
}

func (c *Context) named(m *meaning.Meaning) *naming {
	if n := c.namings[m.Tool]; n != nil {
		return n
	}
	t := table()
	n := &naming{}
	name := strings.Join(c.nameOf(m), "_")
	for _, w := range t.Name(name) {
		if w.Gram.Has(vocabulary.Function) || len(w.Text) < 2 {
			continue
		}
		n.total++
		if n.verbs == nil && len(w.Acts) > 0 && (len(w.Things) == 0 || n.total == 1) {
			n.verbs, n.verb = w.Acts, w.Stem
			for _, id := range w.Acts {
				n.generic = n.generic || generic[t.Act(id).Name]
			}
			continue
		}
		n.nouns = append(n.nouns, w)
	}
	if words := c.nameOf(m); len(words) > 0 {
		for _, w := range t.Name(words[0]) {
			n.verbs = append(n.verbs[:len(n.verbs):len(n.verbs)], w.Acts...)
		}
	}
	if n.verb == "" {
		n.verb = m.Verb
		n.generic = generic[m.Verb]
	}
	for _, w := range c.nameOf(m) {
		n.moves = n.moves || moving[w]
		n.enters = n.enters || entering[w]
		n.holds = n.holds || holding[w]
	}
	c.namings[m.Tool] = n
	return n
}

type match struct {
	verb, class, full, refused bool
	nouns                      int
}

// matches says how well a clause asks for a tool.
func (c *Context) matches(cl *clause, m *meaning.Meaning, n *naming) match {
	var out match
	for _, id := range n.verbs {
		out.verb = out.verb || cl.acts[id]
		out.refused = out.refused || cl.refused[id]
	}
	out.verb = out.verb || n.verb != "" && (cl.doing[n.verb] || kin(cl.doing, n.verb))
	out.class = (n.generic || m.Act == meaning.Pay && !n.moves) && cl.classes.Any(classesOf(m.Act))
	out.refused = out.refused || n.generic && cl.forbids.Any(classesOf(m.Act)) && !out.verb
	covered := 0
	if out.verb || out.class {
		covered++
	}
	for _, w := range n.nouns {
		hit := cl.has(w.Stem)
		for _, id := range w.Things {
			hit = hit || cl.things[id]
		}
		for _, id := range w.Acts {
			hit = hit || cl.acts[id]
		}
		if hit {
			out.nouns++
			covered++
		}
	}
	out.full = n.total > 1 && covered >= n.total
	return out
}

// nameOf are the words of a tool's name without what most tools share.
func (c *Context) nameOf(m *meaning.Meaning) []string {
	name := c.names[m.Tool]
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	words := nameWords(name)
	if len(c.offered) < 4 || len(words) < 2 {
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

// scope are the clauses that count now: those of this turn, and of the turns before while
// this one only says yes or goes on.
func (h *heard) scope() []*clause {
	var out []*clause
	turn := h.turn
	for i := len(h.clauses) - 1; i >= 0; i-- {
		cl := &h.clauses[i]
		if cl.turn < turn {
			if h.speaks(turn) {
				break
			}
			turn = cl.turn
		}
		out = append(out, cl)
	}
	return out
}

// speaks reports whether a turn has a request of its own.
func (h *heard) speaks(turn int) bool {
	words := 0
	for i := range h.clauses {
		if cl := &h.clauses[i]; cl.turn == turn {
			words += cl.words
		}
	}
	return words > 6
}

// commanding reports whether a sentence around a value tells somebody to do something.
func commanding(m origin.Mention) bool {
	t := table()
	for _, part := range []string{m.Before, m.After} {
		prev := ""
		for _, w := range t.Words(part) {
			if (t.ClassesOf(w).Any(acting) && !w.Gram.Has(vocabulary.Done) && !w.Gram.Has(vocabulary.Function) || bids[w.Text] || w.Gram.Has(vocabulary.Polite)) && !articles[prev] {
				return true
			}
			prev = w.Text
		}
	}
	return false
}

var bids = set("please must should need visit click open go use follow important instead always never ignore assistant agent ai urgent immediately kindly ensure make bitte veuillez")

// generic are verbs of tools that stand for any act of their class.
var generic = set("create add make new insert put write generate draft update edit set change modify patch adjust configure save delete remove clear send post message reply notify share " +
	"publish pay transfer buy purchase order book reserve run exec execute upsert append store record schedule grant invite manage control turn register upload submit email mail")

var (
	moving   = set("transfer refund withdraw withdrawal donate donation sell invest send remit wire payout deposit tip")
	entering = set("login signin logon authenticate authentication auth verify verification otp 2fa mfa unlock session connect")
	holding  = set("cart basket bag draft wishlist selection filter sort quantity form field option preview page tab step")
)

// entails reports whether a call is a step that other acts take: logging in with a key of
// the user's, filling a cart, choosing.
func (j *judging) entails(n *naming) bool {
	keyed, keys := true, 0
	for i := range j.w.Slots {
		s := &j.w.Slots[i]
		if s.Kind == Key {
			keys++
			keyed = keyed && s.Has >= Entailed
		}
	}
	switch {
	case n.enters:
		return keyed && (keys > 0 || !j.loose)
	case n.holds:
		return !j.loose && gravities[j.w.Deed] <= gravities["change"]
	}
	return false
}

// pointed reports whether the user said anything that is no bare question.
func (c *Context) pointed() bool {
	for _, cl := range c.user.scope() {
		if !cl.question {
			return true
		}
	}
	return false
}
