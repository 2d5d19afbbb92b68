package policy

import (
	"slices"
	"strings"
)

var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash"}

// wrapper is a program that runs the command among its arguments.
type wrapper struct {
	values  string // letters of its flags that take a value
	flags   string // letters of those that do not
	skip    int    // words of its own before the command
	assigns bool   // NAME=value words may stand before the command
}

// wrappers whose arguments are known well enough to find the command.
var wrappers = map[string]wrapper{
	"sudo":    {values: "ughpCrtTUDR", flags: "AbEeHiKklnPSsVv", assigns: true},
	"doas":    {values: "uC", flags: "Lns"},
	"env":     {values: "uC", flags: "i0v", assigns: true},
	"nohup":   {},
	"setsid":  {flags: "cfw"},
	"nice":    {values: "n"},
	"ionice":  {values: "cnpPu", flags: "t"},
	"timeout": {values: "sk", flags: "vf", skip: 1},
	"stdbuf":  {values: "ioe"},
	"time":    {values: "fo", flags: "apvq"},
	"xargs":   {values: "adEILnPs", flags: "0rtpx"},
	"command": {flags: "p"},
	"builtin": {},
	"exec":    {values: "a", flags: "cl"},
	"busybox": {},
	"toybox":  {},
}

// carriers run a command too, somewhere among their arguments: any of the words
// may be it. True for those that hand their words to a shell: with them a word
// nobody knows makes the whole command unreadable.
var carriers = map[string]bool{
	"ssh": true, "su": true, "runuser": true, "script": true, "watch": true, "parallel": true, "tmux": true, "screen": true,
	"cmd": true, "powershell": true, "pwsh": true, "wsl": true,
	"flock": false, "chroot": false, "unshare": false, "nsenter": false, "firejail": false, "bwrap": false,
	"docker": false, "podman": false, "nerdctl": false, "kubectl": false, "strace": false, "ltrace": false, "perf": false,
	"hyperfine": false, "entr": false, "npx": false, "bunx": false, "uvx": false, "uv": false, "poetry": false, "pipenv": false,
	"conda": false, "nix": false, "nix-shell": false, "direnv": false,
}

// shell reads what a shell is told to run.
func (c *commandLine) shell(args []word, depth int) {
	inline := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case !a.known:
			c.unreadable = true
			return
		case a.text == "--version" || a.text == "--help":
			return
		case a.text == "-" || a.text == "--":
			continue
		case strings.HasPrefix(a.text, "--"):
			if a.text == "--rcfile" || a.text == "--init-file" {
				i++
			}
		case strings.HasPrefix(a.text, "-") || strings.HasPrefix(a.text, "+"):
			inline = inline || strings.Contains(a.text, "c")
			if !inline && strings.Contains(a.text, "s") {
				c.unreadable = true // its commands come from standard input
				return
			}
			if strings.HasSuffix(strings.ToLower(a.text), "o") {
				i++
			}
		case inline:
			c.parse(a.text, depth+1)
			return
		default:
			return // a script in a file: a local program like any other
		}
	}
	c.unreadable = true // it reads its commands from somewhere we cannot see
}

// code reads the text that eval and trap run.
func (c *commandLine) code(run invocation, depth int) {
	args := run.args
	if run.name == "trap" && len(args) > 1 {
		args = args[:1]
	}
	parts := make([]string, len(args))
	for i, a := range args {
		if !a.known {
			c.unreadable = true
			return
		}
		parts[i] = a.text
	}
	if run.name == "trap" && strings.HasPrefix(strings.Join(parts, ""), "-") {
		return
	}
	c.parse(strings.Join(parts, " "), depth+1)
}

// find reads the commands after -exec and its kin.
func (c *commandLine) find(args []word, depth int) {
	for i, a := range args {
		if a.known && slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, a.text) {
			end := slices.IndexFunc(args[i+1:], func(w word) bool { return w.known && (w.text == ";" || w.text == "+") })
			if end < 0 {
				end = len(args) - i - 1
			}
			c.inner(args[i+1:i+1+end], depth, true)
		}
	}
}

// inner reads a wrapped command. fed says that it is given arguments from
// elsewhere; a shell fed that way may be handed anything.
func (c *commandLine) inner(words []word, depth int, fed bool) {
	if depth >= maxUnwrapping {
		c.unreadable = true
		return
	}
	if fed && len(words) > 0 && slices.Contains(shells, programName(words[0].text)) {
		c.unreadable = true
		return
	}
	from := len(c.runs)
	c.add(words, depth+1)
	for i := range c.runs[from:] {
		c.runs[from+i].guess = true // what the wrapper adds or changes is not known
	}
}

// unwrap finds the command a wrapper runs.
func (c *commandLine) unwrap(run invocation, depth int) {
	if strict, ok := carriers[run.name]; ok {
		c.guess(run.args, depth, strict)
		return
	}
	w, ok := wrappers[run.name]
	if !ok {
		return
	}
	if run.name == "command" && len(run.args) > 0 && strings.HasPrefix(strings.ToLower(run.args[0].text), "-v") {
		return // asks where a program is, does not run it
	}
	args, ok := w.command(run.args)
	if !ok {
		c.guess(run.args, depth, true)
		return
	}
	c.inner(args, depth, run.name == "xargs")
}

// command drops the wrapper's own words; ok is false if one is not understood.
func (w wrapper) command(args []word) ([]word, bool) {
	skip := w.skip
	for len(args) > 0 {
		a := args[0]
		switch {
		case !a.known:
			return args, true // the command itself, to be judged as such
		case a.text == "--":
			args, w = args[1:], wrapper{assigns: w.assigns}
			continue
		case len(a.text) > 1 && a.text[0] == '-':
			n, ok := w.flag(a.text)
			if !ok || n > len(args) {
				return nil, false
			}
			args = args[n:]
			continue
		case w.assigns && strings.Contains(a.text, "="):
			args = args[1:]
			continue
		}
		if skip == 0 {
			break
		}
		args, skip = args[1:], skip-1
	}
	return args, true
}

// flag is how many words the flag takes, itself included.
func (w wrapper) flag(text string) (int, bool) {
	if strings.HasPrefix(text, "--") {
		return 1, strings.Contains(text, "=")
	}
	for i := 1; i < len(text); i++ {
		switch {
		case strings.IndexByte(w.values, text[i]) >= 0:
			if i == len(text)-1 {
				return 2, true
			}
			return 1, true // the value is attached
		case strings.IndexByte(w.flags, text[i]) < 0:
			return 0, false
		}
	}
	return 1, true
}

// guess takes every word for a program that may run, and every word with blanks
// for a command of its own.
func (c *commandLine) guess(args []word, depth int, strict bool) {
	for i, a := range args {
		switch {
		case !a.known && strict:
			c.unreadable = true
			return
		case !a.known:
			continue
		case strings.HasPrefix(a.text, "-") || a.text == "":
			continue
		case strings.ContainsAny(a.text, " \n;|&$`"):
			c.parse(a.text, depth+1)
		case len(c.runs) < maxInvocations:
			c.runs = append(c.runs, invocation{name: programName(a.text), path: a.text, args: args[i+1:], guess: true})
		}
	}
}
