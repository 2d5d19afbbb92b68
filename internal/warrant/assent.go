package warrant

import (
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/origin"
	"github.com/tidemark/tidemark/internal/warrant/reader"
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
	index *origin.Index
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
	if !seen || !strings.HasSuffix(said, "?") && !strings.HasSuffix(said, "？") && !strings.HasSuffix(said, "؟") || !c.assents(text) {
		return
	}
	p := &proposal{heard: heard{vocabulary: c.vocabulary, stems: map[string]bool{}}, index: origin.New(maxProposal * 4)}
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
func (c *Context) agreedTo(v string, f *origin.Finding, aim bool) bool {
	if c.assented == nil || !c.assented.index.Said(v) {
		return false
	}
	known := f.Class == origin.Field || f.Class == origin.Anchored
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
	for i := range p.heard.clauses {
		if cl := &p.heard.clauses[i]; j.fits(j.asks(cl)) { // an offer is mostly put as a question
			return cl.text
		}
	}
	return ""
}

// offered says that the act is one that the user agreed to: an item of its own, for once.
func (j *judging) offered(offer string) {
	j.w.Item = &Item{ID: fmt.Sprintf("a%d", j.c.user.turn), Giver: "assent", Quote: offer}
	j.w.add(Act, "", j.m.Tool, Assented, "you agreed to: "+offer)
}
