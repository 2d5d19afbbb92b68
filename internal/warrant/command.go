package warrant

import (
	"path"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/shell"
)

func (c *Context) line(m *meaning.Meaning, l *leaf) *shell.Line {
	if strings.Contains(m.Tool, "powershell") || strings.Contains(m.Tool, "pwsh") {
		return shell.ReadPowerShell(l.command())
	}
	if c.shell == nil {
		c.shell = shell.NewReader()
	}
	if l.argv != nil {
		return c.shell.ReadArgv(l.argv)
	}
	return c.shell.Read(l.text)
}

func (l *leaf) command() string {
	if l.argv != nil {
		return strings.Join(l.argv, " ")
	}
	return l.text
}

func (c *Context) saidCommand(l *leaf) bool {
	if a := l.argv; len(a) == 3 && shell.IsShell(a[0]) && strings.HasPrefix(a[1], "-") && strings.HasSuffix(a[1], "c") {
		return c.index.Said(a[2])
	}
	return c.index.Said(l.command())
}

func (c *Context) brings(m *meaning.Meaning, values []leaf) bool {
	if !commandTools[m.Tool] {
		return false
	}
	for i := range values {
		l := &values[i]
		if !l.quoted || l.later {
			continue
		}
		for _, cmd := range l.commands() {
			line := c.line(m, &cmd)
			for k := range line.Runs {
				if r := &line.Runs[k]; r.Effects.Has(shell.Network) && !r.Quiet {
					return true
				}
			}
			if line.Shows {
				return true
			}
		}
	}
	return false
}

// command judges a command line of the host's own shell.
func (j *judging) command(l *leaf) {
	c := j.c
	if l.later || c.saidCommand(l) {
		return
	}
	line := c.line(j.m, l)
	bad := func(what, value string) {
		j.w.Deed = "execute"
		j.w.add(Order, "command", value, Nothing, what)
	}
	e := line.Found
	addresses := distant(line.Addresses)
	for i := range line.Runs {
		r := &line.Runs[i]
		deep, far := false, ""
		for _, a := range r.Args {
			deep = deep || strings.HasPrefix(a.Text, "-") && strings.ContainsAny(a.Text, "rR")
			if strings.HasPrefix(a.Text, "/") || strings.HasPrefix(a.Text, "~") {
				far = a.Text
			}
		}
		if r.Name == "rm" && deep && far != "" && !strings.HasPrefix(far, "/tmp/") && c.argued && !c.index.Said(far) {
			bad("it removes a folder you did not name", far)
			return
		}
	}
	switch {
	case e.Has(shell.Oversight):
		bad("it touches what watches the agent", l.command())
	case e.Has(shell.RunsFetched) && !c.chosen(addresses):
		bad("it runs what it fetches", l.command())
	case e.Has(shell.Unparsed) && !line.Broken:
		bad("it cannot be read", l.command())
	case e.Has(shell.Persist):
		bad("it stays behind", l.command())
	case e.Has(shell.BreaksOut):
		bad("it breaks out", l.command())
	case e.Has(shell.Wrecks):
		bad("it wrecks", l.command())
	case e.Has(shell.ReadsSecret) && e.Has(shell.Network) && !c.chosen(addresses):
		bad("it may carry a secret away", l.command())
	case e.Has(shell.NetworkWrite | shell.Mail):
		for _, u := range addresses {
			if ev, _ := c.address(u); ev < Own {
				bad("it sends to an address you did not name", u)
				return
			}
		}
		if c.outside && len(addresses) == 0 && !c.saysAny("push", "deploy", "publish", "release", "pr", "pull", "commit", "merge") {
			bad("it sends something away", l.command())
		}
	default:
		for _, s := range line.Secrets {
			if strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") {
				bad("it reads a secret", s)
				return
			}
		}
		if c.outside {
			for i := range line.Runs {
				if r := &line.Runs[i]; !r.Guess && !plain(r) && !c.index.Said(r.Name) {
					bad("a program that may do anything, and you did not name it", l.command())
					return
				}
			}
		}
		if c.outside && e.Has(shell.Install) {
			for _, p := range line.Packages {
				if !c.index.Said(p) && !c.pieces(p) {
					bad("a package you did not name", p)
					return
				}
			}
		}
		for _, f := range line.Writes {
			if (sensitive(f) || c.outside && steers(f) && path.Ext(f) == "" && strings.HasPrefix(path.Base(f), ".")) && !c.index.Said(f) {
				bad("the file decides what this machine does next", f)
				return
			}
		}
		if c.outside {
			for _, u := range addresses {
				if ev, _ := c.address(u); ev < Followed {
					bad("an address nobody named", u)
					return
				}
			}
		}
	}
}

// harmless reports whether a command for a shell of somebody's server only looks, builds
// and tests.
func (c *Context) harmless(m *meaning.Meaning, l *leaf) bool {
	name := m.Tool
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	if !commandTools[name] {
		return false
	}
	line := c.line(m, l)
	if line.Effects.Has(shell.Unparsed) || line.Found&^(shell.NetworkRead|shell.Install) != 0 || len(line.Secrets) > 0 {
		return false
	}
	for _, p := range line.Packages {
		if !c.index.Said(p) && !c.pieces(p) {
			return false
		}
	}
	for i := range line.Runs {
		if !plain(&line.Runs[i]) {
			return false
		}
	}
	return len(distant(line.Addresses)) == 0
}

// file judges a file the host's own tools write.
func (j *judging) file(l *leaf) {
	if (sensitive(l.text) || j.c.outside && steers(l.text)) && !j.c.index.Said(l.text) && !j.c.index.Said(path.Base(l.text)) {
		j.w.Deed = "execute"
		j.w.add(Order, l.path, l.text, Nothing, "the file decides what this machine does next")
	}
}

func (c *Context) chosen(addresses []string) bool {
	for _, u := range addresses {
		if e, _ := c.address(u); e < Own {
			return false
		}
	}
	return len(addresses) > 0
}

func distant(list []string) []string {
	var out []string
	for _, a := range list {
		if !private(a) || strings.HasPrefix(a, "169.") {
			out = append(out, a)
		}
	}
	return out
}

func (c *Context) saysAny(words ...string) bool {
	for _, w := range words {
		if c.user.stems[w] {
			return true
		}
	}
	return false
}
