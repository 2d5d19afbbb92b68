package broker

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Adds are the texts that a command would add over there: of a push what is written of its commits, and the lines that they add, file by
// file. Each commit is looked at by itself, because what a later one takes away again is carried all the same.
type Adds struct {
	Whole bool // Texts are all of it; else a part is no text, or is more than is looked through
	Texts []Added
	size  int
}

// Added is one such text.
type Added struct{ Path, Text string }

// mostAdded bounds how much of a push is looked through.
const mostAdded = 512 << 10

// added reads what a push adds. What cannot be read makes it no less a push; whoever judges it knows that there is more.
func (p *pushing) added(ctx context.Context, q *Question, there []string) (*Adds, error) {
	input, any := p.selection(there)
	if !any {
		return &Adds{Whole: true}, nil
	}
	log := []string{"log", "--ignore-missing", "--stdin", "--no-color", "--no-ext-diff", "--no-textconv",
		"--no-show-signature", "--no-mailmap"}
	// as they are stored: whoever writes a commit may add to its head
	written, err := p.repo.inClean(ctx, input, append(slices.Clone(log), "--format=raw")...)
	if err != nil {
		return p.unread(ctx)
	}
	patch, err := p.repo.inClean(ctx, input, append(slices.Clone(log), "--format=", "-m", "--no-renames", "--unified=0", "--patch")...)
	if err != nil {
		return p.unread(ctx)
	}
	a := &Adds{Whole: len(q.Files) < mostFiles}
	a.add("commits", written)
	for _, u := range p.updates {
		a.add("branch", strings.TrimPrefix(u.name, "refs/heads/"))
	}
	for _, f := range q.Files {
		a.add("file", f.Path)
	}
	a.patch(patch)
	return a, nil
}

// unread is a push that could not be read.
func (p *pushing) unread(ctx context.Context) (*Adds, error) { return &Adds{}, ctx.Err() }

// add adds a text, within the bound.
func (a *Adds) add(path, text string) {
	if a == nil {
		return
	}
	if room := mostAdded - a.size; len(text) > room {
		text, a.Whole = text[:room], false
	}
	a.size += len(text)
	text = strings.ToValidUTF8(text, " ")
	if n := len(a.Texts); n > 0 && a.Texts[n-1].Path == path {
		a.Texts[n-1].Text += "\n" + text
		return
	}
	if strings.TrimSpace(text) != "" {
		a.Texts = append(a.Texts, Added{path, text})
	}
}

// hunk is the line before some lines that are taken away and some that are added: how many each.
var hunk = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// patch adds the lines that a patch adds. They are counted, so that no line of a file can pass for a line of the patch.
func (a *Adds) patch(patch string) {
	path, removed, added := "", 0, 0
	var lines strings.Builder
	flush := func() {
		if lines.Len() > 0 {
			a.add(path, lines.String())
		}
		lines.Reset()
	}
	for line := range strings.Lines(patch) {
		switch m := hunk.FindStringSubmatch(line); {
		case removed > 0 && strings.HasPrefix(line, "-"):
			removed--
		case added > 0 && strings.HasPrefix(line, "+"):
			added--
			lines.WriteString(line[1:])
		case strings.HasPrefix(line, `\`): // there is no end of the last line
		case removed > 0 || added > 0:
			a.Whole = false // this is no patch that is known here
			return
		case m != nil:
			removed, added = counted(m[1]), counted(m[2])
			lines.WriteByte('\n')
		case strings.HasPrefix(line, "diff "):
			flush()
			path = "a file"
		case strings.HasPrefix(line, "+++ b/"):
			path = strings.TrimSuffix(strings.TrimPrefix(line, "+++ b/"), "\n")
		case strings.HasPrefix(line, "Binary files "):
			a.Whole = false
		}
	}
	flush()
}

// counted is how many lines a number in such a line means; none is one.
func counted(n string) int {
	if n == "" {
		return 1
	}
	c, err := strconv.Atoi(n)
	if err != nil {
		return 0
	}
	return c
}
