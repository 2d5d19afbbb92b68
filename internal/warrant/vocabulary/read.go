package vocabulary

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// Words are the words of a text, in order.
func (t *Table) Words(text string) []Word {
	r := &reader{t: t, text: text, tokens: make([]token, 0, len(text)/5+4)}
	r.scan()
	return r.words()
}

// words gives meaning to the tokens, sentence by sentence.
func (r *reader) words() []Word {
	out := make([]Word, 0, len(r.tokens))
	m := &meanings{r: r, acts: make([]ActID, 0, len(r.tokens)), things: make([]ThingID, 0, len(r.tokens))}
	var all score
	for i := range r.tokens {
		r.guess(&r.tokens[i])
		all.count(r, &r.tokens[i], 1)
		all.phrase(m, i, 1)
	}
	for from := 0; from < len(r.tokens); {
		to := from + 1
		for to < len(r.tokens) && r.tokens[to].sentence == r.tokens[from].sentence {
			to++
		}
		own := all
		for i := from; i < to; i++ {
			own.count(r, &r.tokens[i], 4)
			own.phrase(m, i, 4)
		}
		first := len(out)
		out = m.sentence(out, r.tokens[from:to], own.spoken())
		m.join(out[first:], own.spoken())
		from = to
	}
	return out
}

// score tells how much of a text is in which language.
type score [len(langNames)]int32

// priority is the head start of English, the language of tools.
const priority = 200

func (s *score) count(r *reader, tok *token, times int32) {
	if tok.entry < 0 || tok.written {
		return
	}
	s.add(&r.t.entries[tok.entry], times)
}

// phrase counts what begins with a word that means nothing by itself: "iptal et".
func (s *score) phrase(m *meanings, at int, times int32) {
	tok := &m.r.tokens[at]
	if tok.entry < 0 || tok.written || m.r.t.entries[tok.entry].langs != 0 {
		return
	}
	m.phrases(m.r.tokens[at:], func(k int, entry int32) {
		if m.r.tokens[at+k-1].sentence == tok.sentence {
			s.add(&m.r.t.entries[entry], times)
		}
	})
}

func (s *score) add(e *entry, times int32) {
	n := bits.OnesCount32(uint32(e.langs))
	if n == 0 {
		return
	}
	worth := times * int32(e.weight) * 120 / int32(n)
	for l := uint32(e.langs); l != 0; l &= l - 1 {
		s[bits.TrailingZeros32(l)] += worth
	}
}

// spoken are the languages a sentence is most likely in.
func (s *score) spoken() Langs {
	s[0] += priority
	top := slices.Max(s[:])
	s[0] -= priority
	var out Langs
	for i, n := range s {
		if i == 0 {
			n += priority
		}
		if n*4 >= top*3 {
			out |= 1 << i
		}
	}
	return out
}

// guess finds a word that nobody entered by its beginning, where letters tell the language.
func (r *reader) guess(tok *token) {
	if tok.entry >= 0 || tok.kind != Plain || tok.written || isASCII(tok.text) {
		return
	}
	if tok.entry = r.begins(tok.text); tok.entry < 0 {
		tok.entry = r.stripped(tok.text)
	}
	if tok.entry < 0 { // cómprame: the accent is there for the pronoun
		tok.entry = r.enclitic(tok.text)
	}
}

// begins looks for the longest known beginning of a word.
func (r *reader) begins(w string) int32 {
	for n := 0; len(w) > 2 && n < 12; n++ {
		if i, ok := r.t.starts[w]; ok {
			return i
		}
		_, size := utf8.DecodeLastRuneInString(w)
		w = w[:len(w)-size]
	}
	return -1
}

// stripped takes off what Arabic writes together with a word.
func (r *reader) stripped(w string) int32 {
	if c, _ := utf8.DecodeRuneInString(w); c < 0x600 || c > 0x6ff {
		return -1
	}
	tails := func(w string) int32 {
		for _, n := range [...]int{0, 2, 4, 6} {
			if len(w)-n < 4 {
				break
			}
			if n > 0 && !r.t.clitics[w[len(w)-n:]] {
				continue
			}
			for _, end := range [...]string{"", "ه"} { // a final t is written as h
				base := w[:len(w)-n]
				if end != "" {
					base = strings.TrimSuffix(base, "ت") + end
				}
				if i, ok := r.t.index[base]; ok {
					return i
				}
			}
		}
		return -1
	}
	if i := tails(w); i >= 0 {
		return i
	}
	for _, p := range r.t.leading {
		if rest, ok := strings.CutPrefix(w, p); ok {
			if i := tails(rest); i >= 0 {
				return i
			}
		}
	}
	return -1
}

// enclitic takes pronouns off the end of a verb: mándalo, cancellalo.
func (r *reader) enclitic(w string) int32 {
	w = unmarked(w)
	for n := 2; n <= 5 && len(w)-n >= 3; n++ {
		if r.t.clitics[w[len(w)-n:]] {
			if i, ok := r.t.index[w[:len(w)-n]]; ok && r.means(i, ofAct, clitic) {
				return i
			}
		}
	}
	return -1
}

// compound finds the noun that a compound ends in: Monatsrechnung.
func (r *reader) compound(w string) int32 {
	for i := range w {
		if i < 3 {
			continue
		}
		if len(w)-i < 4 {
			break
		}
		if e, ok := r.t.index[w[i:]]; ok && r.means(e, ofThing, compounding) {
			return e
		}
	}
	return -1
}

// means reports whether an entry has a sense of a sort in one of the languages.
func (r *reader) means(i int32, s sort, in Langs) bool {
	for x := r.t.entries[i].first; x >= 0; x = r.t.senses[x].next {
		if r.t.senses[x].sort == s && r.t.senses[x].lang&in != 0 {
			return true
		}
	}
	return false
}
