package mandate

import (
	"regexp"
	"slices"
	"strconv"
)

// direction is which of several an order of the owner's chooses: the latest, the cheapest. The zero direction is none that records
// could be compared by.
type direction uint8

const (
	anyhow direction = iota
	late             // by the latest day
	early            // by the earliest
	low              // by the lowest sum
	high             // by the highest
)

var directions = map[direction]map[string]bool{
	late: lists.Set("late"), early: lists.Set("early"), low: lists.Set("low"), high: lists.Set("high"),
}

// directionOf is what a word chooses by.
func directionOf(word string) direction {
	for d, words := range directions { // no word is in two of them
		if words[word] {
			return d
		}
	}
	return anyhow
}

// answer is a yes, a no, or none.
type answer uint8

const (
	unknown answer = iota
	yes
	no
)

var (
	dayFirst = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}`)
	sumKeys  = lists.Set("sum_keys") // keys of what something costs
)

// extreme reports whether a value's record is the one that an order of the owner's chooses among those of its result that are
// called by as many of their words: by the one day or the one sum that all of them have. Where lists begin is whoever printed
// them's to say.
func (r *Records) extreme(value string, words []string, wants direction) answer {
	value = plain(value)
	best := unknown
	if len(r.whole[value]) > maxPlaces {
		return unknown
	}
	for _, at := range r.whole[value] {
		if r.Spent() || best == yes {
			break
		}
		if is := r.extremeAt(int(at), value, words, wants); is != unknown {
			best = is
		}
	}
	return best
}

// maxPlaces bounds the records of one value that are compared with the others: what stands in more of them is none of theirs.
const maxPlaces = 8

func (r *Records) extremeAt(at int, value string, words []string, wants direction) answer {
	key := r.all[at].keyOf(value)
	mine := r.score(at, words)
	var rivals []int
	for i := r.firsts[r.all[at].step]; i < len(r.all) && r.all[i].step == r.all[at].step; i++ {
		if i == at || r.keyed(i, key) == "" || r.keyed(i, key) == value {
			continue
		}
		s := r.score(i, words)
		if s > mine {
			return no
		}
		if s == mine {
			rivals = append(rivals, i)
		}
	}
	if len(rivals) == 0 {
		return unknown
	}
	by := r.comparable(at, rivals, wants)
	if by == "" {
		return unknown
	}
	for _, i := range rivals {
		if !before(r.keyed(at, by), r.keyed(i, by), wants) {
			return no
		}
	}
	return yes
}

// comparable is the key that all of some records have a day or a sum in, by which they can be compared; empty: there is none, or
// more than one.
func (r *Records) comparable(at int, rivals []int, wants direction) string {
	found := ""
	for _, f := range r.all[at].fields {
		fits := func(s string) bool { return dayFirst.MatchString(s) }
		if wants == low || wants == high {
			fits = func(s string) bool { _, err := strconv.ParseFloat(s, 64); return err == nil && sumKeys[f.key] }
		}
		lacks := func(i int) bool { return !fits(r.keyed(i, f.key)) }
		if f.key == "" || wants == anyhow || !fits(f.text) || slices.ContainsFunc(rivals, lacks) {
			continue
		}
		if found != "" && found != f.key {
			return ""
		}
		found = f.key
	}
	return found
}

// before reports whether the first of two is what an order chooses.
func before(a, b string, wants direction) bool {
	switch wants {
	case late:
		return a > b
	case early:
		return a < b
	}
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	return wants == low && x < y || wants == high && x > y
}

// generic reports whether words say no more than what kind of thing is meant: each of them is of the name of the tool, or of the
// one that brought the value.
func (r *Records) generic(value string, words []string, tool string) bool {
	kinds := map[string]bool{}
	for _, w := range pieces(tool) {
		kinds[stem(w)] = true
	}
	for _, at := range r.whole[plain(value)] {
		for _, w := range pieces(r.calls[r.all[at].step].tool) {
			kinds[stem(w)] = true
		}
	}
	return !slices.ContainsFunc(words, func(w string) bool { return !kinds[stem(w)] })
}
