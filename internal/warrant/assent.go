package warrant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/reader"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/internal/warrant/visible"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// The bounds of assent: of what the agent said, and of an answer that says yes and no more.
const (
	maxProposal = 8 << 10
	maxAssent   = 12 // words
)

// proposal is what the agent asked the user and the user agreed to: its acts and its values
// were before their eyes, and the question was whether to do it. What the agent only reports
// is none: "ok" to a summary agrees to nothing that stands in it.
type proposal struct {
	heard heard
	index *valueindex.Index
}

// Answered notes what the agent said to the user at the end of a turn. It counts only if the
// user agrees right after it. It returns its trace; nil where only hashes are kept, which could not tell what
// was said.
func (c *Context) Answered(text string) []byte {
	if len(text) > maxProposal { // of a longer one nobody knows what was read
		text = ""
	}
	if n := len(c.unheard); n > 0 && c.unheard[n-1].by == byAgent {
		c.unheard[n-1].text = text
	} else {
		c.unheard = append(c.unheard, message{text, byAgent})
	}
	return c.journal(toldAnswered, 0, 0, text)
}

// agree takes the last sentence that the user saw for agreed to if their message says yes to it and nothing else, and it
// asks whether to do one thing.
func (c *Context) agree(text string) {
	said, seen := visible.LastSentence(c.proposed)
	c.proposed, c.assented = "", nil
	asks := strings.HasSuffix(said, "?") || strings.HasSuffix(said, "？") || strings.HasSuffix(said, "؟")
	if !seen || !asks || !c.assents(text) || !c.plainOffer(said) {
		return
	}
	p := &proposal{heard: heard{vocabulary: c.vocabulary, stems: map[string]bool{}}, index: valueindex.New(maxProposal * 4)}
	u := reader.Utter(said)
	p.heard.hear(&u)
	acts := 0
	for i := range p.heard.clauses {
		if p.heard.clauses[i].classes.Any(acting) {
			acts++
		}
	}
	if acts > 1 { // which of them?
		return
	}
	p.index.User(u.Words)
	c.assented = p
}

var offering, offeringWithin = list("offering"), lists.Lines("offering_within")

// plainOffer reports whether a question asks whether to do something, and nothing else: it begins as offers do, it denies and excepts
// nothing, and it leaves no choice. "You do not want me to, do you?" is answered yes by who does not.
func (c *Context) plainOffer(said string) bool {
	for _, w := range c.vocabulary.Words(said) {
		if w.Gram&(vocabulary.Negation|vocabulary.Exception|vocabulary.Dissent|vocabulary.Condition) != 0 || ors[w.Text] {
			return false
		}
	}
	low := strings.ToLower(said)
	for part := range strings.FieldsFuncSeq(low, func(r rune) bool { return strings.ContainsRune(",;:.–—¿¡(\"", r) }) {
		words := strings.Fields(part)
		for len(words) > 0 && leading[words[0]] {
			words = words[1:]
		}
		for n := 1; n <= min(len(words), longestOffer); n++ {
			if offering[strings.Join(words[:n], "_")] {
				return true
			}
		}
	}
	for _, line := range offeringWithin {
		if slices.ContainsFunc(line, func(w string) bool { return strings.Contains(low, strings.ReplaceAll(w, "_", " ")) }) {
			return true
		}
	}
	return false
}

// longestOffer is how many words an offer begins with at most.
const longestOffer = 5

var leading = list("offer_leads")

// assents reports whether a message agrees and says nothing else: it is short, says yes, says no nowhere, and names nothing.
func (c *Context) assents(text string) bool {
	words := c.vocabulary.Words(text)
	yes := false
	for _, w := range words {
		if w.Gram.Has(vocabulary.Negation) || w.Gram.Has(vocabulary.Condition) || w.Gram.Has(vocabulary.Exception) ||
			w.Gram.Has(vocabulary.Joining) {
			return false
		}
		yes = yes || w.Gram.Has(vocabulary.Assent)
	}
	return yes && len(words) <= maxAssent && !strings.ContainsAny(text, "?？؟@/0123456789\"“„«")
}

// agreedTo reports whether the user agreed to a proposal that names a value. Whom something goes to must be somebody that a
// record of theirs names as well: a yes brings in nobody new.
func (c *Context) agreedTo(v string, f *valueindex.Finding, aim bool) bool {
	if c.assented == nil || !c.assented.index.Said(v) {
		return false
	}
	known := f.Class == valueindex.Field || f.Class == valueindex.Anchored
	return !aim || known && !f.Authored && !c.contested(v, true)
}

// assented is the part of a proposal, agreed to, that names this act; empty: there is none, it was done since, or it is one
// that no yes to the agent's words is enough for.
func (j *judging) assented() string {
	p, t := j.c.assented, j.c.done[j.m.Tool]
	if p == nil || j.w.Deed.grave() || j.w.Deed == Unknown || t != nil && t.times > 0 {
		return ""
	}
	for i := range j.w.Slots { // one act with its values, and no others
		switch s := &j.w.Slots[i]; s.Kind {
		case Aim, Object, Key, Order, Place:
			if !p.index.Said(s.Value) && !j.c.index.Said(s.Value) {
				return ""
			}
		}
	}
	if p.rivals(j.args.Raw()) {
		return ""
	}
	for i := range p.heard.clauses {
		if cl := &p.heard.clauses[i]; j.fits(j.asks(cl)) { // an offer is mostly put as a question
			return cl.text
		}
	}
	return ""
}

// rivals reports whether a proposal names two things of a kind, of which the call has one: then the yes may be to the other.
func (p *proposal) rivals(args []byte) bool {
	low := strings.ToLower(string(args))
	var has, lacks [vocabulary.Email + 1]bool
	for i := range p.heard.clauses {
		for _, w := range p.heard.vocabulary.Words(p.heard.clauses[i].text) {
			if strings.Contains(low, w.Text) {
				has[w.Kind] = true
			} else {
				lacks[w.Kind] = true
			}
		}
	}
	has[vocabulary.Plain] = false // of addresses, numbers and ids
	for kind := range has {
		if has[kind] && lacks[kind] {
			return true
		}
	}
	return false
}

// offered says that the act is one that the user agreed to: an item of its own, for once.
func (j *judging) offered(offer string) {
	j.w.Item = &Item{ID: fmt.Sprintf("a%d", j.c.user.turn), Giver: "assent", Quote: offer}
	j.w.add(Act, "", j.m.Tool, Assented, "you agreed to: "+offer)
}
