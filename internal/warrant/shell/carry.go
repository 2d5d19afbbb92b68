package shell

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/text"
)

// carries reads a program that runs a command somewhere among its arguments. Every word is
// a guess; where the command can be found, what it does counts.
func (c *call) carries(strict bool) {
	c.does |= plain[c.name]
	switch c.name {
	case "docker", "podman", "nerdctl":
		c.guess(c.args, false, false)
		c.container()
	case "kubectl":
		c.guess(c.args, false, false)
		c.cluster()
	case "ssh":
		c.guess(c.args, true, false)
		c.ssh()
	case "powershell", "pwsh":
		c.guessNames(c.args)
		c.powerShell()
	case "cmd":
		c.guessNames(c.args)
		c.absorb(windowsText(strings.Join(texts(c.args), " ")))
	case "npx", "bunx", "uvx":
		c.guess(c.args, false, true)
		c.fetchedProgram()
	case "uv", "poetry", "pipenv", "conda":
		c.guess(c.args, false, false)
		c.environment()
	case "nsenter", "chroot", "unshare", "pkexec", "gosu":
		c.does |= Privilege
		c.candidates(strict)
	case "systemd-run":
		timer := func(a Word) bool { return strings.HasPrefix(a.Text, "--on-") || strings.HasPrefix(a.Text, "--timer") }
		if slices.ContainsFunc(c.args, timer) {
			c.does |= Persist
		}
		c.candidates(strict)
	case "direnv":
		if len(c.args) > 0 && c.args[0].Text == "exec" {
			c.candidates(strict)
		}
	default:
		c.candidates(strict)
	}
}

// fetchedProgram reads npx and its kin, which fetch the program they run. An agent that
// is fetched and told something is one that nobody watches.
func (c *call) fetchedProgram() {
	c.does |= Install | NetworkRead
	c.scriptFlag()
	_, rest := options(c.args, "pc", set("--package --call"))
	if len(rest) == 0 {
		return
	}
	c.named(rest[:1])
	if len(c.args) > 1 && mentions(strings.ToLower(rest[0].Text), agentPackages) {
		c.does |= Oversight
	}
}

// guessNames takes every word for a program that may run, without reading any as a
// command of a POSIX shell.
func (c *call) guessNames(args []Word) {
	for i, a := range args {
		if !a.Known {
			if c.name != "cmd" { // of no meaning where there is no Windows
				c.unread()
			}
			return
		}
		for _, f := range strings.FieldsFunc(a.Text, func(r rune) bool { return strings.ContainsRune(" \t\n;|&(){}'\"", r) }) {
			if name, ok := programName(Word{Text: f, Known: true}); ok && f[0] != '-' && f[0] != '$' && len(c.line.Runs) < maxRuns {
				c.line.Runs = append(c.line.Runs, Run{Name: name, Path: f, Args: args[i+1:], Guess: true})
			}
		}
	}
}

var containerLong = set(`--volume --env --publish --name --network --workdir --user --mount --entrypoint --platform --label
	--env-file --cap-add --security-opt --pid --device --hostname --add-host --restart --memory --cpus --file --tag
	--build-arg --filter --format --host --context`)

// container reads docker and its kin.
func (c *call) container() {
	flags, rest := options(c.args, "vepwuhlmPH", containerLong)
	if len(rest) == 0 {
		return
	}
	for _, h := range valuesOf(flags, "-H", "--host") {
		if strings.Contains(h, "://") && !strings.HasPrefix(h, "unix:") {
			c.does |= NetworkRead | NetworkWrite
			c.address(h)
		}
	}
	sub := rest[0].Text
	if sub == "compose" || sub == "container" || sub == "image" {
		rest = rest[1:]
		if len(rest) == 0 {
			return
		}
		sub = rest[0].Text
	}
	c.containerVerb(sub, flags, rest)
}

// containerVerb reads what docker is told to do.
func (c *call) containerVerb(sub string, flags map[string][]string, rest []Word) {
	c.quiet = true
	switch sub {
	case "run", "create", "exec":
		if c.givenMachine(flags) {
			c.does |= BreaksOut | Privilege
		}
		if sub != "exec" {
			c.does |= NetworkRead // an image that is not here is fetched
			c.quiet = len(rest) > 2
			c.image(rest[1:])
		}
		c.inContainer(rest[1:])
	case "push", "login":
		c.does |= NetworkWrite
	case "search":
		c.does |= NetworkRead
		c.quiet = false
	case "pull":
		c.does |= NetworkRead
		c.image(rest[1:])
	case "build":
		c.does |= NetworkRead | FileWrite
		for _, a := range rest[1:] {
			if strings.Contains(a.Text, "://") || strings.HasPrefix(a.Text, "git@") {
				c.does |= RunsFetched // what it says is run while it builds
				c.address(a.Text)
			}
		}
	case "rm", "rmi", "prune", "kill", "volume", "system", "down":
		takes := func(a Word) bool { return a.Text == "rm" || a.Text == "prune" }
		if sub != "volume" && sub != "system" || slices.ContainsFunc(rest, takes) {
			c.does |= Destructive
		}
	}
}

