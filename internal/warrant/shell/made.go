package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// keep remembers what a line puts into a file: the same line may run it.
func (w *walker) keep(file string, f flow, more bool) {
	base := path.Base(file)
	was, ok := w.made[base]
	switch {
	case !ok && len(w.made) >= maxNamed:
		w.unread()
		return
	case more && ok:
		f.text, f.known, f.made = was.text+f.text, was.known && f.known, f.made || was.made || was.text == ""
		f.local = f.local && was.local
	}
	if len(f.text) > maxCommand {
		f.text, f.known = "", false
	}
	w.made[base] = f
	w.makes(Made{File: w.at(file), Text: f.text, Known: f.known, Part: more})
}

// altered forgets what a file holds that is written in some other way.
func (w *walker) altered(file string, f flow) {
	base := path.Base(file)
	if was, ok := w.made[base]; ok {
		w.made[base] = flow{made: true, fetched: was.fetched || f.fetched, decoded: was.decoded || f.decoded}
	}
}

// held is what the line put into each of the files; nil for those it did not write.
func (c *call) held(files []Word) []*flow {
	out := make([]*flow, len(files))
	for i, a := range files {
		if f, ok := c.wrote(a.Text); ok {
			out[i] = &f
		} else if a.Text == "/dev/stdin" {
			out[i] = &c.in
		}
	}
	return out
}

// stands remembers that files are copies of another, which holds what is known of it, or
// links to it.
func (c *call) stands(from Word, held *flow, dest []string) {
	base := path.Base(from.Text)
	for _, d := range dest {
		name := path.Base(d)
		if c.name == "ln" {
			c.linked(d, c.at(from.Text))
		}
		if held != nil {
			c.keep(d, *held, false)
			continue
		}
		if name != base || !from.Known {
			if !strings.Contains(from.Text, "/") {
				from.Text = "./" + from.Text // a file here, not a program of that name
			}
			c.copy(name, from)
		}
	}
}

// copy remembers that a name stands for a program.
func (w *walker) copy(name string, program Word) {
	if len(w.copied) >= maxNamed || len(w.copied[name]) >= maxActive {
		w.unread()
		return
	}
	w.copied[name] = append(w.copied[name], program)
}

// copiesOf are the programs a name stands for. A name without a folder does if the line
// says where programs are found.
func (w *walker) copiesOf(name string) []Word {
	if len(w.copied) == 0 || !strings.Contains(name, "/") && !w.paths {
		return nil
	}
	return slices.Clip(w.copied[path.Base(name)])
}

// runsMade reads a program that the line itself wrote.
func (c *call) runsMade(file string, args []Word) flow {
	f, ok := c.made[path.Base(file)]
	if !ok {
		return flow{}
	}
	head, _, _ := strings.Cut(f.text, "\n")
	for name := range interpreters {
		if strings.HasPrefix(head, "#!") && strings.Contains(head, name) {
			c.inline(f.text)
			return flow{}
		}
	}
	return c.madeScript(f, func() flow { return c.withWords(f.text, args, flow{}) })
}

// madeScript reads a script for a shell that the line itself wrote.
func (c *call) madeScript(f flow, read func() flow) flow {
	if f.fetched || f.decoded {
		c.does |= RunsFetched // and what that is, is decided elsewhere
		return flow{}
	}
	if !f.known && f.local {
		return flow{} // no more is known of those it was made of
	}
	if !f.known && (f.made || f.text == "") {
		c.unread()
		return flow{}
	}
	return read()
}

// withWords reads a script with the words it is handed.
func (c *call) withWords(text string, args []Word, in flow) flow {
	for _, a := range args {
		c.loosely(a.Text)
	}
	args = slices.Clip(args)
	if c.fedMore {
		args = append(args, Word{Text: "$", loose: true, open: !c.fedNames})
	}
	return c.handing(args, !strings.Contains(text, "shift") && !strings.Contains(text, "set "), func() flow { return c.script(text, in) })
}

