package mandate

import (
	"slices"
	"strings"
)

// fixed are sources that need not stand in the owner's words.
var fixed = block("fixed")

// Within is a mandate with only what stands in the owner's words: a model that drew it can have added nothing. An item
// whose words they did not say goes, and so does a source of a value; a ban that they did not word so holds for everything.
func (m *Mandate) Within(words []string) *Mandate {
	said := spaced(strings.Join(words, "\n"))
	stands := func(phrase string) bool { return phrase != "" && strings.Contains(said, spaced(phrase)) }
	out := &Mandate{Assents: m.Assents}
	for _, it := range m.Items {
		if !stands(it.Quote) {
			continue
		}
		args := it.Args
		it.Args = map[string][]Source{}
		for name, sources := range args {
			for _, s := range sources {
				if s.stands(stands) {
					it.Args[name] = append(it.Args[name], s)
				} else if s.Of = ""; len(s.What) > 0 && s.stands(stands) {
					it.Args[name] = append(it.Args[name], s) // where it is looked up is the model's word, what is looked up is theirs
				}
			}
		}
		out.Items = append(out.Items, it)
	}
	for _, r := range m.Reads {
		if stands(r) {
			out.Reads = append(out.Reads, r)
		}
	}
	for _, f := range m.Follow {
		if stands(f) {
			out.Follow = append(out.Follow, f)
		}
	}
	for _, b := range m.Never {
		if b.What != "" && !stands(b.What) {
			b.What = ""
		}
		out.Never = append(out.Never, b)
	}
	return out
}

func (s *Source) stands(stands func(string) bool) bool {
	if s.Of != "" && !stands(s.Of) && !fixed[strings.ToLower(s.Of)] {
		return false
	}
	return !slices.ContainsFunc(s.What, func(w string) bool { return !stands(w) })
}

// spaced is a text in small letters with single blanks and one kind of quotation mark.
func spaced(s string) string {
	s = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`, "„", `"`).Replace(strings.ToLower(s))
	return strings.Join(strings.Fields(s), " ")
}
