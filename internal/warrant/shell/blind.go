package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// use is what a program does with a name that is decided only when it runs.
type use uint8

const (
	toRead use = iota
	toWrite
	toRemove
	toCall // an address
	toSend // any word of a program that talks to another machine
)

// The caps on names and texts that are kept to be put together.
const (
	maxBlind = 64
	maxLoose = 256
)

// blindUse is one such name; "$" stands for what is not known.
type blindUse struct {
	kind use
	text string
}

// blindly notes that a name is used that is not known.
func (w *walker) blindly(kind use, text string) {
	if !strings.Contains(text, "$") {
		return
	}
	u := blindUse{kind, text}
	for _, b := range w.blind {
		if b == u {
			return
		}
	}
	if w.blind = append(w.blind, u); len(w.blind) > maxBlind {
		w.unread()
	}
}

// loosely notes a text that may be the value of a name that is not known: what a variable
// is set to, or a function is handed. Only those that could matter are kept.
func (w *walker) loosely(text string) {
	if text == "" || text == "$" || strings.ContainsAny(text, " \n") {
		return
	}
	if !rooted(text) && !strings.ContainsAny(text[:1], "-@.") && !strings.Contains(text, "://") && !Secret(text) && !Lasting(text) {
		return
	}
	if w.loose = union(w.loose, text); len(w.loose) > maxLoose {
		w.unread()
	}
}

// connect puts the names that are not known together with the texts they may stand for:
// each may be any of them.
func (w *walker) connect() {
	for _, b := range w.blind {
		for _, text := range w.loose {
			w.meets(b, text, strings.Replace(b.text, "$", text, 1))
		}
	}
}

func (w *walker) meets(b blindUse, text, full string) {
	l := w.line
	switch b.kind {
	case toRead:
		if Secret(full) {
			note(&l.Secrets, full)
			l.Effects |= ReadsSecret
		}
	case toWrite:
		l.Effects |= w.stays(full)
	case toRemove:
		if everything(full) {
			l.Effects |= Wrecks
		}
	case toCall, toSend:
		if strings.Contains(text, "://") {
			note(&l.Addresses, full)
		}
		if b.kind == toSend && strings.ContainsAny(text[:1], "-@") {
			l.Effects |= NetworkWrite
			w.sends(strings.TrimLeft(text, "-dTF@="))
		}
	}
}

// sends notes a file that may be carried out.
func (w *walker) sends(file string) {
	if Secret(file) {
		note(&w.line.Secrets, file)
		w.line.Effects |= ReadsSecret
	}
}

// A name that is decided when a line runs may be any file. Where a program changes it, that is the gravest there is, unless
// what decides it is known: what the line itself sets, where it is, names of files of the work, and the few programs
// whose answer is no path of somebody's choosing.

// fixed are variables that a system sets itself: numbers, who and where somebody is.
var fixed = set(`HOME PWD OLDPWD USER LOGNAME HOSTNAME UID EUID PPID RANDOM SRANDOM SECONDS LINENO EPOCHSECONDS TMPDIR
	BASHPID SHLVL ? $ ! # -`)

// plainText is a word that is written out, quoted or not; else empty.
func plainText(n *syntax.Word) string {
	if s := n.Lit(); s != "" || len(n.Parts) != 1 {
		return s
	}
	switch p := n.Parts[0].(type) {
	case *syntax.SglQuoted:
		return p.Value
	case *syntax.DblQuoted:
		if len(p.Parts) == 1 {
			if l, ok := p.Parts[0].(*syntax.Lit); ok {
				return l.Value
			}
		}
	}
	return ""
}

// sources are what a text gives to its variables.
type sources struct {
	words  map[string][]*syntax.Word
	filled map[string]bool // by what is read when it runs
	named  map[string]bool // that was names of files of the work
	other  map[string]bool // that was something else
	any    bool            // something may set any of them
}

