package mandate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

// What we look up ourselves. An agent chooses what it searches for, and whoever steers it chooses with it: a search that brings one of two
// people of a name makes them the only one, and a contact that was changed a step ago answers for the one that was meant. Where the
// door can ask by itself, a name of the owner's is looked up by us, as they said it and before anything is read for their message. From
// then on the name means what that showed, whatever else is read.

// lookedUp is what we found for one name.
type lookedUp struct {
	message int // of the owner's; what was found for an earlier one is over
	steps   []uint64
}

// wholeList is how many entries a list has at most that is taken for all there is where it does not say how many there are: servers cut
// off at ten and more.
const wholeList = 9

// AddLooked adds what we looked up for a name. A list that may go on elsewhere shows nothing: another of the name may stand there.
func (r *Records) AddLooked(step uint64, tool, name string, message int, content []byte) {
	r.calls[step], r.covers = r.asks(tool, []string{name}), map[string]int{}
	r.calls[step].looked = name
	r.firsts[step] = len(r.all)
	v, ok := valueindex.Parse(content)
	if !ok || !complete(&v) {
		return
	}
	if r.looked == nil {
		r.looked = map[string]*lookedUp{}
	}
	l := r.looked[plain(name)]
	if l == nil || l.message < message {
		l = &lookedUp{message: message}
		r.looked[plain(name)] = l
	}
	l.steps = append(l.steps, step)
	r.walk(&v, step, -1, 0)
}

var (
	directories = lists.Set("directories")
	rosters     = lists.Set("rosters")
	searching   = lists.Set("searching")
)

// Keeps reports whether a tool of a name is one that knows what a source names for a parameter: of people a list that the owner or
// their organisation keeps, of things one that is called as the parameter is. Whole says that it lists all of them.
func (s *Source) Keeps(param string, name []string, whole bool) bool {
	if s.How == Person {
		return slices.ContainsFunc(name, func(w string) bool { return directories[w] || whole && rosters[w] })
	}
	words := paramWords(param)
	for len(words) > 1 && idNames[words[len(words)-1]] {
		words = words[:len(words)-1]
	}
	if s.How != Thing || len(words) == 0 || idNames[words[len(words)-1]] {
		return false
	}
	kind := stem(words[len(words)-1])
	return slices.ContainsFunc(name, func(w string) bool { return stem(w) == kind })
}

// Searches reports whether a parameter takes what is searched for.
func Searches(param string) bool { return searching[strings.ToLower(param)] }

// complete reports whether a list is all there is, as far as it says: it is a short one by itself, or the only thing in an answer whose
// other members say nothing, or that there are so many. A member that nobody knows may say where it goes on.
func complete(v *valueindex.Value) bool {
	if v.Shape == valueindex.List {
		return len(v.Kids) <= wholeList && objects(v)
	}
	var list *valueindex.Value
	for i := range v.Kids {
		if k := &v.Kids[i]; k.Shape == valueindex.List {
			if list != nil {
				return false
			}
			list = k
		}
	}
	if list == nil || !objects(list) {
		return false
	}
	counted := false
	for i := range v.Kids {
		switch k := &v.Kids[i]; {
		case k == list, k.Shape == valueindex.Scalar && slices.Contains([]string{"", "null", "false"}, k.Text):
		case k.Shape == valueindex.Scalar && k.Text == strconv.Itoa(len(list.Kids)) &&
			saysHowMany(k.Key): // how many a page has says nothing
			counted = counted || slices.Contains(keyWords(k.Key), "total")
		case k.Shape == valueindex.Scalar && k.Text == "true" && answered[strings.ToLower(k.Key)]:
		default:
			return false
		}
	}
	return counted || len(list.Kids) <= wholeList
}

// saysHowMany reports whether a member says how many entries there are.
func saysHowMany(key string) bool {
	return slices.ContainsFunc(keyWords(key), func(w string) bool { return w == "total" || w == "count" })
}

// objects reports whether all entries of a list have fields.
func objects(v *valueindex.Value) bool {
	return !slices.ContainsFunc(v.Kids, func(k valueindex.Value) bool { return k.Shape != valueindex.Object })
}

// looked is why a value is not what we found for the names of a source. Known is false where we found nothing for one of them: then what
// the agent looked up counts.
func (p *pass) looked(v *Value, s *Source) (why string, known bool) {
	if len(p.records.looked) == 0 || len(s.What) == 0 {
		return "", false
	}
	several := false
	for _, name := range s.What {
		switch p.records.found(v, name) {
		case single:
			return "", true
		case nowhere:
			return "", false
		case equals:
			several = true
		}
	}
	if several {
		return standings[equals], true
	}
	return whyLooked, true
}

// found is how a value stands to what we looked up for a name: it is of the only one that is called so, there are several, it is of
// somebody else, or nobody is called so.
func (r *Records) found(v *Value, name string) standing {
	l := r.looked[plain(name)]
	if l == nil || r.full {
		return nowhere
	}
	words := contentWords(name)
	those, holding := 0, 0
	for _, step := range l.steps {
		for at := r.firsts[step]; at < len(r.all) && r.all[at].step == step; at++ {
			if !r.takes(len(words)) {
				return nowhere
			}
			if r.all[at].wrote || !r.all[at].hasName(words) || r.inNamed(at, words) {
				continue
			}
			if those++; r.reaches(at, v, words) {
				holding++
			}
		}
	}
	switch {
	case those == 0:
		return nowhere
	case holding == those:
		return single
	case those > 1 && holding > 0:
		return equals
	}
	return beside
}

// hasName reports whether fields of a record itself hold all words of a name, each as a whole word.
func (rec *Record) hasName(words []string) bool {
	for _, w := range words {
		keys := saidKeys(w)
		has := func(f field) bool {
			return slices.ContainsFunc(keys, func(k string) bool { return slices.Contains(f.keys, k) })
		}
		if !slices.ContainsFunc(rec.fields, has) {
			return false
		}
	}
	return len(words) > 0
}

// inNamed reports whether a record stands in one that has a name: then it is of the same.
func (r *Records) inNamed(at int, words []string) bool {
	for at = r.all[at].parent; at >= 0; at = r.all[at].parent {
		if r.all[at].hasName(words) {
			return true
		}
	}
	return false
}

// reaches reports whether a record, or one that stands in it, offers a value for a parameter.
func (r *Records) reaches(of int, v *Value, words []string) bool {
	value := plain(v.Text)
	for _, a := range r.whole[value] {
		rec := &r.all[a]
		if int(a) != of && !r.holdsRecord(of, int(a)) || rec.step != r.all[of].step {
			continue
		}
		if !rec.wrote && rec.offers(value, v.Path) && !(v.Role == Aim && r.all[of].namesItself(value, words)) {
			return true
		}
	}
	return false
}
