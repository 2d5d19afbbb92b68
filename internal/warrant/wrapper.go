package warrant

import (
	"maps"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/tool"
)

// Some tools call others: they are told which, and what with. Such a call is judged as the one
// it holds, but never for the better: members that a tool does not know are ignored by
// most, and who calls it may add any.

var (
	wrappers = list("wrappers")
	wrapped  = list("wrapped")
	handing  = list("handing")
)

// inner is a call that another one holds.
type inner struct {
	tool           *meaning.Meaning
	values, beside []leaves.Leaf // what it is given, and what the wrapper itself is given
}

// unwrap finds the tool that a wrapper names, and what it is given.
func (c *Context) unwrap(m *meaning.Meaning, fields map[string]any) (in inner, ok bool) {
	if !wraps(fields) {
		return in, false // nearly every call
	}
	rest, given, holds := maps.Clone(fields), any(nil), ""
	keys := leaves.Keys(nil, fields)
	for _, k := range keys {
		if given == nil && wrapped[strings.ToLower(k)] && fields[k] != nil {
			given, holds = fields[k], k
			delete(rest, k)
		}
	}
	if given == nil {
		return in, false
	}
	for _, k := range keys {
		name, text := fields[k].(string)
		if text && wrappers[strings.Join(leaves.NameWords(k), "_")] && len(leaves.NameWords(name)) > 1 && !strings.ContainsAny(name, " /") {
			delete(rest, k)
			in = inner{c.meaning(name), argumentsOf(given), leaves.Of(rest)}
			return in, handsOn(m, k, holds) || deedOf(in.tool).graverThan(deedOf(m))
		}
	}
	return in, false
}

// handsOn reports whether a tool calls others: its definition lists the parameters by which it is
// told of them or, where nobody told what it takes, its name speaks of tools.
func handsOn(m *meaning.Meaning, names ...string) bool {
	if len(m.Params) == 0 {
		return anyOf(leaves.NameWords(m.Tool), handing)
	}
	for _, name := range names {
		if !takes(m, name) {
			return false
		}
	}
	return true
}

// takes reports whether the definition of a tool lists a parameter, or members of it.
func takes(m *meaning.Meaning, name string) bool {
	for i := range m.Params {
		rest, ok := strings.CutPrefix(m.Params[i].Path, name)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// argumentsOf are the values that a wrapper hands on, as an object or as one text of it.
func argumentsOf(given any) []leaves.Leaf {
	if text, ok := given.(string); ok {
		if in, ok := leaves.Inside(&leaves.Leaf{Text: text, Quoted: true}); ok {
			return in
		}
	}
	return leaves.Of(given)
}

// enter judges what a wrapper itself is given, and goes on to the call in it, whose values it returns.
// The workspace is the host's: a server's tool leads to it by no name.
func (j *judging) enter(in inner) []leaves.Leaf {
	outer, own, deed := j.m, j.workspace, deedOf(j.m)
	runs := deed == Execute || deed == Unknown
	beside := j.opened(in.beside)
	j.beside = beside
	within := own && j.c.workspace(in.tool)
	j.m, j.workspace = in.tool, within
	values := j.opened(in.values)
	held := j.deed(values)
	if j.w.Deed = held; !runs || !j.onlyHands(outer, own, beside) {
		j.w.raise(deed)
	}
	j.m, j.workspace = outer, own
	for i := range beside { // it is the wrapper's own, and the wrapper may do something with it
		j.value(&beside[i])
	}
	if j.m, j.workspace = in.tool, within; !runs && deed != Read {
		j.outer = outer
	}
	return values
}

// onlyHands reports whether a wrapper does nothing but hand on: what it is given itself names nobody, no sum and
// nothing else that neither the user said nor a record they named holds.
func (j *judging) onlyHands(outer *meaning.Meaning, own bool, beside []leaves.Leaf) bool {
	inner, within := j.m, j.workspace
	j.m, j.workspace = outer, own
	defer func() { j.m, j.workspace = inner, within }()
	for i := range beside {
		l := &beside[i]
		if l.Flag || l.Text == "" {
			continue
		}
		if p := j.resolve(l); p.Role == meaning.Amount || p.Role == meaning.Credential || p.Role == meaning.Command {
			return false
		}
		if e, _ := j.evidence(l.Text, false); e < Picked {
			return false
		}
	}
	return true
}

// wrapping reports whether a value may be the arguments of another call.
func wrapping(l leaves.Leaf) bool { return wrapped[strings.ToLower(l.Path)] }

// mayWrap reports whether arguments may hold those of another call.
func mayWrap(args *tool.Args) bool {
	found := false
	plain := args.Plain(func(name, _ string, _ bool) bool {
		found = wrapped[strings.ToLower(name)]
		return !found
	})
	return found || !plain
}

// wraps reports whether something among the arguments may be those of another call.
func wraps(fields map[string]any) bool {
	for k, v := range fields {
		if v != nil && wrapped[strings.ToLower(k)] {
			return true
		}
	}
	return false
}
