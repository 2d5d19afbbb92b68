package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// flow is what is known of the bytes that go from one program to the next.
type flow struct {
	fetched bool // from the network
	decoded bool // out of an encoding
	secret  bool // keys, tokens, passwords
	env     bool // the environment
	given   bool // something is there at all: a file, or what another program puts out
	made    bool // a program decides it when it runs
	watched bool // it names files that watch the agent
	ours    bool // it was made of files of the station
	local   bool // it is what scripts here hold, and nothing else
	names   bool // it is names of files of the work, and nothing else
	text    string
	known   bool // text is all of it
}

func (f flow) join(g flow) flow {
	return flow{
		fetched: f.fetched || g.fetched, decoded: f.decoded || g.decoded, secret: f.secret || g.secret, env: f.env || g.env,
		given: f.given || g.given, made: f.made || g.made, watched: f.watched || g.watched,
		ours: f.ours || g.ours,
	}
}

// then is what comes out of one command after another.
func (f flow) then(g flow, first bool) flow {
	if first {
		return g
	}
	out := f.join(g)
	if f.known && g.known && len(f.text)+len(g.text) <= maxCommand {
		out.text, out.known = f.text+g.text, true
	}
	return out
}

// walker goes through one line, in the order it is written.
type walker struct {
	reader  *Reader
	line    *Line
	depth   int
	steps   int
	parsed  int
	vars    variables
	fetched map[string]bool // files and folders that came from elsewhere
	inside  bool            // it went into such a folder
	planted bool            // it put such a file among the work
	synced  bool            // it brought git's records up to date with those of others
	where   folders
	names   names
	made    map[string]flow   // what it put into files, by their last names
	copied  map[string][]Word // the programs files are copies of, by their last names
	paths   bool              // it says where programs are found
	strange bool              // and that they are found where anybody may put them
	blind   []blindUse
	loose   []string
	links   []link
	passed  string // a variable that was set for programs, and may tell them where to send things
	setNow  string // the variable being set, which still holds what it held
	spelled int    // how much text was put together
	hunted  bool   // it looked for files of the station
	fedMore bool   // the program being read is given words from elsewhere

	fedNames bool                      // all of which are known, or names of files of the work
	openArgs bool                      // the file being run is handed words that may be anything
	told     map[*syntax.CmdSubst]told // what is known of what substitutions put out
}

// unread marks the whole line as not understood.
func (w *walker) unread() { w.line.Effects |= Unparsed }

// stopped reports whether nothing more need be read: the line has every effect already.
func (w *walker) stopped() bool {
	return w.line.Effects.Has(Unparsed) && !w.line.Broken || w.steps > maxSteps
}

// script reads text for a shell.
func (w *walker) script(src string, in flow) flow {
	w.parsed += len(src)
	if w.depth > maxDepth || len(src) > maxCommand || w.parsed > maxParsed || intricate(src) {
		w.unread()
		return flow{}
	}
	f, ok := w.reader.parse(src)
	if !ok {
		w.unread()
		if w.depth == 0 {
			w.salvage(src)
		}
		return flow{}
	}
	vars := w.vars
	w.vars = surveyed(f)
	w.define(f)
	w.depth++
	var out flow
	for i, s := range f.Stmts {
		w.part(src, s)
		o := w.stmt(s, in)
		w.line.Shows = w.line.Shows || w.depth == 1 && o.fetched
		out = out.then(o, i == 0)
		w.settle()
		if w.stopped() {
			break
		}
		w.assigned(s)
	}
	w.depth--
	w.vars = vars
	return out
}

// intricate reports whether a text may nest, or chain, deeper than is worth parsing. It
// counts before anything is parsed, quoted or not.
func intricate(src string) bool {
	depth, opened, joined := 0, 0, 0
	for i := range len(src) {
		switch src[i] {
		case '(', '{':
			depth++
			opened++
		case ')', '}':
			depth = max(0, depth-1)
		case '`':
			opened++
		case '|', '&', '!':
			joined++
		}
		if depth > maxNesting || opened > maxOpened || joined > maxOpened {
			return true
		}
	}
	words := 0
	for _, k := range []string{"if ", "if\n", "while", "until", "case", "[["} {
		words += strings.Count(src, k)
	}
	return words > maxKeywords
}

