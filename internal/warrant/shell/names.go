package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The caps on following functions and aliases.
const (
	maxFunctions = 100
	maxActive    = 16 // calls within calls
	maxCalls     = 300
	maxHanded    = 200 // words handed to a function
)

// names are the words that stand for something else in a line. What they stand for counts
// in addition to the program of that name: they may not be in force where they are used.
type names struct {
	funcs   map[string][]*syntax.FuncDecl
	aliases map[string][]string
	active  []string // the calls being read
	calls   int
	args    []Word // what the function or script was handed
	handed  bool   // args is all of it
	reset   bool   // something that may be anything was put in their place
}

// handlers are functions that a shell calls by itself, with anything.
var handlers = set("command_not_found_handle command_not_found_handler preexec precmd chpwd zshaddhistory")

// define notes the functions of a text. All of them count from the beginning: a loop or
// another function may use one before it is written.
func (w *walker) define(f *syntax.File) {
	syntax.Walk(f, func(n syntax.Node) bool {
		d, ok := n.(*syntax.FuncDecl)
		if !ok {
			return true
		}
		list := d.Names
		if d.Name != nil {
			list = append(slices.Clip(list), d.Name)
		}
		for _, name := range list {
			w.names.funcs[name.Value] = append(w.names.funcs[name.Value], d)
			if handlers[name.Value] || movers[name.Value] || len(w.names.funcs[name.Value])+len(w.names.funcs) > maxFunctions {
				w.unread()
			}
		}
		return true
	})
}

// standsFor reads what a program's name may stand for besides the program, and says what
// comes out of it all.
func (c *call) standsFor(first Word, args []Word) flow {
	out := c.out
	if !first.Known {
		return out
	}
	for _, f := range c.names.funcs[first.Text] {
		out = out.join(c.once(first.Text, args, func() flow { return c.invoke(f, args) }))
	}
	for _, body := range c.names.aliases[first.Text] {
		out = out.join(c.once("alias "+first.Text, args, func() flow { return c.substitute(body, args) }))
	}
	for _, program := range c.copiesOf(first.Text) {
		out = out.join(c.once("copy "+first.Text, args, func() flow { return c.walker.run(append([]Word{program}, args...), c.in) }))
	}
	if strings.Contains(first.Text, "/") || c.paths {
		out = out.join(c.runsMade(first.Text, args))
	}
	return out
}

// once reads one call, unless the same call is being read already.
func (c *call) once(name string, args []Word, read func() flow) flow {
	key := name
	for _, a := range args {
		key += "\x00" + a.Text
	}
	if slices.Contains(c.names.active, key) {
		return flow{}
	}
	c.names.calls++
	if len(c.names.active) >= maxActive || c.names.calls > maxCalls || len(args) > maxHanded || len(key) > maxCommand {
		c.unread()
		return flow{}
	}
	active := c.names.active
	c.names.active = append(slices.Clip(active), key)
	out := read()
	c.names.active = active
	return out
}

// invoke reads a function's body with the words it is handed.
func (c *call) invoke(f *syntax.FuncDecl, args []Word) flow {
	for _, a := range args {
		c.loosely(a.Text)
	}
	return c.handing(args, !shifts(f.Body), func() flow { return c.stmt(f.Body, c.in) })
}

// handing reads something that is handed words; all says that they stay as they are.
func (w *walker) handing(args []Word, all bool, read func() flow) flow {
	was, handed := w.names.args, w.names.handed
	w.names.args, w.names.handed = args, all
	out := read()
	w.names.args, w.names.handed = was, handed
	return out
}

// shifts reports whether a body changes what it was handed.
func shifts(body syntax.Node) bool {
	found := false
	syntax.Walk(body, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			first := c.Args[0].Lit()
			found = found || first == "shift" || first == "set" && len(c.Args) > 2 || first == "eval" || first == "source" || first == "."
		}
		return !found
	})
	return found
}

// aliased reads what an alias will stand for.
func (c *call) aliased() {
	c.line.Unsure = true
	if len(c.args) > 1 && !strings.ContainsAny(c.args[0].Text, "=-") {
		open := slices.ContainsFunc(c.args, func(a Word) bool { return !a.Known })
		words := Word{Text: c.args[0].Text + "=" + strings.Join(texts(c.args[1:]), " "), Known: !open}
		c.args = append([]Word{words}, c.args...) // as some shells write it
	}
	for _, a := range c.args {
		name, body, ok := strings.Cut(a.Text, "=")
		switch {
		case ok && movers[name]:
			c.unread()
		case a.Text == "-p" || a.Text == "--":
		case strings.HasPrefix(a.Text, "-"), ok && !a.Known, ok && len(c.names.aliases) > maxFunctions:
			c.unread() // in some shells it may stand anywhere, or for endings of files
		case ok && body != "":
			c.names.aliases[name] = union(c.names.aliases[name], body)
			c.script(body, flow{})
		}
	}
}

// substitute reads an alias's text with the words that follow it.
func (c *call) substitute(body string, args []Word) flow {
	if c.parsed += len(body); c.parsed > maxParsed {
		c.unread()
		return flow{}
	}
	f, ok := c.reader.parse(body)
	if !ok {
		c.unread()
		return flow{}
	}
	if len(args) > 0 && strings.HasSuffix(body, " ") && c.names.aliases[args[0].Text] != nil {
		c.unread() // the next word is one too
		return flow{}
	}
	if len(f.Stmts) == 1 && len(f.Stmts[0].Redirs) == 0 {
		if e, ok := f.Stmts[0].Cmd.(*syntax.CallExpr); ok && int(e.End().Offset()) == len(strings.TrimRight(body, " \t")) {
			return c.callWith(e, args, c.in)
		}
	}
	if len(args) > 0 {
		c.unread()
	}
	return flow{} // its text alone was read where it was given
}

// position is the word of a position, $1 and so on; ok is false if that is not known.
func (n *names) position(name string) (Word, bool) {
	i, err := strconv.Atoi(name)
	switch {
	case !n.handed || err != nil && name != "#" || err == nil && i < 1:
		return Word{}, false
	case name == "#":
		return Word{Text: strconv.Itoa(len(n.args)), Known: true}, true
	case i > len(n.args):
		return Word{Known: true}, true
	}
	return n.args[i-1], true
}