func (s *sources) collect(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name == nil {
			return
		}
		if n.Value != nil {
			s.words[n.Name.Value] = append(s.words[n.Name.Value], n.Value)
		}
		if n.Array != nil {
			s.words[n.Name.Value] = append(s.words[n.Name.Value], &syntax.Word{})
			for _, e := range n.Array.Elems {
				s.words[n.Name.Value] = append(s.words[n.Name.Value], e.Value)
			}
		}
		if n.Naked { // what it held before
			s.filled[n.Name.Value] = s.filled[n.Name.Value] || s.words[n.Name.Value] == nil
		}
	case *syntax.WordIter:
		s.words[n.Name.Value] = append(s.words[n.Name.Value], n.Items...)
		s.filled[n.Name.Value] = s.filled[n.Name.Value] || len(n.Items) == 0
	case *syntax.ParamExp:
		if n.Param != nil && assigns(n.Exp) {
			s.filled[n.Param.Value] = true // unless something outside has set it
		}
	case *syntax.CallExpr:
		s.called(n)
	case *syntax.DeclClause:
		s.any = s.any || slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool {
			return a.Name == nil && a.Value != nil && strings.HasPrefix(a.Value.Lit(), "-") && strings.Contains(a.Value.Lit(), "n")
		})
	}
}

// fill notes that a variable was filled with what is known, or with names of files of the work; else with anything.
func (s *sources) fill(name string, known bool) {
	if s.named == nil { // of words that no text was read for
		s.named, s.other = map[string]bool{}, map[string]bool{}
	}
	s.named[name] = s.named[name] || known
	s.other[name] = s.other[name] || !known
}

// called notes a program that fills variables, or runs what may.
func (s *sources) called(n *syntax.CallExpr) {
	if len(n.Args) < 2 {
		return
	}
	switch first := n.Args[0].Lit(); first {
	case "eval", "source", ".", "trap":
		s.any = true
	case "printf":
		s.any = s.any || strings.HasPrefix(n.Args[1].Lit(), "-v")
	case "read", "mapfile", "readarray", "getopts":
		for _, a := range n.Args[1:] {
			s.filled[a.Lit()] = true
		}
	}
}

// mayHold reports whether what is put in for a variable may be anything.
func (w *walker) mayHold(p *syntax.ParamExp, depth int) bool {
	switch {
	case p.Length:
		return false
	case p.Param == nil || p.Excl || p.Names != 0 || p.Flags != nil || len(p.Modifiers) > 0 || p.NestedParam != nil || p.Slice != nil:
		return true
	}
	name := p.Param.Value
	if w.unsettled(name, depth) {
		return true
	}
	switch {
	case p.Repl != nil:
		return !w.listed(name) || strings.ContainsAny(plainWith(p.Repl.With), "/~$")
	case p.Exp == nil:
		return false
	}
	switch p.Exp.Op {
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return false
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		w.loosely(plainWith(p.Exp.Word))
		return p.Exp.Word != nil && w.mayBe(p.Exp.Word, depth+1)
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		return !w.listed(name) && !w.shortened(name, p.Exp.Word)
	case syntax.RemLargePrefix:
		return !w.listed(name) || plainWith(p.Exp.Word) != "*/"
	case syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		return !w.listed(name)
	}
	return true
}

// plainWith is what stands in an expansion, where that is written out; "$" where it is not.
func plainWith(n *syntax.Word) string {
	if n == nil || len(n.Parts) == 0 {
		return ""
	}
	if s := plainText(n); s != "" {
		return s
	}
	return "$"
}

// unsettled reports whether a variable may hold anything.
func (w *walker) unsettled(name string, depth int) bool {
	s := &w.vars.from
	switch _, set := s.words[name]; {
	case depth > maxDepth || s.any:
		return true
	case name == "@" || name == "*" || strings.Trim(name, "0123456789") == "":
		return w.names.reset || slices.ContainsFunc(w.names.args, func(a Word) bool { return a.open })
	case s.filled[name] && (!s.named[name] || s.other[name]):
		return true
	case !set:
		return !s.filled[name] && !fixed[name]
	}
	return slices.ContainsFunc(s.words[name], func(n *syntax.Word) bool { return w.mayBe(n, depth+1) })
}

// mayBe reports whether a word may be anything.
func (w *walker) mayBe(n *syntax.Word, depth int) bool {
	if w.steps++; w.steps > maxSteps { // variables that are made of others, each of many
		w.unread()
		return true
	}
	return slices.ContainsFunc(n.Parts, func(p syntax.WordPart) bool { return w.partMayBe(p, depth) })
}

