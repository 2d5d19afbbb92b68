package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The caps on reading one command: beyond them it is not read but distrusted.
const (
	maxCommand     = 64 << 10
	maxNesting     = 200
	maxUnwrapping  = 6
	maxInvocations = 500
)

// word is one word of a command. Its text is known only if nothing in it is
// decided when the command runs.
type word struct {
	text  string
	known bool
}

// invocation is one program a command runs.
type invocation struct {
	name string // without folder, lower case
	path string // as written
	args []word
	// guess: another program runs it, perhaps with other arguments, or only may run
	// it. Guesses can lower trust, never improve it.
	guess bool
}

// commandLine is what a command runs, all of it: in pipes, lists, substitutions,
// and through wrappers such as sudo or bash -c.
type commandLine struct {
	parser *syntax.Parser
	runs   []invocation
	// unreadable: some part cannot be parsed, or is decided only when it runs.
	unreadable bool
	// unsure: names may not mean what they say (functions, variables set here).
	unsure bool
}

func newShellParser() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }

// readCommand reads a command for a shell.
func readCommand(p *syntax.Parser, src string) commandLine {
	c := commandLine{parser: p}
	c.parse(src, 0)
	return c
}

// readArgv reads a command given as a list of words, which no shell expands.
func readArgv(p *syntax.Parser, argv []string) commandLine {
	c := commandLine{parser: p}
	words := make([]word, len(argv))
	for i, a := range argv {
		words[i] = word{a, true}
	}
	c.add(words, 0)
	return c
}

func (c *commandLine) parse(src string, depth int) {
	opening := strings.Count(src, "(") + strings.Count(src, "`") + strings.Count(src, "{")
	if depth > maxUnwrapping || len(src) > maxCommand || opening > maxNesting {
		c.unreadable = true
		return
	}
	f, err := c.parser.Parse(strings.NewReader(src), "")
	if err != nil {
		c.unreadable = true
		return
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			c.call(n, depth)
		case *syntax.FuncDecl, *syntax.Assign:
			c.unsure = true
		}
		return !c.unreadable
	})
}

func (c *commandLine) call(n *syntax.CallExpr, depth int) {
	words := make([]word, len(n.Args))
	for i, w := range n.Args {
		words[i] = readWord(w)
	}
	c.add(words, depth)
}

// add records the program the words run, and what it runs in turn.
func (c *commandLine) add(words []word, depth int) {
	if len(words) == 0 || c.unreadable {
		return
	}
	if !words[0].known || words[0].text == "" || len(c.runs) >= maxInvocations {
		c.unreadable = true
		return
	}
	run := invocation{name: programName(words[0].text), path: words[0].text, args: words[1:]}
	c.runs = append(c.runs, run)
	switch {
	case slices.Contains(shells, run.name):
		c.shell(run.args, depth)
	case run.name == "eval" || run.name == "trap":
		c.code(run, depth)
	case run.name == "find":
		c.find(run.args, depth)
	case run.name == "alias":
		c.unsure = true
	default:
		c.unwrap(run, depth)
	}
}

// programName is the last part of a path, without case or .exe.
func programName(s string) string {
	s = strings.ToLower(s)
	if i := strings.LastIndexAny(s, `/\`); i >= 0 {
		s = s[i+1:]
	}
	return strings.TrimSuffix(s, ".exe")
}

// readWord is the text a word has when it runs, if that is known now.
func readWord(w *syntax.Word) word {
	var b strings.Builder
	bare := "" // what is not quoted, and so may expand
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			bare += p.Value
			unescape(&b, p.Value, "")
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(p.Value, `\`) {
				return word{}
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return word{}
				}
				unescape(&b, lit.Value, "\"\\$`\n")
			}
		default:
			return word{}
		}
	}
	return word{b.String(), !expands(bare)}
}

// expands reports whether the shell makes other words of this one.
func expands(bare string) bool {
	if bare == "[" || bare == "[[" {
		return false
	}
	return strings.ContainsAny(bare, "*?[") ||
		strings.Contains(bare, "{") && (strings.Contains(bare, ",") || strings.Contains(bare, ".."))
}

// unescape drops the backslashes that quote; within double quotes only those
// before one of the special characters do.
func unescape(b *strings.Builder, s, special string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (special == "" || strings.IndexByte(special, s[i+1]) >= 0) {
			i++
		}
		b.WriteByte(s[i])
	}
}

// commandPattern is a program, alone or with the words that follow it, each of
// which may hold * and ?.
type commandPattern []string

func parseCommandPattern(s string) commandPattern {
	p := strings.Fields(s)
	p[0] = strings.ToLower(p[0])
	return p
}

func (p commandPattern) match(run invocation, unsure bool) sureness {
	if !wild(p[0], run.name) {
		return no
	}
	if !unsure && !run.guess && trustedFolder(run) && p.follows(run.args) {
		return sure
	}
	// flags may stand between the words, and an unknown word may be any
	args := run.args
	for _, want := range p[1:] {
		want = strings.ToLower(want)
		i := slices.IndexFunc(args, func(a word) bool { return !a.known || wild(want, strings.ToLower(a.text)) })
		if i < 0 {
			return no
		}
		args = args[i+1:]
	}
	return maybe
}

func (p commandPattern) follows(args []word) bool {
	for i, want := range p[1:] {
		if i >= len(args) || !args[i].known || !wild(want, args[i].text) {
			return false
		}
	}
	return true
}

// trustedFolder reports whether the program is found where the system keeps
// programs; ./git is not git.
func trustedFolder(run invocation) bool {
	dir := strings.TrimSuffix(strings.ToLower(run.path), run.name)
	return slices.Contains([]string{"", "/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/"}, dir)
}
