package shell

import (
	"slices"
	"strings"
)

// wrapper is a program that runs the command among its arguments.
type wrapper struct {
	values  string // letters of its flags that take a value
	flags   string // letters of those that do not
	long    string // long flags that take no value; with "=" after them, one
	skip    int    // words of its own before the command
	assigns bool   // NAME=value words may stand before the command
	does    Effects
}

// wrappers whose arguments are known well enough to find the command.
var wrappers = map[string]wrapper{
	"sudo": {values: "ughpCrtTUDR", flags: "AbEeHiKklnPSsVv", assigns: true, does: Privilege,
		long: `--preserve-env --login --shell --non-interactive --background --stdin --set-home --askpass --reset-timestamp
			--validate --list --user= --group= --host= --prompt= --chdir=`},
	"doas":    {values: "uC", flags: "Lns", does: Privilege},
	"env":     {values: "uC", flags: "i0v", assigns: true, long: "--ignore-environment --null --debug --unset= --chdir="},
	"nohup":   {},
	"setsid":  {flags: "cfw", long: "--ctty --fork --wait"},
	"nice":    {values: "n", flags: "0123456789", long: "--adjustment="},
	"ionice":  {values: "cnpPu", flags: "t", long: "--class= --classdata= --ignore"},
	"timeout": {values: "sk", flags: "vf", skip: 1, long: "--foreground --preserve-status --verbose --signal= --kill-after="},
	"stdbuf":  {values: "ioe", long: "--input= --output= --error="},
	"time":    {values: "fo", flags: "apvq", long: "--portability --append --verbose --format= --output="},
	"xargs": {values: "adEILnPs", flags: "0rtpxo",
		long: `--no-run-if-empty --null --verbose --interactive --exit --open-tty --arg-file= --delimiter= --max-args=
			--max-procs= --max-lines --max-chars= --replace --eof`},
	"command":    {flags: "p"},
	"builtin":    {},
	"exec":       {values: "a", flags: "cl"},
	"noglob":     {},
	"and":        {},
	"or":         {},
	"not":        {},
	"repeat":     {skip: 1},
	"nocorrect":  {},
	"-":          {},
	"busybox":    {long: "--list --list-full --help --install"},
	"toybox":     {long: "--help"},
	"caffeinate": {values: "tw", flags: "disu"},
}

// carriers run a command too, somewhere among their arguments: any of the words may be
// it. True for those that hand their words to a shell: with them a text that is none for a
// shell makes the whole command unreadable.
var carriers = func() map[string]bool {
	out := map[string]bool{}
	for n := range strings.FieldsSeq("ssh su runuser script watch parallel tmux screen cmd powershell pwsh wsl") {
		out[n] = true
	}
	for n := range strings.FieldsSeq(anyWord) {
		out[n] = false
	}
	return out
}()

// anyWord are the carriers that start the program themselves.
const anyWord = `flock chroot unshare nsenter firejail bwrap docker podman nerdctl kubectl strace ltrace perf hyperfine entr
	npx bunx uvx uv poetry pipenv conda nix nix-shell direnv taskset chrt setarch linux32 linux64 i386 x86_64 uname26
	unbuffer systemd-run systemd-inhibit start-stop-daemon proxychains proxychains4 torsocks torify xvfb-run
	dbus-run-session dbus-launch faketime valgrind rr numactl prlimit pkexec gosu su-exec setpriv capsh fakeroot fakechroot
	eatmydata choom cgexec cpulimit catchsegv gdb lldb rlwrap daemonize chpst setuidgid softlimit tsocks run-one ts-run
	winpty arch chronic ifne emulate sg cross-env cross-env-shell env-cmd dotenv concurrently nodemon watchexec ld.so
	ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-musl-x86_64.so.1`

