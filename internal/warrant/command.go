package warrant

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/commands"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/tool"
)

// local judges a value of one of the host's own tools: what is run, and which files are
// written.
func (j *judging) local(l *arguments.Leaf, p toolinfo.Param) {
	switch {
	case p.Role == toolinfo.Command || commands.Is(j.m, l):
		readings := l.Commands()
		if len(readings) > arguments.MostCommands {
			j.bad(true, "it cannot be read", l.Path, l.Text)
			return
		}
		for i := range readings {
			j.command(&readings[i])
		}
	case !l.Quoted, j.m.Act == toolinfo.Read:
	case p.Role == toolinfo.Selector || p.Kind == toolinfo.Path:
		j.file(l)
	default:
		j.patch(l)
	}
}

// bad makes a call one that executes something nobody ordered. Danger says that it would be
// so whatever was read.
func (j *judging) bad(danger bool, why, path, value string) {
	j.w.raise(Execute)
	if danger || j.w.Deed != Execute { // rows of what is graver name no orders
		j.w.endanger(false)
	}
	j.w.fault(path, value, why)
}

// within is bad for a command whose danger is in files that it runs and that nobody has read: a box holds that.
func (j *judging) within(why, value string) {
	j.w.raise(Execute)
	j.w.endanger(j.w.Deed == Execute)
	j.w.fault("command", value, why)
}

// command judges a command line of the host's own shell.
func (j *judging) command(l *arguments.Leaf) {
	if l.Later || j.c.saidCommand(l) {
		return
	}
	line := j.c.line(j.m, l)
	line.Opens = line.Opens || j.terminal && line.Pages
	why, value := j.c.fault(line)
	again := ""
	if why == "" {
		again, value = j.c.reruns(line.Made)
	}
	if value == "" {
		value = l.Command()
	}
	switch {
	case again != "":
		j.bad(true, again, "command", value) // what runs it was started outside, so that no box holds it
		return
	case why != "" && j.c.dangerous(line) && !j.c.openly(j.m, l):
		j.within(why, value)
		return
	case why != "":
		j.bad(j.c.dangerous(line), why, "command", value)
		return
	}
	forms := departures(line)
	if form, ok := outgoing.Plain(l.Command()); ok {
		forms = []outgoing.Form{form}
	}
	for i := range forms {
		if why, part := j.leaves(&forms[i]); why != "" {
			j.bad(false, why, "command", cmp.Or(part, l.Command()))
			return
		}
	}
}

// wrecks judges a command line of any tool by what is dangerous whatever was read.
func (j *judging) wrecks(l *arguments.Leaf) {
	if l.Later || j.c.saidCommand(l) {
		return
	}
	readings := l.Commands()
	for i := range readings[:min(len(readings), arguments.MostCommands)] {
		if line := j.c.line(j.m, &readings[i]); j.c.dangerous(line) {
			why, value := j.c.fault(line)
			j.bad(true, why, "command", cmp.Or(value, l.Command()))
		}
	}
}

// dangerous reports whether something would speak against a command line though nothing had
// come in from outside.
func (c *Context) dangerous(line *shell.Line) bool {
	outside := c.outside
	c.outside = false
	why, _ := c.fault(line)
	c.outside = outside
	return why != ""
}

// openly reports whether a command line is dangerous by what anybody can read: its own words, and the texts of files that this
// conversation wrote. What other sessions left, what was fetched, and what nobody here understands may do anything, and shows nothing.
func (c *Context) openly(m *toolinfo.Meaning, l *arguments.Leaf) bool {
	was := c.past
	c.past = past{sum: was.sum}
	for _, f := range was.files {
		if !f.held.Deaf && f.held.Text != "" {
			c.past.files = append(c.past.files, &file{name: f.name, held: f.held})
		}
	}
	defer func() { c.past = was }()
	return c.dangerous(c.line(m, l))
}

// line reads a command line of a tool.
func (c *Context) line(m *toolinfo.Meaning, l *arguments.Leaf) *shell.Line {
	return commands.Line(c.reader(), m, l)
}

