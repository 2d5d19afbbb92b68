package shell

import (
	"slices"
	"strings"
)

// installs are the subcommands by which package managers bring in packages.
var installs = map[string]map[string]bool{
	"pip": set("install download wheel"), "pip3": set("install download wheel"), "pipx": set("install run upgrade inject"),
	"npm": set("install i add ci update exec x init create"), "pnpm": set("install i add update dlx create"), "yarn": set("add install dlx create upgrade"), "bun": set("add install x create"),
	"apt": set("install upgrade dist-upgrade full-upgrade"), "apt-get": set("install upgrade dist-upgrade"), "aptitude": set("install"),
	"dnf": set("install upgrade update"), "yum": set("install update"), "apk": set("add upgrade"), "zypper": set("install in update"), "brew": set("install upgrade tap reinstall"), "port": set("install"),
	"gem": set("install update"), "bundle": set("install update add"), "cargo": set("install add update"), "go": set("install get"), "composer": set("require install update"),
	"luarocks": set("install"), "snap": set("install"), "flatpak": set("install"), "choco": set("install"), "winget": set("install"), "scoop": set("install"),
	"mamba": set("install create"), "micromamba": set("install create"), "cpanm": nil, "cpan": nil, "easy_install": nil, "code": nil, "cabal": set("install"), "opam": set("install"), "rustup": set("install update toolchain component target"),
	"dpkg": nil, "rpm": nil, "pacman": nil, "yay": nil, "paru": nil, "asdf": set("install"), "nvm": set("install"), "pyenv": set("install"), "volta": set("install"),
}

// publishes are the subcommands by which they carry something out.
var publishes = set("publish upload push deploy yank unpublish login")

const packageFlags = "ricefptCo"

var packageLong = set("--index-url --extra-index-url --find-links --requirement --constraint --registry --target --prefix --python --source --git --path --version --features --channel --trusted-host")

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
		if publishes[rest[0].Text] {
			c.does |= NetworkWrite | NetworkRead
		}
		return
	}
	c.does |= Install | NetworkRead | FileWrite
	c.named(rest)
	for _, f := range []string{"-i", "--index-url", "--extra-index-url", "--find-links", "-f", "--registry", "--git", "--source"} {
		for _, v := range flags[f] {
			if strings.Contains(v, "://") {
				c.address(v)
			}
		}
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
		case t == "." || strings.HasPrefix(t, "./") || strings.HasPrefix(t, "/") || strings.HasPrefix(t, ".["):
			if c.isFetched(t) {
				c.does |= RunsFetched
			}
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

// builds reads make and its kin: they run what a file here says.
func (c *call) builds() {
	if c.inside || slices.ContainsFunc(c.args, func(a Word) bool { return c.isFetched(a.Text) }) {
		c.does |= RunsFetched
	}
}
