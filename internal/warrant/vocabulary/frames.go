package vocabulary

// frame is a phrase with gaps: do what * says.
type frame struct {
	words []string // "*" is a gap
	lang  Langs
	gram  Gram
}

// gap is how many words a gap may hold.
const gap = 5

// frame enters a phrase with gaps under its first word.
func (b *builder) frame(words []string, s sense) {
	if s.sort != ofGram || words[0] == "*" {
		b.fault("only phrases of grammar have gaps, and none begins with one: %q", words)
		return
	}
	for i, w := range words {
		words[i] = letters(w)
		if w != "*" && unspaced(w) {
			b.script(w, sense{lang: s.lang, lemma: s.lemma, sort: ofGram})
		}
	}
	e := &b.t.entries[b.entry(b.t.index, words[0])]
	if e.frames == 0 {
		e.frames = uint16(len(b.t.frames))
		b.t.frames = append(b.t.frames, nil)
	}
	b.t.frames[e.frames] = append(b.t.frames[e.frames], frame{words: words, lang: s.lang, gram: s.gram})
}

// fits finds the end of the frame in a list of words that begins with its first word; 0 if
// it does not fit.
func (f *frame) fits(words []Word) int {
	at, slack := 0, 0
	for _, want := range f.words {
		if want == "*" {
			slack = gap
			continue
		}
		for at < len(words) && words[at].Text != want && slack > 0 && words[at].Sentence == words[0].Sentence {
			at, slack = at+1, slack-1
		}
		if at >= len(words) || words[at].Text != want {
			return 0
		}
		at, slack = at+1, 0
	}
	return at
}
