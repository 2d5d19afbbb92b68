package settings

import (
	"slices"
	"strings"
)

// The marks around our part of a TOML file.
const (
	MarkBegin = "# tidemark: begin (written by tidemark install; tidemark uninstall removes it)\n"
	MarkEnd   = "# tidemark: end\n"
)

// Around is what stands before, between and after our marks. An agent that adds a table to
// its file puts it before a comment at the end, and so between our marks: not everything
// there is ours.
func Around(src []byte) (before, between, after string, ok bool) {
	before, rest, ok := strings.Cut(string(src), MarkBegin)
	if !ok {
		return "", "", "", false
	}
	between, after, ok = strings.Cut(rest, MarkEnd)
	return before, between, after, ok
}

// HasBlock reports whether each table of ours stands between the marks as it was written.
func HasBlock(src []byte, block string) bool {
	_, between, _, ok := Around(src)
	if !ok {
		return false
	}
	there := Tables(between)
	for _, t := range Tables(block) {
		if !slices.ContainsFunc(there, func(h string) bool { return strings.TrimSpace(h) == strings.TrimSpace(t) }) {
			return false
		}
	}
	return true
}

// Tables cuts a text of TOML into its tables, each with its header; what comes before the
// first is one by itself. A header within a text of several lines counts as one too, so a
// table is then not what it was.
func Tables(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if len(out) == 0 || strings.HasPrefix(strings.TrimSpace(line), "[") {
			out = append(out, "")
		}
		out[len(out)-1] += line
	}
	return out
}
