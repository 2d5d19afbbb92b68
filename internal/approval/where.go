package approval

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidemark/tidemark/tool"
)

// The bounds on the constraints of one grant.
const (
	maxWhere   = 32
	maxPattern = 1024
)

// Where constrains the arguments of the calls a grant covers: path of the argument (dots
// go into objects) to a pattern. A pattern without * is the exact value. A * stands for
// any run of plain characters: none that a shell would act on, no line breaks, and no
// way up a path, be it spelled with wildcards or escapes. The empty Where fits every call.
type Where map[string]string

// Check says what is wrong with a Where.
func (w Where) Check() error {
	if len(w) > maxWhere {
		return fmt.Errorf("%w: at most %d arguments can be constrained", ErrUsage, maxWhere)
	}
	for path, p := range w {
		switch {
		case path == "" || len(path) > maxPattern || len(p) > maxPattern:
			return fmt.Errorf("%w: a constraint needs the name of an argument and a pattern of at most %d bytes", ErrUsage, maxPattern)
		case strings.Contains(p, "**"):
			return fmt.Errorf("%w: %s: one * is enough", ErrUsage, path)
		}
	}
	return nil
}

// Fits reports whether the arguments satisfy every constraint. An argument that is not
// there, is no plain value or cannot be read satisfies none.
func (w Where) Fits(args *tool.Args) bool {
	if len(w) == 0 {
		return true
	}
	if args == nil {
		return false
	}
	fields, err := args.Fields()
	if err != nil {
		return false
	}
	for path, pattern := range w {
		if !holds(fields, path, pattern) {
			return false
		}
	}
	return true
}

// String is the constraints for people, in a fixed order.
func (w Where) String() string {
	parts := make([]string, 0, len(w))
	for _, path := range slices.Sorted(maps.Keys(w)) {
		parts = append(parts, fmt.Sprintf("%s=%q", path, w[path]))
	}
	return strings.Join(parts, " ")
}

// holds reports whether what is at the path fits. A key may have dots in its own name, so
// a path can be read in several ways; a call that holds more than one reading must fit in
// each of them, or it could show us one and give the tool another.
func holds(fields map[string]any, path, pattern string) bool {
	found := false
	if v, ok := fields[path]; ok {
		text, ok := scalar(v)
		if !ok || !fits(pattern, text) {
			return false
		}
		found = true
	}
	for i := range len(path) {
		if path[i] != '.' {
			continue
		}
		if v, ok := fields[path[:i]]; ok {
			inner, ok := v.(map[string]any)
			if !ok || !holds(inner, path[i+1:], pattern) {
				return false
			}
			found = true
		}
	}
	return found
}

// exact is the largest number up to which every whole number is kept as it was written.
const exact = 1 << 53

// scalar is the text of a plain value.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), math.Abs(v) < exact
	}
	return "", false
}

// fits matches a value against a pattern whose * cannot stand for anything that would
// make the call do something else.
func fits(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	if !strings.HasPrefix(s, parts[0]) {
		return false
	}
	rest := s[len(parts[0]):]
	last := parts[len(parts)-1]
	if len(rest) < len(last) || !strings.HasSuffix(rest, last) {
		return false
	}
	rest = rest[:len(rest)-len(last)]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, p)
		if i < 0 || !plain(rest[:i]) {
			return false
		}
		rest = rest[i+len(p):]
	}
	// What the stars stand for, and what they make of the whole: ".." may come together
	// across a star's edge.
	return plain(rest) && strings.Count(s, "..") == strings.Count(pattern, "..")
}

// acting are characters that make a shell, a path or a URL mean something else than the
// text says: operators, quotes, expansions, wildcards, escapes.
const acting = ";&|`$<>(){}[]*?~^%\\\"'#!"

// plain reports whether a star may stand for s.
func plain(s string) bool {
	for _, c := range s {
		if unicode.IsControl(c) || c == '\u2028' || c == '\u2029' || c == utf8.RuneError || strings.ContainsRune(acting, c) {
			return false
		}
	}
	return true
}
