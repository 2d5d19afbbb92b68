package shell

import (
	"path"
	"slices"
	"strings"
)

// readers show files as they are, or parts of them.
var readers = set(`cat tac nl head tail less more bat view strings od hexdump grep egrep fgrep rg ag sed cut sort uniq tr
	awk gawk jq yq diff cmp file wc paste column fold fmt rev zcat gunzip gzip xz tar zip 7z`)

// readerValues are the letters of the flags of some of them that take a value.
var readerValues = map[string]string{
	"cat": "", "tac": "s", "less": "", "more": "", "view": "", "strings": "n", "head": "nc", "tail": "ncs", "wc": "",
	"uniq": "fsw", "file": "", "rev": "", "zcat": "",
	"grep": "eAfBCmdD", "egrep": "eAfBCmdD", "fgrep": "eAfBCmdD", "sort": "ktoST",
}

// patterned are those whose first word is what they look for.
var patterned = set("grep egrep fgrep")

// givesPattern reports whether flags say what is looked for.
func givesPattern(flags map[string][]string) bool {
	for f := range flags {
		if f == "-e" || f == "-f" || strings.HasPrefix(f, "--reg") || strings.HasPrefix(f, "--fi") {
			return true
		}
	}
	return false
}

// read notes the files a program reads.
func (c *call) read() {
	values, ok := readerValues[c.name]
	if !ok {
		values = "neAfBCmdktFs"
	}
	flags, rest := options(c.args, values, nil)
	if patterned[c.name] && (len(rest) > 1 || len(rest) == 1 && c.in.given) && !givesPattern(flags) && !rooted(rest[0].Text) {
		rest = rest[1:]
	}
	var last flow
	for _, a := range rest {
		last = c.opened(a)
		c.out = c.out.join(last)
	}
	switch {
	case c.name == "cat" && len(c.args) == 0:
		c.out = c.in
	case c.name == "cat" && len(c.args) == 1 && last.known:
		c.out.text, c.out.known = last.text, true
	case c.name == "cat":
		c.passes(c.args)
	}
}

// copies reads programs that put files somewhere else.
func (c *call) copies() {
	flags, rest := options(c.args, "tSgmo", set("--target-directory --suffix --mode --owner --group"))
	c.does |= FileWrite
	dest := slices.Concat(flags["-t"], flags["--target-directory"])
	if len(dest) == 0 && len(rest) > 1 {
		dest, rest = []string{rest[len(rest)-1].Text}, rest[:len(rest)-1]
	}
	c.puts(rest, len(flags["-t"])+len(flags["--target-directory"]) > 0)
	var f flow
	for _, a := range rest {
		f = f.join(c.opened(a))
		if c.name != "cp" && c.name != "install" {
			c.gone(a.Text) // what is moved is not where it was, and a link is a second way to it
		}
	}
	held := c.held(rest)
	for _, d := range dest {
		c.written(d, f)
	}
	for i, a := range rest {
		c.stands(a, held[i], dest)
		if c.isFetched(a.Text) {
			for _, d := range dest {
				c.bring(d + "/" + path.Base(a.Text))
			}
		}
	}
}

// puts looks at the files that copying changes: those that are moved or linked, and where they go, which is the last word
// that is left, unless that was said otherwise.
func (c *call) puts(from []Word, said bool) {
	if c.name == "mv" || c.name == "ln" || c.name == "rename" {
		c.changes(from)
	}
	_, rest := options(c.args, "tSgmo", set("--target-directory --suffix --mode --owner --group"))
	if !said && len(rest) > 1 || !said && c.fedMore && len(rest) > 0 {
		c.changes(rest[len(rest)-1:])
	}
}

// touches reads programs whose words are the files they write.
func (c *call) touches() {
	_, rest := options(c.args, "dtrmsoi", nil)
	c.does |= FileWrite
	f := c.in
	flags, _ := options(c.args, "", nil)
	c.changes(rest)
	for _, a := range rest {
		if c.name == "touch" {
			c.touched(a.Text, a.flow) // it holds what it held
			continue
		}
		c.written(a.Text, f.join(a.flow))
		if c.name == "tee" || c.name == "sponge" {
			c.keep(a.Text, f, flags["-a"] != nil || flags["--append"] != nil)
		}
	}
	c.out = c.in
}

// removes reads rm and its kin.
func (c *call) removes() {
	flags, rest := options(c.args, "n", nil)
	c.does |= FileWrite
	deep := flags["-r"] != nil || flags["-R"] != nil || flags["--recursive"] != nil
	if deep || c.name == "shred" || c.name == "wipe" || c.name == "srm" {
		c.does |= Destructive
	}
	c.changes(rest)
	for _, a := range rest {
		for _, file := range c.everywhere(a.Text) {
			if deep && (everything(file) || c.where.lost && !rooted(a.Text) && !output(a.Text)) || device(a.Text) {
				c.does |= Wrecks
			}
			if Lasting(file) {
				c.does |= Destructive
			}
		}
		if deep {
			c.blindly(toRemove, c.at(a.Text))
		}
		c.gone(a.Text)
		note(&c.line.Writes, c.at(a.Text))
	}
}

// outputs are the folders that builds and tests fill anew, wherever they are.
var outputs = set(`dist build out target node_modules vendor coverage .next .nuxt .turbo .pytest_cache .mypy_cache
	__pycache__ .venv venv obj`)

// output reports whether a name is of such a folder, or of something in it.
func output(file string) bool {
	first, _, _ := strings.Cut(path.Clean(file), "/")
	return outputs[first]
}

