package shell

import "strings"

// asked are the flags with which an interpreter that is given no code waits for none.
var asked = set("--version -v --help -h -V --test --check -c --run --build --watch --interpreter-check -l")

// opens notes an interpreter that is given no code and fed none: it runs what is typed into it.
func (c *call) opens() {
	if c.in.given {
		return
	}
	for _, a := range c.args {
		name, _, _ := strings.Cut(a.Text, "=")
		if asked[name] || strings.HasPrefix(name, "--test") {
			return
		}
	}
	c.line.Opens = true
}

// pagers show a text and, where they have a terminal, run what is typed into them.
var pagers = set("less more most man view pg")

// gitPages are what git shows with a pager.
var gitPages = set("log diff show blame help branch tag reflog grep stash shortlog")

// pages notes a program that is more than a reader where there is a terminal.
func (c *call) pages() {
	git := c.name == "git" && len(c.args) > 0 && gitPages[c.args[0].Text]
	c.line.Pages = c.line.Pages || pagers[c.name] || git
}
