package vocabulary

// meanings collects what the words of a text mean.
type meanings struct {
	r      *reader
	acts   []ActID
	things []ThingID
	buf    []byte
	at     []int32 // the entry of each word of the sentence
}

// sentence reads the tokens of one sentence in the languages it is spoken in.
func (m *meanings) sentence(out []Word, toks []token, spoken Langs) []Word {
	m.at = m.at[:0]
	var pending []Gram // of phrases that go on
	for i := 0; i < len(toks); {
		tok := &toks[i]
		n, entry := m.phrase(toks[i:], spoken)
		w := Word{Text: tok.text, Start: tok.start, End: toks[i+n-1].end, Sentence: int(tok.sentence), Kind: tok.kind}
		if entry < 0 {
			entry = m.fallback(tok, spoken)
		} else if n > 1 {
			w.Text = string(m.buf)
		}
		m.fill(&w, entry, m.langs(entry, tok, spoken))
		if len(pending) > 0 {
			w.Gram |= pending[0]
			pending = pending[1:]
		}
		if more, length := m.steers(toks[i:], spoken); more != 0 {
			w.Gram |= more
			for k := 1; k < length; k++ {
				if k > len(pending) {
					pending = append(pending, 0)
				}
				pending[k-1] |= more
			}
		}
		out = append(out, w)
		m.at = append(m.at, entry)
		i += n
	}
	return out
}

// fallback is the entry of a word, looked for in ways that cost more or are right in some languages only.
func (m *meanings) fallback(tok *token, spoken Langs) int32 {
	r := m.r
	if tok.entry >= 0 {
		if e := &r.t.entries[tok.entry]; e.first >= 0 || e.pairs > 0 || e.frames > 0 {
			return tok.entry
		}
	}
	if tok.kind != Plain || tok.written {
		return tok.entry
	}
	found := int32(-1)
	if spoken&r.t.special != 0 {
		found = r.begins(tok.text)
	}
	if found < 0 && spoken&clitic != 0 {
		found = r.enclitic(tok.text)
	}
	if found < 0 && spoken&compounding != 0 && len(tok.text) >= 7 {
		found = r.compound(tok.text)
	}
	if found < 0 {
		return tok.entry
	}
	return found
}

// langs are the languages in which an entry is read. Words of other languages than those of
// the sentence count where they cannot be mistaken: English ones, which name what tools do,
// and those in a script of their own.
func (m *meanings) langs(entry int32, tok *token, spoken Langs) Langs {
	if entry < 0 {
		return 0
	}
	has := m.r.t.entries[entry].langs
	if tok.written {
		want := chinese
		if m.r.kana {
			want = japanese
		}
		if has&(want|korean) != 0 {
			return has & (want | korean)
		}
		return has
	}
	if in := has & spoken; in != 0 {
		return in
	}
	if c := tok.text[0]; c >= 0xd0 && c <= 0xdb { // Cyrillic, Arabic
		return has
	}
	return has & english
}

// fill gives a word the senses of an entry.
func (m *meanings) fill(w *Word, entry int32, in Langs) {
	w.Langs = in
	if entry < 0 || in == 0 {
		w.Stem = w.Text
		if w.Kind == Plain && isASCII(w.Text) {
			w.Stem = bare(w.Text)
		}
		return
	}
	t, acts, things := m.r.t, len(m.acts), len(m.things)
	w.Stem = t.lemma(entry, in)
	done, asked := Gram(0), false
	for i := t.entries[entry].first; i >= 0; i = t.senses[i].next {
		s := &t.senses[i]
		if s.lang&in == 0 {
			continue
		}
		switch s.sort {
		case ofAct:
			m.acts = addOnce(m.acts, acts, ActID(s.id))
		case ofThing:
			m.things = addOnce(m.things, things, ThingID(s.id))
		}
		if s.sort == ofAct && s.gram&Done == 0 {
			asked = true
		}
		done |= s.gram & Done
		w.Gram |= s.gram &^ Done
	}
	if !asked {
		w.Gram |= done
	}
	w.Acts, w.Things = m.acts[acts:len(m.acts):len(m.acts)], m.things[things:len(m.things):len(m.things)]
}

func addOnce[T comparable](list []T, from int, x T) []T {
	for _, old := range list[from:] {
		if old == x {
			return list
		}
	}
	return append(list, x)
}

