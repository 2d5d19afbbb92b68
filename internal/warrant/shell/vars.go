package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// variables are the values of variables that are beyond doubt: set once in the whole
// text, to a plain text, by a statement of its own that always runs. Any other is not
// known.
type variables struct {
	set    map[string]int // how often each is set
	values map[string][]string
	made   map[string]bool // those that a program fills
	tamed  map[string]bool // those that one fills with a plain answer, and nothing else does
	opaque bool            // something here may set any variable
	from   sources
}

// setters are programs that set variables by name.
var setters = set("read unset mapfile readarray getopts let eval source . trap alias")

// declarers do so too, where they are not read as part of the shell's grammar.
var declarers = set("export declare typeset readonly local")

// surveyed counts how often each variable is set.
func surveyed(f *syntax.File) variables {
	v := variables{set: map[string]int{}, values: map[string][]string{}, made: map[string]bool{}, tamed: map[string]bool{}}
	v.from = sources{words: map[string][]*syntax.Word{}, filled: map[string]bool{}}
	syntax.Walk(f, func(n syntax.Node) bool {
		v.survey(n)
		v.from.collect(n)
		return true
	})
	return v
}

func (v *variables) survey(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Assign:
		v.counted(n)
	case *syntax.WordIter:
		v.set[n.Name.Value]++
	case *syntax.ParamExp:
		if n.Param != nil && assigns(n.Exp) {
			v.set[n.Param.Value] += 2
		}
	case *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.LetClause:
		v.opaque = true
	case *syntax.DeclClause:
		v.opaque = v.opaque || n.Variant != nil && n.Variant.Value != "export"
	case *syntax.CallExpr:
		if len(n.Args) > 1 {
			first := n.Args[0].Lit()
			v.opaque = v.opaque || setters[first] || first == "printf" && strings.HasPrefix(n.Args[1].Lit(), "-v")
			v.fills(first, n.Args[1:])
		}
	}
}

// counted notes one assignment.
func (v *variables) counted(n *syntax.Assign) {
	if n.Name == nil {
		return
	}
	name := n.Name.Value
	if name == "CDPATH" && n.Value == nil && n.Array == nil && !n.Naked {
		return // without a value it does nothing
	}
	v.set[name]++
	v.made[name] = v.made[name] || n.Value != nil && substitutes(n.Value)
	v.tamed[name] = v.set[name] == 1 && answered(n.Value) != wild
}

// assigns reports whether an expansion sets the variable that it puts in.
func assigns(e *syntax.Expansion) bool {
	return e != nil && (e.Op == syntax.AssignUnset || e.Op == syntax.AssignUnsetOrNull)
}

// fills notes the variables that read and its kin fill.
func (v *variables) fills(program string, args []*syntax.Word) {
	if program != "read" && program != "mapfile" && program != "readarray" {
		return
	}
	for _, a := range args {
		v.made[a.Lit()] = true
		v.set[a.Lit()] += 2
	}
}

// assigned notes the variables a statement of the outermost list sets.
func (w *walker) assigned(s *syntax.Stmt) {
	if s.Background || s.Negated || len(s.Redirs) > 0 {
		return
	}
	var list []*syntax.Assign
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) > 0 {
			return // only for that program
		}
		list = c.Assigns
	case *syntax.DeclClause:
		list = c.Args
	case *syntax.BinaryCmd: // a && b: what follows may not run, and then nothing after counts
		if c.Op == syntax.AndStmt {
			w.assigned(c.X)
		}
		return
	}
	for _, a := range list {
		if a.Name == nil || a.Append || a.Naked || a.Index != nil || a.Array != nil || w.vars.set[a.Name.Value] != 1 {
			continue
		}
		if a.Value == nil {
			w.vars.values[a.Name.Value] = []string{""}
		} else if !substitutes(a.Value) { // those have been read already, and once is enough
			if v := w.word(a.Value); v.Known || !strings.Contains(v.Text, "$") {
				w.vars.values[a.Name.Value] = []string{v.Text}
			}
		}
	}
}

func substitutes(n *syntax.Word) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			found = true
		}
		return !found
	})
	return found
}

// bind gives a loop's variable its values while the loop is read.
func (v *variables) bind(name string, values []string) (undo func()) {
	if v.set[name] != 1 || v.opaque || len(values) == 0 || len(values) > 16 {
		return func() {}
	}
	v.values[name] = values
	return func() { delete(v.values, name) }
}

// plainParam is the name of a variable that is put in as it is.
func plainParam(p *syntax.ParamExp) string {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.IsSet || p.Index != nil || p.Slice != nil || p.Repl != nil ||
		p.Names != 0 || p.Exp != nil || p.Flags != nil || len(p.Modifiers) > 0 || p.NestedParam != nil {
		return ""
	}
	return p.Param.Value
}

// value is what a variable holds, if that is beyond doubt.
func (v *variables) value(p *syntax.ParamExp) (string, bool) {
	list := v.values[plainParam(p)]
	if len(list) != 1 || v.opaque || v.set["IFS"] > 0 {
		return "", false
	}
	return list[0], true
}

// oneOf are the values of a word that is nothing but a loop's variable.
func (v *variables) oneOf(n *syntax.Word) []string {
	if v.opaque || v.set["IFS"] > 0 || len(n.Parts) != 1 {
		return nil
	}
	part := n.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok {
		return nil
	}
	for _, value := range v.values[plainParam(p)] {
		if value == "" || strings.ContainsAny(value, "*?[ \t\n") {
			return nil
		}
	}
	return v.values[plainParam(p)]
}
