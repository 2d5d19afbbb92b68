package warrant

import (
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/warrant/origin"
	"github.com/tidemark/tidemark/internal/warrant/reader"
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
	if n := len(c.unheard); n > 0 && c.unheard[n-1].agent {
		c.unheard[n-1].text = text
	} else {
		c.unheard = append(c.unheard, message{text: text, agent: true})
	}
	return c.journal(toldAnswered, 0, 0, text)
}

// agree takes the agent's last words for agreed to if the user's message says yes to them and
// nothing else.
func (c *Context) agree(text string) {
	said := questions(c.proposed)
	c.proposed, c.assented = "", nil
	if strings.TrimSpace(said) == "" || !c.assents(text) {
		return
	}
	p := &proposal{heard: heard{vocabulary: c.vocabulary, stems: map[string]bool{}}, index: origin.New(maxProposal * 4)}
	u := reader.Utter(said)
	p.heard.hear(&u)
	p.index.User(u.Words)
	c.assented = p
}

// questions are the sentences of a text that ask something.
func questions(text string) string {
	var out []string
	from := 0
	for i, r := range text {
		switch r {
		case '.', '!':
			if i+1 < len(text) && text[i+1] != ' ' && text[i+1] != '\n' {
				continue // in the middle of an address or a number
			}
		case '?', '？':
			out = append(out, strings.TrimSpace(text[from:i])+"?")
		case '\n', '。', '！':
		default:
			continue
		}
		from = i + utf8.RuneLen(r)
	}
	return strings.Join(out, "\n")
}

// assents reports whether a message agrees: it is short, says yes, and says no nowhere.
func (c *Context) assents(text string) bool {
	words := c.vocabulary.Words(text)
	yes := false
	for _, w := range words {
		if w.Gram.Has(vocabulary.Negation) || w.Gram.Has(vocabulary.Condition) || w.Gram.Has(vocabulary.Exception) {
			return false
		}
		yes = yes || w.Gram.Has(vocabulary.Assent)
	}
	return yes && len(words) <= maxAssent && !strings.ContainsAny(text, "?？")
}

// agreedTo reports whether the user agreed to a proposal that names a value.
func (c *Context) agreedTo(v string) bool { return c.assented != nil && c.assented.index.Said(v) }

// assented is the part of a proposal, agreed to, that names this act; empty: there is none.
func (j *judging) assented() string {
	p := j.c.assented
	if p == nil {
		return ""
	}
	for i := range p.heard.clauses {
		if cl := &p.heard.clauses[i]; j.fits(j.asks(cl)) { // an offer is mostly put as a question
			return cl.text
		}
	}
	return ""
}