func (w *walker) partMayBe(part syntax.WordPart, depth int) bool {
	switch p := part.(type) {
	case *syntax.DblQuoted:
		return slices.ContainsFunc(p.Parts, func(p syntax.WordPart) bool { return w.partMayBe(p, depth) })
	case *syntax.ParamExp:
		return w.mayHold(p, depth)
	case *syntax.CmdSubst:
		return w.told[p] == anything
	case *syntax.ProcSubst:
		return p.Op != syntax.CmdOut // which is a pipe, and no file of anybody's
	}
	return false
}

// listed reports whether all that a variable may hold are names of files that are there.
func (w *walker) listed(name string) bool {
	s := &w.vars.from
	for _, n := range s.words[name] {
		if len(n.Parts) > 0 && !strings.ContainsAny(plainText(n), "*?[") && !w.tellsNames(n) {
			return false
		}
	}
	return len(s.words[name]) > 0 || s.named[name]
}

// tellsNames reports whether a word is nothing but what a program says that lists files.
func (w *walker) tellsNames(n *syntax.Word) bool {
	if len(n.Parts) != 1 {
		return false
	}
	part := n.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	s, ok := part.(*syntax.CmdSubst)
	return ok && w.told[s] == nameTold
}

// shortened notes what is left of the texts of a variable without their end; false where that cannot be told.
func (w *walker) shortened(name string, end *syntax.Word) bool {
	cut := plainWith(end)
	if cut == "" || strings.ContainsAny(cut, "*?[$") {
		return false
	}
	for _, n := range w.vars.from.words[name] {
		text := plainText(n)
		if len(n.Parts) > 0 && text == "" {
			return false
		}
		w.loosely(strings.TrimSuffix(text, cut))
	}
	return true
}

// graveFolder reports whether a file in a folder may be one that matters whatever it is called there: a home, programs,
// the system's settings.
func graveFolder(dir string) bool {
	clean := path.Clean(dir)
	base := path.Base(clean)
	home := clean == "~" || clean == "/" || clean == "/root" || clean == "/home" || clean == "/Users" ||
		path.Dir(clean) == "/home" || path.Dir(clean) == "/Users" || strings.HasPrefix(clean, "~") && !strings.Contains(clean, "/")
	return home || base == "bin" || base == "sbin" || under(clean+"/x", "/etc") || under(clean+"/x", "/usr") || Lasting(clean+"/x")
}

// landing reports whether a name of the work, put into a text, may name a file that matters.
func landing(text string) bool {
	head, _, _ := strings.Cut(text, "$")
	far := rooted(head) || strings.HasPrefix(path.Clean(head), "..")
	return far && graveFolder(head[:strings.LastIndexByte(head, '/')+1])
}

// changed notes that the line changes a file that is decided only when it runs.
func (w *walker) changed(name string) { note(&w.line.Anything, name) }

// changes looks at the files that a program writes, moves, removes or gives other rights: their names, and those that it
// is handed from elsewhere.
func (c *call) changes(files []Word) {
	for _, a := range files {
		if a.open {
			c.changed(a.Text)
		}
		c.does |= c.patternStays(a)
	}
	if !c.fedMore || c.fedNames {
		return
	}
	placed := func(a Word) bool { return strings.Contains(a.Text, "{}") }
	if !slices.ContainsFunc(c.args, placed) || slices.ContainsFunc(files, placed) {
		c.changed("{}")
	}
}

// written notes a file that a program writes, by a name that stands in one of its words.
func (c *call) written(file string, f flow) {
	if c.fedMore && !c.fedNames && strings.Contains(file, "{}") {
		c.changed(file)
	}
	if strings.Contains(file, "$") {
		is := func(a Word) bool { return a.Text == file }
		if !slices.ContainsFunc(c.args, is) {
			is = func(a Word) bool { return strings.Contains(a.Text, strings.TrimSuffix(file, "/x")) }
		}
		if slices.ContainsFunc(c.args, func(a Word) bool { return a.open && is(a) }) {
			c.changed(file)
		}
	}
	c.walker.written(file, f)
}