// salvage reads a text that is none for a shell, line by line. The line stays unparsed;
// this only says what can be said of it.
func (w *walker) salvage(src string) {
	w.line.Broken = true
	w.depth++
	for l := range strings.Lines(src) {
		if l = strings.TrimSpace(l); l == "" || w.stopped() || w.parsed > maxParsed {
			continue
		}
		note(&w.line.Parts, l)
		if _, ok := w.reader.parse(l); !ok {
			l = quoting.Replace(l)
		}
		if _, ok := w.reader.parse(l); ok {
			w.script(l, flow{})
			continue
		}
		for _, piece := range strings.FieldsFunc(l, func(r rune) bool { return strings.ContainsRune(";|&(){}<>$", r) }) {
			w.parsed += len(piece)
			w.run(fields(piece), flow{})
		}
	}
	w.depth--
}

// quoting takes the quotes away.
var quoting = strings.NewReplacer("'", "", `"`, "", `\`, "", "`", ";")

// part keeps the simple commands of the outermost text as they are written.
func (w *walker) part(src string, root syntax.Node) {
	if w.depth > 1 {
		return
	}
	syntax.Walk(root, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			if c, ok := s.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 {
				note(&w.line.Parts, strings.TrimSpace(src[c.Args[0].Pos().Offset():c.End().Offset()]))
			}
		}
		return n != nil && len(w.line.Parts) < maxNamed
	})
}

func (w *walker) stmts(list []*syntax.Stmt, in flow) flow {
	var out flow
	for i, s := range list {
		o := w.stmt(s, in)
		w.settle()
		out = out.then(o, i == 0)
	}
	return out
}

// stmt reads one statement and says what it puts out.
func (w *walker) stmt(s *syntax.Stmt, in flow) flow {
	if w.steps++; w.steps > maxSteps {
		w.unread()
	}
	if w.stopped() || s == nil {
		return flow{}
	}
	var files []target
	for _, r := range s.Redirs {
		in, files = w.redirect(r, in, files)
	}
	var out flow
	if s.Background || s.Coprocess {
		w.line.Stays = true
		out = w.apart(func() flow { return w.command(s.Cmd, in) })
	} else {
		out = w.command(s.Cmd, in)
	}
	if s.Negated {
		w.settle()
	}
	for _, f := range files {
		w.written(f.file, out)
		w.keep(f.file, out, f.more)
	}
	if len(files) > 0 {
		out = flow{}
	}
	return out
}