// saidCommand reports whether the user wrote the command; of bash -c and the like that is
// the text the shell is given.
func (c *Context) saidCommand(l *arguments.Leaf) bool {
	if a := l.Argv; len(a) == 3 && shell.IsShell(a[0]) && strings.HasPrefix(a[1], "-") && strings.HasSuffix(a[1], "c") {
		return c.index.Said(a[2])
	}
	text := l.Command()
	return strings.ContainsAny(text, " /") && c.index.Said(text) // "make it pass" is no command
}

// fault is what speaks against a command line, and what of it; no words: nothing does. No
// value: all of it.
func (c *Context) fault(line *shell.Line) (why, value string) {
	addresses := distant(line.Addresses)
	if folder := c.razes(line); folder != "" {
		return "it removes a folder that I could not find in your words", folder
	}
	switch e := line.Found; {
	case e.Has(shell.Oversight):
		return "it touches what watches the agent", ""
	case e.Has(shell.RunsFetched) && !c.ordered(addresses):
		return "it runs what it fetches", ""
	case e.Has(shell.Unparsed) && !line.Broken:
		return "it cannot be read", ""
	case e.Has(shell.Persist) && !c.settles(line):
		return "it leaves something behind that runs, or lets somebody in, later", ""
	case e.Has(shell.BreaksOut):
		return "it starts a container that is given this machine", ""
	case e.Has(shell.Wrecks):
		return "it removes or overwrites far more than the work at hand", ""
	case len(line.Anything) > 0:
		return "which file it changes is known only when it runs", ""
	case e.Has(shell.ReadsSecret) && e.Has(shell.Network) && !(c.chosen(addresses) && c.sending()):
		return "it may carry a secret away", ""
	}
	if lost := c.destroys(line); lost != "" && c.outside {
		return "it removes what stands nowhere else, and I could not find that in your words", lost
	}
	if why, value = c.gives(line, addresses); why != "" {
		return why, value
	}
	if why, value = c.repeats(line); why != "" {
		return why, value
	}
	if why, value = c.strange(line); why != "" {
		return why, value
	}
	return c.lands(line, addresses)
}

// gives is what speaks against what a command line sends away, or shows of secrets.
func (c *Context) gives(line *shell.Line, addresses []string) (why, value string) {
	if line.Found.Has(shell.NetworkWrite | shell.Mail) {
		if why, value = c.sends(line, addresses); why != "" {
			return why, value
		}
	}
	for _, s := range line.Secrets {
		if keyFile(s) {
			return "it reads a secret", s
		}
	}
	return "", ""
}

// razes is the folder far from the workspace, or all of the workspace, that a command removes
// with all that is in it, though the user did not name it; empty: none.
func (c *Context) razes(line *shell.Line) string {
	for i := range line.Runs {
		r := &line.Runs[i]
		deep, far := false, ""
		for _, a := range r.Args {
			deep = deep || strings.HasPrefix(a.Text, "-") && strings.ContainsAny(a.Text, "rR")
			if strings.HasPrefix(a.Text, "/") || strings.HasPrefix(a.Text, "~") || strings.Trim(a.Text, "./*") == "" && a.Text != "" {
				far = a.Text
			}
		}
		if r.Name == "rm" && deep && far != "" && !strings.HasPrefix(far, "/tmp/") && c.argued && !c.index.Said(far) {
			return far
		}
	}
	return ""
}

// sends is what speaks against a command that sends something away.
func (c *Context) sends(line *shell.Line, addresses []string) (why, value string) {
	for _, u := range addresses {
		if e, _ := c.address(u); e < Own {
			return "it sends to an address that I could not find in your words", u
		}
	}
	_, all := leaving(line)
	switch {
	case c.outside && !all:
		return "it sends something away", ""
	case c.outside && len(addresses) > 0 && !c.sending():
		return "it sends something to an address that I took you to name for something else", addresses[0]
	}
	return c.pushes(line)
}

var forces, tagged, wholes = list("forces"), list("tagged"), list("wholes")

