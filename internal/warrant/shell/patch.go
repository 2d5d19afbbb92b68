package shell

import (
	"slices"
	"strings"
)

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
