package shell

import (
	"slices"
	"strings"
)

// wrapper is a program that runs the command among its arguments.
type wrapper struct {
	values  string // letters of its flags that take a value
	flags   string // letters of those that do not
	skip    int    // words of its own before the command
	assigns bool   // NAME=value words may stand before the command
	does    Effects
}

// wrappers whose arguments are known well enough to find the command.
var wrappers = map[string]wrapper{
	"sudo":    {values: "ughpCrtTUDR", flags: "AbEeHiKklnPSsVv", assigns: true, does: Privilege},
	"doas":    {values: "uC", flags: "Lns", does: Privilege},
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
	"caffeinate": {
		values: "tw", flags: "disu",
	},
}

// carriers run a command too, somewhere among their arguments: any of the words may be
// it. True for those that hand their words to a shell: with them a word nobody knows
// makes the whole command unreadable.
var carriers = map[string]bool{
	"ssh": true, "su": true, "runuser": true, "script": true, "watch": true, "parallel": true, "tmux": true, "screen": true,
	"cmd": true, "powershell": true, "pwsh": true, "wsl": true,
	"flock": false, "chroot": false, "unshare": false, "nsenter": false, "firejail": false, "bwrap": false,
	"docker": false, "podman": false, "nerdctl": false, "kubectl": false, "strace": false, "ltrace": false, "perf": false,
	"hyperfine": false, "entr": false, "npx": false, "bunx": false, "uvx": false, "uv": false, "poetry": false, "pipenv": false,
	"conda": false, "nix": false, "nix-shell": false, "direnv": false,
}

// wraps reads what a program runs in turn; false if it is none that does.
func (c *call) wraps() bool {
	switch c.name {
	case "eval", "trap":
		c.evaluated()
		return true
	case "find", "fd", "fdfind":
		c.find()
		return true
	case "alias":
		c.aliased()
		return true
	}
	if strict, ok := carriers[c.name]; ok {
		c.carries(strict)
		return true
	}
	w, ok := wrappers[c.name]
	if !ok {
		return false
	}
	c.does |= w.does
	if c.name == "command" && len(c.args) > 0 && strings.HasPrefix(strings.ToLower(c.args[0].Text), "-v") {
		return true // asks where a program is, does not run it
	}
	args, ok := w.command(c.args)
	switch {
	case !ok:
		c.guess(c.args, true, true)
	case len(args) == 0 && c.name == "env":
		c.out.env = true
	default:
		c.inner(args, c.name == "xargs")
	}
	return true
}

// evaluated reads the text that eval and trap run.
func (c *call) evaluated() {
	args := c.args
	if c.name == "trap" && len(args) > 1 {
		args = args[:1]
	}
	for _, a := range args {
		if !a.Known {
			if a.flow.fetched || a.flow.decoded {
				c.does |= RunsFetched
			}
			c.unread()
			return
		}
	}
	src := strings.Join(texts(args), " ")
	if c.name == "trap" && strings.HasPrefix(src, "-") {
		return
	}
	for _, a := range args {
		if a.flow.decoded {
			c.does |= RunsFetched
		}
	}
	c.out = c.script(src, c.in)
}

// find reads the commands after -exec and its kin.
func (c *call) find() {
	runs := []string{"-exec", "-execdir", "-ok", "-okdir"}
	if c.name != "find" {
		runs = []string{"-x", "-X", "--exec", "--exec-batch"}
	}
	for i, a := range c.args {
		switch {
		case !a.Known:
		case slices.Contains(runs, a.Text):
			end := slices.IndexFunc(c.args[i+1:], func(w Word) bool { return w.Known && (w.Text == ";" || w.Text == "+") })
			if end < 0 {
				end = len(c.args) - i - 1
			}
			c.inner(c.args[i+1:i+1+end], true)
		case a.Text == "-delete":
			c.does |= Destructive | FileWrite
			if everything(c.args[0].Text) {
				c.does |= Wrecks
			}
		case strings.HasPrefix(a.Text, "-fprint") || a.Text == "-fls":
			if i+1 < len(c.args) {
				c.written(c.args[i+1].Text, flow{})
			}
		}
	}
}

// aliased reads what an alias will stand for.
func (c *call) aliased() {
	c.line.Unsure = true
	for _, a := range c.args {
		if _, body, ok := strings.Cut(a.Text, "="); ok && a.Known && body != "" {
			c.script(body, flow{})
		} else if ok && !a.Known {
			c.unread()
		}
	}
}

// inner reads a wrapped command. fed says that it is given arguments from elsewhere; a
// shell fed that way may be handed anything, unless its own text is all it runs.
func (c *call) inner(words []Word, fed bool) {
	if c.depth >= maxDepth {
		c.unread()
		return
	}
	if len(words) == 0 {
		return
	}
	if fed && !c.mayFeed(words) {
		c.does |= c.fetchedIn()
		c.unread()
		return
	}
	from := len(c.line.Runs)
	c.depth++
	in := c.in
	if fed {
		in = flow{fetched: in.fetched, secret: in.secret, env: in.env}
	}
	c.out = c.walker.run(words, in)
	c.depth--
	for i := range c.line.Runs[from:] {
		c.line.Runs[from+i].Guess = true // what the wrapper adds or changes is not known
	}
}

// mayFeed reports whether what is fed to a command can only be its data.
func (c *call) mayFeed(words []Word) bool {
	name, ok := programName(words[0])
	if !ok || !shells[name] && !interpreters[name] && name != "eval" && name != "env" && name != "sudo" {
		return ok
	}
	for i, a := range words {
		if a.Known && i+1 < len(words) && (a.Text == "-c" || a.Text == "-e") && shells[name] {
			script := words[i+1]
			return script.Known && !strings.Contains(script.Text, "{") && !strings.Contains(script.Text, "%")
		}
	}
	return len(words) > 1 && !shells[name] && name != "eval"
}

func (c *call) fetchedIn() Effects {
	if c.in.fetched || c.in.decoded {
		return RunsFetched
	}
	return 0
}

// command drops the wrapper's own words; ok is false if one is not understood.
func (w wrapper) command(args []Word) ([]Word, bool) {
	skip := w.skip
	for len(args) > 0 {
		a := args[0]
		switch {
		case !a.Known:
			return args, true // the command itself, to be judged as such
		case a.Text == "--":
			args, w = args[1:], wrapper{assigns: w.assigns}
			continue
		case len(a.Text) > 1 && a.Text[0] == '-':
			n, ok := w.flag(a.Text)
			if !ok || n > len(args) {
				return nil, false
			}
			args = args[n:]
			continue
		case w.assigns && strings.Contains(a.Text, "="):
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
