package shell

import (
	"regexp"
	"slices"
	"strings"
)

// Touches reports whether a value that a tool is given is a file of the station's, or its
// address. With deep, a folder around its files counts too.
func (r *Reader) Touches(value string, deep bool) bool {
	if value == "" || len(value) > maxFolderName || strings.ContainsAny(value, " \n\t") {
		return false
	}
	if isAddress.MatchString(value) && r.Reaches(value) {
		return true
	}
	return r.Guards(value) || deep && r.Around(value)
}

// isAddress is a value that names a host and a port.
var isAddress = regexp.MustCompile(`(?i)^(?:[a-z][a-z0-9+.-]*:)?(?://)?[^/\s]*:0*[0-9]+(?:[/?#]|$)`)

// takesAll are words of tools that take the content of all that is in a folder.
var takesAll = set("grep ripgrep rg copy cp move mv archive zip tar compress upload sync backup rsync")

// TakesAll reports whether a tool takes the content of whole folders, by the words of its name.
func TakesAll(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return takesAll[w] })
}

// typing are tools that type into a program which runs already, and typed what they type.
var (
	typing = set(`process write_stdin send_keys sendkeys send_input terminal_input write_to_terminal terminal_write tmux_send_keys
		send_to_terminal write_to_process process_write pty_write interact_with_process send_terminal_input`)
	typed = set("data text keys input chars literal stdin characters command content line value")
)

// Typed reports whether an argument of a tool is typed into a running program: most of them
// are shells, so that it is a command.
func Typed(tool, param string) bool {
	name := param[strings.LastIndexByte(param, '.')+1:]
	name, _, _ = strings.Cut(name, "[")
	return typing[tool] && typed[strings.ToLower(name)]
}
