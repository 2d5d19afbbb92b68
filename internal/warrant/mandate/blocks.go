package mandate

import (
	"bytes"
	"regexp"
	"strings"
)

// Many servers print what they know as text: blocks of "Name: value" with an empty line between them, or the head of
// a letter before its body. The names at the beginning of a text are the server's; behind the first line that is none
// of them somebody else may be writing, so nothing there is a record.

var header = regexp.MustCompile(`^\s*(?:[-*]\s+)?([A-Za-z][A-Za-z _-]{0,24}):\s+(\S.*)$`)

// begins reports whether the first line of a text is a name and a value.
func begins(content []byte) bool {
	line, _, _ := bytes.Cut(content, []byte("\n"))
	return header.Match(bytes.TrimRight(line, "\r"))
}

// blocks reads a text that begins with such a block. It is false where it does not. All says that every block counts;
// else only the head does.
func (r *Records) blocks(step uint64, content []byte, all bool) bool {
	if len(content) > 0 && !begins(content) {
		return false // before a copy is made of it
	}
	first, n := "", 0
	rec := Record{step: step, parent: -1, print: true}
	flush := func() {
		if len(rec.fields) > 0 {
			r.add(rec)
		}
		rec = Record{step: step, parent: -1, print: true}
	}
	for line := range strings.Lines(string(content)) {
		if n++; n > maxLines {
			r.full = true
			break
		}
		m := header.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		key := ""
		if m != nil {
			key = strings.ToLower(m[1])
		}
		switch {
		case n == 1 && m == nil:
			return false
		case n == 1:
			first = key
		case strings.TrimSpace(line) == "" || key != "" && key == first:
			if flush(); !all {
				return true
			}
		}
		if m == nil {
			if !all && strings.TrimSpace(line) != "" {
				flush()
				return true
			}
			continue
		}
		rec.note(key, m[2])
	}
	flush()
	return true
}

// note adds a named value. A sender is a name and an address.
func (rec *Record) note(key, value string) {
	if len(rec.fields) >= maxFields {
		return
	}
	rec.fields = append(rec.fields, fieldOf(key, value))
	if a, name := AuthorOf(value); a != "" && string(a) != strings.TrimSpace(value) {
		rec.fields = append(rec.fields, fieldOf(key, string(a)), fieldOf(key, name))
	}
	rec.wrote = rec.wrote || key == "from" || key == "author" || key == "sender"
}
