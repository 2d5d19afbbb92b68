package shell

import "strings"

// sedScripts reads the scripts given to sed: some of its commands run programs or write
// files.
func (c *call) sedScripts(scripts []string, rest []Word) {
	if len(scripts) == 0 && len(rest) > 0 {
		if !rest[0].Known && rest[0].flow.made {
			c.unread()
			return
		}
		scripts = []string{rest[0].Text}
	}
	for _, s := range scripts {
		c.sed(s)
	}
}

// sed reads one script, command by command. What it cannot follow it leaves.
func (c *call) sed(s string) {
	for s != "" {
		s = sedAddress(strings.TrimLeft(s, " \t\n;{}"))
		if s == "" {
			return
		}
		verb := s[0]
		s = s[1:]
		switch verb {
		case 's', 'y':
			s = c.sedReplace(s)
		case 'e', 'w', 'W', 'r', 'R', 'a', 'i', 'c', '#', ':', 'b', 't', 'T':
			line, more, _ := strings.Cut(s, "\n")
			s = more
			c.sedLine(verb, strings.TrimSpace(line))
		}
	}
}

// sedLine reads a command that takes the rest of its line.
func (c *call) sedLine(verb byte, line string) {
	switch verb {
	case 'e':
		if line == "" {
			c.unread() // it runs what it reads
			return
		}
		c.script(line, flow{})
	case 'w', 'W':
		c.written(line, c.in)
	case 'r', 'R':
		c.out = c.out.join(c.opened(Word{Text: line, Known: true}))
	case 'b', 't', 'T', ':':
		if _, more, ok := strings.Cut(line, ";"); ok {
			c.sed(more)
		}
	}
}

// sedReplace reads s/a/b/flags after its letter, and gives back what follows.
func (c *call) sedReplace(s string) string {
	if s == "" {
		return ""
	}
	mark := s[0]
	_, s = sedUntil(s[1:], mark)
	_, s = sedUntil(s, mark)
	for i := range len(s) {
		switch s[i] {
		case 'e':
			c.unread() // what comes of it is run
		case 'w':
			line, more, _ := strings.Cut(s[i+1:], "\n")
			c.written(strings.TrimSpace(line), c.in)
			return more
		case ' ', ';', '\n', '}':
			return s[i:]
		}
	}
	return ""
}

// sedUntil cuts at a mark that no backslash takes away.
func sedUntil(s string, mark byte) (before, after string) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case mark:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// sedAddress drops what says on which lines a command works.
func sedAddress(s string) string {
	for s != "" {
		switch ch := s[0]; {
		case ch == '/':
			_, s = sedUntil(s[1:], '/')
		case ch == '\\' && len(s) > 1:
			_, s = sedUntil(s[2:], s[1])
		case strings.IndexByte("0123456789$,!~+ \tIM", ch) >= 0:
			s = s[1:]
		default:
			return s
		}
	}
	return s
}
