package shell

import (
	"slices"
	"strings"
)

// candidates reads a program that runs a command somewhere among its words: each of them
// may be where it begins.
func (c *call) candidates(strict bool) {
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
			c.inner(words, false)
		}
		out = out.join(c.out)
	}
	c.out = out
}

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
