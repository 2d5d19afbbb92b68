package vocabulary

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// ruleKey says which words a rule is about.
type ruleKey struct {
	lang Langs
	sort sort
}

// rule makes the forms of a word that ends in a certain way.
type rule struct {
	ending string
	forms  []form
}

// form replaces an ending; before is what stands in front of the word in this form.
type form struct {
	before, end string
	gram        Gram
}

// forms reads the rules: "de act en = e en t ge~t<". A form marked < tells of something
// done, one marked ! is negated; "-" is nothing. The first rule whose ending fits is used.
func (b *builder) forms(text string) {
	eachLine(text, func(n int, head, rest string) {
		left, right, ok := strings.Cut(rest, "=")
		words := strings.Fields(left)
		lang := b.langs[head]
		switch {
		case !ok || lang == 0 || len(words) == 0:
			b.fault("forms line %d is not understood", n)
		case words[0] == "clitic":
			for w := range strings.FieldsSeq(right) {
				b.t.clitics[w] = true
			}
		case words[0] == "ordinal":
			for w := range strings.FieldsSeq(right) {
				b.t.ordinals[w] = true
			}
		case words[0] == "leading":
			b.t.leading = strings.Fields(right)
		case words[0] == "between":
			b.zu[lang] = strings.TrimSpace(right)
		case words[0] == "before":
			b.prefix[lang] = strings.Fields(right)
		case len(words) == 2:
			key := ruleKey{lang, ofAct}
			if words[0] == "thing" {
				key.sort = ofThing
			}
			b.rules[key] = append(b.rules[key], rule{ending: nothing(words[1]), forms: formList(right)})
		default:
			b.fault("forms line %d is not understood", n)
		}
	})
}

func nothing(s string) string {
	if s == "-" {
		return ""
	}
	return s
}

func formList(text string) []form {
	var out []form
	for w := range strings.FieldsSeq(text) {
		var f form
		if s, ok := strings.CutSuffix(w, "<"); ok {
			w, f.gram = s, Done
		}
		if s, ok := strings.CutSuffix(w, "!"); ok {
			w, f.gram = s, Negation
		}
		before, end, ok := strings.Cut(w, "~")
		if !ok {
			before, end = "", w
		}
		f.before, f.end = before, nothing(end)
		out = append(out, f)
	}
	return out
}

// shape is a form of a word with what it tells beside the meaning.
type shape struct {
	text string
	gram Gram
}

// inflect makes the forms of a word. They are good until it is called again.
func (b *builder) inflect(w string, lang Langs, s sort) []shape {
	if lang == korean {
		return koreanForms(w)
	}
	for _, r := range b.rules[ruleKey{lang, s}] {
		stem, ok := strings.CutSuffix(w, r.ending)
		if !ok || stem == "" {
			continue
		}
		out := append(b.shapes[:0], shape{text: w})
		for _, f := range r.forms {
			out = append(out, shape{text: b.letters(f.before, stem, f.end), gram: f.gram})
		}
		b.shapes = out
		return out
	}
	return append(b.shapes[:0], shape{text: w})
}

// word enters a word of the data with all its forms:
//
//	word       with the forms the rules of the language make
//	=word      just so
//	two_words  a phrase; in a phrase * stands for a few words of any kind
//	aus+machen a verb in two parts, written as one or apart
//	~word      with each prefix of the language
//	word*      everything that begins so
//	=word<     a form that tells of something done
func (b *builder) word(w string, lang Langs, s sense) {
	literal := strings.HasPrefix(w, "=")
	w = strings.TrimPrefix(w, "=")
	if done, ok := strings.CutSuffix(w, "<"); ok {
		w, s.gram = done, s.gram|Done
	}
	b.t.lemmas = append(b.t.lemmas, strings.ReplaceAll(strings.Trim(w, "~*"), "_", " "))
	s.lemma, s.lang = int32(len(b.t.lemmas)-1), lang
	switch {
	case w == "":
	case strings.Contains(w, "+"):
		b.apart(w, lang, s)
	case strings.Contains(w, "_"):
		b.phrase(w, lang, s, literal)
	case strings.HasSuffix(w, "*"):
		b.add(b.t.starts, strings.TrimSuffix(w, "*"), s)
		b.t.special |= lang
	case strings.HasPrefix(w, "~"):
		for _, p := range b.prefix[lang] {
			b.spell(p+w[1:], lang, s)
		}
	case literal:
		b.spell(w, lang, s)
	default:
		for _, f := range b.inflect(w, lang, s.sort) {
			x := s
			x.gram |= f.gram
			b.spell(f.text, lang, x)
		}
	}
}

