package shell

import "mvdan.cc/sh/v3/syntax"

// either reads a && b and a || b. After && the first did not fail.
func (w *walker) either(c *syntax.BinaryCmd, in flow) flow {
	first := w.stmt(c.X, in)
	if c.Op != syntax.AndStmt {
		w.settle()
		return first.join(w.perhaps(func() flow { return w.stmt(c.Y, in) }))
	}
	failed := w.where.failed
	if !goes(c.X) {
		failed = union(union(failed, w.where.now), w.where.others...)
	}
	w.where.failed = nil
	out := first.join(w.stmt(c.Y, in))
	w.where.failed = union(w.where.failed, failed...)
	return out
}

// goes reports whether a statement does nothing but go to a folder.
func goes(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && !s.Negated && !s.Background && movers[c.Args[0].Lit()]
}

var movers = set("cd pushd popd chdir")

// compound reads conditions and loops.
func (w *walker) compound(c syntax.Command, in flow) flow {
	switch c := c.(type) {
	case *syntax.IfClause:
		out := w.stmts(c.Cond, in)
		before := w.where
		out = out.join(w.perhaps(func() flow { return w.stmts(c.Then, in) }))
		if c.Else != nil {
			after := w.where
			w.where = before
			out = out.join(w.perhaps(func() flow { return w.command(c.Else, in) }))
			w.where.doubt = doubted(&w.where, &after, nil)
			w.where.others = union(w.where.others, after.others...)
			w.where.lost = w.where.lost || after.lost
		}
		return out
	case *syntax.WhileClause:
		return w.again(func() flow { return w.stmts(c.Cond, in).join(w.stmts(c.Do, in)) })
	case *syntax.ForClause:
		return w.loop(c, in)
	case *syntax.CaseClause:
		w.word(c.Word)
		var out flow
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.word(p)
			}
			out = out.join(w.perhaps(func() flow { return w.stmts(item.Stmts, in) }))
		}
		return out
	case *syntax.TimeClause:
		return w.stmt(c.Stmt, in)
	case *syntax.CoprocClause:
		return w.apart(func() flow { return w.stmt(c.Stmt, in) })
	case *syntax.DeclClause:
		w.declared(c)
		return flow{}
	}
	w.nested(c) // declarations, tests, arithmetic: only what they substitute runs
	return flow{}
}

// loop reads a for loop; a variable that goes over known words is known to be one of them.
func (w *walker) loop(c *syntax.ForClause, in flow) flow {
	it, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		w.nested(c.Loop)
		return w.again(func() flow { return w.stmts(c.Do, in) })
	}
	var values []string
	known := true
	for _, item := range it.Items {
		for _, a := range w.words(item) {
			values, known = append(values, a.Text), known && a.Known
			w.setting(it.Name.Value, a)
		}
	}
	if known {
		defer w.vars.bind(it.Name.Value, values)()
	}
	return w.again(func() flow { return w.stmts(c.Do, in) })
}

// nested reads the substitutions in a part of the tree that runs nothing itself.
func (w *walker) nested(n syntax.Node) flow {
	var out flow
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			out = out.join(w.apart(func() flow { return w.stmts(n.Stmts, flow{}) }))
			return false
		case *syntax.ProcSubst:
			out = out.join(w.apart(func() flow { return w.stmts(n.Stmts, flow{}) }))
			return false
		case *syntax.SglQuoted:
			if indexRuns.MatchString(n.Value) {
				w.unread()
			}
		case *syntax.ParamExp:
			if n.Param != nil && risky(n.Param.Value) && assigns(n.Exp) {
				w.unread()
			}
			if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps && n.Exp.Word.Lit() == "P" {
				w.unread() // it is expanded as a prompt is, and a prompt runs commands
			}
		case *syntax.Assign:
			w.line.Unsure = true
		}
		return !w.stopped()
	})
	return out
}
