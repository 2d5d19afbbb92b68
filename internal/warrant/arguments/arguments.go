// Package arguments takes the arguments of a call apart: into plain values, each with the
// parameter it stands in, and, where one of them is a command, into every way in which a
// host could run it.
//
// Invariants:
//   - the order of the values is fixed, whatever order a map has;
//   - a command is never fewer readings than hosts are known to make of it: whoever judges
//     looks at all of them, and the worst counts;
//   - there are bounds (Most, MostCommands), and what exceeds them is not understood.
//
// It is pure.
package arguments

import (
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// Leaf is one plain value among arguments.
type Leaf struct {
	Path   string // of the parameter, lists without index
	Text   string
	Quoted bool     // it was a text, not a number
	Flag   bool     // it was true or false
	Argv   []string // of the first text of a list: all of them
	Later  bool     // it is a text of such a list, but not the first
	with   *company // what stands beside it, for a command
}

// Most bounds how many values of a call are looked at; a call with more is not
// understood.
const Most = 2000

// Of are the plain values of arguments, in a fixed order.
func Of(args any) []Leaf {
	var out []Leaf
	if fields, ok := args.(map[string]any); ok {
		out = make([]Leaf, 0, len(fields))
	}
	return under(out, "", args)
}

// Plain adds to a list the values of arguments that are a few texts, numbers and flags, none of which
// says how a command is run; false for any others, which Of takes apart.
func Plain(to []Leaf, args *tool.Args) ([]Leaf, bool) {
	found, alone := to, true
	plain := args.Plain(func(name, value string, quoted bool) bool {
		switch {
		case isWords(name) || isFolder(name) || strings.Contains(name, "@") || strings.Contains(name, "://"):
			alone = false
		case value != "null" || quoted:
			found = append(found, Leaf{Path: name, Text: value, Quoted: quoted, Flag: !quoted && (value == "true" || value == "false")})
		}
		return alone
	})
	if !plain || !alone {
		return nil, false
	}
	slices.SortFunc(found[len(to):], func(a, b Leaf) int { return strings.Compare(a.Path, b.Path) })
	return found, true
}

// MayOpen reports whether a value may be a text of JSON.
func MayOpen(l Leaf) bool {
	text := strings.TrimLeft(l.Text, "\ufeff \t\r\n")
	return l.Quoted && len(text) > 1 && (text[0] == '{' || text[0] == '[')
}

// Inside are the plain values of a text that is an object or a list, written down as JSON.
func Inside(l *Leaf) ([]Leaf, bool) {
	if !MayOpen(*l) {
		return nil, false
	}
	var v any
	if strictjson.Unmarshal([]byte(strings.TrimLeft(l.Text, "\ufeff \t\r\n")), &v) != nil {
		return nil, false
	}
	return under(nil, l.Path, v), true
}

// under adds the plain values of v, which stands at a path.
func under(out []Leaf, path string, v any) []Leaf {
	switch v := v.(type) {
	case map[string]any:
		return within(out, path, v)
	case []any:
		from := len(out)
		for _, e := range v {
			if _, nested := e.(map[string]any); nested {
				out = under(out, path+"[]", e)
			} else {
				out = under(out, path, e)
			}
		}
		listed(out[from:], v)
		return out
	case string:
		return append(out, Leaf{Path: path, Text: v, Quoted: true})
	case bool:
		return append(out, Leaf{Path: path, Text: formatted(v), Flag: true})
	case nil:
		return out
	}
	return append(out, Leaf{Path: path, Text: formatted(v)})
}

// within adds the plain values of an object.
func within(out []Leaf, path string, fields map[string]any) []Leaf {
	var room [16]string // most objects need no more
	keys, from := Keys(room[:0], fields), len(out)
	for _, k := range keys {
		p := k
		if path != "" {
			p = path + "." + k
		}
		if path != "" && strings.ContainsAny(k, "0123456789") || strings.Contains(k, "@") || strings.Contains(k, "://") {
			// what is called by an address, or by what may be a number of something, is one
			out = append(out, Leaf{Path: path, Text: k, Quoted: true})
		}
		out = under(out, p, fields[k])
	}
	beside(out[from:], path, keys, fields)
	return out
}

// Keys adds the keys of an object to a list, in order.
func Keys(to []string, fields map[string]any) []string {
	from := len(to)
	for k := range fields {
		to = append(to, k)
	}
	slices.Sort(to[from:])
	return to
}

// listed marks a list of nothing but texts, which may be one command in words.
func listed(out []Leaf, list []any) {
	argv, ok := texts(nil, list)
	if ok && len(argv) > 1 {
		for i := range out {
			out[i].Argv, out[i].Later = nil, i > 0
		}
		out[0].Argv = argv
	}
}

// texts are the texts of a list, those of lists in it among them.
func texts(out []string, list []any) ([]string, bool) {
	for _, e := range list {
		switch e := e.(type) {
		case string:
			out = append(out, e)
		case []any:
			var ok bool
			if out, ok = texts(out, e); !ok {
				return nil, false
			}
		default:
			return nil, false
		}
	}
	return out, true
}

// formatted is a number or flag as Text: 7.0 is 7.
func formatted(v any) string {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return strconv.FormatInt(int64(v), 10)
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	raw, err := strictjson.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

// NameWords are the words of a field's or tool's name: letters and digits of ASCII, taken
// apart where a capital follows a small letter or a digit.
func NameWords(name string) []string { return slices.Collect(Words(name)) }

// Root is the parameter that a path begins with.
func Root(path string) string {
	name, _, _ := strings.Cut(strings.ReplaceAll(path, "[]", ""), ".")
	return name
}

// LastWord is the last of them; empty where there is none.
func LastWord(name string) string {
	out := ""
	for w := range Words(name) {
		out = w
	}
	return out
}

// Words are the words of a name, one after another.
func Words(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		lower := strings.ToLower(name)
		if len(lower) != len(name) {
			name = lower // letters whose small form is longer: nothing to be told from capitals
		}
		start, before := -1, byte(0)
		for i := range len(name) {
			b := name[i]
			word := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
			begins := b >= 'A' && b <= 'Z' && (before >= 'a' && before <= 'z' || before >= '0' && before <= '9')
			if start >= 0 && (!word || begins) {
				if !yield(lower[start:i]) {
					return
				}
				start = -1
			}
			if word && start < 0 {
				start = i
			}
			before = b
		}
		if start >= 0 {
			yield(lower[start:])
		}
	}
}
