// Package shell says what a command line does before it runs: which programs it starts,
// which addresses and files it names, and what comes of it. The line is parsed as a shell
// would parse it, through pipes, lists, substitutions, redirections, wrappers such as sudo
// or bash -c, and code given to an interpreter. It is pure: nothing is run or looked up.
//
// Invariants:
//   - what cannot be parsed, is too large, too deep, or names its program only when it
//     runs has every effect;
//   - a program that is not known has no effect: callers who need more than that must ask
//     for programs they know, and never read silence as safety;
//   - more text in a line never takes an effect away that an earlier part had;
//   - a name that stands for something else (a function, an alias, a copy, a link, a file the
//     line wrote) has the effects of that too, with the words it is handed;
//   - a relative name is one of every folder the line may be in at that point;
//   - a name that is not known may be any text that the line gives to a variable or function;
//   - a file that is changed, and of which the line does not say which it is, may be any.
package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The caps on reading one command: beyond them it is not read but distrusted.
const (
	maxCommand  = 64 << 10
	maxNesting  = 200
	maxOpened   = 3000 // brackets or pipes, nested or not
	maxKeywords = 500
	maxDepth    = 6
	maxRuns     = 500
	maxSteps    = 20_000
	maxParsed   = 256 << 10 // all text parsed, with what is unwrapped
	maxNamed    = 200       // addresses, files and packages kept of each kind
)

// Word is one word of a command. What in it is decided only when the command runs
// stands as "$" in its text, and then it is not Known.
type Word struct {
	Text  string
	Known bool
	flow  flow // what its substitutions bring
	open  bool // what is not known of it may be anything
	loose bool // it may come apart into several words
	plain bool // a variable in it holds the answer of such a program
	tame  tame // what is not known of it is the answer of a program that answers plainly
}

// Run is one program a command runs.
type Run struct {
	Name string // without folder, lower case
	Path string // as written
	Args []Word
	// Guess: another program runs it, perhaps with other arguments, or only may run it.
	// Guesses can lower trust, never improve it.
	Guess bool
	// Wrapped: a guess that runs for certain, with what stands there and perhaps more; Fed: with more that nobody knows.
	Wrapped, Fed bool
	// Inline: an interpreter that was given code in the command.
	Inline bool
	// Build: all it runs of what was fetched is the usual build or test of a folder.
	Build bool
	// Quiet: it prints what it did, not what it brought.
	Quiet bool
	// Aside: what makes it work on another repository than that of the work, or with other settings: a folder, an option, a variable.
	Aside string
	// Newer: it brings programs of others that no word of it names.
	Newer   bool
	Effects Effects
}

// Line is what a command runs and does, all of it.
type Line struct {
	Runs    []Run
	Effects Effects
	// Found is what could be told, also where Effects is the worst.
	Found Effects
	// Broken: it is no text for a shell at all. A shell still runs what stands before the
	// mistake, and some other program may understand it: Found is then what its lines do,
	// each read as well as it can be.
	Broken bool
	// Unsure: names may not mean what they say (functions, variables set here).
	Unsure bool

	Addresses []string // it talks to; "$" stands for what is decided when it runs
	Secrets   []string // files with secrets it reads
	Writes    []string // files it writes, removes or touches
	Leaves    []string // of these, those that may hold something of it afterwards
	Touches   []string // files that last and that it may write
	Anything  []string // files it changes, and of which nobody knows before it runs which they are
	Packages  []string // it installs
	Parts     []string // the simple commands, as written
	// Ran are the files it runs or loads, Scripts those of them that were written before, Came
	// what it brings from elsewhere, Made what it puts into files, Links the second names it gives.
	Ran     []string
	Scripts []Script
	Came    []string
	Made    []Made
	Links   [][2]string
	// Ended is the folder it goes to and stays in.
	Ended string
	// Spills: it puts the work of others among the files here: an archive, a branch of theirs. Whose
	// names it, where the line does so by a number or a name.
	Spills bool
	Whose  []string
	// Builds: it runs the usual build or test of a folder.
	Builds bool
	// Opens: it runs what is typed into it later. Pages: it does so where there is a terminal.
	Opens, Pages bool
	// Stays: something of it goes on when the line has ended.
	Stays bool
	// Fed: it runs what another program puts out, and that is not known.
	Fed bool
	// Hidden: code in it writes a file whose name the text does not show.
	Hidden bool
	// Shows: what it prints is, or was made of, something that came from elsewhere.
	Shows bool
}

// Reader reads commands, one after the other. It keeps nothing of them; it only saves
// making a parser each time. It is not safe for concurrent use.
type Reader struct {
	bash, posix *syntax.Parser
	station     Station
	past        Past
	guarded     [][]string // its files and folders, by their parts
	folder      string     // that is worked in; "": nobody said
}

