package warrant

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// leaf is one plain value among arguments.
type leaf struct {
	path   string // of the parameter, lists without index
	text   string
	quoted bool // it was a text, not a number
	flag   bool
	argv   []string // of the first text of a list: all of them
	later  bool     // it is a text of such a list, but not the first
	with   *company // what stands beside it, for a command
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
	argv, ok := texts(nil, list)
	if ok && len(argv) > 1 {
		for i := range out {
			out[i].argv, out[i].later = nil, i > 0
		}
		out[0].argv = argv
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
