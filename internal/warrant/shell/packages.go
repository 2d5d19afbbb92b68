package shell

import (
	"slices"
	"strings"
)

// installs are the subcommands by which package managers bring in packages.
var installs = map[string]map[string]bool{
	"pip":          set("install download wheel"),
	"pip3":         set("install download wheel"),
	"pipx":         set("install run upgrade inject"),
	"npm":          set("install i add ci update exec x init create"),
	"pnpm":         set("install i add update dlx create"),
	"yarn":         set("add install dlx create upgrade"),
	"bun":          set("add install x create"),
	"apt":          set("install upgrade dist-upgrade full-upgrade"),
	"apt-get":      set("install upgrade dist-upgrade"),
	"aptitude":     set("install"),
	"dnf":          set("install upgrade update"),
	"yum":          set("install update"),
	"apk":          set("add upgrade"),
	"zypper":       set("install in update"),
	"brew":         set("install upgrade tap reinstall"),
	"port":         set("install"),
	"gem":          set("install update"),
	"bundle":       set("install update add"),
	"cargo":        set("install add update"),
	"go":           set("install get"),
	"composer":     set("require install update"),
	"luarocks":     set("install"),
	"snap":         set("install"),
	"flatpak":      set("install"),
	"choco":        set("install"),
	"winget":       set("install"),
	"scoop":        set("install"),
	"mamba":        set("install create"),
	"micromamba":   set("install create"),
	"cpanm":        nil,
	"cpan":         nil,
	"easy_install": nil,
	"code":         nil,
	"cabal":        set("install"),
	"opam":         set("install"),
	"rustup":       set("install update toolchain component target"),
	"dpkg":         nil,
	"rpm":          nil,
	"pacman":       nil,
	"yay":          nil,
	"paru":         nil,
	"asdf":         set("install"),
	"nvm":          set("install"),
	"pyenv":        set("install"),
	"volta":        set("install"),
}

// publishes are the subcommands by which they carry something out.
var publishes = set("publish upload push deploy yank unpublish login")

const packageFlags = "ricefptCo"

var packageLong = set(`--index-url --extra-index-url --find-links --requirement --constraint --registry --target --prefix
	--python --source --git --path --version --features --channel --trusted-host --editable --repository-url`)

// pip reads the words after pip.
func (c *call) pip(args []Word) {
	saved, name := c.args, c.name
	c.args, c.name = args, "pip"
	c.packages()
	c.args, c.name = saved, name
}

// packages reads package managers.
func (c *call) packages() {
	flags, rest := options(c.args, packageFlags, packageLong)
	subs := installs[c.name]
	switch {
	case subs == nil:
		if !c.systemInstall(flags) {
			return
		}
	case len(rest) == 0:
		if c.name != "yarn" {
			return
		}
	case subs[rest[0].Text]:
		rest = rest[1:]
	default:
		c.packageVerb(rest)
		if c.does.Has(Network) {
			c.sources(flags)
		}
		return
	}
	c.does |= Install | NetworkRead | FileWrite
	c.named(rest)
	c.sources(flags)
}

// sourceFlags name where packages come from or go to.
var sourceFlags = []string{
	"-i", "--index-url", "--extra-index-url", "--find-links", "-f", "-r", "--requirement", "-e", "--editable",
	"--registry", "--repository-url", "--git", "--source",
}

// sources notes where packages come from or go to.
func (c *call) sources(flags map[string][]string) {
	for _, v := range valuesOf(flags, sourceFlags...) {
		if i := strings.Index(v, "://"); i >= 0 {
			c.address(v[i-schemeLen(v):])
		}
	}
}

// packageLooks are the subcommands that show what a registry says.
var packageLooks = set("view info search v")

// packageSettings are settings of package managers that run something, or say where
// packages come from.
var packageSettings = []string{"scripts.", "script-shell", "registry", "index-url", "git=", "shell="}

