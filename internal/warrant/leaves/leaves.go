// Package leaves takes the arguments of a call apart: into plain values, each with the
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
package leaves

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
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
func Of(args any) []Leaf { return under("", args) }

func under(path string, v any) []Leaf {
	switch v := v.(type) {
	case map[string]any:
		var out []Leaf
		for _, k := range slices.Sorted(maps.Keys(v)) {
			p := k
			if path != "" {
				p = path + "." + k
			}
			if strings.Contains(k, "@") || strings.Contains(k, "://") { // what is called by an address is one
				out = append(out, Leaf{Path: path, Text: k, Quoted: true})
			}
			out = append(out, under(p, v[k])...)
		}
		return beside(out, path, v)
	case []any:
		var out []Leaf
		for _, e := range v {
			if _, nested := e.(map[string]any); nested {
				out = append(out, under(path+"[]", e)...)
			} else {
				out = append(out, under(path, e)...)
			}
		}
		return listed(out, v)
	case string:
		return []Leaf{{Path: path, Text: v, Quoted: true}}
	case bool:
		return []Leaf{{Path: path, Text: formatted(v), Flag: true}}
	case nil:
		return nil
	}
	return []Leaf{{Path: path, Text: formatted(v)}}
}

// listed marks a list of nothing but texts, which may be one command in words.
func listed(out []Leaf, list []any) []Leaf {
	argv, ok := texts(nil, list)
	if ok && len(argv) > 1 {
		for i := range out {
			out[i].Argv, out[i].Later = nil, i > 0
		}
		out[0].Argv = argv
	}
	return out
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
func NameWords(name string) []string {
	var out []string
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
			out, start = append(out, lower[start:i]), -1
		}
		if word && start < 0 {
			start = i
		}
		before = b
	}
	if start >= 0 {
		out = append(out, lower[start:])
	}
	return out
}
