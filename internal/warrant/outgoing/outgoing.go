// Package outgoing tells a command line that is one plain command of a form known to leave the machine (a push, an
// install of a named package) from every other one. Such a command is a deed with slots like any other tool's; what is
// piped, chained, substituted or redirected is none, and runs in a box.
//
// Invariant: a line is plain only if every word of it is what it looks like: nothing is expanded, assigned, redirected or
// run besides.
//
// It is pure.
package outgoing

import (
	_ "embed"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

//go:embed programs.txt
var programsText string

// programs are the words of each program that leave; true: packages must be named behind the word.
var programs = readPrograms(programsText)

func readPrograms(text string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] == "//" {
			continue
		}
		verbs := map[string]bool{}
		for _, w := range words[1:] {
			verb, named := strings.CutSuffix(w, "+")
			verbs[verb] = named
		}
		out[words[0]] = verbs
	}
	return out
}

// Form is a plain command that leaves the machine.
type Form struct {
	Program string
	Verb    string   // empty: the program has none
	Args    []string // the words behind the verb
}

// maxLine bounds what is looked at: nobody writes a longer plain command.
const maxLine = 4 << 10

// Plain reads a line as one plain command of a known leaving form.
func Plain(line string) (Form, bool) {
	words, ok := plainWords(line)
	if !ok || len(words) == 0 {
		return Form{}, false
	}
	verbs := programs[words[0]]
	f := Form{Program: words[0], Args: words[1:]}
	if _, any := verbs["*"]; any {
		return f, true
	}
	if len(f.Args) == 0 { // an option before the verb may say what is run
		return Form{}, false
	}
	named, known := verbs[f.Args[0]]
	f.Verb, f.Args = f.Args[0], f.Args[1:]
	for _, a := range f.Args {
		if strings.Contains(a, "::") || strings.HasPrefix(a, "-") && strings.Contains(a, "=") {
			return Form{}, false // it may name a program that is run for it
		}
	}
	return f, known && (!named || namesPackages(f.Args))
}

// namesPackages reports whether there are packages, each by its name alone: no file, folder, address or option, which may
// be a list of them.
func namesPackages(args []string) bool {
	for _, a := range args {
		if a == "" || strings.ContainsAny(a[:1], "-./") || strings.ContainsAny(a, ":\\~") {
			return false
		}
	}
	return len(args) > 0
}

// plainWords are the words of a line that is one simple command of nothing but words.
func plainWords(line string) ([]string, bool) {
	if len(line) > maxLine || strings.ContainsAny(line, "\x00\r\n") {
		return nil, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) != 1 || len(file.Last) > 0 {
		return nil, false
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	besides := s.Semicolon.IsValid() || s.Negated || s.Background || s.Coprocess || s.Disown
	if !ok || besides || len(s.Redirs)+len(s.Comments)+len(call.Assigns) > 0 {
		return nil, false
	}
	var out []string
	for _, w := range call.Args {
		text, ok := literal(w.Parts)
		if !ok {
			return nil, false
		}
		out = append(out, text)
	}
	return out, true
}

// literal is the text of a word in which the shell changes nothing.
func literal(parts []syntax.WordPart) (string, bool) {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, `\*?[]{}~!`) {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, in := range p.Parts {
				l, ok := in.(*syntax.Lit)
				if !ok || p.Dollar || strings.ContainsAny(l.Value, `\!`) {
					return "", false
				}
				b.WriteString(l.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}
