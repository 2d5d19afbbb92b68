// Package commands finds the command lines in the arguments of a call, and reads them: for the
// policy's rules, for judgement and for whoever notes what a call wrote. There is one reading of a
// call, and everybody sees all of it.
//
// Invariants:
//   - a value that may be a command is read in every way in which a host could run it (leaves);
//   - what stands where a command is expected and is none, or is too much to be read, is said to be
//     unreadable, and never left out.
//
// It is pure.
package commands

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/tool"
)

// names are what hosts call a parameter that holds a command, without signs between the words.
var names = set("command commands cmd cmds script scripts commandline cmdline shellcommand bashcommand")

func set(text string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		out[w] = true
	}
	return out
}

// named reports whether a parameter holds a command by its name, or stands in one that does.
func named(path string) (here, within bool) {
	for rest, more := path, true; more; {
		var part string
		part, rest, more = strings.Cut(rest, ".")
		part = strings.TrimSuffix(part, "[]")
		if !named1(part) {
			continue
		}
		if !more {
			return true, within
		}
		within = true
	}
	return false, within
}

func named1(part string) bool {
	if n := len(part); n < 3 || n > 20 {
		return false
	}
	words := arguments.NameWords(part)
	return len(words) > 0 && (names[words[len(words)-1]] || names[strings.Join(words, "")])
}

// beside are the parameters of shells that tell people about a command, or say how it runs, by their
// last words. What is not here may be one.
var beside = set(`description justification title reason explanation purpose summary name label note comment intent id session
	language shell user host timezone mode status background priority workdir cwd dir directory folder`)

// Is reports whether a value is a command: by the name of its parameter, or because the tool is a
// shell and the value does not only say how or where.
func Is(m *toolinfo.Meaning, l *arguments.Leaf) bool {
	if !l.Quoted || l.Later {
		return false
	}
	if here, _ := named(l.Path); here {
		return true
	}
	if !tool.IsShell(m.Tool) {
		return false
	}
	words := arguments.NameWords(l.Path)
	p := m.Resolve(l.Path, l.Text)
	return p.Role != toolinfo.Control && p.Kind != toolinfo.Path && (len(words) == 0 || !beside[words[len(words)-1]])
}

// Of reads the command lines of a call. It is false where something in the place of a command cannot
// be read.
func Of(r *shell.Reader, m *toolinfo.Meaning, fields map[string]any) (lines []*shell.Line, ok bool) {
	if !tool.IsShell(m.Tool) && !mentions(fields) {
		return nil, true
	}
	values := arguments.Of(fields)
	if len(values) > arguments.Most {
		return nil, false
	}
	ok = true
	for i := range values {
		l := &values[i]
		if here, within := named(l.Path); within || here && !l.Quoted {
			ok = false // none that anybody knows how to run
			continue
		}
		if !Is(m, l) {
			continue
		}
		readings := l.Commands()
		if len(lines)+len(readings) > arguments.MostCommands {
			return lines, false
		}
		for k := range readings {
			lines = append(lines, Line(r, m, &readings[k]))
		}
	}
	return lines, ok
}

// MayHold reports whether a plain argument of a tool may be a command, without reading it: one of a shell may be by any name.
func MayHold(name, arg string) bool { return tool.IsShell(tool.Name(name)) || named1(arg) }

// mentions reports whether some argument may hold a command, so that nobody pays for none.
func mentions(fields map[string]any) bool {
	for k, v := range fields {
		if _, nested := v.(map[string]any); nested || named1(k) {
			return true
		}
	}
	return false
}

// Line reads a command of a tool, in the language of its shell.
func Line(r *shell.Reader, m *toolinfo.Meaning, l *arguments.Leaf) *shell.Line {
	switch {
	case strings.Contains(m.Tool, "powershell") || strings.Contains(m.Tool, "pwsh"):
		return r.ReadPowerShell(l.Command())
	case l.Argv != nil:
		return r.ReadArgv(l.Argv)
	}
	return r.Read(l.Text)
}

// With are the arguments of a call of a shell with another command line in the place of its one.
func With(m *toolinfo.Meaning, fields map[string]any, line string) (*tool.Args, error) {
	if _, ok := One(m, fields); !ok {
		return nil, errNotOne
	}
	out := maps.Clone(fields)
	for name, v := range fields {
		l := arguments.Of(map[string]any{name: v})
		if len(l) == 0 || !slices.ContainsFunc(l, func(l arguments.Leaf) bool { return Is(m, &l) }) {
			continue
		}
		out[name] = line
	}
	raw, err := strictjson.Marshal(out)
	if err != nil {
		return nil, err
	}
	args := tool.NewArgs(raw)
	return &args, nil
}

var errNotOne = errors.New("it has not one command line")

// One is the one command line of a call of a shell, as its host gives it to a shell; false where there are several, where a
// part of it stands elsewhere, or where no shell of this machine would read it.
func One(m *toolinfo.Meaning, fields map[string]any) (line string, ok bool) {
	values := arguments.Of(fields)
	if !tool.IsShell(m.Tool) || strings.Contains(m.Tool, "powershell") || len(values) > arguments.Most {
		return "", false
	}
	var found *arguments.Leaf
	for i := range values {
		l := &values[i]
		if here, within := named(l.Path); within || here && !l.Quoted {
			return "", false
		}
		if !Is(m, l) {
			continue
		}
		if found != nil {
			return "", false
		}
		found = l
	}
	switch {
	case found == nil || found.Worded():
		return "", false
	case found.Argv != nil:
		a := found.Argv
		if len(a) == 3 && shell.IsShell(a[0]) && (a[1] == "-c" || a[1] == "-lc") {
			return a[2], a[2] != ""
		}
		return "", false
	}
	return found.Text, strings.TrimSpace(found.Text) != ""
}
