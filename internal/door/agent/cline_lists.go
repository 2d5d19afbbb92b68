package agent

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/settings"
	"github.com/tidemark/tidemark/internal/strictjson"
)

// Some tools of Cline do several things at once. Policy looks for one command, and for
// paths and addresses by their names, so their lists are written in its words.

var clineLists = map[string]struct {
	list  string // the parameter that holds the list
	entry string // the member of an entry that counts, where entries are objects
	ours  string
}{
	"run_commands":      {"commands", "", "command"},
	"read_files":        {"files", "path", "path"},
	"fetch_web_content": {"requests", "url", "url"},
}

// clineParams writes the list of such a tool under our name. One that cannot be read is an
// error: what runs would not be what was judged.
func clineParams(name string, params strictjson.Value) (strictjson.Value, error) {
	l, ok := clineLists[name]
	if !ok || params == nil || params.Kind() != '{' {
		return params, nil
	}
	var fields map[string]strictjson.Value
	if err := strictjson.Unmarshal(params, &fields); err != nil {
		return nil, fmt.Errorf("read parameters: %w", err)
	}
	list, there := fields[l.list]
	if !there {
		return params, nil
	}
	if _, twice := fields[l.ours]; twice {
		return nil, errAmbiguous
	}
	words, err := clineWords(list, l.entry)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", l.list, err)
	}
	delete(fields, l.list)
	var v any = words
	switch {
	case l.ours == "command":
		v = oneCommand(words)
	case len(words) == 1:
		v = words[0]
	}
	if fields[l.ours], err = strictjson.Marshal(v); err != nil {
		return nil, fmt.Errorf("write parameters: %w", err)
	}
	return strictjson.Marshal(fields)
}

// clineWords are the entries of a list, or of the text it can be written as.
func clineWords(list strictjson.Value, entry string) ([]string, error) {
	var entries []strictjson.Value
	switch list.Kind() {
	case '"':
		entries = []strictjson.Value{list}
	case '[':
		if err := strictjson.Unmarshal(list, &entries); err != nil {
			return nil, err
		}
	default:
		return nil, errors.New("it is no list")
	}
	out := make([]string, len(entries))
	for i, v := range entries {
		if entry != "" && v.Kind() == '{' {
			var members map[string]strictjson.Value
			if err := strictjson.Unmarshal(v, &members); err != nil {
				return nil, err
			}
			v = members[entry]
		}
		if v == nil || v.Kind() != '"' {
			return nil, errors.New("an entry is no text")
		}
		if err := strictjson.Unmarshal(v, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// oneCommand is what has the effects of all. Each of several runs in a shell of its own:
// put together bare, a quote in one could hide the next.
func oneCommand(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	var out []string
	for _, c := range list {
		out = append(out, "sh -c "+settings.Word(c))
	}
	return strings.Join(out, "\n")
}
