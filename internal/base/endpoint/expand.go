package endpoint

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

var errDollar = errors.New("a single $ means nothing")

// slip is what is wrong with a reference, and at which character of the text.
type slip struct {
	at  int
	err error
}

// expand replaces every ${NAME} by that environment variable and $$ by $. What is put in
// is not looked at again. A variable that is not set, or empty, is an error: a request
// with half a credential would be refused later, at the worst moment.
func expand(text string, env func(string) (string, bool)) (out string, refs int, slips []slip) {
	var b strings.Builder
	rest := text
	for {
		i := strings.IndexByte(rest, '$')
		if i < 0 {
			b.WriteString(rest)
			return b.String(), refs, slips
		}
		at := utf8.RuneCountInString(text[:len(text)-len(rest)+i])
		b.WriteString(rest[:i])
		rest = rest[i+1:]
		if after, ok := strings.CutPrefix(rest, "$"); ok {
			b.WriteByte('$')
			rest = after
			continue
		}
		name, after, ok := reference(rest)
		if !ok {
			slips = append(slips, slip{at, errDollar})
			continue
		}
		rest = after
		refs++
		value, _ := env(name)
		if value == "" {
			slips = append(slips, slip{at, fmt.Errorf("environment variable %s is not set", name)})
		}
		b.WriteString(value)
	}
}

// reference splits "{NAME}rest".
func reference(s string) (name, rest string, ok bool) {
	name, rest, found := strings.Cut(strings.TrimPrefix(s, "{"), "}")
	if !found || !strings.HasPrefix(s, "{") || name == "" || name[0] >= '0' && name[0] <= '9' {
		return "", "", false
	}
	for _, c := range []byte(name) {
		if c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return "", "", false
		}
	}
	return name, rest, true
}
