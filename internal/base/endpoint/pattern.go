package endpoint

import (
	"errors"
	"slices"
	"strings"
)

// Pattern names requests by method and path, such as "POST /v1/rerank" or "GET /v1/evals/**".
// In the path * stands for one segment and ** at the end for one or more. The zero Pattern
// names none.
type Pattern struct {
	method string // "" is every method
	path   []string
}

var errPattern = errors.New(`write it as "POST /v1/rerank"; * stands for one part of the path, ** at the end for all that follows`)

// methods are those that a pattern may name.
var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// ParsePattern reads a pattern. One that would name everything is none.
func ParsePattern(text string) (Pattern, error) {
	method, path, found := strings.Cut(text, " ")
	if !found {
		method, path = "", text
	}
	if found && !slices.Contains(methods, method) || !strings.HasPrefix(path, "/") {
		return Pattern{}, errPattern
	}
	p := Pattern{method: method, path: strings.Split(strings.ToLower(path[1:]), "/")}
	for i, part := range p.path {
		wild := strings.Contains(part, "*")
		switch {
		case part == "" || part == "." || part == "..", strings.ContainsFunc(part, odd):
			return Pattern{}, errPattern
		case i == 0 && wild, wild && part != "*" && (part != "**" || i < len(p.path)-1):
			return Pattern{}, errPattern
		}
	}
	return p, nil
}

// odd reports whether a character has no business in a plain path.
func odd(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`\;?#%`, r) }

// Match reports whether it names a request. Case makes no difference, nor a slash at the end.
func (p Pattern) Match(method, path string) bool {
	if len(p.path) == 0 || p.method != "" && p.method != method {
		return false
	}
	parts := strings.Split(strings.ToLower(strings.Trim(path, "/")), "/")
	for i, want := range p.path {
		switch {
		case i >= len(parts):
			return false
		case want == "**":
			return true
		case want != "*" && want != parts[i]:
			return false
		}
	}
	return len(parts) == len(p.path)
}
