package grounds

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/shell"
)

// line reads a command line of a tool, in the language of its shell.
func (c *Context) line(m *meaning.Meaning, l *leaves.Leaf) *shell.Line {
	if strings.Contains(m.Tool, "powershell") || strings.Contains(m.Tool, "pwsh") {
		return shell.ReadPowerShell(l.Command())
	}
	if c.shell == nil {
		c.shell = shell.NewReader()
	}
	if l.Argv != nil {
		return c.shell.ReadArgv(l.Argv)
	}
	return c.shell.Read(l.Text)
}

// saidCommand reports whether the user wrote the command; of bash -c and the like that is
// the text the shell is given.
func (c *Context) saidCommand(l *leaves.Leaf) bool {
	if a := l.Argv; len(a) == 3 && shell.IsShell(a[0]) && strings.HasPrefix(a[1], "-") && strings.HasSuffix(a[1], "c") {
		return c.index.Said(a[2])
	}
	return c.index.Said(l.Command())
}

// bringsIn reports whether a command among the values brings content in from elsewhere. A
// value that is no command by its name counts if it would, as one.
func (c *Context) bringsIn(m *meaning.Meaning, values []leaves.Leaf) bool {
	read := 0
	for i := range values {
		l := &values[i]
		if !l.Quoted || l.Later {
			continue
		}
		commands := l.Commands()
		if read += len(commands); read > leaves.MostCommands {
			return true // nobody has looked at the rest
		}
		for j := range commands {
			line := c.line(m, &commands[j])
			if p := m.Resolve(l.Path, l.Text); p.Role != meaning.Command && line.Found.Has(shell.Unparsed) {
				continue // a text, not a command
			}
			if brings(line) {
				return true
			}
		}
	}
	return false
}

// brings reports whether what a command prints is content from beyond this machine. A
// package manager or git clone prints what it did, not what it brought.
func brings(l *shell.Line) bool {
	for i := range l.Runs {
		if r := &l.Runs[i]; r.Effects.Has(shell.Network) && !r.Quiet {
			return true
		}
	}
	return l.Shows || l.Effects.Has(shell.Unparsed) && !l.Broken
}

// builds reports whether all that a line runs of what it fetched is the usual build or
// test.
func builds(l *shell.Line) bool {
	for i := range l.Runs {
		if r := &l.Runs[i]; r.Effects.Has(shell.RunsFetched) && !r.Build {
			return false
		}
	}
	return true
}

// danger is what a command line does that a coding session does not need, whatever it
// read. To build what the user named is what they asked for.
func (c *Context) danger(l *shell.Line) string {
	switch e := l.Found; {
	case e.Has(shell.Oversight):
		return "oversight"
	case e.Has(shell.RunsFetched) && (!builds(l) || !c.chosen(distant(l.Addresses))):
		return "pipe-to-shell"
	case e.Has(shell.Unparsed) && !l.Broken:
		return "unreadable"
	case e.Has(shell.Persist):
		return "persist"
	case e.Has(shell.BreaksOut):
		return "breaks-out"
	case e.Has(shell.Wrecks):
		return "wreck"
	}
	for i := range l.Runs {
		if r := &l.Runs[i]; r.Inline && r.Effects.Has(shell.Network) {
			return "sends"
		}
	}
	for _, s := range l.Secrets {
		if strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") {
			return "secret"
		}
	}
	return ""
}

// command weighs a command line on this machine. What stays here is the workspace's own;
// what leaves, stays after us or wrecks is looked at.
func (w *weighing) command(l *leaves.Leaf) {
	c := w.c
	if l.Later {
		return
	}
	if c.saidCommand(l) {
		w.linked = w.linked || !l.Worded() // the program alone is not what was asked for
		return
	}
	line := c.line(w.m, l)
	if d := c.danger(line); d != "" {
		w.risk(d, l.Command())
		return
	}
	w.writes(line)
	if c.external {
		for _, part := range line.Parts {
			if !c.index.Said(part) && c.orderedOutside(part) {
				w.risk("from-text", part)
				return
			}
		}
	}
	w.leaves(line, l.Command())
}

