package reader

import (
	"slices"

	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// Withheld is what the owner wants left out of what is told: the words of a ban on telling that they use nowhere else.
type Withheld struct {
	Stems []string
	Quote string
}

// Withholds are the limits of a message: "without including any wages", "never mention the audit to them". It is silent where a
// language puts the verb last, or the words of the limit are used for an order too.
func Withholds(message string, table *vocabulary.Table) []Withheld {
	t := typed(message[:min(len(message), maxMessage)])
	r := reading{table: table, typed: t, words: table.Words(t.orders)}
	inside, spans := make([]bool, len(r.words)), [][2]int(nil)
	for i := range r.words {
		if end := r.limit(i); end > i {
			spans = append(spans, [2]int{i, end})
			for k := i; k < end; k++ {
				inside[k] = true
			}
		}
	}
	used := map[string]bool{}
	for i := range r.words {
		if !inside[i] {
			used[r.words[i].Stem] = true
		}
	}
	var out []Withheld
	for _, at := range spans {
		w := Withheld{Quote: r.span(r.words[at[0]:at[1]])}
		for k := at[0] + 1; k < at[1]; k++ {
			if stem := r.words[k].Stem; r.left(k) && !used[stem] && !slices.Contains(w.Stems, stem) {
				w.Stems = append(w.Stems, stem)
			}
		}
		if len(w.Stems) > 0 {
			out = append(out, w)
		}
	}
	return out
}

// left reports whether a word of a limit says what is left out, and not that it is, nor how: "the fine" is a thing, "fine" is not.
func (r *reading) left(i int) bool {
	w := &r.words[i]
	if w.Kind != vocabulary.Plain || len(w.Text) < 3 || w.Gram.Has(vocabulary.Function) || tellings.has(r.language(), w.Text) {
		return false
	}
	return w.Gram == 0 || r.words[i-1].Gram.Has(vocabulary.Function)
}

// limit is where a ban on telling ends that begins with a word; 0: none begins there. It is one of "without", or a negation that a
// word for telling follows closely, and goes on to where somebody is named whom it must not reach, or to the next thought.
func (r *reading) limit(i int) int {
	lang := r.language()
	w := &r.words[i]
	if final[lang] || behind[lang] || !without.has(lang, w.Text) && !w.Gram.Has(vocabulary.Negation) {
		return 0
	}
	telling := without.has(lang, w.Text)
	k := i + 1
	for ; k < len(r.words) && r.words[k].Sentence == w.Sentence && !r.broken(i, k); k++ {
		next := &r.words[k]
		if k <= i+reach {
			telling = telling || tellings.has(lang, next.Text) || tellings.has(lang, next.Stem)
		}
		if toWords.has(lang, next.Text) || next.Gram.Has(vocabulary.Joining) && !ors.has(lang, next.Text) || buts.has(lang, next.Text) {
			break
		}
	}
	if !telling {
		return 0
	}
	return k
}
