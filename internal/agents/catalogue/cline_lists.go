package catalogue

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Some tools of Cline do several things at once, and take what they do in several forms.
// Policy looks for one command, and for paths and addresses by their names, so all forms
// are written in its words. One that cannot be is an error: what runs would not be what
// was judged.

type clineList struct {
	under []string // the parameters that may hold the list
	alone []string // the parameters that must not stand beside it
	ours  string
	entry func(v strictjson.Value) (clineEntry, error)
}

// clineEntry is what one entry is about.
type clineEntry struct {
	text  string
	apart bool // a program and its words, which no other entry is ever joined to
}

var clineLists = map[string]*clineList{
	"run_commands": {under: []string{"commands"}, alone: []string{"command", "cmd", "args"}, ours: "command", entry: clineCommand},
	"read_files": {
		under: []string{"files", "paths", "file_paths"}, alone: []string{"path", "file_path", "filePath"},
		ours: "path", entry: clineMember("path", "file_path", "filePath"),
	},
	"fetch_web_content": {under: []string{"requests"}, alone: []string{"url"}, ours: "url", entry: clineMember("url")},
}

// clineParams writes the list of such a tool under our name.
func clineParams(name string, params strictjson.Value) (strictjson.Value, error) {
	l, ok := clineLists[name]
	if !ok || params == nil || params.Kind() != '{' {
		return params, nil
	}
	var fields map[string]strictjson.Value
	if err := strictjson.Unmarshal(params, &fields); err != nil {
		return nil, fmt.Errorf("read parameters: %w", err)
	}
	entries, err := l.take(fields, params)
	if err != nil || entries == nil {
		return params, err
	}
	var v any
	if l.ours == "command" {
		v, err = oneCommand(entries)
	} else {
		v = oneOrAll(entries)
	}
	if err != nil {
		return nil, err
	}
	if fields[l.ours], err = strictjson.Marshal(v); err != nil {
		return nil, fmt.Errorf("write parameters: %w", err)
	}
	return strictjson.Marshal(fields)
}

// take takes the entries out of the parameters; nil: there is no list, and what there is
// has our names.
func (l *clineList) take(fields map[string]strictjson.Value, params strictjson.Value) ([]clineEntry, error) {
	var held []string
	for _, name := range l.under {
		if _, there := fields[name]; there {
			held = append(held, name)
		}
	}
	if len(held) == 0 {
		return l.single(fields, params)
	}
	for _, name := range l.alone {
		if _, there := fields[name]; there {
			held = append(held, name)
		}
	}
	if len(held) > 1 {
		return nil, errAmbiguous
	}
	list := fields[held[0]]
	delete(fields, held[0])
	out, err := l.read(list, held[0] == l.under[0])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", held[0], err)
	}
	return out, nil
}

// single reads a command without a list, whose words may stand apart from it.
func (l *clineList) single(fields map[string]strictjson.Value, params strictjson.Value) ([]clineEntry, error) {
	args, there := fields["args"]
	if l.ours != "command" || !there || args.Kind() == 'n' {
		return nil, nil
	}
	e, err := clineCommand(params)
	if err != nil {
		return nil, err
	}
	delete(fields, "args")
	return []clineEntry{e}, nil
}

// read reads the entries of a list, of the text it can be written as, or one that stands
// alone. Cline reads a text as JSON where its schema has a list.
func (l *clineList) read(list strictjson.Value, schema bool) ([]clineEntry, error) {
	if list.Kind() == '"' {
		text, err := clineText(list)
		if err != nil {
			return nil, err
		}
		if inner := strings.TrimFunc(text, isSpace); isJSON(inner) {
			if list = strictjson.Value(inner); !schema || list.Kind() != '[' {
				return nil, errors.New("it is JSON in a text")
			}
		}
	}
	entries := []strictjson.Value{list}
	switch list.Kind() {
	case '"', '{':
	case '[':
		if err := strictjson.Unmarshal(list, &entries); err != nil {
			return nil, err
		}
	default:
		return nil, errors.New("it is no list")
	}
	out := make([]clineEntry, len(entries))
	for i, v := range entries {
		var err error
		if out[i], err = l.entry(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// clineMember reads an entry that is a text, or an object with it under one of the names.
func clineMember(names ...string) func(strictjson.Value) (clineEntry, error) {
	return func(v strictjson.Value) (clineEntry, error) {
		if v.Kind() == '{' {
			var members map[string]strictjson.Value
			if err := strictjson.Unmarshal(v, &members); err != nil {
				return clineEntry{}, err
			}
			if err := gather(members, names[0], names[1:]); err != nil {
				return clineEntry{}, err
			}
			v = members[names[0]]
		}
		text, err := clineText(v)
		if err == nil && isJSON(strings.TrimFunc(text, isSpace)) { // Cline would look inside
			err = errors.New("an entry is JSON in a text")
		}
		return clineEntry{text: text}, err
	}
}

func clineText(v strictjson.Value) (string, error) {
	if v == nil || v.Kind() != '"' {
		return "", errors.New("an entry is no text")
	}
	var s string
	err := strictjson.Unmarshal(v, &s)
	return s, err
}

// isSpace is what JavaScript trims, and a little more.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

// isJSON reports whether the text is a list or an object, even one that we would not read.
func isJSON(text string) bool {
	if !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "{") {
		return false
	}
	return jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

func oneOrAll(entries []clineEntry) any {
	if len(entries) == 1 {
		return entries[0].text
	}
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.text
	}
	return out
}
