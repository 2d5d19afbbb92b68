package settings

import "strings"

// Table is a table of a TOML file: where its text stands, from its header to its last key, and
// the keys in it. What comes behind the last key belongs to whatever follows.
type Table struct {
	Path       []string
	Start, End int
	Keys       []Key
}

// Key is a key of a table and where its value stands.
type Key struct {
	Path       []string
	Start, End int // of the value
	Line       int // where the statement ends, with its line
}

// ReadTables finds the tables of a TOML file. It is an error where a part of the file cannot be
// read: then nobody can say what is in it.
func ReadTables(src []byte) ([]Table, error) {
	text := string(src)
	var out []Table
	t := Table{}
	for _, s := range statements(text) {
		switch {
		case s.kind == isBad:
			return nil, &Fault{s.start, "this is not understood"}
		case s.head():
			if len(t.Path) > 0 || len(t.Keys) > 0 {
				out = append(out, t)
			}
			t = Table{Path: s.path, Start: s.start, End: s.end}
		case s.kind == isKey:
			t.Keys = append(t.Keys, Key{Path: s.path, Start: s.value, End: s.value + valueEnd(text[s.value:s.end]), Line: s.end})
			t.End = s.end
		}
	}
	if len(t.Path) > 0 || len(t.Keys) > 0 {
		out = append(out, t)
	}
	return out, nil
}

// valueEnd is how long the value is that a statement ends with: without the comment behind it.
func valueEnd(text string) int {
	r := tomlReader{text: text}
	r.value()
	return len(strings.TrimRight(text[:r.at], " \t\r\n"))
}
