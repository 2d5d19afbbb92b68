package shell

import (
	"path"
	"slices"
	"strings"
)

// startFiles are the flags that name a file which a shell runs before all else.
var startFiles = set("--rcfile --init-file")

// shell reads what a shell is told to run.
func (c *call) shell() {
	inline := false
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		switch {
		case !a.Known:
			c.unknownScript(a)
			return
		case a.Text == "--version" || a.Text == "--help":
			return
		case a.Text == "-" || a.Text == "--":
			continue
		case strings.HasPrefix(a.Text, "--"):
			if startFiles[a.Text] {
				i++
				c.startsBy(c.args[min(i, len(c.args)):])
			}
		case strings.HasPrefix(a.Text, "-") || strings.HasPrefix(a.Text, "+"):
			if a.Text[0] == '-' && strings.Contains(a.Text, "n") {
				return // it only looks whether the script is well formed
			}
			inline = inline || strings.Contains(a.Text, "c")
			if !inline && strings.Contains(a.Text, "s") {
				c.fed()
				return
			}
			if strings.HasSuffix(strings.ToLower(a.Text), "o") {
				i++
			}
		case inline:
			if a.flow.fetched || a.flow.decoded {
				c.does |= RunsFetched
			}
			c.inlineScript(a.Text, c.args[i+1:])
			return
		default:
			c.shellFile(a, c.args[i+1:])
			return
		}
	}
	c.fed()
}

// startsBy reads such a file: the first of the words.
func (c *call) startsBy(words []Word) {
	if len(words) > 0 {
		c.sourced(words[0])
	}
}

// shellFile reads a script in a file with the words it is handed.
func (c *call) shellFile(a Word, args []Word) {
	c.file(a)
	if f, ok := c.made[path.Base(a.Text)]; ok {
		c.out = c.out.join(c.apart(func() flow {
			return c.madeScript(f, func() flow { return c.withWords(f.text, args, flow{}) })
		}))
	}
}

// inlineScript reads the text a shell is given, with the words it is handed.
func (c *call) inlineScript(text string, args []Word) {
	if len(args) > 0 {
		c.loosely(args[0].Text) // its own name
		args = args[1:]
	}
	c.out = c.apart(func() flow { return c.withWords(text, args, c.in) })
}

// unknownScript is a script that is decided when it runs.
func (c *call) unknownScript(a Word) {
	if a.flow.fetched || a.flow.decoded || c.isFetched(a.Text) {
		c.does |= RunsFetched
	}
	if strings.ContainsAny(a.Text, "*?[") {
		c.ran(a.Text, !shells[c.name] && c.name != "source" && c.name != ".")
	}
	if a.loose || !strings.Contains(a.Text, "/") || strings.HasSuffix(a.Text, "$") {
		c.unread()
	}
}

// file is a script in a file: a local program like any other, unless it came from
// elsewhere just before.
func (c *call) file(a Word) {
	c.reads(a.Text)
	c.ran(a.Text, !shells[c.name] && c.name != "source" && c.name != ".")
	if strings.Contains(a.Text, "://") {
		c.does |= RunsFetched | NetworkRead
		c.address(a.Text)
	}
	if a.flow.fetched || a.flow.decoded || c.isFetched(a.Text) || c.spilled(a.Text) ||
		c.inside && !strings.HasPrefix(a.Text, "/") {
		c.does |= RunsFetched
	}
	if a.Text == "/dev/stdin" || a.Text == "/proc/self/fd/0" || a.Text == "/dev/fd/0" {
		c.fed()
	} else if strings.HasPrefix(a.Text, "/dev/fd/") || strings.HasPrefix(a.Text, "/proc/self/fd/") {
		c.unread()
	}
}

// fed reads commands from standard input.
func (c *call) fed() {
	c.does |= c.fetchedIn()
	if !c.in.known {
		c.unread() // it reads its commands from somewhere we cannot see
		return
	}
	c.out = c.apart(func() flow { return c.script(c.in.text, flow{}) })
}

// interpreters run code of their own languages, by the flags that give it.
var interpreters = set(`python python2 python3 pypy pypy3 node nodejs deno bun perl ruby php lua luajit tclsh rscript
	osascript awk gawk mawk`)

// interpret reads a program that runs code.
func (c *call) interpret() {
	base := strings.TrimRight(c.name, "0123456789.")
	c.does |= c.preloads()
	if strings.HasSuffix(base, "awk") {
		c.awk()
		return
	}
	c.readsOn()
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		if code, ok := attached(base, a.Text); ok {
			c.attachedCode(a, code, c.args[i+1:])
			return
		}
		switch more := i+1 < len(c.args); {
		case base == "python" && a.Text == "-m" && more:
			c.module(c.args[i+1:])
			return
		case codeFlag(base, a.Text) && more:
			if next := c.args[i+1]; next.flow.fetched || next.flow.decoded {
				c.does |= RunsFetched
			}
			c.inline(c.args[i+1].Text)
			return
		case a.Text == "-" && a.Known:
			c.piped()
			return
		case strings.HasPrefix(a.Text, "-"):
		case (base == "deno" || base == "bun") && (a.Text == "run" || a.Text == "eval"):
			if a.Text == "eval" && more {
				c.inline(c.args[i+1].Text)
				return
			}
		default:
			c.codeIn(a)
			return
		}
	}
	c.opens()
	c.piped()
}

// codeIn reads code in a file.
func (c *call) codeIn(a Word) {
	c.file(a)
	if strings.HasPrefix(c.name, "py") {
		c.ran(a.Text+"/__main__.py", true)
	}
	if f, ok := c.made[path.Base(a.Text)]; ok && f.text != "" {
		c.inline(f.text)
	}
}