// plainEdit is a text for sed that puts a word in the place of another, and no more.
var plainEdit = regexp.MustCompile(`^s/[\w.,=^$*+-]*/[\w.,=+-]*/[gI0-9]*$`)

// passes notes that what comes out is what scripts here hold: as opaque as they are.
func (c *call) passes(files []Word) {
	for _, a := range files {
		name := a.Text[strings.LastIndexByte(a.Text, ':')+1:]
		base := path.Base(name)
		_, wrote := c.made[base]
		wrote = wrote || c.copied[base] != nil || slices.ContainsFunc(c.line.Writes, func(f string) bool { return path.Base(f) == base })
		if ext := path.Ext(name); !a.Known || wrote || ext != ".sh" && ext != ".bash" || strings.Contains(a.Text, "://") {
			return
		}
	}
	c.out.local = len(files) > 0
}

// maxPatchLines bounds how much of a patch is looked at; one with more is not understood.
const maxPatchLines = 20_000

// Patched are the files that a patch writes, moves or removes, with the lines it adds to each,
// in the forms that git, patch and agents' own tools read. It is nil for a text that is no
// patch.
func Patched(text string) []Made {
	if !strings.Contains(text, "*** ") && !strings.Contains(text, "+++ ") && !strings.Contains(text, "rename to ") &&
		!strings.Contains(text, "diff --git ") {
		return nil
	}
	var p patch
	n := 0
	for l := range strings.Lines(text) {
		if n++; n > maxPatchLines {
			break
		}
		p.line(strings.TrimRight(l, "\r\n"))
	}
	return p.files
}

// patch is a patch being read.
type patch struct {
	files []Made
	at    int // the file that lines are added to, from 1; 0: none
}

// patchMarks begin the lines that name a file, and say how the name is written.
var patchMarks = []string{
	"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:", "+++ ", "--- ", "rename to ", "rename from ", "copy to ",
	"Index: ",
}

func (p *patch) line(l string) {
	for _, mark := range patchMarks {
		if name, ok := strings.CutPrefix(l, mark); ok {
			p.name(mark, name)
			return
		}
	}
	if names, ok := strings.CutPrefix(l, "diff --git "); ok {
		for f := range strings.FieldsSeq(names) {
			p.name("+++ ", f)
		}
		return
	}
	if rest, ok := strings.CutPrefix(l, "+"); ok && p.at > 0 && len(p.files[p.at-1].Text) < maxCommand {
		p.files[p.at-1].Text += rest + "\n"
	}
}

// name notes a file of the patch. What stands behind a tab is when it was written.
func (p *patch) name(mark, name string) {
	name, _, _ = strings.Cut(name, "\t")
	name = strings.Trim(strings.TrimSpace(name), `"`)
	if mark != "rename to " && mark != "rename from " {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "a/"), "b/")
	}
	if name == "" || name == "/dev/null" {
		return
	}
	i := slices.IndexFunc(p.files, func(m Made) bool { return m.File == name })
	if i < 0 {
		if len(p.files) >= maxNamed {
			return
		}
		p.files = append(p.files, Made{File: name, Part: mark != "*** Add File:"})
		i = len(p.files) - 1
	}
	p.at = i + 1
}

// patches reads programs that change files as a patch says: one they are fed, one that is a
// word of theirs, one in a file that was written before.
func (c *call) patches(args []Word) {
	c.does |= FileWrite
	c.patched()
	if c.in.known {
		c.applies(c.in.text)
	}
	for _, a := range args {
		if strings.Contains(a.Text, "\n") {
			c.applies(a.Text)
			continue
		}
		name := a.Text
		if _, v, ok := strings.Cut(name, "="); ok {
			name = v
		}
		if f, ok := c.wrote(name); ok {
			c.applies(f.text)
		}
	}
}

// applies notes the files of a patch.
func (c *call) applies(text string) {
	for _, m := range Patched(text) {
		c.written(m.File, flow{})
		m.File = c.at(m.File)
		c.makes(m)
	}
}
