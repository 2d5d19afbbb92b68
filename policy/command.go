package policy

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/glob"
	"github.com/tidemark/tidemark/internal/warrant/commands"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
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

// lines reads the commands among a call's arguments, as judgement does. ok is false where something
// that should be one cannot be read.
func (s *Set) lines(name string, fields map[string]any) ([]*shell.Line, bool) {
	reader := s.readers.Get().(*shell.Reader)
	defer s.readers.Put(reader)
	name = tool.Name(name)
	if !tool.IsShell(name) {
		return commands.Of(reader, &toolinfo.Meaning{Tool: name}, fields)
	}
	known, ok := s.shells.Load(name)
	if !ok {
		known, _ = s.shells.LoadOrStore(name, toolinfo.Of(tool.Definition{Name: name}))
	}
	return commands.Of(reader, known.(*toolinfo.Meaning), fields)
}

// commandWritesMemory reports whether a command among the arguments writes a memory file. What it
// writes there is not known, so nothing is kept for review.
func (s *Set) commandWritesMemory(in *Input) bool {
	named := false
	if in.Args.Plain(func(name, _ string, _ bool) bool { named = commands.MayHold(in.Tool, name); return !named }) && !named {
		return false // it is plain that there is none
	}
	fields, err := in.Args.Fields()
	if err != nil {
		return true
	}
	lines, ok := s.lines(in.Tool, fields)
	return !ok || slices.ContainsFunc(lines, func(l *shell.Line) bool { return slices.ContainsFunc(l.Writes, s.isMemory) })
}

// effects are what the commands among a call's arguments do, taken together. Arguments
// that name no command have none; a command that is no text has all.
func (s *Set) effects(name string, fields map[string]any) shell.Effects {
	lines, ok := s.lines(name, fields)
	if !ok {
		return shell.Worst
	}
	var out shell.Effects
	for _, l := range lines {
		out |= l.Effects
	}
	return out
}
