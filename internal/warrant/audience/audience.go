// Package audience says who may read what a call brought back. It looks at the structure that a server printed and at the place where
// something lies, never at what a text says of itself. It is pure.
//
// Invariants:
//
//   - the zero Set is the owner alone, and what is not understood is that;
//   - only fields that messages, events and shared files are known to have widen a set: one more field, whatever it is called, is
//     the owner's;
//   - several records have the readers that all of them have.
package audience

import (
	"cmp"
	_ "embed" // the words are part of the program
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/internal/warrant/wordlist"
	"github.com/tidemark/tidemark/trust"
)

//go:embed words.txt
var text string

var (
	lists   = wordlist.Read(text)
	people  = lists.Set("people")
	places  = lists.Set("places")
	parts   = lists.Set("parts")
	open    = lists.Set("open")
	flags   = lists.Set("flags")
	opening = lists.Set("visibility")
	authors = lists.Set("authors")
)

// Set is who may read something besides the owner.
type Set struct {
	Public bool
	People []string // addresses, accounts and places whose members may, in one spelling; sorted
}

// Everybody is the set of all.
func Everybody() Set { return Set{Public: true} }

// Of is the set of some people.
func Of(names ...string) Set {
	var s Set
	for _, n := range names {
		s.add(n)
	}
	return s
}

func (s *Set) add(name string) {
	if name = strings.ToLower(strings.TrimSpace(name)); name == "" {
		return
	}
	if at, found := slices.BinarySearch(s.People, name); !found {
		s.People = slices.Insert(s.People, at, name)
	}
}

// Covers reports whether all of some readers may read it. The owner always may.
func (s Set) Covers(readers Set) bool {
	if s.Public {
		return true
	}
	return !readers.Public && !slices.ContainsFunc(readers.People, func(r string) bool {
		_, found := slices.BinarySearch(s.People, r)
		return !found
	})
}

// Both is who may read two things at once.
func (s Set) Both(t Set) Set {
	switch {
	case s.Public:
		return t
	case t.Public:
		return s
	}
	return Set{People: slices.DeleteFunc(slices.Clone(s.People), func(p string) bool { // both are in order
		_, too := slices.BinarySearch(t.People, p)
		return !too
	})}
}

// String is the set in words.
func (s Set) String() string {
	switch {
	case s.Public:
		return trust.Everybody
	case len(s.People) == 0:
		return "you"
	case len(s.People) > shown:
		return "you, " + strings.Join(s.People[:shown], ", ") + " …"
	}
	return "you, " + strings.Join(s.People, ", ")
}

const shown = 4 // people who are named

// mail is an address in a field that may hold a name beside it.
var mail = regexp.MustCompile(`[^\s<>"',;()]+@[^\s<>"',;()]+\.[^\s<>"',;().]+`)

// small says little by itself; a larger number is one of how many there are only by its name.
var (
	small  = regexp.MustCompile(`^(?:[0-9]{0,2}|true|false|null)$`)
	counts = regexp.MustCompile(`^[0-9]{1,6}$`)
)

// most bounds the content whose structure is looked at. What is longer is the owner's.
const most = 256 << 10

// Read is who may read a result by the structure that its server printed.
func Read(content []byte, server string) Set {
	if len(content) > most {
		return Set{}
	}
	v, ok := valueindex.Parse(content)
	if !ok || v.Shape == valueindex.Scalar {
		return head(content)
	}
	r := reading{all: Everybody(), server: server}
	r.value(&v, nil, 0)
	if !r.some {
		return Set{}
	}
	return r.all
}

// head is who may read a letter that was printed.
func head(content []byte) Set {
	v := headed(content)
	own, _ := ofRecord(&v, "")
	return own
}

// headed is the head of a letter that was printed: the lines before its body say who it is from and whom it went to, and nothing else.
func headed(content []byte) valueindex.Value {
	v := valueindex.Value{Shape: valueindex.Object}
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line == "" {
			return v
		}
		key, value, ok := strings.Cut(line, ": ")
		if key = strings.ToLower(key); !ok || !people[key] && !parts[key] {
			break
		}
		v.Kids = append(v.Kids, valueindex.Value{Key: key, Text: value, Shape: valueindex.Scalar})
	}
	return valueindex.Value{}
}

