package grounds

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/meaning"
)

var (
	outward     = set("web url http browser internet online mail email inbox message messages slack calendar drive fetch page webpage mcp issue issues pr ticket tickets")
	inWorkspace = set("file files dir directory directories folder path code symbol symbols grep glob ls tree workspace repo repository notebook str replace editor multi text range lines in by content contents definition references project todo output")
)

// isLocal reports whether a tool reads what is on this machine: it says nothing but that,
// and the agent works here.
func (c *Context) isLocal(m *meaning.Meaning, args map[string]any) bool {
	words := nameWords(m.Tool)
	for _, w := range words {
		if outward[w] {
			return false
		}
	}
	if m.Reaches {
		return false
	}
	for k := range args {
		for _, w := range nameWords(k) {
			if addressNames[stem(w)] {
				return false
			}
		}
	}
	for _, w := range words {
		if !inWorkspace[w] && !isVerb(w) {
			return false
		}
	}
	return c.host || len(words) == 1 && isVerb(words[0])
}

var addressNames = set("url uri link href website webhook endpoint site webpage domain host")

func isVerb(w string) bool { return meaning.Verb(w) != meaning.Unknown }

var camel = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// nameWords are the words of a field's or tool's name.
func nameWords(name string) []string {
	name = camel.ReplaceAllString(name, "${1}_${2}")
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r > 127 || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
