package mandate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/text"
)

// What a question tells of a value's record. Nothing here holds a call: it is for the eyes of whoever answers, and what it
// returns was written by others.

// titled are the keys by which a record says what it is called, in the order they count.
var titled = lists.Lines("titles")[0]

// Title is what the record of a value calls itself; empty: there is none, or there are several that differ.
func (r *Records) Title(value string) string {
	return r.agreed(value, func(at int) string {
		for _, key := range titled {
			if t := r.printed(at, func(k string) bool { return k == key }); t != "" && !strings.EqualFold(t, value) {
				return t
			}
		}
		return ""
	})
}

// Author is who wrote what a value stands in: by the record that has it as a field, or by the one author of the result of
// a step. Empty: nobody says.
func (r *Records) Author(value string, step uint64) string {
	who := func(at int) string { return r.printed(at, func(k string) bool { return authoring[k] }) }
	if a := r.agreed(value, who); a != "" || len(r.whole[plain(value)]) > 0 {
		return a
	}
	out, known := r.told().authors[step]
	if !known {
		out = r.authorOf(step, who)
		r.told().authors[step] = out
	}
	return out
}

// authorOf is the one author of the records of a step; empty: none, or several.
func (r *Records) authorOf(step uint64, who func(at int) string) string {
	out := ""
	for i := r.firsts[step]; i < len(r.all) && r.all[i].step == step; i++ {
		switch a := who(i); {
		case a == "" || a == out:
		case out != "":
			return "" // one of several
		default:
			out = a
		}
	}
	return out
}

// maxAgreeing is how many records are asked what a value is called, who wrote it, or what list it is of: a question costs the same however
// many records have it. Of more nothing is told, which opens nothing.
const maxAgreeing = 256

// agreed is what all records with a value as a field say; empty: they differ, none says anything, or they are too many.
func (r *Records) agreed(value string, says func(at int) string) string {
	out, list := "", r.whole[plain(value)]
	if len(list) > maxAgreeing {
		return ""
	}
	for _, at := range list {
		switch s := says(int(at)); {
		case s == "" || s == out:
		case out != "":
			return ""
		default:
			out = s
		}
	}
	return out
}

// printed is the first field of a record, or of those it stands in, that has such a key, as it was printed.
func (r *Records) printed(at int, is func(key string) bool) string {
	for ; at >= 0; at = r.all[at].parent {
		for i := range r.all[at].fields {
			if f := &r.all[at].fields[i]; f.shown != "" && is(f.key) {
				return f.shown
			}
		}
	}
	return ""
}

// The bounds of what is told of a record.
const (
	maxFacts = 4
	maxFact  = 60 // characters of one
)

// Facts are the short fields of the one record of a value, but for its title, its author and the value: what it is that is sent or
// goes. Of a list it is how many there are. Empty: several records have the value, or none says more. The step is that of the result.
func (r *Records) Facts(value string) (facts []string, step uint64) {
	list := r.whole[plain(value)]
	if len(list) != 1 {
		return nil, 0
	}
	rec := &r.all[list[0]]
	many := map[string]int{}
	for i := range rec.fields {
		many[rec.fields[i].key]++
	}
	for i := range rec.fields {
		f := &rec.fields[i]
		told := f.shown == "" || f.key == "" || f.text == plain(value) || slices.Contains(titled, f.key) || authoring[f.key]
		switch n := many[f.key]; {
		case len(facts) == maxFacts:
			return facts, rec.step
		case n > 1:
			facts = append(facts, fmt.Sprintf("%s: %d of them", f.key, n))
			many[f.key] = -1
		case n == 1 && !told:
			facts = append(facts, f.key+": "+text.Words(f.shown, maxFact))
		}
	}
	return facts, rec.step
}

// Set is a list of records that one result brought: its step, the key of the value in them, and how many of them have one.
// The zero Set is none.
type Set struct {
	Step uint64
	Key  string
	Many int
}

// String names a set in the log.
func (s Set) String() string { return fmt.Sprintf("%d %d %s", s.Step, s.Many, s.Key) }

// SetNamed is the set of a name; none where it names none.
func SetNamed(name string) Set {
	var s Set
	if n, err := fmt.Sscanf(name, "%d %d", &s.Step, &s.Many); err != nil || n != 2 {
		return Set{}
	}
	_, rest, _ := strings.Cut(name, " ")
	_, s.Key, _ = strings.Cut(rest, " ")
	return s
}

// SetOf is the set that a value is one of; none where it is in no record, in those of several results, or alone.
func (r *Records) SetOf(value string) Set {
	out, list := Set{}, r.whole[plain(value)]
	if len(list) > maxAgreeing {
		return out
	}
	for _, at := range list {
		rec := &r.all[at]
		for i := range rec.fields {
			if rec.fields[i].text != plain(value) || rec.fields[i].key == "" {
				continue
			}
			s := Set{Step: rec.step, Key: rec.fields[i].key}
			if out != (Set{}) && out != s {
				return Set{}
			}
			out = s
		}
	}
	if out.Many = r.many(out); out.Many < 2 || r.full {
		return Set{}
	}
	return out
}

// Holds reports whether a value is one of the set, and stands in no other record.
func (r *Records) Holds(s Set, value string) bool {
	got := r.SetOf(value)
	return s.Many > 1 && got.Step == s.Step && got.Key == s.Key
}

// many is how many different values the key of a set has.
func (r *Records) many(s Set) int {
	if s.Key == "" {
		return 0
	}
	s.Many = 0
	if n, known := r.told().many[s]; known {
		return n
	}
	seen := map[string]bool{}
	for i := r.firsts[s.Step]; i < len(r.all) && r.all[i].step == s.Step; i++ {
		if v := r.keyed(i, s.Key); v != "" {
			seen[v] = true
		}
	}
	r.told().many[s] = len(seen)
	return len(seen)
}

// IsWorded reports whether an argument holds something that somebody words: by its name, or because it has several words. One
// word by itself is a choice.
func IsWorded(path, text string) bool {
	return worded[strings.ToLower(path[strings.LastIndexByte(path, '.')+1:])] || strings.Contains(strings.TrimSpace(text), " ")
}

// Names reports whether a parameter is what something is called.
func Names(path string) bool { return slices.Contains(titled, lastPart(path)) }
