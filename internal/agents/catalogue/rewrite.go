package catalogue

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Rewrite is how an agent is told at its hook to run another command line than the model's, which is how a command comes into a
// box. An agent has none where its contract cannot do it, where nobody has seen it obeyed, or where it would take the user's own
// rules out of force without our noticing: Claude Code compares these with the line that was put in, so that a "deny Bash(...)" of
// the user's no longer denies.
type Rewrite struct {
	Param string // of the shell's input, that holds the line
	List  bool   // the line is the one entry of a list there
	// Modes are those in which the agent asks nobody by itself: to say yes to the line that was put in then takes no question away.
	Modes []string
	Reply func(e *Event, input strictjson.Value) []byte // runs the tool with that input in place of the model's
	Rules Rules
	When  string // when it holds, for a person; "": always
	// Flags reports whether the words that the agent was started with leave lines as they are; nil: they have no say.
	Flags func(words []string) bool
}

// Rules are where an agent keeps rules of its people's about commands, which would be compared with the line that was put in and not
// with the model's. Where there is one that does more than allow, lines stay as they are.
type Rules struct {
	Home    Place                  // a folder of the user's; File is its name; none: there are no such folders
	More    []Place                // other folders of the user's in which there can be some
	Project string                 // the folder in projects
	Unset   []string               // variables that lead to others, or switch on a sandbox: one that is set is enough
	Config  Place                  // the user's settings
	Within  string                 // settings of projects
	Files   []string               // more settings, below the home and in projects
	Managed []string               // places of the administrator's: that there is one is enough
	Allows  func(file string) bool // the text of a file of rules does no more than allow
	Plain   func(text string) bool // settings change nothing about how lines are run
}