// image notes the image that a container is made of: somebody's code, like a package.
func (c *call) image(rest []Word) {
	if len(rest) == 0 {
		return
	}
	name, _, _ := strings.Cut(rest[0].Text, "@")
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name = name[:i]
	}
	note(&c.line.Packages, name)
}

// inContainer reads the command after the image's name: the options before it were taken
// apart with those of docker, so the first word left is the image.
func (c *call) inContainer(rest []Word) {
	if len(rest) < 2 {
		return
	}
	for i, a := range c.args {
		if a.Known && a.Text == rest[0].Text && i+1 < len(c.args) {
			words := c.args[i+1:]
			if name, ok := programName(words[0]); ok && (!shells[name] || len(words) > 1) {
				c.may(words)
				c.out.fetched = c.in.fetched
			}
			return
		}
	}
}

// givenMachine reports whether a container gets at the machine it runs on.
func (c *call) givenMachine(flags map[string][]string) bool {
	powers := flags["--cap-add"]
	if flags["--privileged"] != nil || slices.Contains(powers, "ALL") || slices.Contains(powers, "SYS_ADMIN") {
		return true
	}
	if slices.Contains(flags["--pid"], "host") {
		return true
	}
	for _, v := range valuesOf(flags, "-v", "--volume") {
		if from, _, _ := strings.Cut(v, ":"); ofMachine(from) {
			return true
		}
	}
	for _, m := range flags["--mount"] {
		for part := range strings.SplitSeq(m, ",") {
			if k, v, _ := strings.Cut(part, "="); (k == "source" || k == "src") && ofMachine(v) {
				return true
			}
		}
	}
	return false
}

// ofMachine reports whether a folder given to a container is the machine's, not the work's.
func ofMachine(folder string) bool {
	folder = strings.TrimRight(folder, "/")
	switch folder {
	case "", "~", "/etc", "/root", "/home", "/var", "/usr", "/Users":
		return true
	}
	return strings.HasSuffix(folder, "docker.sock") || Secret(folder+"/x") || overseenFolder(folder) || homeOfOne(folder)
}

// sshValue reports whether a flag of ssh takes the word after it.
func sshValue(flag string) bool {
	return len(flag) == 2 && flag[0] == '-' && strings.Contains("BbcDEeFIiJLlmOopQRSWw", flag[1:])
}

// ssh reads a command for another machine.
func (c *call) ssh() {
	c.does |= NetworkRead | NetworkWrite
	for i, a := range c.args {
		c.sshOption(a)
		if strings.HasPrefix(a.Text, "-") {
			continue
		}
		if i > 0 && sshValue(c.args[i-1].Text) {
			continue
		}
		c.address(a.Text)
		if words := c.args[i+1:]; len(words) > 0 {
			for _, w := range words {
				if !w.Known {
					c.unread()
					return
				}
			}
			c.out = c.out.join(c.script(strings.Join(texts(words), " "), c.in))
		}
		return
	}
}

// sshOption reads an option that names a command.
func (c *call) sshOption(a Word) {
	for _, name := range []string{"proxycommand", "localcommand", "knownhostscommand"} {
		if i, end := text.IndexFold(a.Text, name); i >= 0 && i <= 2 {
			if !a.Known {
				c.unread()
				return
			}
			if v := strings.TrimLeft(a.Text[end:], "= "); v != "" && v != "none" {
				c.script(v, flow{})
			}
		}
	}
}

var environmentValues = set(`-n --name -p --prefix --with --with-editable --with-requirements -w --python --extra --group --env-file
	--project --directory`)

// environment reads tools that keep packages and run programs with them.
func (c *call) environment() {
	i := slices.IndexFunc(c.args, func(a Word) bool { return a.Known && !strings.HasPrefix(a.Text, "-") })
	if i < 0 {
		return
	}
	rest := c.args[i+1:]
	switch c.args[i].Text {
	case "run":
		for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") && rest[0].Known {
			flag, value, given := strings.Cut(rest[0].Text, "=")
			if environmentValues[flag] && !given && len(rest) > 1 {
				rest = rest[1:]
				value = rest[0].Text
			}
			if strings.HasPrefix(flag, "--with") || flag == "-w" { // it fetches that, and code of it runs
				c.does |= Install | NetworkRead
				c.named([]Word{{Text: value, Known: rest[0].Known}})
			}
			rest = rest[1:]
		}
		if len(rest) > 0 && strings.Contains(rest[0].Text, "://") {
			c.does |= RunsFetched | NetworkRead
			c.address(rest[0].Text)
			return
		}
		c.inner(rest, false)
	case "pip":
		c.pip(rest)
	case "add", "install", "sync", "tool", "update", "create":
		c.does |= Install | NetworkRead
		_, names := options(rest, "nrcf", set("--index-url --extra-index-url --group --name --file --channel"))
		c.named(names)
	case "publish":
		c.does |= NetworkWrite
	}
}