var awkValues = set("-F -v -f")

// awk reads awk: its first word is its code.
func (c *call) awk() {
	for i := 0; i < len(c.args); i++ {
		switch a := c.args[i]; {
		case a.Text == "-f" && i+1 < len(c.args):
			c.file(c.args[i+1])
			return
		case awkValues[a.Text]:
			i++
		case a.Text == "-" && a.Known:
			c.piped()
			return
		case strings.HasPrefix(a.Text, "-"):
		default:
			c.inline(a.Text)
			return
		}
	}
	c.piped()
}

// attached is what stands right after a short flag that gives code, or a module.
func attached(base, flag string) (string, bool) {
	if base != "python" && base != "pypy" || len(flag) < 3 {
		return "", false
	}
	if flag[0] == '-' && (flag[1] == 'c' || flag[1] == 'm') {
		return flag[2:], true
	}
	return "", false
}

func (c *call) attachedCode(a Word, code string, rest []Word) {
	if strings.HasPrefix(a.Text, "-m") {
		c.module(append([]Word{{Text: code, Known: a.Known}}, rest...))
		return
	}
	if !a.Known && a.flow.made {
		c.unread()
	}
	c.inline(code)
}

// preloads are what the modules named by flags say of perl and ruby code.
func (c *call) preloads() Effects {
	for _, a := range c.args {
		low := strings.ToLower(a.Text)
		loads := c.name == "perl" && strings.HasPrefix(low, "-m") || c.name == "ruby" && strings.HasPrefix(low, "-r")
		if loads && mentions(low, codeNetwork) {
			return NetworkRead | NetworkWrite
		}
	}
	return 0
}

// codeFlags are the flags that give code, by interpreter; otherCodeFlags are those of the
// interpreters that are not listed.
var (
	codeFlags = map[string]map[string]bool{
		"python": set("-c"), "pypy": set("-c"), "lua": set("-c -e"), "luajit": set("-c -e"), "php": set("-r"),
	}
	otherCodeFlags = set("-e -E --eval -p --print -pe -ne -le -lne -0777")
	// codeLetters end short flags that stand together, the last of which gives code.
	codeLetters = map[string]string{"python": "c", "pypy": "c", "lua": "c", "luajit": "c", "perl": "e", "ruby": "e"}
)

func codeFlag(base, flag string) bool {
	flags, ok := codeFlags[base]
	if !ok {
		flags = otherCodeFlags
	}
	letter := codeLetters[base]
	together := len(flag) > 2 && flag[0] == '-' && flag[1] != '-'
	return flags[flag] || letter != "" && together && strings.HasSuffix(flag, letter)
}

// piped reads code from standard input.
func (c *call) piped() {
	c.does |= c.fetchedIn()
	if c.in.known || c.in.text != "" {
		c.inline(c.in.text)
	}
	c.line.Fed = c.line.Fed || c.in.given && !c.in.known
}

// module reads python -m.
func (c *call) module(args []Word) {
	switch args[0].Text {
	case "pip", "pip3", "pipx", "uv", "twine", "httpie", "poetry":
		c.inner(args, false)
	case "http.server", "smtpd":
		c.does |= NetworkWrite
	default:
		c.does |= c.loads(args[0].Text)
	}
}

// inline reads code given in the command.
func (c *call) inline(code string) {
	c.code = true
	c.does |= c.source(code)
}

// asked are the flags with which an interpreter that is given no code waits for none.
var asked = set("--version -v --help -h -V --test --check -c --run --build --watch --interpreter-check -l")

// readsOn notes an interpreter that is told to read on where its code has ended.
func (c *call) readsOn() {
	on := slices.ContainsFunc(c.args, func(a Word) bool { return a.Text == "-i" || a.Text == "--interactive" })
	c.line.Opens = c.line.Opens || on && !c.in.given
}

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

// gitEdits are the verbs of git that open an editor where they are given no words, and gitWords the flags that give them, or want none.
var (
	gitEdits = set("commit merge tag revert cherry-pick rebase notes am pull")
	gitWords = set(`-m --message -F --file -C --reuse-message --no-edit --fixup --ff-only --abort --quit --skip
		-l --list -d --delete -v --verify`)
)

// gitLettersWithValue are the single letters of those verbs that take a value.
const gitLettersWithValue = "mFCctSu"

// edited reports whether git opens an editor, which is one that runs what is typed into it.
func (c *call) edited(verb string, args []Word) bool {
	said := slices.ContainsFunc(args, func(a Word) bool {
		flag, _, _ := strings.Cut(a.Text, "=")
		together := len(flag) > 2 && flag[0] == '-' && flag[1] != '-'
		at := strings.IndexAny(flag, gitLettersWithValue) // what follows it in the same word is its value
		return gitWords[flag] || together && at >= 0 && (flag[at] == 'm' || flag[at] == 'F')
	})
	asks := slices.ContainsFunc(args, func(a Word) bool { return gitAsks[a.Text] })
	return asks || gitEdits[verb] && !said
}

// gitAsks are the flags with which git asks at the terminal, whatever the verb.
var gitAsks = set("-i --interactive -e --edit -p --patch")

// pages notes a program that is more than a reader where there is a terminal.
func (c *call) pages() {
	git := c.name == "git" && len(c.args) > 0 && (gitPages[c.args[0].Text] || c.edited(c.args[0].Text, c.args[1:]))
	c.line.Pages = c.line.Pages || pagers[c.name] || git
}
