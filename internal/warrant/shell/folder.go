package shell

import (
	"path"
	"slices"
	"strings"
)

// maxFolders bounds in how many folders a line may be at one point.
const maxFolders = 64

// maxLinks bounds how many links a line may make.
const maxLinks = 16

// maxFolderName bounds the length of one.
const maxFolderName = 4096

// folders say where a line is. "" is where it began; what is decided when it runs is "$".
type folders struct {
	now    string
	old    string   // where it was before
	others []string // where it may be too
	doubt  []string // those of them where it only is if something failed before
	failed []string // where it is if the last command failed
	stack  []string
	lost   bool // a program decides, when it runs, where it is
	moved  bool // it went somewhere at all
}

// at is a file as seen from where the line began.
func (w *walker) at(file string) string {
	if rest, ok := strings.CutPrefix(file, "~-"); ok && (rest == "" || rest[0] == '/') {
		return within(w.where.old, "."+rest)
	}
	if w.weigh(len(w.where.now)); w.steps > maxSteps {
		return file // it has every effect already
	}
	return within(w.where.now, here(file))
}

// here is a name without the mark by which a shell says where it is.
func here(file string) string {
	if rest, ok := strings.CutPrefix(file, "~+"); ok && (rest == "" || rest[0] == '/') {
		return "." + rest
	}
	return file
}

// everywhere is a file as seen from every folder the line may be in.
func (w *walker) everywhere(file string) []string {
	out := []string{w.at(file)}
	if w.steps > maxSteps {
		return out
	}
	size := 0
	for _, d := range w.where.others {
		out = union(out, within(d, here(file)))
		size += len(d)
	}
	w.weigh(size)
	if len(w.links) == 0 {
		return out
	}
	for i := 0; i < len(out); i++ { // a link may lead to a link
		if w.steps++; len(out) > 4*maxFolders || w.steps > maxSteps {
			w.unread()
			return out
		}
		f := out[i]
		for _, l := range w.links {
			if head, rest, ok := strings.Cut(f+"/", l.name+"/"); ok && (head == "" || strings.HasSuffix(head, "/")) {
				out = union(out, settled(l.to+"/"+rest))
			}
		}
	}
	return out
}

// link is a second name for a file or folder.
type link struct{ name, to string }

// linked notes such a name.
func (w *walker) linked(name, to string) {
	if len(w.line.Links) >= maxLinks {
		w.unread()
		return
	}
	w.links = append(w.links, link{path.Base(name), to})
	w.line.Links = append(w.line.Links, [2]string{path.Base(name), to})
}

// rooted reports whether a name says itself where it is.
func rooted(file string) bool { return strings.HasPrefix(file, "/") || strings.HasPrefix(file, "~") }

// within is a file of a folder.
func within(dir, file string) string {
	if dir == "" || file == "" || rooted(file) {
		return file
	}
	return settled(dir + "/" + file)
}

// settled is a path with its ".." followed, also out of a home. They are not followed out
// of a folder that is not known.
func settled(file string) string {
	const home = "/home/~"
	switch {
	case strings.HasPrefix(file, "~"):
		name, rest, _ := strings.Cut(file, "/")
		full := path.Clean("/home/" + name + "/" + rest)
		if name == "~" && strings.HasPrefix(full+"/", home+"/") {
			return "~" + full[len(home):]
		}
		return strings.Replace(full, "/home/~", "~", 1)
	case strings.HasPrefix(file, "$") && strings.Contains(file, ".."):
		return file
	}
	return path.Clean(file)
}

// enter goes to a folder. It may not be there: then the line stays where it is.
func (w *walker) enter(to string, lost bool) {
	if to == "" {
		return
	}
	if w.vars.set["CDPATH"] > 0 && !rooted(to) && !strings.HasPrefix(to, ".") {
		w.unread()
		return
	}
	if len(to) > maxFolderName {
		w.unread()
		return
	}
	was := w.where
	next := folders{now: folder(was.now, to), old: was.now, stack: was.stack, lost: lost || was.lost && !rooted(to), moved: true}
	next.failed = union(union(was.others, was.failed...), was.now)
	for _, o := range was.others {
		f, doubt := folder(o, to), slices.Contains(was.doubt, o)
		if doubt && strings.HasPrefix(f, "../..") {
			continue // each way back would lead one further up, though hardly any fails
		}
		next.others = union(next.others, f)
		if doubt {
			next.doubt = union(next.doubt, f)
		}
	}
	w.where = next
	w.crowded()
}