// document is a here document: its text as it is where the word that ends it is quoted, else
// with what stands for something else in it put in. No names of files are made of it.
func (w *walker) document(r *syntax.Redirect) Word {
	var s spelling
	raw := r.Word != nil && len(r.Word.Parts) > 0 && slices.ContainsFunc(r.Word.Parts, func(p syntax.WordPart) bool {
		lit, plain := p.(*syntax.Lit)
		return !plain || strings.Contains(lit.Value, `\`)
	})
	for _, part := range r.Hdoc.Parts {
		if lit, ok := part.(*syntax.Lit); ok && raw {
			s.text.WriteString(lit.Value)
			continue
		}
		w.spell(&s, part, true)
	}
	out := Word{Text: s.text.String(), Known: !s.blind, flow: s.flow, tame: s.tamed(), plain: s.plain}
	w.weigh(8 + len(out.Text))
	return out
}

// target is a file that a redirection writes.
type target struct {
	file string
	more bool // it is added to
}

// redirect reads one redirection: what comes in by it, or which files it writes.
func (w *walker) redirect(r *syntax.Redirect, in flow, files []target) (flow, []target) {
	if r.Hdoc != nil {
		return w.document(r).carried(), files
	}
	if r.Word == nil {
		return in, files
	}
	if f, ok := w.fedBy(r); ok {
		return f, files
	}
	word := w.word(r.Word)
	switch r.Op {
	case syntax.WordHdoc:
		return word.carried(), files
	case syntax.RdrIn:
		w.device(word)
		f := w.opened(word)
		f.given = word.Text != "/dev/null"
		return f, files
	case syntax.DplIn, syntax.DplOut:
		if _, digits := strings.CutPrefix(word.Text, "&"); digits || strings.Trim(word.Text, "0123456789-") == "" {
			return in, files
		}
	}
	w.device(word)
	if word.open {
		w.changed(word.Text)
	}
	w.line.Effects |= w.patternStays(word)
	return in, append(files, target{word.Text, r.Op == syntax.AppOut || r.Op == syntax.AppAll})
}

// fedBy is what comes in from a command that is written in the place of a file.
func (w *walker) fedBy(r *syntax.Redirect) (flow, bool) {
	if r.Op != syntax.RdrIn || len(r.Word.Parts) != 1 {
		return flow{}, false
	}
	p, ok := r.Word.Parts[0].(*syntax.ProcSubst)
	if !ok || p.Op != syntax.CmdIn {
		return flow{}, false
	}
	f := w.apart(func() flow { return w.stmts(p.Stmts, flow{}) })
	f.given = true
	return f, true
}

// device looks for the names by which a shell opens a connection.
func (w *walker) device(target Word) {
	for _, dev := range []string{"/dev/tcp/", "/dev/udp/"} {
		if rest, ok := strings.CutPrefix(target.Text, dev); ok {
			host, port, _ := strings.Cut(rest, "/")
			w.address(host)
			w.line.Effects |= NetworkRead | NetworkWrite
			if len(w.line.Runs) < maxRuns {
				w.line.Runs = append(w.line.Runs, Run{Name: dev, Path: target.Text, Guess: true, Effects: NetworkRead | NetworkWrite})
			}
			if w.reader.Reaches(host + ":" + port) {
				w.line.Effects |= Oversight
			}
		}
	}
}

// carried is the word's own text as what flows in.
func (a Word) carried() flow {
	f := a.flow
	f.text, f.known, f.given = a.Text, a.Known, true
	return f
}

// opened is what a file brings.
func (w *walker) opened(file Word) flow {
	f := file.flow
	f.known = false
	if strings.HasPrefix(file.Text, "/dev/tcp/") || w.isFetched(file.Text) || w.isFetched(w.at(file.Text)) {
		f.fetched = true
	}
	f.secret = w.reads(file.Text) || f.secret
	if was, ok := w.wrote(file.Text); ok && was.known && !was.fetched && !was.decoded {
		f.text, f.known = was.text, true
	}
	if slices.ContainsFunc(w.everywhere(file.Text), w.reader.Guards) {
		w.line.Effects |= Oversight
	}
	return f
}

// command reads a command of any kind.
func (w *walker) command(c syntax.Command, in flow) flow {
	switch c := c.(type) {
	case nil:
		return flow{}
	case *syntax.CallExpr:
		return w.call(c, in)
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			f := w.apart(func() flow { return w.stmt(c.X, in) })
			f.given = true
			return w.perhaps(func() flow { return w.stmt(c.Y, f) }) // some shells run the last part themselves
		}
		return w.either(c, in)
	case *syntax.Block:
		return w.stmts(c.Stmts, in)
	case *syntax.Subshell:
		return w.apart(func() flow { return w.stmts(c.Stmts, in) })
	case *syntax.FuncDecl:
		w.line.Unsure = true
		return w.apart(func() flow {
			return w.handing(nil, false, func() flow { return w.stmt(c.Body, in) })
		})
	}
	return w.compound(c, in)
}

func (w *walker) call(c *syntax.CallExpr, in flow) flow { return w.callWith(c, nil, in) }

// callWith reads a simple command with more words after its own.
func (w *walker) callWith(c *syntax.CallExpr, more []Word, in flow) flow {
	for _, a := range c.Assigns {
		w.assign(a)
		if len(c.Args) == 0 || a.Name == nil || w.passed != "" {
			continue
		}
		if w.sets(a.Name.Value); w.passed != "" {
			defer func() { w.passed = "" }() // for this program alone
		}
	}
	var words []Word
	for i, a := range c.Args {
		if i == 0 {
			if names := w.vars.oneOf(a); len(names) > 1 {
				return w.each(names, c.Args[1:], in)
			}
		}
		list := w.words(a)
		if i == 0 && len(list) > 1 && braced(a) != nil {
			w.unread() // shells do not agree on what it is
			return flow{}
		}
		words = append(words, list...)
	}
	return w.run(append(words, more...), in)
}

// each runs a command once for every program its first word may be.
func (w *walker) each(names []string, rest []*syntax.Word, in flow) flow {
	var args []Word
	for _, a := range rest {
		args = append(args, w.words(a)...)
	}
	var out flow
	for _, n := range names {
		list := append(fields(n), args...)
		out = out.join(w.run(list, in))
	}
	return out
}
