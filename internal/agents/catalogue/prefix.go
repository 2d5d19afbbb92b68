package catalogue

import (
	"path/filepath"
	"strings"
)

// Prefix is how an agent has all its commands started by a program that a variable names. By that they come into a box without another
// line being put in the model's place: the agent's own rules and questions are about the model's line, and stay in force.
type Prefix struct {
	Variable string   // names the program
	Setting  []string // of the agent's, which sets the variable; none: the agent's plugin sets it
	Session  string   // the variable in which commands are told the session
	Own      string   // the variable in which they are told the shell that the agent would use without us; "": there is none
	Dash     bool     // it is started as a shell is: with "-c" and the line
	Tool     string   // the agent's own name of the tool whose commands come that way
	// Read reads what the program is given. False: it is no command of that tool. One that is and cannot be read has no Line.
	Read func(line string) (Wrapped, bool)
}

// Wrapped is a command as such an agent has it started.
type Wrapped struct {
	Line   string // the model's
	Before string // what the agent has the shell do first
	Source string // a file of it that the shell reads; "": none
	Quiet  bool   // the line has nothing to read
	Where  string // the file in which the agent looks for the folder that the line ended in
}

// PrefixProgram is the program that an agent starts its commands with. It is one of ours under a name of its own: the variable is
// taken for a path by some of what is started, so that nothing can stand beside it.
func PrefixProgram(data, agent string) string {
	return filepath.Join(data, "agents", agent+prefixEnding)
}

const prefixEnding = ".shell"

// Prefixed is what a program that was started under such a name is for.
func Prefixed(program string) (data, agent string, ok bool) {
	name, ok := strings.CutSuffix(filepath.Base(program), prefixEnding)
	folder := filepath.Dir(program)
	if !ok || name == "" || !filepath.IsAbs(program) || filepath.Base(folder) != "agents" {
		return "", "", false
	}
	return filepath.Dir(folder), name, true
}

// claudePrefix was read in Claude Code 2.1.197 and 2.1.325. Its settings put the variable into its own environment, where hooks see it
// as well: so a hook knows whether commands go that way now, whoever set it to something else. Besides the commands of Bash it starts
// hooks in the form of a line and MCP servers with it.
func claudePrefix() *Prefix {
	return &Prefix{
		Variable: "CLAUDE_CODE_SHELL_PREFIX", Setting: []string{"env", "CLAUDE_CODE_SHELL_PREFIX"},
		Session: "CLAUDE_CODE_SESSION_ID", Tool: "Bash", Read: claudeWrapped,
	}
}

// claudeWrapped reads what Claude Code puts together for a command:
//
//	source FILE 2>/dev/null || true && ... && eval 'LINE' < /dev/null && pwd -P >| FILE
//
// The model has a say in LINE alone, which is quoted: what stands before and after it is the agent's.
func claudeWrapped(line string) (Wrapped, bool) {
	const where, evaluate, quiet = " && pwd -P >| ", "eval ", " < /dev/null"
	at := strings.LastIndex(line, where)
	if at < 0 {
		return Wrapped{}, false
	}
	var w Wrapped
	var rest string
	if w.Where, rest = unquote(line[at+len(where):]); w.Where == "" || rest != "" {
		return Wrapped{}, true
	}
	head := line[:at]
	for from := 0; ; from++ {
		next := strings.Index(head[from:], evaluate)
		if next < 0 {
			return Wrapped{}, true
		}
		from += next
		if from > 0 && !strings.HasSuffix(head[:from], " && ") {
			continue
		}
		text, rest := unquote(head[from+len(evaluate):])
		if text != "" && (rest == "" || rest == quiet) {
			w.Line, w.Quiet, w.Before = text, rest == quiet, strings.TrimSuffix(head[:from], " && ")
			break
		}
	}
	if after, ok := strings.CutPrefix(w.Before, "source "); ok {
		w.Source, _ = unquote(after)
	}
	return w, true
}

// opencodePrefix was seen obeyed by OpenCode 1.18. Its plugin names the program as the shell of its settings once all of them are read, so
// that no project's do; and tells the hook which shell they name at each call.
func opencodePrefix() *Prefix {
	return &Prefix{
		Variable: "TIDEMARK_OPENCODE_SHELL", Session: "TIDEMARK_OPENCODE_SESSION", Own: "TIDEMARK_OPENCODE_OWN", Tool: "bash", Dash: true,
		Read: func(line string) (Wrapped, bool) { return Wrapped{Line: line}, true },
	}
}

// unquote reads one word that consists of what no shell gives a meaning to, and of quoted parts in which nothing has one, and what
// comes after it. "" is no word.
func unquote(s string) (word, rest string) {
	var b strings.Builder
	for s != "" && s[0] != ' ' {
		switch {
		case s[0] == '\'':
			text, after, ok := strings.Cut(s[1:], "'")
			if !ok {
				return "", s
			}
			b.WriteString(text)
			s = after
		case strings.HasPrefix(s, `"'"`):
			b.WriteByte('\'')
			s = s[len(`"'"`):]
		case strings.HasPrefix(s, `\'`):
			b.WriteByte('\'')
			s = s[len(`\'`):]
		case strings.IndexByte(`"\$&|;<>()*?[]{}~#!`+"`\n\t", s[0]) >= 0:
			return "", s
		default:
			b.WriteByte(s[0])
			s = s[1:]
		}
	}
	return b.String(), s
}
