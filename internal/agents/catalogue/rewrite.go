package catalogue

import (
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Rewrite is how an agent is told at its hook to run another command line than the model's, which is how a command comes into a
// box. An agent has none where its contract cannot do it, where nobody has seen it obeyed, or where it would take the user's own
// rules out of force without our noticing: Claude Code compares these with the line that was put in, so that a "deny Bash(...)" of
// the user's no longer denies.
type Rewrite struct {
	Param string // of the shell's input, that holds the line
	// Modes are those in which the agent asks nobody by itself: to say yes to the line that was put in then takes no question away.
	Modes []string
	Reply func(e *Event, input strictjson.Value) []byte // runs the tool with that input in place of the model's
	Rules Rules
}

// Rules are where an agent keeps rules of its people's about commands, which would be compared with the line that was put in and not
// with the model's. Where there is one that does more than allow, lines stay as they are.
type Rules struct {
	Home    Place                  // a folder of the user's; File is its name
	Project string                 // the folder in projects
	Config  Place                  // the user's settings
	Within  string                 // settings of projects
	Managed []string               // places of the administrator's: that there is one is enough
	Allows  func(file string) bool // the text of a file of rules does no more than allow
	Plain   func(text string) bool // settings change nothing about how lines are run
}

// codexRewrite was seen obeyed by Codex 0.166 with its own sandbox switched off. Within that no box can be made, and the command
// does not run. Under named permission profiles the new line is shown and the old one run.
func codexRewrite() *Rewrite {
	return &Rewrite{
		Param: "command", Modes: []string{"bypassPermissions"},
		Reply: func(e *Event, input strictjson.Value) []byte {
			return object(map[string]any{"hookSpecificOutput": map[string]any{
				"hookEventName": e.Name, "permissionDecision": "allow", "updatedInput": input,
			}})
		},
		Rules: Rules{
			Home:    Place{Variable: "CODEX_HOME", Home: ".codex", File: "rules"},
			Project: ".codex/rules",
			Config:  Place{Variable: "CODEX_HOME", Home: ".codex", File: "config.toml"},
			Within:  ".codex/config.toml",
			Managed: []string{"/etc/codex/rules", "/etc/codex/requirements.toml", "/etc/codex/managed_config.toml"},
			Allows:  codexAllows,
			Plain:   func(text string) bool { return !strings.Contains(text, "permissions") && !strings.Contains(text, `\`) },
		},
	}
}

// codexAllows reads a file of rules in the one form in which Codex itself writes down what its user allowed for good.
func codexAllows(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rule, ok := strings.CutPrefix(line, "prefix_rule(pattern=[")
		words, ok2 := strings.CutSuffix(rule, `], decision="allow")`)
		if !ok || !ok2 || strings.ContainsAny(words, "()=") { // more than one rule, or one in other words
			return false
		}
	}
	return true
}
