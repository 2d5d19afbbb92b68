package mandate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// fixed are sources that need not stand in the owner's words.
var fixed = lists.Set("fixed")

// Within is a mandate with only what stands in the owner's words, the latest message last: a model that drew it can have
// added nothing. An item whose words they did not say goes, and so does a source of a value; a ban that they did not word
// so holds for everything.
func (m *Mandate) Within(words []string) *Mandate {
	said := spaced(strings.Join(words, "\n"))
	stands := func(phrase string) bool { return phrase != "" && strings.Contains(said, spaced(phrase)) }
	out := &Mandate{Assents: m.Assents, Limits: m.Limits}
	for _, it := range m.Items {
		if m.Unquoted && len(words) > 0 {
			it.Quote = words[len(words)-1]
		}
		if !stands(it.Quote) || slices.ContainsFunc(it.Except, func(e string) bool { return !stands(e) }) {
			continue
		}
		it.Message = lastWith(it.Quote, words)
		args := it.Args
		it.Args, it.index = map[string][]Source{}, nil
		for name, sources := range args {
			for _, s := range sources {
				s.forms = nil
				if s.stands(stands) {
					it.Args[name] = append(it.Args[name], s)
				} else if s.Of = ""; len(s.What) > 0 && s.stands(stands) {
					it.Args[name] = append(it.Args[name], s) // where it is looked up is the model's word, what is looked up is theirs
				}
			}
		}
		it.Index()
		out.Items = append(out.Items, it)
	}
	for _, r := range m.Reads {
		if stands(r) {
			out.Reads = append(out.Reads, r)
		}
	}
	for _, f := range m.Follow {
		if limit := m.Limits[f]; stands(f) && (limit == "" || stands(limit)) {
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

// lastWith is the last message that holds a phrase, from 1; 0: it stands in none alone.
func lastWith(phrase string, words []string) int {
	for n := len(words); n > 0; n-- {
		if strings.Contains(spaced(words[n-1]), spaced(phrase)) {
			return n
		}
	}
	return 0
}

// Pinned is a mandate with only the items whose tools are what they were when the words came: a server may not put
// another tool in the place of one that was ordered.
func (m *Mandate) Pinned(pin func(tool string) string) *Mandate {
	other := func(it Item) bool { return it.Pin != "" && it.Pin != pin(it.Tool) }
	if !slices.ContainsFunc(m.Items, other) {
		return m
	}
	out := *m
	out.Items = slices.DeleteFunc(slices.Clone(m.Items), other)
	return &out
}

// Pin is a definition in a few signs: another one has others.
func Pin(d *tool.Definition) string {
	h := sha256.New()
	for _, part := range []string{tool.Name(d.Name), d.Description, string(d.Schema)} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// Defined is a definition in a few signs, with the hints of its server: what somebody says of a tool they say of this. Schemas
// that say the same are the same, because a log and a listing write them differently.
func Defined(d *tool.Definition) string {
	same := *d
	if schema, err := strictjson.Canonical(d.Schema); err == nil && len(d.Schema) > 0 {
		same.Schema = schema
	}
	return Pin(&same) + hint(d.ReadOnly) + hint(d.Destructive) + hint(d.OpenWorld)
}

// hint is what a server says of its own tool, in a sign.
func hint(b *bool) string {
	switch {
	case b == nil:
		return "-"
	case *b:
		return "y"
	}
	return "n"
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
