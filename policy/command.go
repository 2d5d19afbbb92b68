package policy

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/glob"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/tool"
)

func newShellReader() any { return shell.NewReader() }

// commandPattern is a program, alone or with the words that follow it, each of
// which may hold * and ?.
type commandPattern []string

func parseCommandPattern(s string) commandPattern {
	p := strings.Fields(s)
	p[0] = strings.ToLower(p[0])
	return p
}

func (p commandPattern) match(run *shell.Run, unsure bool) sureness {
	if !glob.Match(p[0], run.Name) {
		return no
	}
	if !unsure && !run.Guess && trustedFolder(run) && p.follows(run.Args) {
		return sure
	}
	// flags may stand between the words, and an unknown word may be any
	args := run.Args
	for _, want := range p[1:] {
		want = strings.ToLower(want)
		i := slices.IndexFunc(args, func(a shell.Word) bool { return !a.Known || glob.Match(want, strings.ToLower(a.Text)) })
		if i < 0 {
			return no
		}
		args = args[i+1:]
	}
	return maybe
}

func (p commandPattern) follows(args []shell.Word) bool {
	for i, want := range p[1:] {
		if i >= len(args) || !args[i].Known || !glob.Match(want, args[i].Text) {
			return false
		}
	}
	return true
}

// trustedFolder reports whether the program is found where the system keeps
// programs; ./git is not git.
func trustedFolder(run *shell.Run) bool {
	dir := strings.TrimSuffix(strings.ToLower(run.Path), run.Name)
	return slices.Contains([]string{"", "/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/"}, dir)
}

// lines reads the commands of a value: text for a shell, or a list of words. Words given
// apart from the program are read with it. ok is false for what is neither.
func (s *Set) lines(fields map[string]any, v any) (out []*shell.Line, ok bool) {
	list, ok := words(v)
	if !ok {
		return nil, false
	}
	r := s.readers.Get().(*shell.Reader)
	defer s.readers.Put(r)
	if text, isText := v.(string); isText && text != "" {
		out = append(out, r.Read(text))
		for _, more := range values(fields, argvFields) {
			if rest, ok := words(more); ok && len(rest) > 0 {
				out = append(out, r.ReadArgv(append([]string{text}, rest...)))
			}
		}
	} else if len(list) > 0 {
		out = append(out, r.ReadArgv(list))
	}
	return out, true
}

// commandWritesMemory reports whether a command among the arguments writes a memory file. What it
// writes there is not known, so nothing is kept for review.
func (s *Set) commandWritesMemory(in *Input) bool {
	named := false
	if in.Args.Plain(func(name, _ string, _ bool) bool { named = isCommand(name); return !named }) && !named {
		return false // it is plain that there is none
	}
	fields, err := in.Args.Fields()
	if err != nil {
		return true
	}
	for _, v := range values(fields, commandFields) {
		lines, ok := s.lines(fields, v)
		if !ok {
			return true
		}
		for _, l := range lines {
			if slices.ContainsFunc(l.Writes, s.isMemory) {
				return true
			}
		}
	}
	return false
}

// effects are what the commands among a call's arguments do, taken together. Arguments
// that name no command have none; a command that is no text has all.
func (s *Set) effects(name string, fields map[string]any) shell.Effects {
	var out shell.Effects
	windows := strings.Contains(tool.Name(name), "powershell") || strings.Contains(tool.Name(name), "pwsh")
	for _, v := range values(fields, commandFields) {
		if text, isText := v.(string); isText && windows {
			out |= shell.ReadPowerShell(text).Effects
			continue
		}
		lines, ok := s.lines(fields, v)
		if !ok {
			return shell.Worst
		}
		for _, l := range lines {
			out |= l.Effects
		}
	}
	return out
}