// packageVerb reads the subcommands that install nothing.
func (c *call) packageVerb(rest []Word) {
	verb, more := rest[0].Text, rest[1:]
	words := strings.Join(texts(more), " ")
	switch {
	case publishes[verb]:
		c.does |= NetworkWrite | NetworkRead
	case packageLooks[verb] && c.name != "brew" && c.name != "apt" || verb == "index" && strings.HasPrefix(c.name, "pip"):
		c.does |= NetworkRead
	case (verb == "pkg" || verb == "config") && len(more) > 1 && more[0].Text == "set" && mentions(words, packageSettings):
		c.does |= Persist | FileWrite
	case verb == "explore":
		if i := slices.IndexFunc(c.args, func(a Word) bool { return a.Text == "--" }); i >= 0 {
			c.inner(c.args[i+1:], false)
		}
	case verb == "exec" && (c.name == "yarn" || c.name == "pnpm" || c.name == "bundle"):
		i := slices.IndexFunc(c.args, func(a Word) bool { return a.Text == "exec" })
		c.inner(slices.DeleteFunc(slices.Clone(c.args[i+1:]), func(a Word) bool { return a.Text == "--" }), false)
	}
}

// scriptFlag reads npx -c and npm exec -c, which hand a text to a shell.
func (c *call) scriptFlag() {
	for i, a := range c.args {
		if v, ok := strings.CutPrefix(a.Text, "--call="); ok {
			c.script(v, flow{})
		}
		if (a.Text == "-c" || a.Text == "--call") && i+1 < len(c.args) {
			if !c.args[i+1].Known {
				c.unread()
				return
			}
			c.script(c.args[i+1].Text, flow{})
		}
	}
}

// golang reads what go runs besides the programs it builds.
func (c *call) golang() {
	flags := map[string]bool{"-exec": true, "-toolexec": true, "--exec": true, "--toolexec": true}
	for i, a := range c.args {
		name, v, ok := strings.Cut(a.Text, "=")
		if !ok && flags[name] && i+1 < len(c.args) {
			v = c.args[i+1].Text
		}
		if flags[name] {
			c.script(v, flow{})
		}
	}
	_, rest := options(c.args, "", set("-exec -toolexec -C -mod -tags -ldflags"))
	if len(rest) < 2 || rest[0].Text != "run" {
		return
	}
	what := rest[1].Text
	switch host, _, _ := strings.Cut(what, "/"); {
	case strings.Contains(what, "@") && strings.Contains(host, "."):
		c.does |= Install | NetworkRead
		c.address("https://" + what)
	case strings.HasSuffix(what, "/tidemark"):
		c.inner(append([]Word{{Text: "tidemark", Known: true}}, rest[2:]...), false)
	case c.isFetched(what):
		c.does |= RunsFetched
	}
}

// systemInstall reads managers whose flags say what they do.
func (c *call) systemInstall(flags map[string][]string) bool {
	switch c.name {
	case "pacman", "yay", "paru":
		return flags["-S"] != nil || flags["-U"] != nil
	case "dpkg", "rpm":
		return flags["-i"] != nil || flags["-U"] != nil || flags["--install"] != nil
	case "code":
		return flags["--install-extension"] != nil
	}
	return true
}

// named notes the packages that are asked for by name or address.
func (c *call) named(rest []Word) {
	for _, a := range rest {
		t := a.Text
		switch {
		case strings.Contains(t, "://"):
			c.address(t[strings.Index(t, "://")-schemeLen(t):])
		case c.isFetched(t) && !strings.HasPrefix(t, "-"):
			c.does |= RunsFetched
			continue
		case t == "." || strings.HasPrefix(t, "./") || strings.HasPrefix(t, "/") || strings.HasPrefix(t, ".["):
			continue // what lies here
		}
		if i := strings.IndexAny(t, "=<>~!["); i > 0 {
			t = t[:i]
		}
		if i := strings.LastIndexByte(t, '@'); i > 0 && !strings.Contains(t, "://") {
			t = t[:i]
		}
		note(&c.line.Packages, t)
	}
}

func schemeLen(t string) int {
	i := strings.Index(t, "://")
	n := 0
	for n < i && t[i-n-1] >= 'a' && t[i-n-1] <= 'z' {
		n++
	}
	return n
}