// phrase finds the longest phrase that names an act or a thing: how many tokens it has, and
// its entry; one token and -1 if there is none.
func (m *meanings) phrase(toks []token, spoken Langs) (int, int32) {
	n, found := 1, int32(-1)
	m.phrases(toks, func(k int, entry int32) {
		in := m.langs(entry, &toks[0], spoken)
		if in != 0 && (m.r.means(entry, ofAct, in) || m.r.means(entry, ofThing, in)) {
			n, found = k, entry
		}
	})
	if found >= 0 {
		m.buf = m.buf[:0]
		for k := range n {
			if k > 0 {
				m.buf = append(m.buf, ' ')
			}
			m.buf = append(m.buf, toks[k].text...)
		}
	}
	return n, found
}

// steers finds phrases of grammar: what they say, and how many words they have.
func (m *meanings) steers(toks []token, spoken Langs) (Gram, int) {
	var g Gram
	n := 0
	m.phrases(toks, func(k int, entry int32) {
		for i := m.r.t.entries[entry].first; i >= 0; i = m.r.t.senses[i].next {
			if s := &m.r.t.senses[i]; s.sort == ofGram && s.lang&spoken != 0 {
				g |= s.gram
				n = k
			}
		}
	})
	return g, n
}

// phrases visits the entries of the phrases that begin with the first token, short ones first.
func (m *meanings) phrases(toks []token, visit func(n int, entry int32)) {
	if toks[0].entry < 0 || toks[0].written {
		return
	}
	longest := int(m.r.t.entries[toks[0].entry].longest)
	if longest < 2 {
		return
	}
	var room [96]byte
	buf := append(room[:0], toks[0].text...)
	for n := 2; n <= min(longest, len(toks)); n++ {
		if toks[n-1].kind != Plain {
			return
		}
		buf = append(append(buf, ' '), toks[n-1].text...)
		if i, ok := m.r.t.index[string(buf)]; ok {
			visit(n, i)
		}
	}
}

// How far apart the parts of a verb may stand.
const (
	nearby = 6  // turn the light in the kitchen off
	apart  = 20 // in languages that put the second part at the end
)

// join reads what several words of a sentence mean together: verbs in two parts, and phrases
// with gaps.
func (m *meanings) join(words []Word, spoken Langs) {
	for i := range words {
		if m.at[i] < 0 {
			continue
		}
		e := &m.r.t.entries[m.at[i]]
		pairs := m.r.t.pairs[e.pairs]
		if p := m.second(words, i, pairs, spoken); p != nil {
			m.twofold(&words[i], pairs, *p)
		}
		for _, f := range m.r.t.frames[e.frames] {
			if f.lang&(spoken|chinese|japanese|korean) == 0 {
				continue
			}
			for j := range f.fits(words[i:]) {
				words[i+j].Gram |= f.gram
			}
		}
	}
}

// twofold gives a verb the meanings it has with its second part, and none of its own.
func (m *meanings) twofold(w *Word, pairs []pair, with pair) {
	from := len(m.acts)
	w.Gram &^= Done
	for _, p := range pairs {
		if p.particle == with.particle && p.lang == with.lang {
			m.acts = addOnce(m.acts, from, p.id)
			w.Gram |= p.gram
		}
	}
	w.Acts = m.acts[from:len(m.acts):len(m.acts)]
	w.Stem = m.r.t.lemmas[with.lemma]
	w.Langs |= with.lang
}

// second finds the second part of a verb that stands at i. It belongs to the nearest verb
// that takes it.
func (m *meanings) second(words []Word, i int, pairs []pair, spoken Langs) *pair {
	for k := range pairs {
		p := &pairs[k]
		if p.lang&spoken == 0 {
			continue
		}
		reach := apart
		if p.lang == english {
			reach = nearby
		}
		for j := i + 1; j < len(words) && j <= i+reach; j++ {
			if words[j].Text == p.particle {
				return p
			}
			if m.takes(m.at[j], p.particle) {
				break
			}
		}
		for j := i - 1; p.lang == dutch && j >= 0 && j >= i-2; j-- { // aan te zetten
			if words[j].Text == p.particle {
				return p
			}
		}
	}
	return nil
}

func (m *meanings) takes(entry int32, particle string) bool {
	if entry < 0 {
		return false
	}
	for _, p := range m.r.t.pairs[m.r.t.entries[entry].pairs] {
		if p.particle == particle {
			return true
		}
	}
	return false
}