// patternStays is what comes of changing the files that a pattern may mean beyond the work: those that last, and, where
// programs are, ours.
func (w *walker) patternStays(a Word) Effects {
	dir, last := path.Split(a.Text)
	if a.Known || !strings.ContainsAny(last, "*?[") || !rooted(dir) && !strings.HasPrefix(path.Clean(dir), "..") {
		return 0
	}
	var does Effects
	try := func(name string) {
		if fits(last, []string{name}) {
			does |= w.stays(w.at(dir + name))
		}
	}
	for name := range startup {
		try(name)
	}
	if base := path.Base(dir); base == "bin" || base == "sbin" {
		try(ourName)
		try(ourName + "-hook")
	}
	return does
}

// lists reports whether all that a program puts out are names of files of the work.
func (c *call) lists() bool {
	flags, rest := options(c.args, readerValues[c.name], nil)
	switch c.name {
	case "find", "fd", "fdfind":
		return !c.findsAnything() && !slices.ContainsFunc(c.args, func(a Word) bool { return says[a.Text] })
	case "ls":
		return !anyFlag(flags, "-l", "-g", "-n", "-o", "-R", "--format") && !slices.ContainsFunc(rest, c.beyond)
	case "git":
		return c.gitLists()
	case "grep", "egrep", "fgrep", "rg", "ag":
		if anyFlag(flags, "-l", "-L", "--files-with-matches", "--files-without-match", "--files") {
			return !slices.ContainsFunc(rest[min(len(rest), 1):], c.beyond)
		}
		return c.in.names && len(rest) < 2 && !anyFlag(flags, "-o", "--only-matching", "-r", "-R", "--replace", "-H", "-f")
	case "head", "tail", "sort", "uniq", "tac", "cat":
		return c.in.names && len(rest) == 0
	}
	return false
}

// says are the words by which find says something else than names.
var says = set("-printf -exec -execdir -ok -okdir -ls -x -X --exec --exec-batch --format -fprint -fprintf -fls -print-template")

// gitLists reports whether git puts out names of files of the work.
func (c *call) gitLists() bool {
	var folders []Word
	args := c.args
	for len(args) > 1 && args[0].Text == "-C" {
		folders, args = append(folders, args[1]), args[2:]
	}
	flags, rest := options(args, "", nil)
	if len(rest) == 0 || slices.ContainsFunc(slices.Concat(folders, rest), c.beyond) {
		return false
	}
	switch rest[0].Text {
	case "ls-files":
		return flags["--format"] == nil
	case "diff", "diff-tree":
		return flags["--name-only"] != nil
	case "grep":
		return anyFlag(flags, "-l", "-L", "--files-with-matches", "--name-only")
	}
	return false
}

// beyond reports whether a name may be of a file that is none of the work.
func (w *walker) beyond(a Word) bool {
	if strings.Contains(a.Text, "$") && slices.ContainsFunc(w.loose, distant) {
		return true // a variable in it may hold that
	}
	return a.open || distant(a.Text)
}

// distant reports whether a name leads out of the folder where the work is.
func distant(file string) bool {
	return rooted(file) && !strings.HasPrefix(file, "/tmp/") || strings.HasPrefix(path.Clean(file), "..")
}

// findsAnything reports whether a search may come upon files that are none of the work: it looks beyond it, and by no
// name that leaves them out.
func (c *call) findsAnything() bool {
	far, named := false, false
	for i, a := range c.args {
		if i > 0 && searchBy[c.args[i-1].Text] {
			want := strings.ToLower(path.Base(a.Text))
			grave := slices.Concat(keptNames, watchedNames, []string{"settings.json", "config.toml", "hooks.json", "authorized_keys"})
			for name := range startup {
				grave = append(grave, name)
			}
			named = a.Known && !fits(want, grave) && !strings.Contains(want, ourName) && strings.Trim(want, "*?.[]") != ""
			continue
		}
		if a.Text != "" && strings.IndexByte("-(!", a.Text[0]) < 0 && (i == 0 || !strings.HasPrefix(c.args[i-1].Text, "-")) {
			far = far || c.beyond(a)
		}
	}
	return far && !named
}
