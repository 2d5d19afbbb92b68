package warrant

import (
	"path"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/commands"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/tool"
)

// Did notes what a call that may run does to files, before it does: what is run later is judged
// by it. It returns the trace of that; nil where nothing need be kept.
func (c *Context) Did(name string, args *tool.Args) []byte {
	c.listen()
	m := c.meaning(name)
	if m.Act == toolinfo.Read && !tool.IsShell(unprefixed(m.Tool)) && !mayWrap(args) {
		return nil // most calls
	}
	trace := c.doing(m, args)
	if c.memory.exact {
		return c.journal(toldCall, 0, 0, name, string(args.Raw()))
	}
	return trace
}

func (c *Context) doing(m *toolinfo.Meaning, args *tool.Args) []byte {
	c.did(m.Tool, args)
	fields, err := args.Fields()
	if err != nil {
		return nil
	}
	values := arguments.Of(fields)
	if len(values) > arguments.Most {
		return nil
	}
	c.memory.files = nil
	c.lays(m, values)
	c.does(m, values)
	for _, in := range c.unwrap(m, fields) { // nobody knows which of the two runs
		c.did(in.tool.Tool, nil)
		c.does(in.tool, in.values)
	}
	c.past.bound()
	if len(c.memory.files) == 0 || !c.memory.on {
		return nil
	}
	return c.traced(trace{files: c.memory.files})
}

// does notes what one tool does to files.
func (c *Context) does(m *toolinfo.Meaning, values []arguments.Leaf) {
	switch {
	case tool.IsShell(unprefixed(m.Tool)):
		c.ran(m, values)
	case m.Act != toolinfo.Read:
		for _, made := range madeBy(m, values) {
			c.wrote(&made)
		}
	}
}

// ran notes what command lines do to files.
func (c *Context) ran(m *toolinfo.Meaning, values []arguments.Leaf) {
	for i := range values {
		if l := &values[i]; commands.Is(m, l) {
			readings := l.Commands()
			for k := range readings[:min(len(readings), arguments.MostCommands)] {
				line := c.line(m, &readings[k])
				if c.lined(line); line.Stays || apart(values) || watches(line) {
					c.stays(line)
				}
			}
		}
	}
}

func (c *Context) lined(line *shell.Line) {
	if !c.ordered(distant(line.Addresses)) && !c.user.tries(line.Whose) {
		for _, f := range line.Came {
			c.past.bring(f)
			c.keepFile(f, cameBit)
		}
		if line.Spills {
			c.past.spill = true
			c.keepMark(keptFile{spillSum, cameBit})
		}
	}
	if line.Ended != "" {
		was := c.past.Inside()
		if c.past.went(line.Ended); c.past.in != was {
			c.keepInside()
		}
	}
	for i := range line.Made {
		c.wrote(&line.Made[i])
	}
	for _, l := range line.Links {
		c.past.link(l)
		c.keepFile(l[0], leadBit)
	}
}

// apart reports whether a host is told to let a command go on while the work does.
func apart(values []arguments.Leaf) bool {
	return slices.ContainsFunc(values, func(l arguments.Leaf) bool {
		return l.Flag && l.Text != "false" && anyOf(arguments.NameWords(l.Path), goesApart) || l.Quoted &&
			goesApart[strings.ToLower(l.Text)]
	})
}

// watches reports whether a line has a word by which programs go on and run files again.
func watches(line *shell.Line) bool {
	return slices.ContainsFunc(line.Runs, func(r shell.Run) bool {
		return watching[r.Name] || slices.ContainsFunc(r.Args, func(a shell.Word) bool {
			word, _, _ := strings.Cut(strings.ToLower(a.Text), "=")
			return watching[word] || watching[word[strings.LastIndexByte(word, ':')+1:]]
		})
	})
}

// stays notes what goes on: unless all of it is known to run no files, a write is a run from now on.
func (c *Context) stays(line *shell.Line) {
	if len(line.Ran) == 0 && !line.Builds && !slices.ContainsFunc(line.Runs, func(r shell.Run) bool { return !waits[r.Name] }) {
		return
	}
	c.past.going = true
	for _, f := range line.Ran {
		if len(c.past.jobs) < maxFiles {
			c.past.jobs = append(c.past.jobs, f)
		}
	}
	c.keepMark(keptFile{goingSum, cameBit})
}

// reruns is what speaks against putting something into files where something that runs already may run it: a write there is a run.
// What it was started with is judged as if it were run now, everything else as by a build.
func (c *Context) reruns(made []shell.Made) (why, value string) {
	if !c.argued || !c.past.going && c.past.sums[goingSum] == 0 {
		return "", ""
	}
	for i := range made {
		m := &made[i]
		if c.reader().Data(m.File) || m.Text == "" {
			continue
		}
		line := c.reader().ReadScript(m.File, shell.Held{Text: m.Text, Part: m.Part || !m.Known})
		started := slices.ContainsFunc(c.past.jobs, func(f string) bool { return same(cleanPath(f), cleanPath(m.File)) })
		does := line.Found
		if !started && !does.Has(shell.RunsFetched|shell.Oversight) && !(does.Has(shell.ReadsSecret) && does.Has(shell.Network)) {
			continue
		}
		if why, value = c.fault(line); why != "" {
			return "something that was started before may run it, and with that " + why, strings.TrimSpace(m.File + " " + value)
		}
	}
	return "", ""
}

// keepInside puts into the trace of the call at hand whether the work is in a folder from elsewhere.
func (c *Context) keepInside() {
	what := uint64(0)
	if c.past.in {
		what = cameBit
	}
	c.keepMark(keptFile{insideSum, what})
}

