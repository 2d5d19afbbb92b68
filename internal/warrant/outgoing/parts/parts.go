// Package parts takes a line apart whose commands are joined by "&&", where some of them leave this machine in a plain way: these
// are for the broker, the others for the box, one after the other, until one fails. It is pure.
//
// Invariants:
//   - a line that is not such a list, whole, has no parts: it runs in the box as it is;
//   - a part for the broker is what outgoing.Plain reads, of the line's own bytes, and nothing else on it;
//   - the parts are in the order of the line, and all of it.
package parts

import (
	_ "embed" // the words are part of the program
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

//go:embed shell.txt
var shellText string

// changing are the words with which a part changes the shell for those behind it.
var changing = words(shellText)

func words(text string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "//") {
			continue
		}
		for _, w := range strings.Fields(line) {
			out[w] = true
		}
	}
	return out
}

// Part is one command of a line, or several that stand behind one another, none of which leaves.
type Part struct {
	Text   string // as it stands in the line
	Form   outgoing.Form
	Leaves bool // Form is set: it is for the broker
}

// The bounds of a line that is taken apart.
const (
	maxLine   = 32 << 10
	maxLeaves = 5 // as many as a command may ask questions
)

// Of are the parts of a line; nil: it is none that can be taken apart, or nothing in it is for the broker.
func Of(line string) []Part {
	if len(line) > maxLine {
		return nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) != 1 || len(file.Last) > 0 {
		return nil
	}
	leaves, ok := joined(file.Stmts[0])
	if !ok || slices.ContainsFunc(leaves, unsteady) || held(file) {
		return nil
	}
	var out []Part
	departing := 0
	for _, s := range leaves {
		p := Part{Text: line[s.Pos().Offset():s.End().Offset()]}
		if p.Form, p.Leaves = outgoing.Plain(p.Text); p.Leaves && !p.Form.Brokered {
			p.Leaves, p.Form = false, outgoing.Form{}
		}
		switch last := len(out) - 1; {
		case p.Leaves:
			departing++
			out = append(out, p)
		case last >= 0 && !out[last].Leaves:
			out[last].Text += " && " + p.Text
		default:
			out = append(out, p)
		}
	}
	if departing == 0 || departing > maxLeaves {
		return nil
	}
	return out
}

// joined are the statements of a list that is joined by "&&" alone.
func joined(s *syntax.Stmt) ([]*syntax.Stmt, bool) {
	if s.Background || s.Coprocess || s.Disown || s.Negated || s.Semicolon.IsValid() {
		return nil, false
	}
	b, ok := s.Cmd.(*syntax.BinaryCmd)
	if !ok || b.Op == syntax.Pipe || b.Op == syntax.PipeAll {
		return []*syntax.Stmt{s}, true
	}
	if b.Op != syntax.AndStmt || len(s.Redirs) > 0 {
		return nil, false
	}
	x, one := joined(b.X)
	y, other := joined(b.Y)
	return append(x, y...), one && other
}

// unsteady reports whether a statement may change the shell that those behind it run in.
func unsteady(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(c.Args) == 0 || changing[c.Args[0].Lit()] || c.Args[0].Lit() == "" // its name is known only when it runs
	case *syntax.BinaryCmd: // a pipe: each of its parts has a shell of its own, but the last in some shells
		return unsteady(c.Y)
	case *syntax.Subshell:
		return false
	}
	return true
}

// held reports whether some of the text of a statement stands behind its line.
func held(file *syntax.File) bool {
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if r, ok := n.(*syntax.Redirect); ok && r.Hdoc != nil {
			found = true
		}
		return !found
	})
	return found
}