// writes looks at the files a line writes, as at those of any tool. Of the system's
// settings those that last are a danger already; a shell may change the others, as it may
// install packages.
func (w *weighing) writes(line *shell.Line) {
	for _, f := range line.Writes {
		if s := w.c.source(f); sensitive(f) && !strings.HasPrefix(f, "/etc/") && s.origin != User {
			w.g.note("path", "command", f, s)
		}
	}
}

// leaves looks at what a line carries out and brings in, and where.
func (w *weighing) leaves(line *shell.Line, text string) {
	c := w.c
	addresses := distant(line.Addresses)
	if line.Found.Has(shell.ReadsSecret) && line.Found.Has(shell.Network) && !c.chosen(addresses) {
		w.risk("leaks", text)
		return
	}
	if line.Found.Has(shell.Install) && c.external && w.installs(line, addresses) {
		return
	}
	if line.Found.Has(shell.NetworkWrite | shell.Mail) {
		for _, u := range addresses {
			if o := c.address(u).origin; o != User && o != System {
				w.risk("sends", u)
				return
			}
		}
		if c.external && len(addresses) == 0 && !staysHere(line) && !c.user.acts.has(meaning.Send) && !c.saysAny("push", "deploy", "publish", "release") {
			w.risk("sends", text)
		}
		return
	}
	for _, u := range addresses {
		if o := c.address(u).origin; strings.Contains(u, "$") && (o == Unseen || c.external && o == Text) {
			w.risk("leaks", u)
			return
		}
	}
}

// installs looks at packages and where they come from: neither may be somebody else's idea.
func (w *weighing) installs(line *shell.Line, addresses []string) bool {
	for _, u := range addresses {
		if o := w.c.address(u).origin; o != User && o != System {
			w.risk("installs", u)
			return true
		}
	}
	for _, p := range line.Packages {
		if !w.c.index.Said(p) && w.c.mentionedOutside(p) {
			w.risk("installs", p)
			return true
		}
	}
	return false
}

// planted looks at a file being written after something came in from outside: it must not
// hold a command that fetches and runs what the user did not name.
func (w *weighing) planted(l *leaves.Leaf) {
	if !w.c.external || !w.g.workspace || w.c.index.Said(l.Text) {
		return
	}
	for _, line := range shell.Planted(l.Text) {
		if !w.c.chosen(distant(line.Addresses)) {
			w.risk("plants", strings.Join(line.Parts, " | "))
			return
		}
	}
}

// chosen reports whether the user or the operator named every one of the addresses, and
// there is one.
func (c *Context) chosen(addresses []string) bool {
	for _, u := range addresses {
		if o := c.address(u).origin; o != User && o != System {
			return false
		}
	}
	return len(addresses) > 0
}

// staysHere reports whether every program of a line that sends something sends it to this
// machine.
func staysHere(line *shell.Line) bool {
	for i := range line.Runs {
		r := &line.Runs[i]
		if !r.Effects.Has(shell.NetworkWrite | shell.Mail) {
			continue
		}
		if !slices.ContainsFunc(r.Args, func(a shell.Word) bool { return a.Known && ofThisMachine(a.Text) }) {
			return false
		}
	}
	return len(line.Addresses) > 0
}

// distant are the addresses that are not of this machine.
func distant(list []string) []string {
	var out []string
	for _, a := range list {
		if !ofThisMachine(a) {
			out = append(out, a)
		}
	}
	return out
}

// ofThisMachine reports whether an address is one of this machine.
func ofThisMachine(address string) bool {
	host := address
	if _, rest, ok := strings.Cut(address, "://"); ok {
		host = rest
	}
	host, _, _ = strings.Cut(strings.ToLower(host), "/")
	if strings.Contains(host, "@") {
		return false // who it says it is stands before the host
	}
	for _, p := range []string{"localhost", "0.0.0.0", "[::1]", "::1"} {
		if rest, ok := strings.CutPrefix(host, p); ok && (rest == "" || strings.ContainsAny(rest[:1], ":?")) {
			return true
		}
	}
	rest, ok := strings.CutPrefix(host, "127.")
	return ok && strings.Trim(rest, "0123456789.:") == ""
}

func (c *Context) saysAny(words ...string) bool {
	for _, w := range words {
		if c.user.tokens[w] {
			return true
		}
	}
	return false
}

func (w *weighing) risk(danger, value string) {
	w.g.Danger, w.g.Decisive = danger, value
	w.g.note("command", "command", value, source{where: nowhere})
}
