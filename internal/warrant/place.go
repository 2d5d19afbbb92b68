package warrant

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

// Files are judged by their paths, whoever writes them: a tool for files, a patch, a command,
// code that a command is given, a link that leads to them.

const (
	deciding = "this file is run or followed later"
	endless  = "its path is too long to be judged"
)

// The longest path that is read: those of file systems are no longer, and what is asked of a path is asked of each of
// its ends.
const (
	longestPath = 4096
	mostFolders = 256
)

// unreadable reports whether a path is longer than any that is read. It may be any file, and nobody named it.
func unreadable(file string) bool {
	return len(file) > longestPath || strings.Count(file, "/")+strings.Count(file, `\`) > mostFolders
}

// file judges a file the host's own tools write.
func (j *judging) file(l *arguments.Leaf) { j.writes(l.Path, l.Text, "") }

// writes judges a file that is written, and what it leads to. With is shown beside it.
func (j *judging) writes(param, name, with string) {
	c := j.c
	if unreadable(name) {
		j.bad(true, endless, param, name+with)
		return
	}
	for _, f := range c.past.reach(name) {
		if (sensitive(f) || c.outside && steers(f)) && !c.saidFile(f) {
			j.bad(sensitive(f), deciding, param, f+with)
			return
		}
	}
	if c.outside && c.past.led(name) && !c.saidFile(name) {
		j.bad(false, "this path may be a link that was made earlier", param, name+with)
	}
}

// location is what a file that a server's tool is given stands for: a place where it decides something, and no file that
// anybody named where its path cannot be read.
func location(file string, k Kind, e Evidence, why string) (Kind, Evidence, string) {
	switch {
	case unreadable(file):
		return Place, Nothing, endless
	case sensitive(file) || steers(file) && strings.Contains(path.Base(file), "."):
		return Place, e, why
	}
	return k, e, why
}

// patches reports whether a value changes files as a patch says, by the name of the tool or of the
// parameter.
func patches(m *toolinfo.Meaning, l *arguments.Leaf) bool {
	return wordIn(m.Tool, patching) || wordIn(l.Path, patching)
}

// patch judges the files of a patch that a tool is given.
func (j *judging) patch(l *arguments.Leaf) {
	if !patches(j.m, l) {
		return // a text like any other
	}
	for _, m := range shell.Patched(l.Text) {
		j.writes(l.Path, m.File, " in "+text.Head(l.Text, 300))
	}
}

// opens judges a file that a tool reads: keys are read by nobody unasked.
func (j *judging) opens(l *arguments.Leaf) {
	if unreadable(l.Text) {
		j.w.endanger(false)
		j.w.fault(l.Path, l.Text, endless)
		return
	}
	for _, f := range j.c.past.reach(l.Text) {
		if keyFile(f) && !j.c.saidFile(f) {
			j.w.endanger(false)
			j.w.fault(l.Path, f, "it reads a secret")
			return
		}
	}
}

// keyFile reports whether a file holds secrets, and is none of the work at hand.
func keyFile(f string) bool {
	if !shell.Secret(f) || !strings.HasPrefix(f, "/") && !strings.HasPrefix(f, "~") {
		return false
	}
	base := strings.ToLower(path.Base(f))
	deep := strings.HasPrefix(f, "/home/") && strings.Count(f, "/") > 3 || strings.HasPrefix(f, "/Users/") && strings.Count(f, "/") > 3
	return !(deep && strings.HasPrefix(base, ".env")) // hosts name the files of the work by their full paths
}

// saidFile reports whether the user named a file: as it is written here, by the end of its path,
// or in full where this is the end of it. One word alone names a file that decides something
// only if it is no word of the language.
func (c *Context) saidFile(name string) bool {
	if unreadable(name) {
		return false
	}
	if c.index.Said(name) {
		return true
	}
	parts := strings.Split(strings.Trim(name, "/"), "/")
	for i := range parts {
		end := strings.Join(parts[i:], "/")
		plain := i == len(parts)-1 && !strings.ContainsAny(strings.Trim(end, "."), "._-") && sensitive(name) && !strings.HasPrefix(end, ".")
		if end != "" && !plain && c.index.Said(end) {
			return true
		}
	}
	all := strings.ToLower(strings.Join(parts, "/"))
	return len(parts) > 1 && slices.ContainsFunc(c.said, func(s string) bool { return endsPath(s, all) })
}

// endsPath reports whether a path in a text ends with a shorter one.
func endsPath(text, end string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], "/"+end)
		if i < 0 {
			return false
		}
		from += i + len(end) + 1
		rest := strings.TrimLeft(text[from:], ".") // a full stop ends a sentence, not a path
		if rest == "" || !pathByte(rest[0]) {
			return true
		}
	}
}

func pathByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || strings.IndexByte("_-/", b) >= 0 || b >= 0x80
}

// settles reports whether all that a command leaves behind are files the user named.
func (c *Context) settles(line *shell.Line) bool {
	byProgram := slices.ContainsFunc(line.Runs, func(r shell.Run) bool { return r.Effects.Has(shell.Persist) })
	lasting := slices.DeleteFunc(slices.Clone(line.Writes), func(f string) bool { return !shell.Lasting(f) })
	unsaid := slices.ContainsFunc(lasting, func(f string) bool { return !c.saidFile(f) || len(c.past.reach(f)) > 1 })
	return !byProgram && len(lasting) > 0 && !unsaid
}

// lands is what speaks against the files that a command writes and the addresses it asks.
func (c *Context) lands(line *shell.Line, addresses []string) (why, value string) {
	for _, f := range slices.Concat(line.Touches, line.Writes) {
		if unreadable(f) {
			return endless, f
		}
	}
	for _, f := range line.Touches {
		if c.outside && sensitive(f) && !c.saidFile(f) {
			return deciding, f
		}
	}
	for _, name := range line.Writes {
		if why, value = c.writesTo(name); why != "" {
			return why, value
		}
	}
	if f := c.givesText(line); f != "" {
		return deciding, f
	}
	if !c.argued {
		return "", ""
	}
	for _, u := range addresses {
		if e, _ := c.address(u); e < Followed {
			return "an address nobody named", u
		}
	}
	return "", ""
}

// writesTo is what speaks against a file that a command writes, and which of those that its name may mean.
func (c *Context) writesTo(name string) (why, value string) {
	for _, f := range c.past.reach(name) {
		if (sensitive(f) || c.outside && heeded(f)) && !c.saidFile(f) {
			return deciding, f
		}
	}
	if c.outside && c.reader().Elsewhere(name) && !c.saidFile(name) { // what lies there may be everybody's, or go on from there
		return "it writes outside of the folder that is worked in", name
	}
	if c.outside && c.past.led(name) && !c.saidFile(name) {
		return "this path may be a link that was made earlier", name
	}
	return "", ""
}

// heeded reports whether something runs or obeys a file that a command writes. Of what programs put out, files of
// other endings are mostly results.
func heeded(f string) bool {
	base := strings.ToLower(path.Base(f))
	switch {
	case !steers(f):
		return false
	case dotFile(base), running[base], builtBy[base], manifests[base], blindly(f), placed(f):
		return true
	}
	return settings[path.Ext(base)] && !strings.HasPrefix(f, "/tmp/")
}

// givesText is a file without an ending that a command gives a text to, and that the user did not name; "" is none.
func (c *Context) givesText(line *shell.Line) string {
	if !c.outside {
		return ""
	}
	for i := range line.Made {
		if m := &line.Made[i]; m.Text != "" && unended(m.File) && !c.saidFile(m.File) {
			return m.File
		}
	}
	return ""
}

// unended reports whether a file that a command gives a text to has no ending, and is none of those that nothing runs:
// many that say what is built are called by a word alone.
func unended(f string) bool {
	return path.Ext(path.Base(f)) == "" && !strings.HasPrefix(f, "/tmp/") && !strings.HasPrefix(f, "/dev/") && steers(f)
}

// blindly reports whether a path that is decided when it runs ends in a folder of files that run
// by themselves.
func blindly(f string) bool {
	return strings.Contains(f, "$") && anyOf(strings.Split(strings.ToLower(f), "/"), triggers)
}

// dotFile reports whether a name is nothing but a word after a dot.
func dotFile(base string) bool { return strings.LastIndexByte(base, '.') == 0 && len(base) > 1 }

var (
	builtBy  = list("builtby")
	patching = list("patching")
	triggers = list("triggers")
	settings = list("settings")
)

var (
	towns  = list("towns")
	region = regexp.MustCompile(`^\pL[\pL ]{0,23}$`)
)

// fullerTown reports whether a value is a town that the owner named with the region it lies in, and nobody else has spoken of either.
func (c *Context) fullerTown(path, value string) bool {
	town, rest, more := strings.Cut(value, ", ")
	if !more || !towns[arguments.LastWord(path)] || !region.MatchString(rest) || c.index.Of(town).Class != valueindex.User {
		return false
	}
	anywhere := func(uint64) bool { return true }
	return !c.index.Stands(town, anywhere) && !c.index.Stands(rest, anywhere)
}
