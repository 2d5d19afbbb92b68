package policy

import (
	"slices"
	"strings"

	cut "github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/warrant/shell"
)

// The arguments that say what a call is about. Hosts spell them differently; case,
// '_' and '-' are ignored, so that another spelling is not a way around a rule.
var (
	urlFields     = []string{"url", "uri", "href"}
	pathFields    = []string{"path", "filepath", "filename", "file"}
	commandFields = []string{"command", "cmd", "script"}
	patchFields   = []string{"patch", "input", "diff"}
)

// sameField compares an argument's name with one of ours, without allocating.
func sameField(name, field string) bool {
	j := 0
	for i := range len(name) {
		c := name[i]
		if c == '_' || c == '-' {
			continue
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if j >= len(field) || field[j] != c {
			return false
		}
		j++
	}
	return j == len(field)
}

// values are the arguments of these names, in a fixed order.
func values(fields map[string]any, names []string) []any {
	var keys []string
	for key := range fields {
		if slices.ContainsFunc(names, func(n string) bool { return sameField(key, n) }) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	out := make([]any, len(keys))
	for i, k := range keys {
		out[i] = fields[k]
	}
	return out
}

// words are the strings of a value: itself, or the elements of a list.
func words(v any) (list []string, ok bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		if v == "" {
			return nil, true
		}
		return []string{v}, true
	case []any:
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, false
			}
			list = append(list, s)
		}
		return list, true
	}
	return nil, false
}

// subjects are what the call is about, as far as some rule of the tool asks.
func (c *consideration) subjects() []subject {
	var asks [numSubjects]bool
	for _, t := range c.row.trust {
		asks[t.kind] = true
	}
	var out []subject
	if asks[urlSubject] {
		out = c.named(out, urlSubject, urlFields)
	}
	if asks[pathSubject] {
		out = c.named(out, pathSubject, pathFields)
	}
	if asks[commandSubject] {
		out = c.commands(out)
	}
	return out
}

// named reads URLs or paths.
func (c *consideration) named(out []subject, kind subjectKind, names []string) []subject {
	for _, v := range values(c.fields, names) {
		list, ok := words(v)
		if !ok {
			out = append(out, subject{kind: kind})
		}
		for _, w := range list {
			s := subject{kind: kind}
			if kind == urlSubject {
				s.url, s.ok = readURL(w)
			} else {
				s.path, s.ok = readPath(w)
			}
			out = append(out, s)
		}
	}
	return out
}

// commands reads the commands.
func (c *consideration) commands(out []subject) []subject {
	lines, ok := c.row.set.lines(c.name, c.fields)
	if !ok {
		out = append(out, subject{kind: commandSubject})
	}
	for _, l := range lines {
		for i := range l.Runs {
			out = append(out, subject{kind: commandSubject, ok: true, run: &l.Runs[i], unsure: l.Unsure})
		}
		if l.Effects.Has(shell.Unparsed) {
			out = append(out, subject{kind: commandSubject})
		}
	}
	return out
}

// detail is what a person recognises the call by.
func detail(fields map[string]any) string {
	for _, names := range [...][]string{urlFields, pathFields, commandFields} {
		for _, name := range names {
			if s, ok := fields[name].(string); ok && s != "" {
				return short(s)
			}
		}
	}
	for _, names := range [...][]string{urlFields, pathFields, commandFields} {
		for _, v := range values(fields, names) {
			if list, ok := words(v); ok && len(list) > 0 {
				return short(strings.Join(list, " "))
			}
		}
	}
	return ""
}

func short(s string) string {
	if len(s) <= maxDetail {
		return s
	}
	return cut.Head(s, maxDetail) + cut.Ellipsis
}

// memoryFile is the first memory file the call writes, or "".
func (s *Set) memoryFile(fields map[string]any) string {
	for _, v := range values(fields, pathFields) {
		list, _ := words(v)
		for _, p := range list {
			if s.isMemory(p) {
				return p
			}
		}
	}
	for _, v := range values(fields, patchFields) {
		for line := range strings.Lines(text(v)) {
			if p := patchedFile(strings.TrimSpace(line)); p != "" && s.isMemory(p) {
				return p
			}
		}
	}
	return ""
}

// patchedFile is the file a line of a patch names.
func patchedFile(line string) string {
	for _, mark := range []string{
		"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:", "+++ b/", "+++ ", "--- a/", "--- ",
	} {
		if p, ok := strings.CutPrefix(line, mark); ok {
			return strings.TrimSpace(p)
		}
	}
	return ""
}

func (s *Set) isMemory(p string) bool {
	f, ok := readPath(p)
	return ok && slices.ContainsFunc(s.facts.memory, func(m pathPattern) bool { return m.match(f) != no })
}
