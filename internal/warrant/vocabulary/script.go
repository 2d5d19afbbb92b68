package vocabulary

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// trie holds the words of scripts that put no space between words.
type trie struct {
	next  map[uint64]int32 // node and letter, to node
	value []int32          // node, to entry; -1 for none
}

func newTrie() trie { return trie{next: make(map[uint64]int32, 1<<14), value: []int32{-1}} }

func (t *trie) put(w string, value int32) {
	node := int32(0)
	for _, r := range w {
		key := uint64(node)<<32 | uint64(r)
		n, ok := t.next[key]
		if !ok {
			n = int32(len(t.value))
			t.value = append(t.value, -1)
			t.next[key] = n
		}
		node = n
	}
	t.value[node] = value
}

// longest finds the longest word that s begins with: its entry and its length in bytes.
func (t *trie) longest(s string) (entry int32, size int) {
	node, entry := int32(0), int32(-1)
	for i, r := range s {
		n, ok := t.next[uint64(node)<<32|uint64(r)]
		if !ok {
			break
		}
		if node = n; t.value[n] >= 0 {
			entry, size = t.value[n], i+utf8.RuneLen(r)
		}
	}
	return entry, size
}

// script enters a word that is written without spaces around it.
func (b *builder) script(w string, s sense) {
	b.t.script.put(w, b.add(b.t.index, w, s))
}

// unspaced reports whether a word is found inside a run of letters, not between spaces.
func unspaced(w string) bool {
	for _, r := range w {
		if isHan(r) || isHangul(r) {
			return true
		}
	}
	return false
}

// isHan is about the letters of Chinese and Japanese.
func isHan(r rune) bool {
	switch {
	case r < 0x2e80:
		return false
	case r >= 0x4e00 && r <= 0x9fff, r >= 0x3041 && r <= 0x30ff:
		return r != 0x30fb
	}
	return r == 0x3005 || r >= 0xff66 && r <= 0xff9f || unicode.Is(unicode.Han, r)
}

func isKana(r rune) bool { return r >= 0x3041 && r <= 0x30ff || r >= 0xff66 && r <= 0xff9f }

func isHangul(r rune) bool {
	return r >= 0xac00 && r <= 0xd7a3 || r >= 0x1100 && r <= 0x11ff || r >= 0x3130 && r <= 0x318f
}

// The order of Korean letters inside a syllable.
const (
	syllables, finals                = 0xac00, 28
	finalN, finalL, finalB, finalSS  = 4, 8, 17, 20
	vowelA, vowelEO, vowelYEO        = 0, 4, 6
	vowelO, vowelWA, vowelU, vowelWO = 8, 9, 13, 14
	vowelEU, vowelI                  = 18, 20
)

// koreanForms are the stems that the endings of a Korean verb are put to. Endings that begin
// with a consonant become part of the last syllable, so these cannot be found as a prefix.
func koreanForms(w string) []shape {
	stem, ok := strings.CutSuffix(w, "다")
	if !ok || stem == "" {
		return []shape{{text: w}}
	}
	out := []shape{{text: w}, {text: stem}}
	last, size := utf8.DecodeLastRuneInString(stem)
	head := stem[:len(stem)-size]
	code := int(last) - syllables
	if code < 0 || code >= 11172 || code%finals != 0 {
		return out
	}
	put := func(code, final int, g Gram) {
		out = append(out, shape{text: head + string(rune(syllables+code+final)), gram: g})
	}
	put(code, finalN, 0)
	put(code, finalL, 0)
	put(code, finalB, 0)
	contracted := map[int]int{vowelI: vowelYEO, vowelU: vowelWO, vowelO: vowelWA, vowelEU: vowelEO}
	vowel := code / finals % 21
	if to, ok := contracted[vowel]; ok {
		code += (to - vowel) * finals
		put(code, 0, 0)
	}
	put(code, finalSS, Done)
	return out
}

// run reads letters that have no spaces between words: Chinese and Japanese.
func (r *reader) run(text string, start int) {
	unknown := -1
	flush := func(end int) {
		if unknown >= 0 {
			r.put(token{text: text[unknown:end], start: start + unknown, end: start + end, entry: -1})
			unknown = -1
		}
	}
	for i := 0; i < len(text); {
		if entry, size := r.t.script.longest(text[i:]); size > 0 {
			flush(i)
			r.put(token{text: text[i : i+size], start: start + i, end: start + i + size, entry: entry})
			i += size
			continue
		}
		letter, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case !isKana(letter): // a sign alone
			flush(i)
			unknown = i
			flush(i + size)
		case unknown < 0:
			unknown = i
		}
		i += size
	}
	flush(len(text))
}

// hangul reads one Korean word: a stem, and the endings it carries.
func (r *reader) hangul(text string, start int) {
	unknown := 0
	for i := 0; i < len(text); {
		entry, size := r.t.script.longest(text[i:])
		if size == 0 || !r.carries(entry, text, i, size) {
			_, size = utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		if unknown < i {
			r.put(token{text: text[unknown:i], start: start + unknown, end: start + i, entry: -1})
		}
		r.put(token{text: text[i : i+size], start: start + i, end: start + i + size, entry: entry})
		i += size
		unknown = i
	}
	if unknown < len(text) {
		r.put(token{text: text[unknown:], start: start + unknown, end: start + len(text), entry: -1})
	}
}

// carries reports whether a match inside a Korean word is one: a single syllable is a word
// only at the beginning, when nothing but endings follows it.
func (r *reader) carries(entry int32, text string, at, size int) bool {
	grammar := func(e int32) bool {
		s := r.t.entries[e].first
		return s >= 0 && r.t.senses[s].sort == ofGram
	}
	if size > 3 {
		return true
	}
	rest := text[at+size:]
	if at > 0 {
		return grammar(entry) && rest == ""
	}
	if rest == "" {
		return true
	}
	e, n := r.t.script.longest(rest)
	return n > 0 && grammar(e) && (n > 3 || n == len(rest))
}
