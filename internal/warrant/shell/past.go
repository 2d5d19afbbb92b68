package shell

import (
	"path"
	"slices"
	"strings"
)

// Past is what happened to files before a line: what other commands and tools of the same work
// fetched, wrote and linked. A line that runs a file does what the file says.
type Past interface {
	// Came reports whether a file, or a folder it is in, came from elsewhere.
	Came(file string) bool
	// Held is what was written into a file.
	Held(file string) (Held, bool)
	// Spilled reports whether an archive from elsewhere was taken apart where the work is.
	Spilled() bool
	// Inside reports whether the work was left in a folder that came from elsewhere.
	Inside() bool
	// Leads are the second names of files, and what they lead to.
	Leads() [][2]string
}

// Held is what a file holds, as far as it is known.
type Held struct {
	Text string
	Part bool    // Text is what was changed in it, and not all of it
	Does Effects // what is known of a text that was not kept
	Deaf bool    // the text was not kept
}

// Made is what a line, or a tool, puts into a file.
type Made struct {
	File  string
	Text  string
	Known bool   // Text is all that is put there
	Part  bool   // the file holds more than that
	From  string // the file it is a copy of, where that is all that is known
}

// Script is a file that a line runs and that was written before, with what it does. Part says that code takes it in by its name, as a
// test of the work does.
type Script struct {
	File string
	Line *Line
	Part bool
}

// Remember makes the reader look files up in a past; nil is none.
func (r *Reader) Remember(p Past) { r.past = p }

// makes notes what the line puts into a file, for whoever reads the next line.
func (w *walker) makes(m Made) {
	if len(w.line.Made) < maxNamed {
		w.line.Made = append(w.line.Made, m)
	}
}

// wrote is what the line itself, or something before it, put into a file.
func (w *walker) wrote(file string) (flow, bool) {
	if f, ok := w.made[path.Base(file)]; ok {
		return f, ok
	}
	if w.reader.past == nil {
		return flow{}, false
	}
	h, ok := w.reader.past.Held(w.at(file))
	return flow{text: h.Text, known: !h.Part && !h.Deaf, given: true}, ok
}

// ran notes a file that is run, or loaded into what runs. Code says that it is none for a
// shell.
func (w *walker) ran(file string, code bool) {
	if file == "" || file == "-" || strings.HasPrefix(file, "/dev/") || strings.ContainsAny(file, "\n") {
		return
	}
	note(&w.line.Ran, w.at(file))
	if _, here := w.made[path.Base(file)]; here || w.reader.past == nil {
		return
	}
	for _, f := range w.everywhere(file) {
		h, ok := w.reader.past.Held(f)
		switch {
		case !ok:
		case len(w.line.Scripts) >= maxScripts:
			w.unread()
			return
		default:
			w.line.Scripts = append(w.line.Scripts, Script{File: f, Line: w.recalled(f, h, code)})
		}
	}
}

// ran notes a file that a program runs, with the words that it is handed.
func (c *call) ran(file string, code bool) {
	was := c.openArgs
	c.openArgs = was || slices.ContainsFunc(c.args, func(a Word) bool { return a.open })
	c.walker.ran(file, code)
	c.openArgs = was
}

// spilled reports whether a file of the work may have come out of an archive from elsewhere:
// nobody here wrote it.
func (w *walker) spilled(file string) bool {
	if w.reader.past == nil || rooted(file) || !w.reader.past.Spilled() {
		return false
	}
	_, wrote := w.wrote(file)
	return !wrote
}

// loads notes a module that code takes in, by the names its file may have.
func (w *walker) loads(module string) (does Effects) {
	module = strings.ReplaceAll(strings.TrimPrefix(module, "./"), ".", "/")
	for _, f := range []string{module, module + ".py", module + ".js", module + "/__init__.py", module + "/index.js"} {
		if w.isFetched(f) {
			does |= RunsFetched
		}
		if _, ok := w.wrote(f); ok {
			w.ran(f, true)
		}
	}
	return does
}

// maxScripts bounds how many files of earlier steps a line is read with.
const maxScripts = 16

// recalled reads a file that was written before.
func (w *walker) recalled(file string, h Held, code bool) *Line {
	inner := w.reader.walk()
	inner.depth, inner.parsed = w.depth+1, w.parsed
	inner.names.reset = w.openArgs || w.fedMore && !w.fedNames
	switch {
	case h.Deaf:
		inner.line.Effects = h.Does
	case inner.depth > maxDepth || len(h.Text)+w.parsed > maxParsed:
		inner.unread()
	case code || IsCode(file, h.Text):
		inner.line.Effects |= inner.source(h.Text)
	case h.Part:
		inner.salvage(h.Text)
	default:
		inner.script(h.Text, flow{})
	}
	w.parsed = inner.parsed
	return inner.done()
}

// ReadScript reads what a file does when it is run.
func (r *Reader) ReadScript(file string, h Held) *Line {
	w := r.walk()
	return w.recalled(file, h, false)
}

// codeEndings are those of files in languages whose words this package knows.
var codeEndings = set(`.py .pyw .js .mjs .cjs .ts .mts .tsx .jsx .rb .pl .pm .php .go .lua .awk .c .h .cc .cpp .hpp .rs .java .kt .kts
	.cs .swift .scala`)

// shellEndings are those of scripts for a shell.
var shellEndings = set(".sh .bash .zsh .ksh .command .envrc")

// IsCode reports whether a file is code of a language that is no shell's, by its name and its
// first line.
func IsCode(file, text string) bool {
	if codeEndings[strings.ToLower(path.Ext(file))] {
		return true
	}
	head, _, _ := strings.Cut(text, "\n")
	return strings.HasPrefix(head, "#!") && !shells[lastWord(head)]
}

// Legible reports whether what a file does can be told from its text: it is for a shell, or in a
// language whose words this package knows.
func Legible(file, text string) bool {
	ext := strings.ToLower(path.Ext(file))
	if codeEndings[ext] || shellEndings[ext] || ext == "" || ext == ".txt" {
		return true
	}
	return strings.HasPrefix(text, "#!")
}

// lastWord is the program that the first line of a script names.
func lastWord(head string) string {
	f := strings.Fields(strings.TrimPrefix(head, "#!"))
	for i := len(f) - 1; i >= 0; i-- {
		if !strings.HasPrefix(f[i], "-") {
			return path.Base(f[i])
		}
	}
	return ""
}
