package shell

import (
	"slices"
	"strings"
)

// counting are the shell's own commands that take a name with an index, and run what the
// index holds.
var counting = set("test [ printf read unset let declare typeset export local readonly getopts wait")

// builtins reads the shell's own commands that change what names mean, or run something;
// false if it is none of them.
func (c *call) builtins() bool {
	if counting[c.name] && slices.ContainsFunc(c.args, func(a Word) bool { return indexRuns.MatchString(a.Text) }) {
		c.unread()
	}
	if c.name == "printf" && len(c.args) > 2 && strings.HasPrefix(c.args[0].Text, "-v") {
		c.fills()
		for _, a := range c.args[1:] {
			c.loosely(a.Text)
		}
	}
	switch c.name {
	case "hash":
		c.hashed()
	case "enable":
		loads := func(a Word) bool { return !a.Known || strings.HasPrefix(a.Text, "-") && strings.Contains(a.Text, "f") }
		if slices.ContainsFunc(c.args, loads) {
			c.unread() // a library
		}
	case "mapfile", "readarray", "compgen", "complete":
		c.callback()
		c.fills()
	case "read", "getopts":
		c.fills()
	case "set":
		for _, a := range c.args {
			c.names.reset = c.names.reset || a.open
			c.exportsAll(a.Text)
			c.loosely(a.Text)
		}
	case "export", "declare", "typeset", "readonly", "local":
		for _, a := range c.args {
			if name, value, ok := strings.Cut(a.Text, "="); ok {
				c.setting(name, Word{Text: value, Known: a.Known, flow: a.flow, tame: a.tame})
				c.sets(name)
			}
		}
	default:
		return false
	}
	return true
}

// exportsAll notes that from here on programs are given every variable.
func (c *call) exportsAll(option string) {
	if option == "allexport" || strings.HasPrefix(option, "-") && strings.Contains(option, "a") {
		c.sets("set -a")
	}
}

// fills reads commands that put what they read into variables.
func (c *call) fills() {
	for _, a := range c.args {
		if risky(a.Text) {
			c.unread()
		}
		c.vars.from.fill(a.Text, c.in.names || c.in.known)
	}
	if c.in.known {
		for f := range strings.FieldsSeq(c.in.text) {
			c.loosely(f)
		}
	}
}

// hashed reads hash -p, which says where a program is.
func (c *call) hashed() {
	flags, rest := options(c.args, "p", nil)
	for _, program := range flags["-p"] {
		for _, a := range rest {
			c.paths = true
			c.copy(a.Text, Word{Text: program, Known: !strings.Contains(program, "$")})
		}
	}
}

// callback reads the command that is run for what is read or completed.
func (c *call) callback() {
	flags, _ := options(c.args, "CcdnOstuAGWFXPSo", nil)
	for _, run := range flags["-C"] {
		if strings.Contains(run, "$") {
			c.unread()
		}
		c.script(run, flow{})
	}
}

// feeds reads a wrapper that was asked for a shell, and is fed what that runs.
func (c *call) feeds() {
	for _, a := range c.args {
		if a.Text == "-s" || a.Text == "-i" || a.Text == "--shell" || a.Text == "--login" {
			c.fed()
			return
		}
	}
}

// placed reads the words of a wrapper before its command: the variables it sets, and the
// folder it goes to.
func (c *call) placed(own []Word) {
	for i, a := range own {
		name, value, ok := strings.Cut(a.Text, "=")
		switch {
		case ok && name == "--chdir":
			c.enter(value, false)
		case i+1 < len(own) && (a.Text == "--chdir" || a.Text == "-C" && c.name == "env" || a.Text == "-D" && c.name == "sudo"):
			c.enter(own[i+1].Text, false)
		case len(a.Text) > 2 && (strings.HasPrefix(a.Text, "-C") && c.name == "env" || strings.HasPrefix(a.Text, "-D") && c.name == "sudo"):
			c.enter(a.Text[2:], false)
		case ok && !strings.HasPrefix(a.Text, "-"):
			c.setting(name, Word{Text: value, Known: a.Known, flow: a.flow, tame: a.tame})
			c.sets(name)
		}
	}
	c.where.failed = nil // it runs nothing if it cannot go there
}