// folder is a folder seen from another. Of one that is decided when it runs no more is kept
// than its beginning, once it is left.
func folder(dir, to string) string {
	out := settled(within(dir, to))
	if strings.Contains(out, "$") && (strings.Contains(out, "..") || strings.Count(out, "$") > 1) {
		return "$"
	}
	return out
}

// back goes to a folder the line was in before.
func (w *walker) back(dir string) {
	was := w.where
	w.where = folders{now: dir, old: was.now, stack: was.stack, lost: was.lost || strings.HasPrefix(dir, "$"), moved: true}
	w.where.failed = union(union(was.others, was.failed...), was.now)
	w.crowded()
}

// pop goes back to where pushd was called.
func (w *walker) pop() {
	if n := len(w.where.stack); n > 0 {
		w.back(w.where.stack[n-1])
		w.where.stack = w.where.stack[:n-1]
	}
}

// settle ends a command that may have failed.
func (w *walker) settle() {
	for _, f := range w.where.failed {
		if !slices.Contains(w.where.others, f) {
			w.where.doubt = union(w.where.doubt, f)
		}
	}
	w.where.others = union(w.where.others, w.where.failed...)
	w.where.failed = nil
	w.crowded()
}

// apart reads something that has a folder of its own.
func (w *walker) apart(read func() flow) flow {
	where := w.where
	out := read()
	w.where = where
	return out
}

// perhaps reads something that may not run, or run somewhere else.
func (w *walker) perhaps(read func() flow) flow {
	before := w.where
	out := read()
	after := w.where
	w.where = before
	if after.now != before.now || len(after.others)+len(after.failed) != len(before.others)+len(before.failed) {
		w.where.others = union(union(before.others, after.now), slices.Concat(after.others, after.failed)...)
		w.where.doubt = slices.DeleteFunc(doubted(&before, &after, after.failed), func(d string) bool { return d == after.now })
		w.where.lost = before.lost || after.lost
		w.where.stack = after.stack
	}
	w.crowded()
	return out
}

// surely reports whether a folder is among the others though nothing failed.
func (f *folders) surely(dir string) bool {
	return slices.Contains(f.others, dir) && !slices.Contains(f.doubt, dir)
}

// doubted are the folders where a line only is if something failed, both ways.
func doubted(a, b *folders, failed []string) []string {
	var out []string
	for _, d := range slices.Concat(a.doubt, b.doubt, failed) {
		if !a.surely(d) && !b.surely(d) {
			out = union(out, d)
		}
	}
	return out
}

// again reads what may run more than once: the second time it begins where the first ended.
func (w *walker) again(read func() flow) flow {
	return w.perhaps(func() flow {
		before := w.where
		out := read()
		if w.where.now != before.now {
			w.settle()
			out = out.join(read())
		}
		return out
	})
}

func (w *walker) crowded() {
	if len(w.where.others) > maxFolders || len(w.where.stack) > maxFolders || len(w.where.now) > maxFolderName {
		w.unread()
	}
}

// union is a list with more values, each once. It never changes the list it is given.
func union(list []string, more ...string) []string {
	out := slices.Clip(list)
	for _, m := range more {
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// enters reads cd: programs started from a fetched folder are fetched.
func (c *call) enters() {
	if c.name == "popd" {
		c.pop()
		return
	}
	_, rest := options(c.args, "", nil)
	to := Word{Text: "~", Known: true}
	switch {
	case len(rest) > 0:
		to = rest[0]
	case c.name == "pushd":
		to.Text = "-"
	case c.vars.set["HOME"] > 0:
		to = Word{Text: "$", flow: flow{made: true}}
	}
	c.inside = c.inside || c.isFetched(to.Text)
	was := c.where
	switch {
	case c.name == "pushd" && len(to.Text) > 1 && strings.ContainsAny(to.Text[:1], "+-"):
		c.enter("$", true) // one of those it was in
	case to.Text == "-" && was.moved:
		c.back(was.old)
	case to.Text == "-":
		c.enter("$", true) // where an earlier command was
	default:
		c.enter(to.Text, to.flow.made && to.tame == wild && !to.plain && strings.HasPrefix(to.Text, "$"))
	}
	if c.name == "pushd" {
		c.where.stack = append(slices.Clip(c.where.stack), was.now)
	}
}
