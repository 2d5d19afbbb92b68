package approval

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// Kept is what a grant for further calls keeps as it was in the call that was asked about:
// every argument but those that only say something. The zero Kept fits no call.
type Kept struct {
	Tool  string                 // normalised
	Salt  string                 // so that the log does not tell short values
	Fixed map[string]tool.Digest // path of an argument to its value
	Free  []string               // paths of arguments that may be others

	// Of a call that is judged by a mandate: then nothing is freed that a person has to see. Empty: of any other.
	Act   string             // what it does
	Most  map[string]float64 // path of a measure to the one that was shown: further ones are not above it
	Lists map[string]string  // path of an object to the list that it is one of, as whoever judges names it
	Aims  []string           // paths that say who it is for or where it goes, where the user said so or it is theirs; none: somebody new
}

// grave are the acts that are approved call by call: what was shown is what happens, once. What runs is no item at all: it
// is approved by itself, or for some minutes as it stands there.
var grave = []string{"pay", "delete", "grant", "execute", "unknown"}

// Grave reports whether the call is one of those that are approved one by one.
func (k *Kept) Grave() bool { return slices.Contains(grave, k.Act) }

// Keep says what a call is to keep. free tells arguments that may change, by path and text.
func Keep(toolName, salt string, args *tool.Args, free func(path, text string) bool) Kept {
	k := Kept{Tool: toolName, Salt: salt, Fixed: map[string]tool.Digest{}}
	fields, err := args.Fields()
	if err != nil {
		return Kept{}
	}
	for path, v := range flat(fields) {
		if text, ok := said(v); ok && free(path, text) {
			k.Free = append(k.Free, path)
			continue
		}
		d, ok := k.digest(path, v)
		if !ok {
			return Kept{}
		}
		k.Fixed[path] = d
	}
	slices.Sort(k.Free)
	return k
}

// Fits reports whether a call differs from the one that was asked about only in arguments
// that may be others, or are of the same list or no more than what was shown. What the
// constraints name is theirs to judge; an argument that was not
// there before is not covered.
func (k *Kept) Fits(toolName string, args *tool.Args, where Where) bool {
	return k.fits(toolName, args, where, nil)
}

func (k *Kept) fits(toolName string, args *tool.Args, where Where, among Among) bool {
	if k.Salt == "" || k.Tool != toolName || args == nil {
		return false
	}
	fields, err := args.Fields()
	if err != nil {
		return false
	}
	have := flat(fields)
	for path := range k.Fixed {
		if _, named := where[path]; !named && have[path] == nil {
			return false
		}
	}
	for path, v := range have {
		if _, named := where[path]; named || slices.Contains(k.Free, path) {
			continue
		}
		want, ok := k.Fixed[path]
		if d, plain := k.digest(path, v); ok && plain && d == want {
			continue
		}
		if !k.within(path, v, among) {
			return false
		}
	}
	return true
}

// within reports whether a value that is another than the one that was shown is of the same list, or no more than it.
func (k *Kept) within(path string, v any, among Among) bool {
	if list, ok := k.Lists[path]; ok && among != nil {
		text, plain := scalar(v)
		return plain && text != "" && among(list, text)
	}
	most, ok := k.Most[path]
	n, number := v.(float64)
	return ok && number && n >= 0 && n <= most
}

// Among reports whether a value is one of a list.
type Among func(list, value string) bool

// Without is what is left to keep where a person freed some arguments.
func (k Kept) Without(where Where) *Kept {
	k.Fixed, k.Free = maps.Clone(k.Fixed), slices.Clone(k.Free)
	for path := range where {
		delete(k.Fixed, path)
	}
	k.Free = slices.DeleteFunc(k.Free, func(p string) bool { return where[p] != "" })
	return &k
}

// String says for people what stays and what may change.
func (k *Kept) String() string {
	stay := strings.Join(slices.Sorted(maps.Keys(k.Fixed)), ", ")
	switch {
	case len(k.Fixed) == 0 && len(k.Free) == 0:
		return "without arguments"
	case len(k.Free) == 0:
		return fmt.Sprintf("with the same %s", stay)
	case len(k.Fixed) == 0:
		return fmt.Sprintf("with any %s", strings.Join(k.Free, ", "))
	}
	return fmt.Sprintf("with the same %s and any %s", stay, strings.Join(k.Free, ", "))
}

// Opens says for people what a call of a mandate opens for its task, with at most so many calls.
func (k *Kept) Opens(calls int) string {
	var same, more []string
	for _, path := range slices.Sorted(maps.Keys(k.Fixed)) {
		_, measured := k.Most[path]
		_, listed := k.Lists[path]
		switch {
		case listed:
			more = append(more, "any "+path+" of the same list")
		case measured:
			more = append(more, fmt.Sprintf("%s up to %v", path, k.Most[path]))
		default:
			same = append(same, path)
		}
	}
	if len(k.Free) > 0 {
		more = append(more, "another "+strings.Join(k.Free, ", ")+", which is still looked at")
	}
	out := k.Tool
	if len(same) > 0 {
		out += " with the same " + strings.Join(same, ", ")
	}
	if len(more) > 0 {
		out += ", " + strings.Join(more, ", ")
	}
	const ends = "until you ask for something else, two hours pass without a call, or twelve hours in all"
	return fmt.Sprintf("%s; %d calls at most, %s", out, calls, ends)
}

// flat are the arguments by path. Objects are taken apart, lists are not.
func flat(fields map[string]any) map[string]any {
	out := map[string]any{}
	var walk func(prefix string, fields map[string]any)
	walk = func(prefix string, fields map[string]any) {
		for key, v := range fields {
			path := prefix + key
			if inner, ok := v.(map[string]any); ok && len(inner) > 0 {
				walk(path+".", inner)
				continue
			}
			if _, twice := out[path]; twice {
				v = math.NaN() // two ways to read one path: nothing fits
			}
			if v == nil {
				v = []any{nil} // there, and not absent
			}
			out[path] = v
		}
	}
	walk("", fields)
	return out
}

// said is the text of an argument, or of a list of texts.
func said(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []any:
		parts := make([]string, 0, len(v))
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return "", false
			}
			parts = append(parts, s)
		}
		return strings.Join(parts, "\n"), len(v) > 0
	}
	return "", false
}

// digest is a value in few bytes; false if it cannot be told from others.
func (k *Kept) digest(path string, v any) (tool.Digest, bool) {
	if !certain(v) {
		return tool.Digest{}, false
	}
	raw, err := strictjson.Marshal(v)
	if err != nil {
		return tool.Digest{}, false
	}
	var b []byte
	for _, s := range []string{k.Salt, path} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return sha256.Sum256(append(b, raw...)), true
}

// certain reports whether every number in a value is the one that was written.
func certain(v any) bool {
	switch v := v.(type) {
	case float64:
		return math.Abs(v) < exact
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !certain(e) })
	case map[string]any:
		for _, e := range v {
			if !certain(e) {
				return false
			}
		}
	}
	return true
}
