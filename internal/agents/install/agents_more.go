package install

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
)

func opencodeAgent() *agent {
	return &agent{
		name: "opencode", title: "OpenCode", programs: []string{"opencode"},
		places: at(func(w World) string {
			return filepath.Join(w.folder("XDG_CONFIG_HOME", ".config"), "opencode", "plugins", "tidemark.js")
		}, []string{".opencode", "plugins", "tidemark.js"}, nil),
		plan: func(path string, c command) ([]file, error) {
			body, err := opencodePlugin(c)
			return []file{{path: path, own: body, alike: opencodeAlike}}, err
		},
		open:  always("the plugin file is removed or does not load: OpenCode then runs without it", "OpenCode is started with plugins turned off (--pure)"),
		probe: probe{body: opencodeProbe, refused: opencodeRefused},
		try:   tryOpencode,
	}
}

// gooseAgent writes a plugin folder of its own. The matcher is left out: "*" is no valid
// expression there and turns the rule off without a word.
func gooseAgent() *agent {
	events := []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionEnd"}
	return &agent{
		name: "goose", title: "Goose", programs: []string{"goose"},
		places: at(func(w World) string { return w.home(".agents", "plugins", "tidemark", "hooks", "hooks.json") },
			[]string{".agents", "plugins", "tidemark", "hooks", "hooks.json"}, nil),
		plan: func(path string, c command) ([]file, error) {
			about, err := ownJSON(filepath.Join(filepath.Dir(filepath.Dir(path)), "plugin.json"), gooseAbout())
			return []file{about, {path: path, edits: list(events, func(event string) any {
				h := settings.Handler{Type: "command", Command: c.line(""), Timeout: c.seconds()}
				if event == "PreToolUse" {
					h.OnFail = "block"
				}
				return settings.Group{Hooks: []settings.Handler{h}}
			})}}, err
		},
		gate: gate{path: []string{"hooks", "PreToolUse"}},
		open: always("the plugin is turned off in Goose", "a version before 1.38, which has no hooks",
			"it reports that a tool ran, but not what came of it: what counts is what the call can bring"),
		probe: probe{body: gooseProbe, refused: byExit},
		try:   tryGoose,
	}
}

// gooseAbout is what a plugin says of itself.
func gooseAbout() any {
	return struct {
		Name        string `json:"name"`
		Version     string `json:"version"`
		Description string `json:"description"`
	}{"tidemark", "1.0.0", "Asks the Tidemark monitor before each tool call."}
}

func droidAgent() *agent {
	return &agent{
		name: "droid", title: "Factory Droid", programs: []string{"droid"},
		places: at(func(w World) string { return w.home(".factory", "settings.json") }, []string{".factory", "settings.local.json"}, nil),
		plan: func(path string, c command) ([]file, error) {
			events := []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStop", "SessionEnd"}
			return one(file{path: path, comments: true, edits: list(events, func(event string) any {
				g := settings.Group{Hooks: []settings.Handler{{Type: "command", Command: c.line(""), Timeout: c.seconds()}}}
				if event == "PreToolUse" || event == "PostToolUse" {
					g.Matcher = "*"
				}
				return g
			})}, nil)
		},
		gate:  gate{path: []string{"hooks", "PreToolUse"}},
		open:  always(crash, slow, "droid exec runs no hook at prompts: an approval code in one is not seen; use tidemark approvals there"),
		probe: probe{body: nestedProbe("PreToolUse", "Execute"), refused: byExit},
		try:   tryDroid,
	}
}

func kiroAgent() *agent {
	type action struct {
		Type    string `json:"type"`
		Command string `json:"command"`
	}
	type rule struct {
		Name    string `json:"name"`
		Trigger string `json:"trigger"`
		Matcher string `json:"matcher,omitzero"`
		Action  action `json:"action"`
		Timeout int    `json:"timeout"`
	}
	return &agent{
		name: "kiro", title: "Kiro", programs: []string{"kiro-cli", "kiro"},
		places: func(w World) (string, error) {
			if w.Project == "" {
				return "", errors.New("install kiro: its hooks belong to a project; give --project DIR")
			}
			return filepath.Join(w.Project, ".kiro", "hooks", "tidemark.json"), nil
		},
		plan: func(path string, c command) ([]file, error) {
			edits := []edit{{path: []string{"version"}, value: value("v1"), keep: true}}
			for _, event := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"} {
				r := rule{Name: "tidemark " + event, Trigger: event, Action: action{"command", c.line("")}, Timeout: c.seconds()}
				if strings.HasSuffix(event, "ToolUse") {
					r.Matcher = ".*"
				}
				edits = append(edits, edit{path: []string{"hooks"}, value: value(r), list: true})
			}
			return one(file{path: path, edits: edits}, nil)
		},
		gate:  gate{path: []string{"hooks"}, trigger: "PreToolUse"},
		open:  always(crash, slow, "a version before CLI 3 or IDE 1, which keeps hooks elsewhere", "Kiro is started in another folder: its hooks belong to the project"),
		probe: probe{body: nestedProbe("PreToolUse", "execute_bash"), refused: byExit},
		notes: []string{"Kiro's contract is known from its documentation; it was not tried on the real program"},
	}
}

