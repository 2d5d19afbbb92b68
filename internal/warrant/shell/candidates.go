package shell

import (
	"slices"
	"strings"
)

// candidates reads a program that runs a command somewhere among its words: each of them
// may be where it begins.
func (c *call) candidates(strict bool) {
	if len(c.args) > maxHanded {
		c.unread()
		return
	}
	out := c.out
	for i, a := range c.args {
		switch {
		case !a.Known:
			if i > 0 && (c.args[i-1].Text == "-p" || c.args[i-1].Text == "--pid") {
				continue
			}
			c.unread()
			return
		case a.Text == "" || strings.HasPrefix(a.Text, ":::"):
		case a.Text[0] == '-':
			if j := strings.IndexAny(a.Text, " ;|"); j > 0 {
				c.handed(strings.TrimLeft(a.Text[max(strings.IndexByte(a.Text[:j], '='), 1)+1:], "="), false)
			}
		case strings.ContainsAny(a.Text, " \n;|&$`"):
			c.handed(a.Text, strict)
		default:
			words := slices.DeleteFunc(slices.Clone(c.args[i:]), func(w Word) bool { return strings.HasPrefix(w.Text, ":::") })
			if len(words) > 2 && words[1].Text == "--" {
				words = slices.Delete(words, 1, 2)
			}
			was, names := c.fedMore, c.fedNames
			if c.name == "parallel" {
				c.fedMore, c.fedNames = true, c.in.names || !c.in.given && !slices.ContainsFunc(words, func(w Word) bool { return w.open })
			}
			c.may(words)
			c.fedMore, c.fedNames = was, names
		}
		out = out.join(c.out)
	}
	c.out = out
}

// execers run a command after a word of theirs that says so.
var execers = set("mise asdf pyenv rbenv nodenv goenv fnm nvm volta devbox op aws-vault doppler infisical chamber ip rustup npm pnpm")

// execs reads such a command.
func (c *call) execs() {
	if !execers[c.name] {
		return
	}
	i := slices.IndexFunc(c.args, func(a Word) bool {
		return a.Text == "exec" || !runsScripts[c.name] && (a.Text == "--" || a.Text == "run")
	})
	if i < 0 {
		return
	}
	end := slices.IndexFunc(c.args[i:], func(a Word) bool { return a.Text == "--" })
	if end > 0 && !slices.ContainsFunc(c.args[i+1:i+end], mayRun) {
		i += end
	}
	if i+1 < len(c.args) && !c.args[i+1].Known {
		c.unread()
	}
	where, all := c.where, c.args
	c.args = slices.DeleteFunc(slices.Clone(all[i+1:]), func(a Word) bool { return a.Text == "--" || !a.Known })
	c.candidates(false)
	c.where, c.args = where, all
}

// mayRun reports whether a word before the command is more than a plain setting.
func mayRun(a Word) bool {
	return !strings.HasPrefix(a.Text, "--") || strings.HasPrefix(a.Text, "--c") || strings.ContainsAny(a.Text, " \t\n;|&`")
}

// runsScripts are those of them that run scripts by name, and hand them what follows.
var runsScripts = set("npm pnpm")

// handed reads a text that may be a command.
func (c *call) handed(text string, strict bool) {
	if c.name == "gdb" || c.name == "lldb" {
		text = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(text, "platform "), "shell "), "!")
	}
	if strict {
		c.out = c.script(text, c.in)
		return
	}
	c.does |= c.started(text)
}

// guess takes every word for a program that may run, and every word with blanks for a
// command of its own. weigh says that what they would do counts.
func (c *call) guess(args []Word, strict, weigh bool) {
	for i, a := range args {
		switch {
		case !a.Known && strict:
			c.unread()
			return
		case !a.Known:
			continue
		case strings.HasPrefix(a.Text, "-") || a.Text == "":
			continue
		case strings.ContainsAny(a.Text, " \n;|&$`"):
			if strict || weigh {
				c.script(a.Text, c.in)
			}
		case len(c.line.Runs) < maxRuns:
			name, _ := programName(a)
			run := Run{Name: name, Path: a.Text, Args: args[i+1:], Guess: true}
			if weigh {
				run.Effects = plain[name]
			}
			c.line.Runs = append(c.line.Runs, run)
		}
	}
}