// spell enters a form in the spellings people type: without accents, ae for ä.
func (b *builder) spell(w string, lang Langs, s sense) {
	if unspaced(w) {
		b.script(w, s)
		return
	}
	w = letters(w)
	b.add(b.t.index, w, s)
	if isASCII(w) || s.gram&Done != 0 || (s.sort == ofGram && len(w) < 5) {
		return
	}
	if lang == german {
		b.add(b.t.index, umlauts.Replace(w), s)
	} else if plain := unmarked(w); plain != w {
		b.add(b.t.index, plain, s)
	}
}

// apart enters a verb in two parts.
func (b *builder) apart(w string, lang Langs, s sense) {
	particle, verb, _ := strings.Cut(w, "+")
	b.t.lemmas[s.lemma] = particle + verb
	if lang == english {
		b.t.lemmas[s.lemma] = verb + " " + particle
	}
	for _, f := range b.inflect(verb, lang, s.sort) {
		x := s
		x.gram |= f.gram
		p := pair{particle: particle, lang: lang, lemma: s.lemma, id: ActID(s.id), gram: x.gram}
		b.pair(f.text, p)
		if lang == german && !isASCII(f.text) {
			b.pair(umlauts.Replace(f.text), p)
		}
		b.spell(b.letters(particle, f.text), lang, x)
	}
	if zu := b.zu[lang]; zu != "" {
		b.spell(particle+zu+verb, lang, s)
	}
}

func (b *builder) pair(form string, p pair) {
	e := &b.t.entries[b.entry(b.t.index, form)]
	if e.pairs == 0 {
		e.pairs = uint16(len(b.t.pairs))
		b.t.pairs = append(b.t.pairs, nil)
	}
	b.t.pairs[e.pairs] = append(b.t.pairs[e.pairs], p)
}

// phrase enters several words that have one meaning together. Its last word, or its first
// where it is a verb, is the one that changes its form.
func (b *builder) phrase(w string, lang Langs, s sense, literal bool) {
	words := strings.Split(w, "_")
	if strings.Contains(w, "*") {
		b.frame(words, s)
		return
	}
	at := len(words) - 1
	if s.sort == ofAct {
		at = 0
	}
	shapes := []shape{{text: words[at]}}
	if !literal && s.sort != ofGram {
		shapes = b.inflect(words[at], lang, s.sort)
	}
	for _, f := range shapes {
		x := s
		x.gram |= f.gram
		words[at] = f.text
		if unspaced(w) {
			b.script(strings.Join(words, ""), x)
			continue
		}
		b.spell(strings.Join(words, " "), lang, x)
		for _, first := range []string{words[0], unmarked(words[0])} {
			e := &b.t.entries[b.entry(b.t.index, first)]
			e.longest = max(e.longest, uint8(len(words)))
		}
	}
}

var umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss")

// unmarked takes the marks off Latin letters: á becomes a. Other scripts have letters that
// only look like marked ones.
func unmarked(w string) string {
	if isASCII(w) || strings.ContainsFunc(w, func(r rune) bool { return r >= 0x370 && r < 0x1e00 }) {
		return w
	}
	out := make([]byte, 0, len(w))
	for _, r := range norm.NFD.String(w) {
		if r < 0x300 || r > 0x36f {
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
