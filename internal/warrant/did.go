package warrant

import (
	"path"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/commands"
	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/origin"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/tool"
)

// Did notes what a call that may run does to files, before it does: what is run later is judged
// by it. It returns the trace of that; nil where nothing need be kept.
func (c *Context) Did(name string, args *tool.Args) []byte {
	c.listen()
	m := c.meaning(name)
	fields, err := args.Fields()
	if err != nil {
		return nil
	}
	values := leaves.Of(fields)
	if len(values) > leaves.Most {
		return nil
	}
	if in, ok := c.unwrap(fields); ok {
		m, values = in.tool, in.values
	}
	if m.Act == meaning.Read && !tool.IsShell(unprefixed(m.Tool)) {
		return nil
	}
	c.memory.files = nil
	if tool.IsShell(unprefixed(m.Tool)) {
		c.ran(m, values)
	} else {
		for _, made := range madeBy(m, values) {
			c.wrote(&made)
		}
	}
	c.past.bound()
	if len(c.memory.files) == 0 || !c.memory.on {
		return nil
	}
	return c.traced(trace{files: c.memory.files})
}

// ran notes what command lines do to files.
func (c *Context) ran(m *meaning.Meaning, values []leaves.Leaf) {
	for i := range values {
		if l := &values[i]; commands.Is(m, l) {
			readings := l.Commands()
			for k := range readings[:min(len(readings), leaves.MostCommands)] {
				c.lined(c.line(m, &readings[k]))
			}
		}
	}
}

func (c *Context) lined(line *shell.Line) {
	if !c.ordered(distant(line.Addresses)) {
		for _, f := range line.Came {
			c.past.bring(f)
			c.keepFile(f, cameBit)
		}
		if line.Spills {
			c.past.spill = true
			c.memory.files = append(c.memory.files, keptFile{spillSum, cameBit})
		}
	}
	if line.Ended != "" {
		c.past.went(line.Ended)
	}
	for i := range line.Made {
		c.wrote(&line.Made[i])
	}
	for _, l := range line.Links {
		c.past.link(l)
		c.keepFile(l[0], leadBit)
	}
}

// keepFile puts a file into the trace of the call at hand.
func (c *Context) keepFile(name string, what uint64) {
	if c.memory.on && len(c.memory.files) < maxTraced {
		c.memory.files = append(c.memory.files, keptFile{c.index.Sum(path.Base(cleanPath(name))), what})
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
	f.held.Does = c.reader().ReadScript(f.name, f.held).Found
	if c.outside {
		f.opaque = f.opaque || m.Known && !shell.Legible(f.name, m.Text) || !m.Known && m.Text == "" && m.From == ""
		f.theirs = f.theirs || c.holdsTheirs(m.Text)
	}
	what := uint64(f.held.Does) | deafBit
	if f.theirs {
		what |= theirsBit
	}
	if f.held.Does&^shell.FileWrite != 0 || f.theirs {
		c.keepFile(f.name, what)
	}
}

// moved makes a file hold what another one does; false where nothing is known of that.
func (c *Context) moved(m *shell.Made) bool {
	if c.past.Came(m.From) {
		c.past.bring(m.File)
		c.keepFile(m.File, cameBit)
	}
	f := c.past.find(m.From)
	if f == nil {
		return false
	}
	m.Text, m.Known, m.Part = f.held.Text, !f.held.Part, f.held.Part
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
		if f.Class == origin.Unseen || f.Class >= origin.System {
			continue
		}
		// Also where something of this machine says it again: it may have been told to.
		if f.Class <= origin.Text && c.beyond[f.Step] || c.index.Stands(l, func(step uint64) bool { return c.beyond[step] }) {
			return true
		}
	}
	return false
}

// madeBy is what a call of a tool that is no shell puts into files.
func madeBy(m *meaning.Meaning, values []leaves.Leaf) []shell.Made {
	var out []shell.Made
	var files []string
	text, part := "", edits[m.Verb]
	for i := range values {
		l := &values[i]
		if !l.Quoted {
			continue
		}
		if patches(m, l) {
			out = append(out, shell.Patched(l.Text)...)
		}
		words := leaves.NameWords(l.Path)
		puts := written[last(words)] || strings.Contains(l.Text, "\n") // as in file_text
		switch p := m.Resolve(l.Path, l.Text); {
		case puts && !anyOf(words, former):
			text += l.Text + "\n"
		case p.Kind == meaning.Path || anyOf(words, fileNames) || anyOf(words, movedBy) && !strings.ContainsAny(l.Text, " \n"):
			files = append(files, l.Text)
		case anyOf(words, former):
			part = true
		default:
			text += l.Text + "\n"
		}
	}
	if text == "" && len(files) > 1 {
		return append(out, shell.Made{File: files[0], From: files[1]}, shell.Made{File: files[1], From: files[0]}) // it is moved or copied
	}
	for _, f := range files {
		if len(f) < 4096 && !strings.Contains(f, "\n") && text != "" {
			out = append(out, shell.Made{File: f, Text: text, Known: !part, Part: part})
		}
	}
	return out
}

var (
	edits  = list("edits")
	former = list("former")

	written = list("written")

	movedBy = list("movedby")
)
