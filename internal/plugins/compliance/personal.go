package compliance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// kind is one sort of personal data: what looks like it, and what it must be besides.
type kind struct {
	name string
	look *regexp.Regexp
	is   func(string) bool // nil: it looks like it, and that is enough
}

// kinds are all that is known, the longest first: a card number is no telephone number.
var kinds = []kind{
	{"iban", regexp.MustCompile(`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b`), isIBAN},
	{"card", regexp.MustCompile(`\b\d(?:[ -]?\d){12,18}\b`), isCard},
	{"email", regexp.MustCompile(`(?i)\b[a-z0-9][a-z0-9._%+-]*@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)*\.[a-z]{2,}\b`), nil},
	{"ssn", regexp.MustCompile(`\b\d{3}-\d{2}-\d{4}\b`), nil},
	{"phone", regexp.MustCompile(`(?:\+\d{1,3}|\b0)[ /.-]?(?:\(\d{1,5}\)|\d{1,5})(?:[ /.-]?\d{2,5}){1,4}\b`), isPhone},
}

// Kinds are the names of the kinds of personal data.
func Kinds() []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = k.name
	}
	return out
}

// finder removes some kinds of personal data.
type finder []kind

func newFinder(names []string) (finder, error) {
	var f finder
	for _, k := range kinds {
		if slices.Contains(names, k.name) {
			f = append(f, k)
		}
	}
	if len(f) < len(names) {
		return nil, fmt.Errorf("kinds of personal data are %s, each once", strings.Join(Kinds(), ", "))
	}
	return f, nil
}

// in is the text with a mark for each find, and the kinds of what was found.
func (f finder) in(text string) (clean string, found []string) {
	for _, k := range f {
		hit := false
		text = k.look.ReplaceAllStringFunc(text, func(s string) string {
			if k.is != nil && !k.is(s) {
				return s
			}
			hit = true
			return "[" + k.name + "]"
		})
		if hit {
			found = append(found, k.name)
		}
	}
	return text, found
}

// inJSON does the same in every text of a JSON value, names of members included. What is no
// JSON is an error.
func (f finder) inJSON(value []byte) ([]byte, error) {
	if len(value) == 0 || len(f) == 0 {
		return value, nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true))
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true))
	for {
		t, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
		}
		if err != nil {
			return nil, fmt.Errorf("redact: %w", err)
		}
		if t.Kind() == '"' {
			text, _ := f.in(t.String())
			t = jsontext.String(text)
		}
		if err := enc.WriteToken(t); err != nil {
			return nil, fmt.Errorf("redact: %w", err)
		}
	}
}

func digits(s string) []int {
	var out []int
	for _, r := range s {
		if r >= '0' && r <= '9' {
			out = append(out, int(r-'0'))
		}
	}
	return out
}

// isCard is the check digit of payment cards.
func isCard(s string) bool {
	d := digits(s)
	sum := 0
	for i := range d {
		n := d[len(d)-1-i]
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return len(d) >= 13 && sum%10 == 0
}

// isIBAN is its check sum: the letters as numbers, the first four signs last, modulo 97.
func isIBAN(s string) bool {
	s = strings.ReplaceAll(s, " ", "")
	if len(s) < 15 || len(s) > 34 {
		return false
	}
	rest := 0
	for _, r := range s[4:] + s[:4] {
		switch {
		case r >= '0' && r <= '9':
			rest = (rest*10 + int(r-'0')) % 97
		default:
			rest = (rest*100 + int(r-'A') + 10) % 97
		}
	}
	return rest == 1
}

// isPhone wants as many digits as a number has.
func isPhone(s string) bool {
	n := len(digits(s))
	return n >= 8 && n <= 15
}
