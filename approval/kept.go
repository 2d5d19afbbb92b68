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
}

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
// that may be others. What the constraints name is theirs to judge; an argument that was not
// there before is not covered.
func (k *Kept) Fits(toolName string, args *tool.Args, where Where) bool {
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
		if d, plain := k.digest(path, v); !ok || !plain || d != want {
			return false
		}
	}
	return true
}

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