// wraps reads what a program runs in turn; false if it is none that does.
func (c *call) wraps() bool {
	switch c.name {
	case "eval", "trap":
		c.evaluated()
		return true
	case "find", "fd", "fdfind":
		where := c.where
		c.find()
		c.where = where
		return true
	case "alias":
		c.aliased()
		return true
	}
	if strict, ok := carriers[c.name]; ok {
		where := c.where
		c.carries(strict)
		c.where = where // what it runs goes somewhere, not we
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
	if c.name == "env" && c.splits() {
		return true
	}
	args, ok := w.command(c.args)
	switch {
	case !ok: // a flag nobody knows: where the command begins cannot be told
		c.guess(c.args, true, true)
		c.unread()
	case len(args) == 0 && c.name == "env":
		c.out.env = true
	case len(args) == 0 && c.in.given && w.does.Has(Privilege):
		c.feeds()
	default:
		c.wrapped(args)
	}
	return true
}

// wrapped reads the command that a wrapper runs. Where the shell itself runs it, it is where
// the shell is.
func (c *call) wrapped(args []Word) {
	read := func() flow {
		c.placed(c.args[:len(c.args)-len(args)])
		c.inner(args, c.name == "xargs")
		if more := c.fedWords(args); more != nil {
			c.inner(more, false)
		}
		return c.out
	}
	switch c.name {
	case "command", "builtin", "exec", "time", "noglob", "nocorrect", "-":
		read()
	default:
		c.apart(read)
	}
	c.fedWatched(args, c.name == "xargs" && c.in.watched)
}

// splits reads env -S, which takes a text apart into a command.
func (c *call) splits() bool {
	for i, a := range c.args {
		rest := c.args[i+1:]
		text, ok := strings.CutPrefix(a.Text, "--split-string=")
		if !ok {
			short := len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-'
			at := strings.IndexByte(a.Text, 'S')
			switch {
			case a.Text == "--split-string" || short && at == len(a.Text)-1:
				if len(rest) == 0 {
					return false
				}
				text, rest, a = rest[0].Text, rest[1:], rest[0]
			case short && at > 0:
				text = a.Text[at+1:]
			default:
				continue
			}
		}
		if !a.Known {
			c.unread()
			return true
		}
		c.out = c.script(text+" "+strings.Join(texts(rest), " "), c.in)
		return true
	}
	return false
}

// inner reads a wrapped command: one that runs. fed says that it is given arguments from elsewhere; a
// shell fed that way may be handed anything, unless its own text is all it runs.
func (c *call) inner(words []Word, fed bool) { c.behind(words, fed, true) }

// may reads words that are a command perhaps, or one that runs elsewhere.
func (c *call) may(words []Word) { c.behind(words, false, false) }

// behind reads the words behind a program; runs says that they are a command for certain.
func (c *call) behind(words []Word, fed, runs bool) {
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
	was, names := c.fedMore, c.fedNames
	if fed {
		c.fedMore, c.fedNames = true, c.handsNames(words) && (!was || names)
	}
	c.out = c.walker.run(words, in)
	c.fedMore, c.fedNames = was, names
	c.depth--
	for i := range c.line.Runs[from:] {
		r := &c.line.Runs[from+i]
		r.Wrapped = runs && (r.Wrapped || !r.Guess)
		r.Fed = r.Fed || fed && i == 0
		r.Guess = true // what the wrapper adds or changes is not known
	}
}

// handsNames reports whether all that a command is handed is known, or names of files of the work.
func (c *call) handsNames(words []Word) bool {
	if c.name != "xargs" {
		return !c.findsAnything()
	}
	own := c.args[:len(c.args)-len(words)]
	if slices.ContainsFunc(own, func(a Word) bool {
		return strings.HasPrefix(a.Text, "-a") || strings.HasPrefix(a.Text, "--arg-file")
	}) {
		return false
	}
	one := !slices.ContainsFunc(words, func(a Word) bool { return strings.Contains(a.Text, "{}") }) || len(fields(c.in.text)) == 1
	return c.in.names || c.in.known && one && c.fedWords(words) != nil
}

// fedWords is the command that xargs runs, where what it is fed is known.
func (c *call) fedWords(args []Word) []Word {
	if c.name != "xargs" || len(args) == 0 {
		return nil
	}
	fed := fields(c.in.text)
	if len(fed) == 0 || len(fed) > maxHanded {
		return nil
	}
	out := slices.Clone(args)
	for i, a := range out {
		out[i].Text = strings.ReplaceAll(a.Text, "{}", fed[0].Text)
	}
	return append(out, fed...)
}

// mayFeed reports whether what is fed to a command can only be its data.
func (c *call) mayFeed(words []Word) bool {
	name, ok := programName(words[0])
	if !ok || !shells[name] && !interpreters[name] && name != "eval" && name != "env" && name != "sudo" {
		return ok
	}
	for i, a := range words {
		if a.Known && a.Text == "-n" && shells[name] {
			return true // it runs nothing
		}
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
		case !a.Known && skip > 0 && !a.loose:
			args, skip = args[1:], skip-1
			continue
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
		name, _, given := strings.Cut(text, "=")
		known := set(w.long)
		switch {
		case given || known[name]:
			return 1, given || known[name]
		case known[name+"="]:
			return 2, true
		}
		return 0, false
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
