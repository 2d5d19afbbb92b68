package grounds

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/strictjson"
)

// leaf is one plain value among arguments.
type leaf struct {
	path   string // of the parameter, lists without index
	text   string
	quoted bool // it was a text, not a number
	flag   bool
	argv   []string // of the first text of a list: all of them
	later  bool     // it is a text of such a list, but not the first
	words  []string // what stands beside it as the arguments of a command
}

// maxLeaves bounds how many values of a call are looked at; a call with more is not
// understood.
const maxLeaves = 2000

// leaves are the plain values of arguments, in a fixed order.
func leaves(path string, v any) []leaf {
	switch v := v.(type) {
	case map[string]any:
		var out []leaf
		for _, k := range slices.Sorted(maps.Keys(v)) {
			p := k
			if path != "" {
				p = path + "." + k
			}
			out = append(out, leaves(p, v[k])...)
		}
		return beside(out, path, v)
	case []any:
		var out []leaf
		for _, e := range v {
			if _, nested := e.(map[string]any); nested {
				out = append(out, leaves(path+"[]", e)...)
			} else {
				out = append(out, leaves(path, e)...)
			}
		}
		return listed(out, v)
	case string:
		return []leaf{{path: path, text: v, quoted: true}}
	case bool:
		return []leaf{{path: path, text: formatted(v), flag: true}}
	case nil:
		return nil
	}
	return []leaf{{path: path, text: formatted(v)}}
}

// listed marks a list of nothing but texts, which may be one command in words.
func listed(out []leaf, list []any) []leaf {
	var argv []string
	for _, e := range list {
		s, ok := e.(string)
		if !ok {
			return out
		}
		argv = append(argv, s)
	}
	if len(argv) > 1 {
		for i := range out {
			out[i].later = i > 0
		}
		out[0].argv = argv
	}
	return out
}

// wordFields are where the words of a command stand that is named apart from them.
var wordFields = []string{"args", "argv", "arguments"}

// beside gives the texts of an object the words that stand beside them: whichever of them
// is a command runs with these.
func beside(out []leaf, path string, fields map[string]any) []leaf {
	var words []string
	for _, want := range wordFields {
		for k, v := range fields {
			if !strings.EqualFold(k, want) {
				continue
			}
			for _, l := range leaves("", v) {
				words = append(words, l.text)
			}
		}
	}
	if len(words) == 0 {
		return out
	}
	for i := range out {
		name := strings.TrimPrefix(strings.TrimPrefix(out[i].path, path), ".")
		if out[i].quoted && !strings.ContainsAny(name, ".[") && !isWords(name) {
			out[i].words = words
		}
	}
	return out
}

func isWords(name string) bool {
	return slices.ContainsFunc(wordFields, func(f string) bool { return strings.EqualFold(f, name) })
}

// commands are the ways in which a command can be read: as it stands, with the words beside
// it, and as the list that a text may be.
func (l *leaf) commands() []leaf {
	out := []leaf{*l}
	if l.words != nil && !l.later {
		text := l.command()
		for _, w := range l.words {
			text += " '" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, leaf{path: l.path, text: text, quoted: true})
	}
	if l.quoted && strings.HasPrefix(strings.TrimSpace(l.text), "[") {
		var list []any
		if strictjson.Unmarshal([]byte(l.text), &list) == nil {
			for _, in := range leaves(l.path, list) {
				in.later = false // of several commands, each runs
				out = append(out, in.commands()...)
			}
		}
	}
	return out
}

// formatted is a number or flag as text: 7.0 is 7.
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
