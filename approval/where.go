package approval

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

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
// way up a path. The empty Where fits every call.
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
		v, err := find(fields, path)
		if err != nil || !fits(pattern, v) {
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

var errNoValue = errors.New("no plain value")

// find is the text of the scalar at a path. A key with dots in its own name is found by
// its whole name first.
func find(fields map[string]any, path string) (string, error) {
	if v, ok := fields[path]; ok {
		return scalar(v)
	}
	head, rest, nested := strings.Cut(path, ".")
	inner, ok := fields[head].(map[string]any)
	if !nested || !ok {
		return "", errNoValue
	}
	return find(inner, rest)
}

func scalar(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case uint64:
		return strconv.FormatUint(v, 10), nil
	}
	return "", errNoValue
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

// plain reports whether a star may stand for s.
func plain(s string) bool {
	for _, c := range s {
		if c < ' ' || c == 0x7f || c == '\u2028' || c == '\u2029' || c == '\ufffd' || strings.ContainsRune(";&|`$<>(){}\\\"'#!", c) {
			return false
		}
	}
	return true
}
