package settings

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The marks around our part of a TOML file.
const (
	MarkBegin = "# tidemark: begin (written by tidemark install; tidemark uninstall removes it)\n"
	MarkEnd   = "# tidemark: end\n"
)

// Around is what stands before, between and after our marks. An agent that adds a table to
// its file puts it before a comment at the end, and so between our marks: not everything
// there is ours. A mark within a text or a list is none.
func Around(src []byte) (before, between, after string, ok bool) {
	text := string(src)
	all := statements(text)
	i, j, ok := marks(text, all)
	if !ok {
		return "", "", "", false
	}
	begin, end := all[i].end, all[j].end-len(MarkEnd)
	return text[:begin-len(MarkBegin)], text[begin:end], text[all[j].end:], true
}

// marks are the statements that our marks are.
func marks(text string, all []statement) (begin, end int, ok bool) {
	find := func(from int, mark string) int {
		return from + slices.IndexFunc(all[from:], func(s statement) bool {
			return s.kind == isSpace && strings.TrimLeft(text[s.start:s.end], " \t") == mark
		})
	}
	if begin = find(0, MarkBegin); begin < 0 {
		return 0, 0, false
	}
	end = find(begin+1, MarkEnd)
	return begin, end, end > begin
}

// HasBlock reports whether each table of ours stands between the marks as it was written,
// and nothing else in the file adds to one or makes it something else. Values are not looked
// into: for one that is not TOML, agents refuse the whole file.
func HasBlock(src []byte, block string) bool {
	text := string(src)
	all := statements(text)
	begin, end, ok := marks(text, all)
	if !ok || !readable(text) || slices.ContainsFunc(all, func(s statement) bool { return s.kind == isBad }) {
		return false
	}
	var ours [][]string
	missing := map[string]bool{} // our tables, by their text
	for _, t := range tables(statements(block)) {
		if !t[0].head() {
			return false
		}
		ours = append(ours, t[0].path)
		missing[textOf(block, t)] = true
	}
	others := slices.Concat(all[:begin], all[end:])
	for _, t := range tables(all[begin+1 : end]) {
		if is := textOf(text, t); missing[is] {
			delete(missing, is)
		} else {
			others = append(others, t...)
		}
	}
	return len(missing) == 0 && !slices.ContainsFunc(others, func(s statement) bool {
		return slices.ContainsFunc(ours, s.touches)
	})
}

// readable reports whether a text has only characters that TOML takes.
func readable(text string) bool {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' || r == 0x7f
	})
}

// Tables cuts a text of TOML into its tables, each with its header; what comes before the
// first is one by itself.
func Tables(text string) []string {
	var out []string
	for _, t := range tables(statements(text)) {
		out = append(out, text[t[0].start:t[len(t)-1].end])
	}
	return out
}

func tables(all []statement) [][]statement {
	var out [][]statement
	first := 0
	for i, s := range all {
		if i > 0 && s.head() {
			out = append(out, all[first:i])
			first = i
		}
	}
	if len(all) > 0 {
		out = append(out, all[first:])
	}
	return out
}

// textOf is a table's text, whatever the white space around it.
func textOf(text string, t []statement) string {
	return strings.TrimSpace(text[t[0].start:t[len(t)-1].end])
}
