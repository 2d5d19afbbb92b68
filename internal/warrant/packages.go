package warrant

import (
	"path"
	"regexp"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/tool"
)

// maxNeeded bounds how many packages of manifests are remembered.
const maxNeeded = 8192

var (
	manifests = list("manifests")
	vendored  = list("vendored")
)

// wordInPath reports whether a folder of a path, or one that is hidden, is among some.
func wordInPath(file string, names map[string]bool) bool {
	for part := range strings.SplitSeq(strings.ToLower(path.Dir(strings.ReplaceAll(file, `\`, "/"))), "/") {
		if names[part] || len(part) > 2 && part[0] == '.' && part != ".." {
			return true
		}
	}
	return false
}

// onePackage is the one spelling of a package's name: managers take no notice of case and of
// which sign stands between its words.
func onePackage(name string) string {
	return strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(name))
}

// spellings are the ways in which people write a package's name.
func spellings(name string) []string {
	out := []string{name}
	for _, sign := range []string{"-", "_", "."} {
		if s := strings.NewReplacer("-", sign, "_", sign, ".", sign).Replace(name); s != name {
			out = append(out, s)
		}
	}
	return out
}

// saidPackage reports whether the user named a package, in any spelling, or a manifest of the
// workspace that nobody wrote in this conversation does.
func (c *Context) saidPackage(name string) bool {
	for _, s := range spellings(name) {
		if c.index.Said(s) {
			return true
		}
	}
	return c.needed[onePackage(name)]
}

// needs keeps the packages that a manifest of the workspace names: the file that says what the
// work needs, read by one of the host's own tools as it was before the agent changed it.
func (c *Context) needs(m *toolinfo.Meaning, values []arguments.Leaf, r *Result) {
	if !c.workspace(m) || r.Tainted || r.Failed || tool.IsShell(m.Tool) {
		return
	}
	for i := range values {
		l := &values[i]
		base := strings.ToLower(path.Base(l.Text))
		named := manifests[base] || strings.HasPrefix(base, "requirements") && strings.HasSuffix(base, ".txt")
		if !l.Quoted || !named || wordInPath(l.Text, vendored) || len(c.past.fit(l.Text)) > 0 || c.past.Came(l.Text) {
			continue
		}
		for _, p := range dependencies(base, string(r.Content)) {
			if len(c.needed) < maxNeeded {
				c.needed[onePackage(p)] = true
			}
		}
	}
}

// A manifest says what a work needs in one place of it. Its other words, a description or the
// name of a script, say nothing of that.

// The places by kind of file. A group is a name, or a text with names in it.
var (
	lineNumber = regexp.MustCompile(`(?m)^[ ]*\d+(?:→|\t|[:|] ?)`) // hosts count the lines of what they show

	jsonNeeds = regexp.MustCompile(`"(?:\w*[dD]ependencies|require(?:-dev)?)"\s*:\s*\{([^{}]*)\}`)
	jsonKey   = regexp.MustCompile(`"([^"\s]+)"\s*:`)
	jsonLock  = regexp.MustCompile(`"node_modules/([^"\s]+)"\s*:`)

	tomlNeeds = regexp.MustCompile(`(?m)^\[[^\]\n]*(?:dependencies|packages)[^\]\n]*\][ \t]*\n((?:[^\[\n][^\n]*\n|\n)*)`)
	tomlKey   = regexp.MustCompile(`(?m)^"?([A-Za-z0-9][\w.-]*)"?\s*=`)
	tomlList  = regexp.MustCompile(`(?m)^[ \t]*\w*(?:dependencies|requires)\s*=\s*\[((?:[^\]"']|"[^"\n]*"|'[^'\n]*')*)\]`)
	tomlLock  = regexp.MustCompile(`(?m)^\[\[package\]\]\s*\nname\s*=\s*"([^"]+)"`)
	listed    = regexp.MustCompile(`["']([A-Za-z0-9][\w.-]*)`)

	lineNeeds = regexp.MustCompile(`(?m)^[ \t]*([A-Za-z0-9][\w.-]*)`)
	goNeeds   = regexp.MustCompile(`(?m)^[ \t]*(?:require[ \t]+)?([\w.-]+(?:/[\w.~-]+)+)[ \t]+v\d`)
	gemNeeds  = regexp.MustCompile(`(?m)^[ \t]*gem[ \t(]+["']([\w.-]+)`)
	gemLock   = regexp.MustCompile(`(?m)^ {4,6}([\w.-]+) \(`)
	yarnLock  = regexp.MustCompile(`(?m)^"?(@?[\w.-]+(?:/[\w.-]+)?)@[^\n]*:[ \t]*$`)
	pnpmLock  = regexp.MustCompile(`(?m)^ +['"/]*(@?[\w.-]+(?:/[\w.-]+)?)(?:@[^:\n]*)?['"]?:`)
	pipLock   = regexp.MustCompile(`(?m)^ {8}"([\w.-]+)": \{`)
	iniNeeds  = regexp.MustCompile(`(?m)^install_requires[ \t]*=[^\n]*\n((?:[ \t]+[^\n]*\n|\n)*)`)
	yamlList  = regexp.MustCompile(`(?m)^[ \t]*-[ \t]*([A-Za-z0-9][\w.-]*)`)
	gradleIs  = regexp.MustCompile(`["'][\w.-]+:([\w.-]+)[:"']`)
	mavenIs   = regexp.MustCompile(`<artifactId>([\w.-]+)</artifactId>`)
)

// dependencies are the packages that a manifest, by its name, says are needed.
func dependencies(base, content string) []string {
	content = lineNumber.ReplaceAllString(content, "")
	switch {
	case base == "yarn.lock":
		return allNames(content, yarnLock)
	case base == "pnpm-lock.yaml":
		return allNames(content, pnpmLock)
	case base == "pipfile.lock":
		return allNames(content, pipLock)
	case base == "gemfile.lock":
		return allNames(content, gemLock)
	case base == "setup.cfg":
		return namesIn(content+"\n", iniNeeds, lineNeeds)
	case base == "environment.yml":
		return allNames(content, yamlList)
	case strings.HasPrefix(base, "build.gradle"):
		return allNames(content, gradleIs)
	case base == "setup.py":
		return namesIn(content, tomlList, listed)
	case strings.HasSuffix(base, ".json") || base == "composer.lock":
		return append(namesIn(content, jsonNeeds, jsonKey), allNames(content, jsonLock)...)
	case strings.HasSuffix(base, ".toml") || strings.HasSuffix(base, ".lock"), base == "pipfile":
		out := append(namesIn(content+"\n", tomlNeeds, tomlKey), namesIn(content, tomlList, listed)...)
		return append(out, allNames(content, tomlLock)...)
	case strings.HasPrefix(base, "go."):
		return allNames(content, goNeeds)
	case strings.HasPrefix(base, "requirements"), strings.HasPrefix(base, "constraints"):
		return allNames(content, lineNeeds)
	case strings.HasPrefix(base, "gemfile"):
		return allNames(content, gemNeeds)
	case base == "pom.xml":
		return allNames(content, mavenIs)
	}
	return nil
}

// namesIn are the names in the places that an expression finds.
func namesIn(content string, place, name *regexp.Regexp) []string {
	var out []string
	for _, m := range place.FindAllStringSubmatch(content, maxNeeded) {
		out = append(out, allNames(m[1], name)...)
	}
	return out
}

func allNames(content string, name *regexp.Regexp) []string {
	var out []string
	for _, m := range name.FindAllStringSubmatch(content, maxNeeded) {
		out = append(out, m[1])
	}
	return out
}