// NewReader makes a reader. It knows the usual station until Watch tells it of another.
func NewReader() *Reader {
	return &Reader{bash: syntax.NewParser(syntax.Variant(syntax.LangBash)), guarded: usualParts()}
}

// Read reads a command for a shell.
func Read(command string) *Line { return NewReader().Read(command) }

// Read reads a command for a shell.
func (r *Reader) Read(command string) *Line {
	w := r.walk()
	w.script(command, flow{})
	return w.done()
}

// ReadArgv reads a command given as a list of words, which no shell expands.
func (r *Reader) ReadArgv(argv []string) *Line {
	w := r.walk()
	size := 0
	words := make([]Word, len(argv))
	for i, a := range argv {
		words[i] = Word{Text: a, Known: true}
		size += len(a)
	}
	if size > maxCommand {
		w.unread()
	} else {
		w.line.Parts = []string{strings.Join(argv, " ")}
		w.run(words, flow{})
	}
	return w.done()
}

// parse parses as bash, else as a plain shell.
func (r *Reader) parse(src string) (*syntax.File, bool) {
	if f, err := r.bash.Parse(strings.NewReader(src), ""); err == nil {
		return f, true
	}
	if r.posix == nil {
		r.posix = syntax.NewParser(syntax.Variant(syntax.LangPOSIX))
	}
	f, err := r.posix.Parse(strings.NewReader(src), "")
	return f, err == nil
}

func (r *Reader) walk() *walker {
	w := &walker{
		reader: r, line: &Line{}, fetched: map[string]bool{}, made: map[string]flow{}, copied: map[string][]Word{},
		told:  map[*syntax.CmdSubst]told{},
		names: names{funcs: map[string][]*syntax.FuncDecl{}, aliases: map[string][]string{}},
	}
	if r.past != nil {
		w.inside = r.past.Inside()
		for _, l := range r.past.Leads() {
			w.links = append(w.links, link{l[0], l[1]})
		}
	}
	return w
}

// done adds up what was found.
func (w *walker) done() *Line {
	l := w.line
	w.connect()
	if w.where.moved {
		l.Ended = w.where.now
	}
	for i := range l.Runs {
		l.Effects |= l.Runs[i].Effects
	}
	if w.reader.endsWatch(l) || w.hunted && l.opens() {
		l.Effects |= Oversight
	}
	l.Found = l.Effects
	if l.Effects.Has(Unparsed) {
		l.Effects = Worst
	}
	return l
}

// note adds a value to a list once.
func note(list *[]string, value string) {
	if value != "" && len(*list) < maxNamed && !slices.Contains(*list, value) {
		*list = append(*list, value)
	}
}

// Effects are what a command does, as far as that can be told before it runs. The zero
// value says that nothing is known of it, not that it does nothing: a program that this
// package does not know has no effect of its own.
type Effects uint16

// The effects.
const (
	NetworkRead  Effects = 1 << iota // it asks another machine for something
	NetworkWrite                     // it carries something to another machine
	FileWrite                        // it makes or changes files
	Mail                             // it reads or sends mail
	Install                          // it installs packages, which run code of their makers
	Destructive                      // it removes or overwrites what may exist only once
	Wrecks                           // it does so far beyond the work at hand: a home, a disk, a database
	Persist                          // it leaves something behind that runs or lets in later
	RunsFetched                      // it runs what came from the network or out of an encoding
	ReadsSecret                      // it reads keys, tokens or passwords
	Privilege                        // it takes more rights than it was given
	BreaksOut                        // it starts a container that is given the machine
	Oversight                        // it touches what watches the agent, or starts an agent that nobody watches
	Unparsed                         // it cannot be read, or names its program only when it runs
	numEffects   = iota
)

// Worst is everything: what is said of a command that cannot be read.
const Worst Effects = 1<<numEffects - 1

// Network is talking to another machine in any way.
const Network = NetworkRead | NetworkWrite | Mail

var effectNames = [numEffects]string{
	"network-read", "network-write", "file-write", "mail", "install", "destructive", "wrecks", "persist",
	"runs-fetched", "reads-secret", "privilege", "breaks-out", "oversight", "unparsed",
}

// Has reports whether any of the effects is among them.
func (e Effects) Has(any Effects) bool { return e&any != 0 }

// Names are the effects by name, in a fixed order.
func (e Effects) Names() []string {
	var out []string
	for i, name := range effectNames {
		if e&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// String is the names, separated by blanks.
func (e Effects) String() string { return strings.Join(e.Names(), " ") }

// EffectNames are the names of all effects.
func EffectNames() []string { return Worst.Names() }

// Named is the effect of that name.
func Named(name string) (Effects, bool) {
	for i, n := range effectNames {
		if n == name {
			return 1 << i, true
		}
	}
	return 0, false
}
