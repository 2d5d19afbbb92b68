package wrap

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
)

//go:embed own.txt
var ownText string

// ofMachine is the package of a server that brings nothing from elsewhere, by the command that starts it; "": it is not known for
// one. Only what is known word for word counts: the launcher by its plain name, no flag but the one that asks nothing, the package,
// and no variable but the place of a memory, since a registry, a path or a module of another's can stand in any other.
func (s *server) ofMachine() string {
	if len(s.argv) < 2 || slices.ContainsFunc(s.env, func(name string) bool { return name != "MEMORY_FILE_PATH" }) {
		return ""
	}
	kind, rest := "", s.argv[1:]
	switch s.argv[0] {
	case "npx":
		if kind = "npm"; rest[0] == "-y" || rest[0] == "--yes" {
			rest = rest[1:]
		}
	case "uvx":
		kind = "pypi"
	case "pipx":
		if rest[0] == "run" {
			kind, rest = "pypi", rest[1:]
		}
	}
	if len(rest) == 0 {
		return ""
	}
	for line := range strings.Lines(ownText) {
		f := strings.Fields(line)
		if len(f) != 2 || f[0] != kind {
			continue
		}
		if version, ok := strings.CutPrefix(rest[0], f[1]); ok && (version == "" || versioned.MatchString(version)) {
			return f[1]
		}
	}
	return ""
}

// versioned is the version behind a package's name: figures, or a word such as latest. No address, folder or other package.
var versioned = regexp.MustCompile(`^(?:@|==)[0-9A-Za-z][0-9A-Za-z.+-]*$`)
