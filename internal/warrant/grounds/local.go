package grounds

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
)

var (
	outward     = set("web url http browser internet online mail email inbox message messages slack calendar drive fetch page webpage mcp issue issues pr ticket tickets")
	inWorkspace = set("file files dir directory directories folder path code symbol symbols grep glob ls tree workspace repo repository notebook str replace editor multi text range lines in by content contents definition references project todo output")
)

// isLocal reports whether a tool reads what is on this machine: it says nothing but that,
// and the agent works here.
func (c *Context) isLocal(m *meaning.Meaning, args map[string]any) bool {
	words := leaves.NameWords(m.Tool)
	for _, w := range words {
		if outward[w] {
			return false
		}
	}
	if m.Reaches {
		return false
	}
	for k := range args {
		for _, w := range leaves.NameWords(k) {
			if addressNames[stem(w)] {
				return false
			}
		}
	}
	for _, w := range words {
		if !inWorkspace[w] && !isVerb(w) {
			return false
		}
	}
	return c.host || len(c.offered) == 0 && len(words) == 1 && bareReader[words[0]]
}

// bareReader are tools that a host without definitions calls by one word.
var bareReader = set("read grep glob ls cat view")

// localName reports whether a tool's name speaks of nothing but the workspace.
func localName(m *meaning.Meaning) bool {
	for _, w := range leaves.NameWords(m.Tool) {
		if outward[w] || !inWorkspace[w] && !isVerb(w) {
			return false
		}
	}
	return true
}

// commandTools run command lines on this machine, by the names hosts give them. Anybody
// can write a definition, so its words do not make a session one of a machine.
var commandTools = set("exec bash shell sh terminal run_shell_command run_command execute_command local_shell shell_command run_terminal_cmd exec_command powershell")

// runsLines reports whether a tool runs command lines: others that "run" something run it
// elsewhere.
func runsLines(m *meaning.Meaning) bool {
	if m.Act != meaning.Execute {
		return false
	}
	return len(m.Params) == 0 || slices.ContainsFunc(m.Params, func(p meaning.Param) bool { return p.Role == meaning.Command })
}

// tellsMore reports whether an answer to an act says more than that it was done: then
// somebody else's words are in it.
func tellsMore(content string, args []leaves.Leaf) bool {
	known := map[string]bool{}
	for _, l := range args {
		for _, t := range tokens(l.Text) {
			known[t] = true
		}
	}
	n := 0
	for line := range strings.FieldsFuncSeq(content, func(r rune) bool { return strings.ContainsRune("\n\r.!?;", r) }) {
		n = 0
		for _, t := range tokens(line) {
			if !known[t] && !strings.ContainsAny(t, "0123456789") {
				n++
			}
		}
		if n > 7 {
			return true
		}
	}
	return false
}

// readers are verbs that give back a file as it is. Others list what they know about it.
var readers = set("read open view cat load show display head tail download")

// document reports whether a result is a text that somebody wrote as a whole: a page, a
// file, another agent's answer. Structure in it is the writer's, not the tool's.
func document(m *meaning.Meaning, args map[string]any) bool {
	if m.Reaches {
		return true
	}
	for k, v := range args {
		text, ok := v.(string)
		if !ok {
			continue
		}
		p := m.Resolve(k, text)
		if p.Kind == meaning.URL || startsURL.MatchString(text) || addressed(k) || p.Kind == meaning.Path && readers[m.Verb] {
			return true
		}
	}
	return false
}

var addressNames = set("url uri link href website webhook endpoint site webpage domain host")

func isVerb(w string) bool { return meaning.Verb(w) != meaning.Unknown }