// pushes is what speaks against a push that does more over there than adding commits, once others have spoken: the word "push" alone
// orders none of it.
func (c *Context) pushes(line *shell.Line) (why, value string) {
	if !c.outside {
		return "", ""
	}
	for i := range line.Runs {
		args, ok := shell.GitArgs(&line.Runs[i], "push")
		if !ok && line.Runs[i].Name == "git" && line.Runs[i].Effects.Has(shell.NetworkWrite) {
			return "it pushes in a way that I do not know", ""
		}
		if !ok {
			continue
		}
		words := make([]string, len(args))
		for k := range args {
			words[k] = args[k].Text
		}
		if c.laid != nil {
			const held = "files written here hold results of %s (step %d), which others may not read"
			return fmt.Sprintf(held, c.laid.tool, c.laid.step), c.laid.part
		}
		p := outgoing.Pushes(words, func(k int) bool { return args[k].Known })
		if why, value = c.pushesElsewhere(&line.Runs[i], &p); why == "" {
			why, value = c.pushesMore(&p)
		}
		if why != "" {
			return why, value
		}
	}
	return "", ""
}

// pushesElsewhere is what speaks against a push by where it is from and where it goes.
func (c *Context) pushesElsewhere(r *shell.Run, p *outgoing.Push) (why, value string) {
	switch {
	case r.Aside != "" && !c.index.Said(r.Aside):
		return "it pushes from another repository, or with other settings, than I could find in your words", r.Aside
	case p.To != "" && p.To != ownRemote && !startsURL(p.To) && !c.index.Said(p.To):
		return "it pushes to a place that I could not find in your words", p.To
	}
	return "", ""
}

// pushesMore is what speaks against a push by what it does over there besides adding commits.
func (c *Context) pushesMore(p *outgoing.Push) (why, value string) {
	unsaid := func(name string) bool { return !c.index.Said(name) }
	switch {
	case p.Unread:
		return "it pushes in a way that I do not know", ""
	case p.Forces && !c.bids(forces, 0):
		return "it puts something else in the place of what is there, and I could not find that in your words", ""
	case p.Removes && !c.bids(nil, vocabulary.Delete):
		return "it removes something over there, and I could not find that in your words", ""
	case p.Many && !c.bids(wholes, 0):
		return "it pushes all that there is here, and I could not find that in your words", ""
	case p.Tags && !c.bids(tagged, 0):
		return "it sets tags, and I could not find that in your words", ""
	case slices.ContainsFunc(p.Names, unsaid):
		return "it sets a branch that I could not find in your words", p.Names[slices.IndexFunc(p.Names, unsaid)]
	case slices.ContainsFunc(p.Marks, unsaid) && !c.bids(tagged, 0):
		return "it may set a tag, and I could not find that in your words", p.Marks[slices.IndexFunc(p.Marks, unsaid)]
	}
	return "", ""
}

// bids reports whether a clause that asks for something, and forbids nothing, has one of some words or asks for an act of some classes.
func (c *Context) bids(words map[string]bool, classes vocabulary.Classes) bool {
	for _, cl := range c.user.scope() {
		if !cl.orders() || cl.denies || cl.forbids != 0 || len(cl.refused.list) > 0 {
			continue
		}
		if cl.classes.Any(classes) || slices.ContainsFunc(cl.stems.list, func(s string) bool { return words[s] }) {
			return true
		}
	}
	return false
}

// sending reports whether the user asks for something that leaves: an address that is only to be looked at is none to write to.
func (c *Context) sending() bool {
	return c.user.wants(acting &^ (vocabulary.Tidy | vocabulary.Change | vocabulary.Delete))
}

// strange is what speaks against programs and packages once content of others has come in.
func (c *Context) strange(line *shell.Line) (why, value string) {
	if !c.outside {
		return "", ""
	}
	for i := range line.Runs {
		if r := &line.Runs[i]; (!r.Guess || r.Wrapped) && !plain(r) && !judgedApart(r, len(line.Addresses) > 0) && !c.index.Said(r.Name) {
			return "a program that may do anything, and I could not find it in your words", ""
		}
		if why = c.unbidden(&line.Runs[i]); why != "" {
			return why, ""
		}
	}
	if p := c.unnamed(line.Packages); p != "" {
		return "a package that I could not find in your words", p
	}
	return "", ""
}

// judgedApart reports whether what a program does over there is judged for itself: by the addresses that it is given, or as a plain
// command.
func judgedApart(r *shell.Run, addressed bool) bool {
	if addressed && (asks(r) || clients[r.Name] && r.Effects.Has(shell.NetworkWrite)) {
		return true
	}
	return sent(r) || onlyAsks(r)
}