// reading is a result while it is looked through.
type reading struct {
	all    Set
	some   bool // something in it says who may
	server string
	last   *Set // what was taken last
}

const deepest = 6

// value looks at a value that stands in a record with some readers; nil: nobody says who they are.
func (r *reading) value(v *valueindex.Value, in *Set, depth int) {
	if depth > deepest {
		r.all, r.some = Set{}, true
		return
	}
	if v.Shape == valueindex.Object {
		if own, ok := ofRecord(v, r.server); ok {
			r.some, in = true, &own
		}
	}
	for i := range v.Kids {
		k := &v.Kids[i]
		switch key := strings.ToLower(k.Key); {
		case k.Shape != valueindex.Scalar:
			r.value(k, r.within(v, key, in), depth+1)
		case small.MatchString(k.Text), totals[key] && counts.MatchString(k.Text): // how many there are
		default:
			r.take(r.within(v, key, in))
		}
	}
}

// within is who may read a field of a record: what no message or event is known to have is the owner's.
func (r *reading) within(v *valueindex.Value, key string, in *Set) *Set {
	if v.Shape == valueindex.Object && in != nil && !parts[key] && !people[key] && !places[key] && !opening[key] && !flags[key] {
		return &Set{}
	}
	return in
}

func (r *reading) take(in *Set) {
	switch {
	case in == nil:
		in = &Set{}
	case in == r.last:
		return // a list of many in one record has one audience
	}
	r.last = in
	r.all = r.all.Both(*in)
}

// ofRecord is who may read a record, if it says so.
func ofRecord(v *valueindex.Value, server string) (Set, bool) {
	var out Set
	found := false
	for i := range v.Kids {
		k := &v.Kids[i]
		key := strings.ToLower(k.Key)
		if (opening[key] || flags[key]) && k.Shape == valueindex.Scalar {
			if !opens(key, strings.ToLower(k.Text)) {
				return Set{}, true
			}
			out.Public, found = true, true
		}
		if key == "private" && k.Text != "false" {
			return Set{}, true
		}
		if !people[key] && !places[key] {
			continue
		}
		eachText(k, func(t string) {
			if places[key] {
				out.add(Place(server, t))
				found = true
			}
			for _, m := range mail.FindAllString(t, -1) {
				out.add(m)
				found = true
			}
		})
	}
	return out, found
}

// Author is who wrote a result by the structure that its server printed: the one whom all of its records name. Empty: nobody says, or
// there are several.
func Author(content []byte) string {
	if len(content) > most {
		return ""
	}
	v, ok := valueindex.Parse(content)
	if !ok {
		v = headed(content)
	}
	name, one := "", true
	eachAuthor(&v, 0, func(who string) {
		one = one && (name == "" || name == who)
		name = who
	})
	if !one {
		return ""
	}
	return name
}

func eachAuthor(v *valueindex.Value, depth int, visit func(string)) {
	for i := range v.Kids {
		k := &v.Kids[i]
		switch {
		case v.Shape == valueindex.Object && authors[strings.ToLower(k.Key)]:
			first := ""
			eachText(k, func(t string) { first = cmp.Or(first, t) })
			if len(first) <= longest && !strings.ContainsAny(first, "\n") && first != "" {
				visit(first)
			}
		case k.Shape != valueindex.Scalar && depth < deepest:
			eachAuthor(k, depth+1, visit)
		}
	}
}

const longest = 120 // of a name

// opens reports whether a field says that anybody may read the record. Any word that is not known does not.
func opens(key, value string) bool {
	return opening[key] && open[value] || flags[key] && value == "true"
}

// eachText visits the texts of a field and of what stands in it.
func eachText(v *valueindex.Value, visit func(string)) {
	if v.Shape == valueindex.Scalar {
		visit(v.Text)
	}
	for i := range v.Kids {
		eachText(&v.Kids[i], visit)
	}
}
