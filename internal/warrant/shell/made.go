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
		args = append(args, Word{Text: "$", loose: true})
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
