package shell

import (
	"path"
	"strings"
)

var shells = set("sh bash dash zsh ksh mksh ash fish csh tcsh rbash yash oksh osh xonsh elvish nu")

// IsShell reports whether a program is a shell, by its name.
func IsShell(program string) bool {
	name, ok := programName(Word{Text: program, Known: true})
	return ok && shells[name]
}

// call is one program being looked at.
type call struct {
	*walker
	name string
	args []Word
	in   flow // what it reads on its standard input
	out  flow // what it puts out
	does Effects
	code bool // it was given code in the command

	aside string // see Run
	quiet bool   // it prints what it did, not what it brought
	newer bool   // it brings programs of others that no word of it names
}

// run records the program the words run, what it does, and what it runs in turn.
func (w *walker) run(words []Word, in flow) flow {
	if len(words) == 0 || w.stopped() {
		return flow{}
	}
	first := words[0]
	name, ok := programName(first)
	if !ok || len(w.line.Runs) >= maxRuns || w.depth > maxDepth+1 {
		w.unread()
		if !ok && strings.Trim(first.Text, "*/") == "" && first.Text != "" {
			w.line.Broken = true // a comment or a list of points, handed to a shell by mistake
		}
		return flow{}
	}
	if len(words) > 1 && (setters[name] || declarers[name]) {
		w.vars.opaque = true // also where the text does not show its name
	}
	i := len(w.line.Runs)
	w.line.Runs = append(w.line.Runs, Run{Name: name, Path: first.Text, Args: words[1:]})
	c := w.newCall(name, words[1:], in)
	if c.stranger(first.Text) {
		c.does |= RunsFetched
	}
	c.look()
	c.out.names = c.lists()
	c.given()
	c.pages()
	c.handles()
	c.codeReads()
	c.oversees()
	c.out = c.standsFor(first, c.args)
	if c.does.Has(Network) {
		c.talks()
	}
	build := !c.does.Has(RunsFetched) && (w.inside || w.planted) && c.building()
	w.line.Builds = w.line.Builds || c.building()
	if build {
		c.does |= RunsFetched
	}
	run := &w.line.Runs[i]
	run.Effects |= c.does
	run.Aside = c.settings()
	run.Inline, run.Build, run.Quiet, run.Newer = c.code, build, c.quiet || c.does.Has(Install), c.newer
	return c.out
}

// settings is what makes a program that sends things do that from elsewhere, or to another place than it would; empty: nothing does.
func (c *call) settings() string {
	if c.aside == "" && c.does.Has(NetworkWrite|Mail) {
		return c.passed
	}
	return c.aside
}

// newCall is a program before it is looked at: it puts out what it is fed and what its words hold.
func (w *walker) newCall(name string, args []Word, in flow) *call {
	c := &call{walker: w, name: name, args: args, in: in}
	c.out = flow{fetched: in.fetched, decoded: in.decoded, secret: in.secret, env: in.env, watched: in.watched, ours: in.ours}
	for _, a := range args {
		c.out = c.out.join(flow{
			secret: a.flow.secret, env: a.flow.env, watched: a.flow.watched || w.watches(a.Text),
			ours: a.flow.ours || w.reader.Guards(w.at(a.Text)),
		})
	}
	return c
}

// stranger notes a program that is a file here, and reports whether it came from elsewhere, or may have: where
// programs are looked for was changed, and whoever did so put it there.
func (c *call) stranger(file string) bool {
	local := strings.Contains(file, "/")
	if local && !strings.Contains(file, "$") {
		c.ran(file, false)
	} else if _, wrote := c.wrote(file); wrote && c.paths {
		c.ran(file, false) // one of those that this work wrote may be found first
	}
	switch {
	case c.isFetched(file) && (c.paths || local):
		return true
	case (c.inside || local && c.spilled(file)) && strings.HasPrefix(file, "./") && !builders[c.name]:
		return true
	}
	return c.strange && !local && !ownWords[c.name]
}

// codeReads notes the files that code given in the command is handed: it may read them.
func (c *call) codeReads() {
	if !c.code {
		return
	}
	for _, a := range c.args {
		if !strings.HasPrefix(a.Text, "-") && !strings.ContainsAny(a.Text, " \n(){};='\"") {
			c.out = c.out.join(flow{secret: c.reads(a.Text)})
			if c.does.Has(FileWrite) && fileLike(a.Text) {
				c.written(a.Text, flow{})
			}
		}
		if a.open && c.does.Has(FileWrite) {
			c.changed(a.Text)
		}
	}
}

// look finds what the program does.
func (c *call) look() {
	c.escaped()
	c.execs()
	c.runsFile()
	switch {
	case shells[c.name]:
		c.shell()
	case c.watching():
	case c.wraps():
	case c.builtins():
	case c.known():
	default:
		c.does |= plain[c.name]
	}
}

