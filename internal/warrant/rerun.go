package warrant

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/warrant/remembered"
	"github.com/tidemark/tidemark/internal/warrant/shell"
)

var (
	sets  = list("sets")
	tests = list("tests")
)

// ordered reports whether the user named every one of some addresses, there are any, and asked for
// each of them to be run: in the clause that names it, or in a word or two right after it.
func (c *Context) ordered(addresses []string) bool {
	return c.chosen(addresses) && !slices.ContainsFunc(addresses, func(a string) bool { return !c.user.runs(a) })
}

// maxRunIt is how many words "and run it" has at most.
const maxRunIt = 3

// runs reports whether the user wants an address run.
func (h *heard) runs(address string) bool {
	bare := strings.ToLower(strings.TrimRight(afterScheme(address), "/"))
	for i := range h.clauses {
		cl := &h.clauses[i]
		if cl.denies || !cl.orders() || !strings.Contains(strings.ToLower(cl.text), bare) {
			continue
		}
		if cl.does(sets) {
			return true
		}
		if i+1 < len(h.clauses) {
			next := &h.clauses[i+1]
			if next.turn == cl.turn && next.words <= maxRunIt && !next.denies && next.orders() && next.does(sets) && next.namesNothing() {
				return true
			}
		}
	}
	return false
}

// tries reports whether the user named the work of others by its number or name, and asked for something to be run or
// tested while saying so.
func (h *heard) tries(names []string) bool {
	for i := range h.clauses {
		cl := &h.clauses[i]
		if cl.denies || !cl.orders() || !cl.says(names) {
			continue
		}
		for k := range h.clauses {
			if o := &h.clauses[k]; o.turn == cl.turn && !o.denies && (o.does(sets) || o.does(tests)) {
				return true
			}
		}
	}
	return false
}

// says reports whether one of some names stands in a clause.
func (c *clause) says(names []string) bool {
	apart := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",.;:#!?()'\"`/", r) }
	for w := range strings.FieldsFuncSeq(c.text, apart) {
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, w) }) {
			return true
		}
	}
	return false
}

// namesNothing reports whether a clause has nothing but what is to be done to "it".
func (c *clause) namesNothing() bool {
	return !slices.ContainsFunc(c.stems.list, func(s string) bool { return !sets[s] && distinctive(s) })
}

// does reports whether a clause asks for something by one of some words.
func (c *clause) does(words map[string]bool) bool {
	for _, s := range c.doing.list {
		if words[s] {
			return true
		}
	}
	return false
}

// repeats is what speaks against a command by what it runs: a file that an earlier call wrote is
// worth what is in it, and what will be typed later is not known. Nothing does until somebody but
// the user has said something.
func (c *Context) repeats(line *shell.Line) (why, value string) {
	switch {
	case !c.argued:
		return "", ""
	case !c.outside: // the files of the work have argued
	case line.Opens:
		return "it runs what is typed into it later", ""
	case line.Fed:
		return "it runs what another program puts out", ""
	case line.Hidden:
		return "it writes a file whose name cannot be read", ""
	}
	for i := range line.Scripts {
		if why, value = c.script(&line.Scripts[i]); why != "" {
			return why, value
		}
	}
	for _, f := range c.past.labelled.Meant(line) {
		s := shell.Script{File: f.Name, Line: c.reader().ReadScript(f.Name, shell.Held{Deaf: true, Does: f.Does()})}
		if why, value = c.script(&s); why != "" {
			return why, value
		}
	}
	if c.outside && (line.Builds || c.made(line) || remembered.Commits(line)) && len(line.Packages) == 0 {
		return c.build()
	}
	return "", ""
}

// made reports whether a line runs a program of this work that nobody has written as it is: it was built.
func (c *Context) made(line *shell.Line) bool {
	return slices.ContainsFunc(line.Ran, func(f string) bool {
		return path.Ext(f) == "" && !strings.HasPrefix(f, "/") && len(c.past.fit(f)) == 0 && !c.past.Came(f)
	})
}

// script is what speaks against running a file that an earlier call wrote.
func (c *Context) script(s *shell.Script) (why, value string) {
	list := c.past.fit(s.File)
	code := !slices.ContainsFunc(list, func(f *file) bool { return !shell.IsCode(f.name, f.held.Text) })
	if !c.outside && code && !gravely(s.Line.Found) {
		return "", "" // code that talks to somebody is the work of many
	}
	var f *file
	theirs, opaque := false, false
	if k := c.past.kept(s.File); len(list) == 0 {
		theirs, opaque = k&theirsBit != 0, k&opaqueBit != 0
	}
	for _, o := range list {
		theirs = theirs || o.theirs && (shell.IsCode(o.name, o.held.Text) || o.held.Deaf || o.held.Part)
		if opaque = opaque || o.opaque; f == nil || o.theirs {
			f = o
		}
	}
	why, value = c.fault(s.Line)
	switch {
	case why != "":
		return "it runs a file that an earlier call wrote, and with that " + why, c.excerpt(f, s.File, value)
	case theirs && !s.Part: // what the work is made of is run by each of its tests, and judged as that
		return "it runs a file that holds what others wrote", c.excerpt(f, s.File, "")
	case opaque:
		return "it runs a file in a language that is not understood here, written after content of others came in", s.File
	}
	return "", ""
}

// gravely reports whether nothing but an attack, or a slip, does this.
func gravely(e shell.Effects) bool {
	return e.Has(shell.RunsFetched|shell.Oversight|shell.Persist|shell.Wrecks) || e.Has(shell.ReadsSecret) && e.Has(shell.Network)
}

// excerpt is what a person is shown of a file that would run.
func (c *Context) excerpt(f *file, name, value string) string {
	if value != "" || f == nil || f.held.Text == "" {
		return strings.TrimSpace(name + " " + value)
	}
	return name + ": " + text.Head(strings.TrimSpace(f.held.Text), 300)
}

// build is what speaks against a build or test by the files that earlier calls wrote: that they run
// what they fetch, or carry a secret away. Whatever else they do is work on the code.
func (c *Context) build() (why, value string) {
	if c.past.Spilled() {
		return "it builds or tests where the work of others was put", ""
	}
	for _, f := range c.past.came {
		if base := path.Base(f); running[base] || builtBy[base] || manifests[base] || shell.IsCode(base, "") {
			return "it builds or tests with a file that was fetched", f
		}
	}
	files := c.past.files
	for i := range c.past.labelled {
		if c.past.labelled[i].Far {
			continue
		}
		files = append(files[:len(files):len(files)], earlier(&c.past.labelled[i]))
	}
	for _, f := range files {
		e := f.held.Does
		if c.reader().Data(f.name) {
			continue
		}
		if e.Has(shell.RunsFetched|shell.Oversight) || e.Has(shell.ReadsSecret) && e.Has(shell.Network) {
			line := c.reader().ReadScript(f.name, f.held)
			if why, value = c.fault(line); why != "" || f.held.Deaf {
				return "it builds or tests with a file that an earlier call wrote, and with that " + why, c.excerpt(f, f.name, value)
			}
		}
	}
	for _, what := range c.past.sums {
		if e := shell.Effects(what & 0xffff); e.Has(shell.RunsFetched) || e.Has(shell.ReadsSecret) && e.Has(shell.Network) {
			return "it builds or tests with a file that an earlier call wrote, and that carries a secret away or runs what it fetches", ""
		}
	}
	return "", ""
}