func windsurfAgent() *agent {
	return &agent{
		name: "windsurf", title: "Windsurf", programs: []string{"windsurf"},
		places: at(func(w World) string { return w.home(".codeium", "windsurf", "hooks.json") }, []string{".windsurf", "hooks.json"}, nil),
		plan: func(path string, c command) ([]file, error) {
			events := []string{
				"pre_user_prompt", "pre_read_code", "pre_write_code", "pre_run_command", "pre_mcp_tool_use",
				"post_read_code", "post_write_code", "post_run_command", "post_mcp_tool_use",
			}
			return one(file{path: path, edits: list(events, func(string) any { return settings.Handler{Command: c.line(""), Show: true} })}, nil)
		},
		gate:  gate{path: []string{"hooks", "pre_run_command"}},
		open:  always(crash, slow, "it reports that a command ran, but not what it printed: what a command fetches is not seen"),
		probe: probe{body: windsurfProbe, refused: byExit},
		notes: []string{"Windsurf's contract is known from its documentation; it was not tried on the real program"},
	}
}

// clineAgent writes programs named after the events; one that is there already and is not
// ours cannot be joined with ours.
func clineAgent() *agent {
	return &agent{
		name: "cline", title: "Cline", programs: []string{"cline"},
		places: at(func(w World) string { return w.home(".cline", "hooks", "PreToolUse") }, []string{".cline", "hooks", "PreToolUse"}, nil),
		plan: func(path string, c command) ([]file, error) {
			var out []file
			for _, event := range []string{"PreToolUse", "PostToolUse", "UserPromptSubmit", "TaskStart", "TaskResume", "TaskComplete", "TaskCancel"} {
				out = append(out, file{
					path: filepath.Join(filepath.Dir(path), event), mode: 0o755, own: clineScript(c.line("")),
					alike: func(src []byte) bool { return clineCommand(src) != nil },
				})
			}
			return out, nil
		},
		open: always("the hook is killed, crashes or is missing: Cline looks at nothing but what it prints", slow,
			"a call takes longer than 30 seconds to decide in VS Code (120 in the CLI): keep --wait below that"),
		probe: probe{body: clineProbe, refused: clineRefused},
		try:   tryCline,
		notes: []string{"a refusal ends Cline's whole run, and its command line shows nobody the reason; see tidemark approvals"},
	}
}

const clineHead = "#!/bin/sh\n# Written by \"tidemark install cline\"; \"tidemark uninstall cline\" removes it.\nexec "

func clineScript(line string) []byte { return []byte(clineHead + line + "\n") }

// clineCommand is the command of a script that is just as we write it; else nil.
func clineCommand(src []byte) []string {
	line, ok := strings.CutPrefix(string(src), clineHead)
	if !ok {
		return nil
	}
	line, ok = strings.CutSuffix(line, "\n")
	argv := settings.Split(line)
	if !ok || len(argv) == 0 || filepath.Base(argv[0]) != settings.HookName {
		return nil
	}
	return argv
}

// What several agents do.
const (
	crash = "the hook is missing or is killed: any exit code but 2 lets the tool run"
	slow  = "the hook takes longer than the agent's own limit (it answers by itself long before)"
)

func always(words ...string) func(string) []string {
	return func(string) []string { return words }
}

func claudeOpen(version string) []string {
	if atLeast(version, "2.1.295") {
		return nil
	}
	return []string{
		"this version does not know onFailure (it came with 2.1.295): where the hook is missing, is killed or takes longer than the agent's limit, the tool runs",
	}
}

func codexOpen(string) []string {
	return []string{
		crash, slow,
		"the hook's trust entry does not fit (a changed hook, another place in the list): Codex skips it without a word; doctor compares it",
		"what is typed into a shell that already runs (write_stdin), and web searches of the provider, never reach a hook",
	}
}

// SameUser is the one case that is true of every agent whose settings its user can write.
const SameUser = "somebody with the rights of this user edits the settings: that is noticed, not prevented"

// failsOpen adds what is true of all agents whose settings their user can write.
func (a *agent) failsOpen(w World, version string) []string {
	out := a.open(version)
	if w.Project != "" && a.name == "gemini" {
		out = append(out[:len(out):len(out)], "Gemini is started with --skip-trust in a folder that is not trusted: it then skips the project's hooks")
	}
	if !w.Managed {
		out = append(out[:len(out):len(out)], SameUser)
	}
	return out
}