// talks adds what is true of every program that reaches another machine.
func (c *call) talks() {
	if c.does.Has(NetworkRead) && !c.quiet && !c.does.Has(Install) {
		c.out.fetched = true
	}
	if askers[c.name] && c.carriesMade() {
		c.does |= NetworkWrite
	}
	carried := c.in
	for _, a := range c.args {
		carried = carried.join(a.flow)
		if !a.Known {
			c.blindly(toSend, a.Text)
		}
	}
	if carried.secret || carried.env {
		c.does |= ReadsSecret
	}
}

// programName is the last part of a path, without case or .exe. What stands before the
// last part may be decided when it runs; the name itself must be known.
func programName(a Word) (string, bool) {
	s := strings.ToLower(a.Text)
	if a.Known && strings.HasSuffix(s, "/") {
		s = strings.TrimRight(s, "/") // a folder: nothing runs
		return s[strings.LastIndexByte(s, '/')+1:] + "/", true
	}
	if i := strings.LastIndexAny(s, `/\`); i >= 0 {
		if s = s[i+1:]; !a.Known && (a.loose && a.tame != tameValue || strings.ContainsAny(s, "$*?[") || strings.Contains(a.Text, "{")) {
			return "", false
		}
	} else if !a.Known {
		return "", false
	}
	s = strings.TrimSuffix(s, ".exe")
	if len(s) > 1 {
		s = strings.TrimPrefix(s, "=") // some shells find the program themselves
	}
	return s, s != "" && s != "{}"
}

// reads notes that a file is read, and reports whether it holds secrets.
func (w *walker) reads(file string) bool {
	if file == "" || file == "-" {
		return false
	}
	w.blindly(toRead, w.at(file))
	found := false
	for i, f := range w.everywhere(file) {
		if Secret(f) || secretPattern(f) || i == 0 && Secret(file) {
			note(&w.line.Secrets, f)
			found = true
		}
	}
	if found {
		w.line.Effects |= ReadsSecret
	}
	return found
}

// nowhere are files that keep nothing of what is written to them.
var nowhere = set("- /dev/null /dev/stderr /dev/stdout /dev/tty")

// written notes that a file is written with what flows into it.
func (w *walker) written(file string, f flow) {
	if w.touched(file, f) {
		note(&w.line.Leaves, w.at(file))
	}
}

// touched notes that a file is made or changed, and is false of one that keeps nothing.
func (w *walker) touched(file string, f flow) bool {
	if file == "" || nowhere[file] || strings.HasPrefix(file, "/dev/tcp/") || strings.HasPrefix(file, "/dev/udp/") {
		if (f.secret || f.env) && strings.HasPrefix(file, "/dev/") && strings.Count(file, "/") > 2 {
			w.line.Effects |= ReadsSecret
		}
		return false
	}
	where := w.at(file)
	note(&w.line.Writes, where)
	w.line.Effects |= FileWrite
	for _, f := range w.everywhere(file) {
		w.line.Effects |= w.stays(f)
	}
	w.blindly(toWrite, where)
	w.altered(file, f)
	if device(file) {
		w.line.Effects |= Destructive | Wrecks
	}
	if f.fetched || f.decoded {
		w.bring(file)
		w.planted = w.planted || f.fetched && !w.reader.Data(where)
	}
	return true
}

// stays is what comes of writing, moving or removing a file that lasts.
func (w *walker) stays(file string) Effects {
	var does Effects
	if Lasting(file) {
		does |= Persist
	}
	if Overseen(file) || w.reader.Guards(file) {
		does |= Persist | Oversight
	}
	return does
}

// bring remembers a file or folder that came from elsewhere.
func (w *walker) bring(file string) {
	note(&w.line.Came, w.at(strings.TrimSuffix(file, "/")))
	if len(w.fetched) < maxNamed {
		w.fetched[path.Base(strings.TrimSuffix(file, "/"))] = true
	}
}

// isFetched reports whether a file, or a folder it is in, came from elsewhere: by this very
// line, of which only last names are compared because folders are changed on the way, or
// before.
func (w *walker) isFetched(file string) bool {
	if w.reader.past != nil && file != "" && !strings.HasPrefix(file, "-") && w.reader.past.Came(w.at(file)) {
		return true
	}
	if len(w.fetched) == 0 {
		return false
	}
	for part := range strings.SplitSeq(file, "/") {
		if part != "" && part != "." && part != ".." && w.fetched[part] {
			return true
		}
	}
	return false
}

// address notes an address the line talks to.
func (w *walker) address(a string) {
	a = strings.Trim(a, `"'<>,;`)
	w.blindly(toCall, a)
	if a == "" || a == "-" || a == "$" {
		return
	}
	note(&w.line.Addresses, a)
	if w.reader.Reaches(a) {
		w.line.Effects |= Oversight
	}
}

// texts are the words' texts.
func texts(args []Word) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a.Text
	}
	return out
}

// set is a set of the words of a text.
func set(text string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		out[w] = true
	}
	return out
}
