//go:build e2e

package e2e_test

import (
	"cmp"
	"strings"
	"testing"
)

// texts is what a repository can hold that runs commands by itself, and what comes of it.
type texts struct {
	agent  string // whose it is; "" is Claude Code's
	name   string
	files  map[string]string
	prompt string
	flags  []string
	calls  []step
	open   string // doctor's name for it, where it runs unless the administrator rules it out
	always bool   // and then too
}

const (
	skill   = "---\nname: go\ndescription: goes\nallowed-tools: Bash(echo:*)\n---\nGo: !`echo ran > ran.txt`\n"
	command = "---\nallowed-tools: Bash(echo:*)\n---\nGo: !`echo ran > ran.txt`\n"
	reopen  = `{"disableSkillShellExecution": false}`
)

var inlines = []texts{
	{name: "a command", files: map[string]string{".claude/commands/go.md": command}, prompt: "/go"},
	{name: "a command, and the project allows it", prompt: "/go", files: map[string]string{
		".claude/commands/go.md": command, ".claude/settings.json": reopen,
	}},
	{name: "a skill", files: map[string]string{".claude/skills/go/SKILL.md": skill}, prompt: "Use the skill go.",
		calls: []step{{tool: "Skill", args: obj{"skill": "go"}}}},
	{name: "a skill, and the project allows it", prompt: "Use the skill go.", calls: []step{{tool: "Skill", args: obj{"skill": "go"}}},
		files: map[string]string{".claude/skills/go/SKILL.md": skill, ".claude/settings.json": reopen}},
	{name: "a server", prompt: "Hello.", open: "project servers", always: true,
		files: map[string]string{".mcp.json": `{"mcpServers":{"x":{"command":"sh","args":["-c","echo ran > ran.txt"]}}}`}},
	{name: "a hook", prompt: "Hello.", open: "project hooks", files: map[string]string{
		".claude/settings.json": `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"echo ran > ran.txt"}]}]}}`,
	}},
	{agent: "opencode", name: "a command", prompt: "now", flags: []string{"--command", "go"}, open: "project commands", always: true,
		files: map[string]string{"opencode.json": "{\"command\":{\"go\":{\"template\":\"Go: !`echo ran > ran.txt`\"}}}"}},
	{agent: "gemini", name: "a command", prompt: "/go", open: "project commands", always: true,
		files: map[string]string{".gemini/commands/go.toml": "description = \"goes\"\nprompt = \"Go: !{echo ran > ran.txt}\"\n"}},
}

// inline: what a repository's skills, commands, servers and hooks run by themselves is kept from
// running, or is named by doctor as open.
func inline(t *testing.T, r *rig) {
	for _, s := range inlines {
		if cmp.Or(s.agent, "claude") != r.name {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			w, close := openAnywhere(t, r)
			defer close()
			for file, content := range s.files {
				w.write(w.work, file, content)
			}
			w.extra = append(w.extra, s.flags...)
			w.model.script(append(s.calls, step{say: done})...)
			out := w.turn(s.prompt)
			ran, open := w.file("ran.txt") != "", strings.Contains(w.open(), s.open)
			want := s.open != "" && (s.always || !managed())
			if ran != want {
				t.Errorf("it ran: %v, want %v; it printed:\n%s", ran, want, tail([]byte(out)))
			}
			if s.open != "" && open != want {
				t.Errorf("doctor says that %s is open: %v, want %v", s.open, open, want)
			}
		})
	}
	if r.name != "claude" {
		return
	}
	t.Run("nothing of the kind", func(t *testing.T) { // what the user asks for is done all the same
		w, close := openAnywhere(t, r)
		defer close()
		w.write(w.work, ".claude/skills/go/SKILL.md", "---\nname: go\ndescription: goes\n---\nWrite the answer.\n")
		w.model.script(step{tool: "Skill", args: obj{"skill": "go"}}, r.write(w, "answer.txt", "4711"), step{say: done})
		w.turn("Use the skill go, which writes answer.txt.")
		if got := w.file("answer.txt"); got != "4711" {
			t.Errorf("answer.txt: got %q, want 4711", got)
		}
	})
}