// gone notes that a file or folder is taken away.
func (c *call) gone(file string) {
	for _, f := range c.everywhere(file) {
		if Overseen(f) || overseenFolder(f) || c.reader.Guards(f) {
			c.does |= Persist | Oversight
		}
	}
}

// borrowsPower reports whether a program of this mode runs with the power of its owner.
func borrowsPower(mode string) bool {
	for _, sign := range "+=" {
		if i := strings.IndexRune(mode, sign); i >= 0 && strings.Contains(mode[i:], "s") {
			return true
		}
	}
	return len(mode) == 4 && strings.Trim(mode, "01234567") == "" && mode[0] >= '2'
}

// modes reads chmod, chown and setfacl.
func (c *call) modes() {
	flags, rest := options(c.args, "", nil)
	c.does |= FileWrite
	if len(rest) == 0 {
		return
	}
	mode := rest[0].Text
	for f := range flags {
		if c.name == "chmod" && strings.Trim(f, "-rwxXstugo") == "" { // chmod -x takes a right away
			mode, rest = f, append([]Word{{Text: f, Known: true}}, rest...)
			break
		}
	}
	if c.name == "chmod" && borrowsPower(mode) {
		c.does |= Persist | Privilege
	}
	c.changes(rest[1:])
	for _, a := range rest[1:] {
		file := c.at(a.Text)
		note(&c.line.Writes, file)
		note(&c.line.Leaves, file) // it may be run from now on
		c.gone(a.Text)
		if Lasting(file) && !strings.Contains(file, ".ssh") {
			c.does |= Persist
		}
		if slices.ContainsFunc(c.everywhere(a.Text), everything) {
			c.does |= Destructive
			if flags["-R"] != nil || flags["--recursive"] != nil {
				c.does |= Wrecks
			}
		}
	}
}

// cutBy are the letters of the short flags of programs that edit in place after which the
// rest of the word is a value.
var cutBy = map[string]string{"sed": "efl", "gsed": "efl", "perl": "eEIMmFxDC", "ruby": "eErIFxCKTW"}

// givesScript are those whose value may be the next word too.
const givesScript = "eEfl"

// inPlace takes values that are no scripts away from flags, such as the ending of a copy
// after -i, and reports whether the program changes its files.
func inPlace(name string, args []Word) ([]Word, bool) {
	cut, ok := cutBy[name]
	if !ok {
		return args, false
	}
	out, in := slices.Clone(args), false
	for i, a := range out {
		switch {
		case a.Text == "--":
			return out, in
		case strings.HasPrefix(a.Text, "--"):
			in = in || strings.HasPrefix(a.Text, "--i")
		case strings.HasPrefix(a.Text, "-"):
			k := strings.IndexAny(a.Text, cut+"i")
			if k > 0 && strings.IndexByte(givesScript, a.Text[k]) < 0 {
				out[i].Text = a.Text[:k+1]
			}
			in = in || k > 0 && a.Text[k] == 'i'
		}
	}
	return out, in
}

// edits reads sed, perl and others that change files in place.
func (c *call) edits(name string) {
	args, in := inPlace(name, c.args)
	if name == "ruby" && !in {
		return
	}
	values := "eE"
	if name == "sed" {
		values = "efl"
	}
	flags, rest := options(args, values, set("--expression --file --line-length"))
	scripts := slices.Concat(flags["-e"], flags["--expression"])
	if name == "sed" {
		c.sedScripts(scripts, rest)
		for _, f := range valuesOf(flags, "-f", "--file") {
			c.file(Word{Text: f, Known: true})
			c.unread() // its words are none that a reader of code knows, and some of them run programs
		}
	} else {
		scripts = append(scripts, flags["-E"]...)
	}
	if len(rest) > 0 && len(scripts) == 0 && flags["-f"] == nil && flags["--file"] == nil {
		scripts, rest = []string{rest[0].Text}, rest[1:]
	}
	if in {
		c.changes(rest)
	}
	for _, a := range rest {
		if in {
			c.written(a.Text, flow{})
			c.makes(Made{File: c.at(a.Text), Text: replacements(scripts), Part: true})
		} else {
			c.out = c.out.join(c.opened(a))
		}
	}
	if name == "sed" && !in && len(c.args) > 1 && plainEdit.MatchString(c.args[0].Text) {
		c.passes(c.args[1:])
	}
}

// replacements are the texts that scripts for sed put into a file, one on a line.
func replacements(scripts []string) string {
	var out []string
	for _, s := range scripts {
		i := strings.IndexAny(s, "sy")
		if i < 0 || i+1 >= len(s) {
			out = append(out, s)
			continue
		}
		out = append(out, strings.Split(s[i+1:], s[i+1:i+2])...)
	}
	return strings.Join(out, "\n")
}

// dd copies bytes between files and disks.
func (c *call) dd() {
	for _, a := range c.args {
		if f, ok := strings.CutPrefix(a.Text, "of="); ok {
			c.written(f, c.in)
			c.keep(f, c.in, false)
		}
		if f, ok := strings.CutPrefix(a.Text, "if="); ok {
			c.out = c.out.join(c.opened(Word{Text: f, Known: a.Known}))
		}
	}
}

// sourced reads a file into the shell itself.
func (c *call) sourced(a Word) {
	if !a.Known {
		c.unknownScript(a)
		return
	}
	c.file(a)
	if f, ok := c.made[path.Base(a.Text)]; ok {
		c.out = c.out.join(c.madeScript(f, func() flow {
			if len(c.args) > 1 {
				return c.withWords(f.text, c.args[1:], flow{})
			}
			return c.script(f.text, flow{})
		}))
	}
}
