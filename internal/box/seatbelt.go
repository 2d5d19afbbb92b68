package box

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// What macOS is told of a box, in the language of its own sandbox (Seatbelt). It is made here, where its laws can be tried on any system;
// only box_darwin.go hands it to macOS. The last rule that fits counts, and what no rule names is denied.

// A seatRule is one rule.
type seatRule struct {
	allow bool
	ops   string // operations, separated by blanks
	kind  string // literal, subpath or regex; "": whatever it is about
	value string
}

// Operations that rules are about.
const (
	seatRead  = "file-read*"
	seatWrite = "file-write*"
	seatMove  = "file-write-unlink" // to remove it, and to rename it
)

// seatbelt is the rules for a box: what a whole box shows can be read, the workspace can be written but for what is guarded, and there is
// no network and no service of the system that holds keys. tmp is the box's own folder.
func seatbelt(w Want, tmp string) ([]seatRule, error) {
	for _, path := range slices.Concat([]string{w.Workspace, w.Home, tmp, w.State, w.Terminal}, w.Hide, w.Read, w.Write, w.Guard) {
		if strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }) {
			return nil, fmt.Errorf("make box: %q cannot be named in a profile", path)
		}
	}
	rules := []seatRule{
		{true, "process-exec process-fork sysctl-read file-read-metadata pseudo-tty", "", ""},
		{true, seatRead, "literal", "/"},
	}
	for _, dir := range places.of("seatbelt-read") {
		rules = append(rules, seatRule{true, seatRead, "subpath", "/" + dir})
	}
	for _, name := range places.of("seatbelt-device") {
		rules = append(rules, seatRule{true, seatRead + " " + seatWrite + " file-ioctl", "literal", "/dev/" + name})
	}
	if w.Terminal != "" {
		rules = append(rules, seatRule{true, seatRead + " " + seatWrite + " file-ioctl", "literal", w.Terminal})
	}
	rules = append(rules, seatHome(w)...)
	for _, path := range w.Read {
		rules = append(rules, seatRule{true, seatRead, "subpath", path})
	}
	for _, path := range slices.Concat([]string{w.Workspace, tmp}, w.Write) {
		rules = append(rules, seatRule{true, seatRead + " " + seatWrite, "subpath", path})
	}
	rules = append(rules, seatGuards(w)...)
	for _, path := range append([]string{w.State}, w.Hide...) {
		rules = append(rules, seatRule{false, seatRead + " " + seatWrite + " process-exec", "subpath", path})
	}
	return append(rules, seatRule{true, seatRead + " " + seatWrite, "subpath", tmp}, seatAnywhere()), nil
}

// seatHome is what of the home folder can be read.
func seatHome(w Want) []seatRule {
	home := "^" + regexp.QuoteMeta(w.Home) + "/"
	rules := []seatRule{{true, seatRead, "regex", home + `[^./][^/]*(/|$)`}}
	for _, name := range slices.Concat(places.of("home-shut"), places.of("seatbelt-shut")) {
		rules = append(rules, seatRule{false, seatRead, "subpath", filepath.Join(w.Home, name)})
	}
	for _, name := range slices.Concat(places.of("home-read"), places.of("home-layer")) {
		rules = append(rules, seatRule{true, seatRead, "subpath", filepath.Join(w.Home, name)})
	}
	for _, name := range places.of("home-own") {
		rules = append(rules, seatRule{false, seatRead, "subpath", filepath.Join(w.Home, name)})
	}
	for _, name := range places.of("home-cache") {
		rules = append(rules, seatRule{true, seatRead, "subpath", filepath.Join(w.Home, name)})
	}
	for _, name := range places.of("home-hide") {
		rules = append(rules, seatRule{false, seatRead, "subpath", filepath.Join(w.Home, name)})
	}
	return rules
}

// seatGuards is what of the workspace cannot be changed, whether it is there or not: names in its root that begin with a dot unless they
// are known to be fine, and the places that lists name. A folder that holds one cannot be moved away.
func seatGuards(w Want) []seatRule {
	root := "^" + regexp.QuoteMeta(w.Workspace) + "/"
	rules := []seatRule{{false, seatWrite, "regex", root + `\.[^/]+(/|$)`}}
	for _, pattern := range places.of("root-fine") {
		rules = append(rules, seatRule{true, seatWrite, "regex", root + globbed(pattern) + `(/|$)`})
	}
	guarded := append(slices.Clone(w.Guard), places.of("guard-root")...)
	for _, path := range guarded {
		rules = append(rules, seatRule{false, seatWrite, "regex", root + folded(path) + `(/|$)`})
		for dir := filepath.Dir(path); dir != "." && dir != "/"; dir = filepath.Dir(dir) {
			rules = append(rules, seatRule{false, seatMove, "regex", root + folded(dir) + `$`})
		}
	}
	return append(rules, seatRule{false, seatMove, "literal", w.Workspace})
}

// seatAnywhere denies, wherever something can be written, what is guarded in any folder: a folder that holds it could be moved in.
func seatAnywhere() seatRule {
	var names []string
	for _, path := range places.of("guard-any") {
		names = append(names, folded(path))
	}
	for _, path := range places.of("guard-git") {
		names = append(names, `\.git(/modules/.*|/worktrees/[^/]*)?/`+folded(path))
	}
	names = append(names, `\.git$`) // neither moved away nor made: it would bring its settings
	return seatRule{false, seatWrite, "regex", `/(` + strings.Join(names, "|") + `)(/|$)`}
}

// folded is a pattern for a path whatever the case of its letters: macOS takes them for the same.
func folded(path string) string {
	var b strings.Builder
	for _, r := range path {
		if low, up := strings.ToLower(string(r)), strings.ToUpper(string(r)); low != up {
			b.WriteString("[" + low + up + "]")
		} else {
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return b.String()
}

// globbed is a pattern for a name of a list in which "*" is anything.
func globbed(pattern string) string {
	parts := strings.Split(pattern, "*")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return strings.Join(parts, "[^/]*")
}

// seatProfile is the rules as macOS reads them.
func seatProfile(rules []seatRule) string {
	var b strings.Builder
	b.WriteString("(version 1)\n(deny default)\n(allow signal process-info* (target same-sandbox))\n(allow mach-lookup")
	for _, name := range places.of("seatbelt-service") {
		b.WriteString(` (global-name "` + name + `")`)
	}
	b.WriteString(")\n")
	for _, r := range rules {
		word := "deny"
		if r.allow {
			word = "allow"
		}
		switch r.kind {
		case "":
			fmt.Fprintf(&b, "(%s %s)\n", word, r.ops)
		case "regex":
			fmt.Fprintf(&b, "(%s %s (regex #\"%s\"))\n", word, r.ops, r.value)
		default:
			fmt.Fprintf(&b, "(%s %s (%s \"%s\"))\n", word, r.ops, r.kind, r.value)
		}
	}
	return b.String()
}
