package intent

import (
	_ "embed" // the prompt is part of the program
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A change of it is a new ContractVersion.
//
//go:embed contract-3.txt
var contractSystem string

// ContractSchema is the form of the answer as JSON Schema, for providers that hold a model to one.
//
//go:embed contract-3.schema.json
var ContractSchema string

// maxIdentifier is how many signs of a name that others chose are shown.
const maxIdentifier = 40

// identifier is a name of somebody else's as a model is shown it: letters, digits and what joins them, so that it can
// hardly say anything. Of a long one the end is kept, which tells tools of one server apart.
func identifier(name string) string {
	signs := []rune(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.:/", r) {
			return r
		}
		return '_'
	}, name))
	return string(signs[max(0, len(signs)-maxIdentifier):])
}

// identifiers are names as they are shown, each another one.
func identifiers(names []string) []string {
	out, taken := make([]string, len(names)), map[string]int{}
	for i, name := range names {
		first := identifier(name)
		short := first
		for taken[short] > 0 {
			taken[first]++
			short = fmt.Sprintf("%s_%d", first, taken[first])
		}
		taken[short]++
		out[i] = short
	}
	return out
}

func toolNames(tools []Signature) []string {
	out := make([]string, len(tools))
	for i := range tools {
		out[i] = tools[i].Name
	}
	return out
}

func (s *Signature) paramNames() []string {
	out := make([]string, len(s.Params))
	for i := range s.Params {
		out[i] = s.Params[i].Name
	}
	return out
}

// Prompt asks for the contract of the last message. Tools stand first: they are the same with every message, and providers
// and local servers read a beginning that they have read before at once.
func (r *Request) Prompt() (system, user string) {
	var b strings.Builder
	b.WriteString("## Tools\n")
	n, lines := r.listed()
	b.WriteString(lines)
	if n < len(r.Tools) {
		fmt.Fprintf(&b, "(%d more tools, not available)\n", len(r.Tools)-n)
	}
	b.WriteString("\n## The user's messages, in order\n")
	appendWords(&b, r.Words)
	b.WriteString("\nWhat does the last message ask for?")
	return contractSystem, b.String()
}

// listed are the tools that there is room for, one in each line, and how many they are.
func (r *Request) listed() (n int, lines string) {
	var b strings.Builder
	names := identifiers(toolNames(r.Tools))
	for room := maxToolsBytes; n < min(len(r.Tools), maxTools); n++ {
		line := r.Tools[n].line(names[n])
		if room -= len(line); room < 0 {
			break
		}
		b.WriteString(line)
	}
	return n, b.String()
}

// types are what a schema may say that a parameter is; anything else it says is not shown.
var types = []string{"string", "number", "integer", "boolean", "array", "object"}

// kind is what is shown of the values of a parameter: their type, and those that are listed.
func (p *Parameter) kind() string {
	var says []string
	if slices.Contains(types, p.Type) {
		says = append(says, p.Type)
	}
	if shown := p.shown(); len(shown) > 0 {
		says = append(says, framed.list(shown, maxChoices, maxChoice+2))
	}
	if len(says) == 0 {
		return ""
	}
	return " (" + strings.Join(says, ": ") + ")"
}

// line is a tool under the name it is shown by.
func (s *Signature) line(name string) string {
	line := "- " + framed.quote(name, maxName)
	for i, arg := range identifiers(s.paramNames()[:min(len(s.Params), maxArguments)]) {
		if i == 0 {
			line += " takes "
		} else {
			line += ", "
		}
		line += framed.quote(arg, maxArgument) + s.Params[i].kind()
	}
	if n := len(s.Params) - maxArguments; n > 0 {
		line += fmt.Sprintf(" …(+%d more)", n)
	}
	if s.Description != "" {
		line += ": " + framed.quote(s.Description, maxDescription)
	}
	return line + "\n"
}