// keepFile puts a file into the trace of the call at hand.
func (c *Context) keepFile(name string, what uint64) {
	if c.memory.on {
		c.keepMark(keptFile{c.index.Sum(path.Base(cleanPath(name))), what})
	}
}

// keepMark puts what is known of a file into the trace of the call at hand. The last place is for
// the word that there were more.
func (c *Context) keepMark(f keptFile) {
	switch n := len(c.memory.files); {
	case n < maxTraced-1:
		c.memory.files = append(c.memory.files, f)
	case n == maxTraced-1:
		c.memory.files = append(c.memory.files, keptFile{fullSum, cameBit})
	}
}

// wrote notes what is put into a file: what that does when it is run, and whether it stands in
// what others wrote.
func (c *Context) wrote(m *shell.Made) {
	if m.From != "" {
		if !c.moved(m) {
			return
		}
	}
	f := c.past.put(m)
	if f == nil || f.held.Deaf && f.held.Text == "" {
		return
	}
	does := c.reader().ReadScript(f.name, shell.Held{Text: f.held.Text, Part: f.held.Part}).Found
	if f.held.Deaf {
		does |= f.held.Does // of the text that was not kept
	}
	f.held.Does = does
	if c.outside {
		f.opaque = f.opaque || m.Known && !shell.Legible(f.name, m.Text) || !m.Known && m.Text == "" && m.From == ""
		f.theirs = f.theirs || c.holdsTheirs(m.Text)
	}
	what := f.mark()
	if f.held.Does&^shell.FileWrite != 0 || f.theirs || f.opaque {
		c.keepFile(f.name, what)
	}
}

// mark is what is kept of a file.
func (f *file) mark() uint64 {
	what := uint64(f.held.Does) | deafBit
	if f.theirs {
		what |= theirsBit
	}
	if f.opaque {
		what |= opaqueBit
	}
	return what
}

// Wrote is what is known of a file that this conversation wrote or fetched, as [remembered.File] keeps it; 0: nothing.
func (c *Context) Wrote(name string) uint64 {
	what := uint64(0)
	for _, f := range c.past.files {
		if same(f.name, cleanPath(name)) {
			what |= f.mark()
		}
	}
	if c.past.Came(name) {
		what |= cameBit | deafBit
	}
	return what
}

// moved makes a file hold what another one does; false where nothing is known of that.
func (c *Context) moved(m *shell.Made) bool {
	if c.past.Came(m.From) {
		c.past.bring(m.File)
		c.keepFile(m.File, cameBit)
	}
	list := c.past.fit(m.From)
	if len(list) == 0 {
		return false
	}
	held := together(list)
	m.Text, m.Known, m.Part = held.Text, !held.Part, held.Part
	return true
}

// holdsTheirs reports whether a line of a text stands in what came from outside.
func (c *Context) holdsTheirs(text string) bool {
	n := 0
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if len(l) < 24 || len(l) > 400 || strings.HasPrefix(l, "import ") || strings.HasPrefix(l, "from ") || strings.HasPrefix(l, "#") {
			continue
		}
		if n++; n > maxProvenBy {
			return true
		}
		f := c.index.Of(l)
		if f.Class == valueindex.Unseen || f.Class >= valueindex.System {
			continue
		}
		// Also where something of this machine says it again: it may have been told to.
		if f.Class <= valueindex.Text && c.beyond[f.Step] || c.index.Stands(l, func(step uint64) bool { return c.beyond[step] }) {
			return true
		}
	}
	return false
}

// told reports whether a value is somebody whom a tool tells something: that is no file, and what they are told is no script.
// Of a tool that does anything else it stays one, whatever it looks like: a file may be called a@b.sh.
func told(m *toolinfo.Meaning, kind toolinfo.Kind) bool {
	return m.Act == toolinfo.Send && (kind == toolinfo.Email || kind == toolinfo.Phone || kind == toolinfo.URL || kind == toolinfo.Person)
}

// madeBy is what a call of a tool that is no shell puts into files.
func madeBy(m *toolinfo.Meaning, values []arguments.Leaf) []shell.Made {
	var out []shell.Made
	var files []string
	var text strings.Builder
	part := edits[m.Verb]
	for i := range values {
		l := &values[i]
		if !l.Quoted {
			continue
		}
		if patches(m, l) {
			out = append(out, shell.Patched(l.Text)...)
		}
		words := arguments.NameWords(l.Path)
		puts := written[last(words)] || strings.Contains(l.Text, "\n") // as in file_text
		switch p := m.Resolve(l.Path, l.Text); {
		case puts && !anyOf(words, former):
			text.WriteString(l.Text + "\n")
		case p.Kind == toolinfo.Path, anyOf(words, fileNames),
			anyOf(words, movedBy) && !told(m, p.Kind) && !strings.ContainsAny(l.Text, " \n"):
			files = append(files, l.Text)
		case anyOf(words, former):
			part = true
		default:
			text.WriteString(l.Text + "\n")
		}
	}
	if text.Len() == 0 && len(files) > 1 {
		return append(out, shell.Made{File: files[0], From: files[1]}, shell.Made{File: files[1], From: files[0]}) // it is moved or copied
	}
	for _, f := range files {
		if len(f) < 4096 && !strings.Contains(f, "\n") && text.Len() > 0 {
			out = append(out, shell.Made{File: f, Text: text.String(), Known: !part, Part: part})
		}
	}
	return out
}

var (
	edits  = list("edits")
	former = list("former")

	written = list("written")

	movedBy = list("movedby")

	goesApart = list("apart")
	watching  = list("watching")
	waits     = list("waits")
)
