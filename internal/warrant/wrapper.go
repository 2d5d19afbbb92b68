package warrant

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
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
	tool           *toolinfo.Meaning
	values, beside []arguments.Leaf // what it is given, and what the wrapper itself is given
}

// mostHeld bounds how many calls of a list are looked at; one with more holds some that nobody understands.
const mostHeld = 64

// unwrap finds the calls that a call holds: one that it names, or those of a list.
func (c *Context) unwrap(m *toolinfo.Meaning, fields map[string]any) []inner {
	if !wraps(fields) {
		return nil // nearly every call
	}
	rest := maps.Clone(fields)
	if in, keys, ok := c.held(fields, rest, anyOf(arguments.NameWords(m.Tool), handing)); ok {
		if in.beside = arguments.Of(rest); handsOn(m, keys...) || deedOf(in.tool).graverThan(deedOf(m)) {
			return []inner{in}
		}
		return nil
	}
	for _, k := range arguments.Keys(nil, fields) {
		list, _ := fields[k].([]any)
		if out := c.heldIn(list); len(out) > 0 {
			delete(rest, k)
			out[0].beside = append(out[0].beside, arguments.Of(rest)...)
			graver := slices.ContainsFunc(out, func(in inner) bool { return deedOf(in.tool).graverThan(deedOf(m)) })
			if graver || handsOn(m, k) {
				return out
			}
		}
	}
	return nil
}

// heldIn are the calls among the objects of a list. What an object has beside its call is the wrapper's own.
func (c *Context) heldIn(list []any) []inner {
	var out []inner
	var beside []arguments.Leaf
	for _, e := range list {
		fields, ok := e.(map[string]any)
		if !ok {
			continue
		}
		rest := maps.Clone(fields)
		if in, _, ok := c.held(fields, rest, true); ok && len(out) < mostHeld {
			out = append(out, in)
		} else if ok {
			out = append(out, inner{tool: c.meaning("")})
			break
		}
		beside = append(beside, arguments.Of(rest)...)
	}
	if len(out) > 0 {
		out[0].beside = beside
	}
	return out
}

// held is the call that an object names: a tool and what it is given, and by which members. They are taken out of rest.
func (c *Context) held(fields, rest map[string]any, hands bool) (in inner, keys []string, ok bool) {
	given, holds := any(nil), ""
	all := arguments.Keys(nil, fields)
	for _, k := range all {
		key := strings.ToLower(k)
		if _, text := fields[k].(string); given != nil || fields[k] == nil || !wrapped[key] || key == "body" && text {
			continue
		}
		given, holds = fields[k], k
	}
	if given == nil {
		return in, nil, false
	}
	for _, k := range all {
		name, text := fields[k].(string)
		key := strings.Join(arguments.NameWords(k), "_")
		if !text || !wrappers[key] && !(hands && key == "name") || len(arguments.NameWords(name)) < 2 || strings.ContainsAny(name, " /") {
			continue
		}
		delete(rest, holds)
		delete(rest, k)
		return inner{tool: c.meaning(name), values: argumentsOf(given)}, []string{k, holds}, true
	}
	return in, nil, false
}

// handsOn reports whether a tool calls others: its definition lists the parameters by which it is
// told of them or, where nobody told what it takes, its name speaks of tools.
func handsOn(m *toolinfo.Meaning, names ...string) bool {
	if len(m.Params) == 0 {
		return anyOf(arguments.NameWords(m.Tool), handing)
	}
	for _, name := range names {
		if !takes(m, name) {
			return false
		}
	}
	return true
}

// takes reports whether the definition of a tool lists a parameter, or members of it.
func takes(m *toolinfo.Meaning, name string) bool {
	for i := range m.Params {
		rest, ok := strings.CutPrefix(m.Params[i].Path, name)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// argumentsOf are the values that a wrapper hands on, as an object or as one text of it.
func argumentsOf(given any) []arguments.Leaf {
	if text, ok := given.(string); ok {
		if in, ok := arguments.Inside(&arguments.Leaf{Text: text, Quoted: true}); ok {
			return in
		}
	}
	return arguments.Of(given)
}

// enter judges what a wrapper itself is given, and goes on to the call in it, whose values it returns.
// The workspace is the host's: a server's tool leads to it by no name.
func (j *judging) enter(all []inner) []arguments.Leaf {
	in := all[0]
	outer, own, deed := j.m, j.workspace, deedOf(j.m)
	runs := deed == Execute || deed == Unknown
	beside := j.opened(in.beside)
	j.beside = beside
	within := own && j.c.workspace(in.tool)
	j.m, j.workspace = in.tool, within
	values := j.opened(in.values)
	if j.w.Deed = j.deed(values); !runs || !j.onlyHands(outer, own, beside) {
		j.w.raise(deed)
	}
	for i := range all[1:] {
		also := j.also(all[1+i].tool)
		also.given = also.opened(all[1+i].values)
		j.w.raise(also.deed(also.given))
		j.more = append(j.more, also)
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

// also is another call that the one at hand holds: it is judged beside the first.
func (j *judging) also(m *toolinfo.Meaning) *judging {
	return &judging{c: j.c, w: j.w, m: m, args: j.args, allSaid: true, workspace: j.workspace && j.c.workspace(m)}
}

// onlyHands reports whether a wrapper does nothing but hand on: what it is given itself names nobody, no sum and
// nothing else that neither the user said nor a record they named holds.
func (j *judging) onlyHands(outer *toolinfo.Meaning, own bool, beside []arguments.Leaf) bool {
	inner, within := j.m, j.workspace
	j.m, j.workspace = outer, own
	defer func() { j.m, j.workspace = inner, within }()
	for i := range beside {
		l := &beside[i]
		if l.Flag || l.Text == "" {
			continue
		}
		if p := j.resolve(l); p.Role == toolinfo.Amount || p.Role == toolinfo.Credential || p.Role == toolinfo.Command {
			return false
		}
		if e, _ := j.evidence(l.Text, false); e < Picked {
			return false
		}
	}
	return true
}

// wrapping reports whether a value may be the arguments of another call.
func wrapping(l arguments.Leaf) bool { return wrapped[strings.ToLower(l.Path)] }

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
		if v == nil {
			continue
		}
		if _, list := v.([]any); list || wrapped[strings.ToLower(k)] {
			return true
		}
	}
	return false
}

// Some tools take their arguments as one text of JSON. What stands in it is what the call is
// given, and is judged like any other value.

const mostOpened = 4 // texts in texts that are looked into; what is deeper is judged as a text

// opened are the values of a call with texts of JSON taken apart. What a tool is given as content or
// to run is one text, whatever it looks like.
func (j *judging) opened(values []arguments.Leaf) []arguments.Leaf {
	if j.workspace || !slices.ContainsFunc(values, arguments.MayOpen) {
		return values
	}
	return j.open(nil, values, 0)
}

func (j *judging) open(out, values []arguments.Leaf, depth int) []arguments.Leaf {
	for _, l := range values {
		role := j.tool().param(l.Path).unseen.Role
		if role != toolinfo.Content && role != toolinfo.Command && depth < mostOpened {
			if in, ok := arguments.Inside(&l); ok {
				out = j.open(out, in, depth+1)
				continue
			}
		}
		out = append(out, l)
	}
	return out
}