// codexRewrite was seen obeyed by Codex 0.166 with its own sandbox switched off. Within that no box can be made, and the command
// does not run. Under named permission profiles the new line is shown and the old one run.
func codexRewrite() *Rewrite {
	return &Rewrite{
		Param: "command", Modes: []string{"bypassPermissions"},
		When: "only in sessions without its own sandbox and questions (--dangerously-bypass-approvals-and-sandbox); " +
			"in others commands are asked about",
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

// geminiRewrite was seen obeyed by Gemini CLI 0.61. It looks at its own rules after its hooks, so that they would be about the line that
// was put in; a question it asks by itself stays, about that line.
func geminiRewrite() *Rewrite {
	return &Rewrite{
		Param: "command", Modes: []string{""},
		Reply: func(e *Event, input strictjson.Value) []byte {
			return object(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": e.Name, "tool_input": input}})
		},
		When: "where no rule of yours about commands is known (policies, tools.core, tools.exclude); else commands are asked about",
		Flags: func(words []string) bool {
			return !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "policy") })
		},
		Rules: Rules{
			Home: Place{Home: ".gemini", File: "policies"}, Project: ".gemini/policies",
			More:   []Place{{Home: ".gemini", File: "extensions"}}, // which can bring rules of their own
			Config: Place{Home: ".gemini", File: "settings.json"}, Within: ".gemini/settings.json",
			Managed: []string{"/etc/gemini-cli/settings.json", "/etc/gemini-cli/policies", "/etc/gemini-cli/system-defaults.json"},
			Unset:   []string{"GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "GEMINI_SANDBOX"},
			Allows:  geminiAllows,
			Plain: func(text string) bool {
				return !slices.ContainsFunc([]string{`"core"`, `"exclude`, `"coreTools"`, "olic", `"sandbox"`, `\`}, func(s string) bool {
					return strings.Contains(text, s)
				})
			},
		},
	}
}

// geminiAllows reports whether all rules of a file do no more than allow.
func geminiAllows(text string) bool {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if strings.Contains(name, "decision") && strings.TrimSpace(value) != `"allow"` {
			return false
		}
	}
	return !strings.ContainsAny(text, `\{`) && !strings.Contains(text, "deny") && !strings.Contains(text, "ask_user")
}

// copilotRewrite was seen obeyed by Copilot CLI 1.0.102. A line that was put in needs leave of its own there, which the hook can give: so
// it is put in only where the agent was started without questions and without rules. It says neither at its hooks.
func copilotRewrite() *Rewrite {
	return &Rewrite{
		Param: "command", Modes: []string{""},
		Reply: func(_ *Event, input strictjson.Value) []byte {
			return object(map[string]any{"permissionDecision": "allow", "modifiedArgs": input})
		},
		When: "only where it is started with --allow-all-tools, --allow-all or --yolo and without --deny-tool; " +
			"else commands are asked about. What a command changes in its shell (folder, variables) is gone after it",
		Flags: func(words []string) bool {
			open := func(w string) bool { return w == "--allow-all-tools" || w == "--allow-all" || w == "--yolo" }
			ruled := func(w string) bool {
				return strings.HasPrefix(w, "--deny") || strings.HasPrefix(w, "--excluded") || strings.HasPrefix(w, "--available") ||
					strings.HasPrefix(w, "--sandbox")
			}
			return slices.ContainsFunc(words, open) && !slices.ContainsFunc(words, ruled)
		},
	}
}

// droidRewrite was seen obeyed by Droid 0.225. It compares its lists of commands with the line that was put in, so that one is put in
// only where it was started without questions and where none of its settings name such a list. Its own list of commands that it never
// runs is compared with that line as well.
func droidRewrite() *Rewrite {
	return &Rewrite{
		Param: "command", Modes: []string{"auto-low", "auto-medium", "auto-high"},
		Reply: func(e *Event, input strictjson.Value) []byte {
			return object(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": e.Name, "updatedInput": input}})
		},
		When: "only where it is started with --skip-permissions-unsafe, and no settings name commandDenylist, commandBlocklist or a " +
			"sandbox; else commands are asked about",
		Flags: func(words []string) bool {
			return slices.Contains(words, "--skip-permissions-unsafe") && !slices.ContainsFunc(words, func(w string) bool {
				return strings.HasPrefix(w, "--settings") || strings.HasPrefix(w, "--sandbox")
			})
		},
		Rules: Rules{
			Config: Place{Home: ".factory", File: "settings.json"}, Within: ".factory/settings.json",
			Files:   []string{".factory/settings.local.json", ".factory/config.json"},
			Managed: []string{"/etc/factory/settings.json"},
			Allows:  func(string) bool { return false },
			Plain:   without("enylist", "locklist", "andbox", "olicy", `\`),
		},
	}
}

// without reports of a text whether it has none of some words.
func without(words ...string) func(text string) bool {
	return func(text string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
}

// clineRewrite was seen obeyed by Cline 3.0.65. Of rules of its people's about commands nothing is known in it; a question that it asks
// by itself stays, about the line that was put in.
func clineRewrite() *Rewrite {
	return &Rewrite{
		Param: "commands", List: true, Modes: []string{""},
		Reply: func(_ *Event, input strictjson.Value) []byte { return object(map[string]any{"overrideInput": input}) },
		When:  "where a call has one command; others are asked about",
		Rules: Rules{Unset: []string{"CLINE_COMMAND_PERMISSIONS"}},
	}
}

// cursorRewrite is by Cursor's contract, and was tried with the part of its SDK that runs hooks: the whole program wants an account, so
// that nothing shows that it obeys, and no command of it is sent to a box.
func cursorRewrite() *Rewrite {
	return &Rewrite{
		Param: "command", Modes: []string{""},
		Reply: func(_ *Event, input strictjson.Value) []byte {
			return object(map[string]any{"permission": "allow", "updated_input": input})
		},
		When: "not run with the real program",
		Rules: Rules{
			Config: Place{Home: ".cursor", File: "cli-config.json"}, Within: ".cursor/cli.json",
			Files:  []string{".cursor/sandbox.json", ".cursor/permissions.json"},
			Allows: func(string) bool { return false },
			Plain:  without("deny", "andbox", `\`),
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