// unbidden is what speaks against a program that is not plain, and that the user named: the name alone may stand there for something
// else, or for another verb of it. Secrets are shown, and programs of others that nobody names brought in, only where its verb is said
// with it.
func (c *Context) unbidden(r *shell.Run) string {
	if r.Guess && !r.Wrapped || plain(r) || !r.Newer && !r.Effects.Has(shell.ReadsSecret) {
		return ""
	}
	verbs := firsts(r.Name, r.Args)
	said := len(verbs) > 0 && !slices.ContainsFunc(verbs, func(at int) bool {
		verb := strings.ToLower(r.Args[at].Text)
		return !slices.ContainsFunc(c.said, func(s string) bool { return adjoins(s, r.Name, verb) })
	})
	switch {
	case r.Effects.Has(shell.ReadsSecret) && !said:
		return "it shows what is kept secret, and I could not find that in your words"
	case r.Newer && !(said && c.bids(renews, 0)):
		return "it brings programs of others, and I could not find that in your words"
	}
	return ""
}

// adjoins reports whether a message has two words with nothing but blanks between them: "make it pass. Show me" is no "pass show".
func adjoins(message, first, second string) bool {
	words := strings.Fields(message)
	for i := range words[:max(0, len(words)-1)] {
		if strings.TrimLeft(words[i], "`\"'(") == first && strings.TrimRight(words[i+1], "`\"').,;:!?") == second {
			return true
		}
	}
	return false
}

var (
	clients = list("clients")
	asking  = list("asking")
	renews  = list("renews")
)

// asks reports whether a program only asks an address for something, which is judged by itself:
// none of its words carries anything else there.
func asks(r *shell.Run) bool {
	letters := "-sSfLqgoOn46"
	if r.Name == "curl" {
		letters += "iIv" // show more of what comes; of others they are other things
	}
	for _, a := range r.Args {
		flag := strings.HasPrefix(a.Text, "-")
		if !a.Known || flag && !asking[a.Text] && (strings.HasPrefix(a.Text, "--") || strings.Trim(a.Text, letters) != "") {
			return false
		}
	}
	return clients[r.Name] && r.Effects.Has(shell.NetworkRead) && r.Effects&^(shell.NetworkRead|shell.FileWrite) == 0
}

// onlyAsks reports whether a program is run in a form that is known to do no more than read over there; whom it asks is judged by itself.
func onlyAsks(r *shell.Run) bool {
	argv := []string{r.Path}
	for _, a := range r.Args {
		if !a.Known {
			return false
		}
		argv = append(argv, a.Text)
	}
	f, ok := outgoing.Words(argv)
	return ok && DeedNamed(f.Deed) == Read
}

// unnamed is the first of some packages that the user did not name; empty: none.
func (c *Context) unnamed(packages []string) string {
	for _, p := range packages {
		if !c.saidPackage(p) {
			return p
		}
	}
	return ""
}

// brings reports whether a command among the values brings content in from elsewhere.
func (c *Context) brings(m *toolinfo.Meaning, values []arguments.Leaf) bool {
	if !tool.IsShell(m.Tool) {
		return false
	}
	for i := range values {
		l := &values[i]
		if !commands.Is(m, l) {
			continue
		}
		readings := l.Commands()
		if len(readings) > arguments.MostCommands {
			return true // nobody has looked at the rest
		}
		for k := range readings {
			if fetches(c.line(m, &readings[k])) {
				return true
			}
		}
	}
	return false
}

func fetches(line *shell.Line) bool {
	for i := range line.Runs {
		if r := &line.Runs[i]; r.Effects.Has(shell.Network) && !r.Quiet {
			return true
		}
	}
	return line.Shows
}

// harmless reports whether a command for a shell of somebody's server only looks, builds
// and tests.
func (c *Context) harmless(m *toolinfo.Meaning, l *arguments.Leaf) bool {
	if !tool.IsShell(unprefixed(m.Tool)) {
		return false
	}
	line := c.line(m, l)
	if line.Effects.Has(shell.Unparsed) || line.Found&^(shell.NetworkRead|shell.Install) != 0 || len(line.Secrets) > 0 {
		return false
	}
	for i := range line.Runs {
		if !plain(&line.Runs[i]) {
			return false
		}
	}
	return c.unnamed(line.Packages) == "" && len(distant(line.Addresses)) == 0
}
