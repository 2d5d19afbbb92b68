package conversation

import (
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/trust"
)

// The client's own instructions are the operator's as far as a conversation began with them, or
// as they stand in the operator's file.
// What comes later may be anything that a harness was given, and what models and tools wrote
// stays theirs: clients put memories, search results, summaries and tasks there.

// promptKind is the kind of a record of lines of instructions.
const promptKind engine.RecalledKind = recalledItem + 1

// maxPrompts is how many texts of instructions a session knows as they are.
const maxPrompts = 64

// instructions is what the instructions in the request bring. Begins says that no model has
// answered in it.
func (e *entry) instructions(begins bool) trust.Label {
	// A conversation that came from elsewhere has its instructions; those of one that went on over a start
	// of ours are known by their lines.
	begins = begins || !e.session.prompted && e.past.unprompted()
	e.session.prompted = true
	l := nothing()
	for i := range e.r.Head {
		if m := &e.r.Head[i]; m.Role == format.System {
			l = l.Join(e.instruction(m, begins))
		}
	}
	late := e.from != e.session.top
	for i := range e.messages {
		m := &e.messages[i]
		if m.Role != format.System {
			late = true
			continue
		}
		if l = l.Join(e.instruction(m, begins && !late)); late && !e.given(m) {
			l = l.Join(local())
		}
	}
	return l
}

// given reports whether the operator vouches for all that a message says.
func (e *entry) given(m *format.Message) bool {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind != format.Text || len(e.f.unvouched(p.Text)) > 0 {
			return false
		}
	}
	return true
}

// unvouched are the lines of a text that say something and that no operator vouches for.
func (f *Follower) unvouched(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if h, ok := f.keys.line(line); ok && !f.given[h] {
			out = append(out, line)
		}
	}
	return out
}

// vouched are the lines of the operator's own texts.
func (k *keyed) vouched(texts []string) map[uint64]bool {
	out := map[uint64]bool{}
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if h, ok := k.line(line); ok {
				out[h] = true
			}
		}
	}
	return out
}

// instruction is what one message of instructions brings.
func (e *entry) instruction(m *format.Message, begins bool) trust.Label {
	l := remotes(m)
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == format.Text && p.Text != "" {
			l = l.Join(e.instructed(p.Text, begins))
		}
	}
	return l
}

// instructed is what a text of instructions brings: nothing, where it was there from the start.
func (e *entry) instructed(text string, begins bool) trust.Label {
	d := digest(text)
	if l, ok := e.session.prompts[d]; ok {
		return l
	}
	l := e.past.instructed(strings.Join(e.f.unvouched(text), ""), begins)
	if len(e.session.prompts) >= maxPrompts {
		clear(e.session.prompts)
	}
	e.session.prompts[d] = l
	return l
}

func (p *past) instructed(text string, begins bool) trust.Label {
	var lines []string
	var hashes []uint64
	for line := range strings.Lines(text) {
		if h, ok := p.keys.line(line); ok {
			lines, hashes = append(lines, line), append(hashes, h)
		}
	}
	a := p.within(text, true)
	fresh, added := p.prompted(p.keys.sums(p.tenant, hashes), begins && !a.some)
	if p.keeper != nil && len(added) > 0 {
		p.keeper.Keep(kept{tenant: p.tenant, kind: promptKind, rate: 1, sums: added}.record())
	}
	var other strings.Builder
	for i, line := range lines {
		if fresh[i] {
			other.WriteString(line)
		}
	}
	if other.Len() == 0 {
		return nothing()
	}
	if a.some { // is it what is new that somebody wrote?
		a = p.within(other.String(), true)
	}
	switch {
	case a.some:
		return a.label
	case begins:
		return nothing()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.forgot() {
		return unseen("forgotten_text")
	}
	return local()
}

// line is the hash of a line of instructions, whatever the date and the time. Lines without a
// word have none.
func (k *keyed) line(text string) (uint64, bool) {
	hash, some := k.start, false
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), between) {
		if counts(word) {
			word = "0"
		}
		some = true
		for i := range len(word) {
			hash = (hash ^ uint64(word[i])) * 0x100000001b3
		}
		hash = mix(hash)
	}
	return hash, some
}

// counts reports whether a word says when it is, or which one: nobody can be told what to do
// with such words.
func counts(word string) bool {
	digits := false
	for _, r := range word {
		if digits = digits || r >= '0' && r <= '9'; (r < '0' || r > '9') && (r < 'a' || r > 'f') {
			return calendar[word]
		}
	}
	return digits
}

var calendar = func() map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(`monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun
		january february march april may june july august september october november december
		jan feb mar apr jun jul aug sep oct nov dec am pm utc gmt`) {
		out[word] = true
	}
	return out
}()
