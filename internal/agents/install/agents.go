package install

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// agent is what we know about installing into one agent.
type agent struct {
	name     string
	title    string
	programs []string // to look for on PATH, best first
	managed  bool     // has settings of the administrator that we write
	places   func(w World) (string, error)
	plan     func(path string, c command) ([]file, error)
	gate     gate                                                   // where the hook that decides calls stands
	above    func(w World, a *agent) []string                       // what turns hooks off from above the user; nil: nothing is known to
	admits   func(w World) (bool, error)                            // whether it takes hooks from this project; nil: from all
	parse    func(src []byte, comments bool) (*settings.Doc, error) // nil: as JSON
	open     func(version string) []string
	probe    probe
	try      func(r *rig) (launch, error) // nil where the real agent cannot be tried
	notes    []string                     // for the person who installs
}

// file is one file to write: all ours, or an edited one.
type file struct {
	path     string
	mode     os.FileMode
	own      []byte                // the whole file, where it is ours alone
	alike    func(src []byte) bool // ours too, for another command; nil: only what is the same
	edits    []edit
	comments bool // JSON with comments
	// block is what stands between our marks in a TOML file, from the contents of the
	// files planned before it.
	block func(planned map[string][]byte) (string, error)
	heads string // how the headers of its tables begin
}

// edit is one value of ours in a JSON file.
type edit struct {
	path  []string
	value strictjson.Value
	list  bool // append to the list at path, else the member at path
	keep  bool // a member that is there stays as it is
	join  bool // only where the list is there and holds something
}

// gate says where in the settings the hook for calls is.
type gate struct {
	path    []string // of the list
	trigger string   // of the element, where a list is for all events
}

func agents() []*agent {
	return []*agent{
		claudeAgent(), codexAgent(), geminiAgent(), copilotAgent(), cursorAgent(), opencodeAgent(), openclawAgent(),
		gooseAgent(), droidAgent(), kiroAgent(), windsurfAgent(), clineAgent(),
	}
}

// path is the settings file for this world.
func (a *agent) path(w World) (string, error) {
	switch {
	case w.Managed && !a.managed:
		return "", fmt.Errorf("install %s: it has no administrator's settings that are known well enough; leave --managed out", a.name)
	case w.Managed && w.Project != "":
		return "", fmt.Errorf("install %s: --managed and --project exclude each other", a.name)
	}
	return a.places(w)
}

// at picks between the user's, the project's and the administrator's file.
func at(user func(w World) string, project []string, managed func(w World) string) func(World) (string, error) {
	return func(w World) (string, error) {
		switch {
		case w.Managed:
			return managed(w), nil
		case w.Project != "":
			return filepath.Join(append([]string{w.Project}, project...)...), nil
		}
		return user(w), nil
	}
}

func value(v any) strictjson.Value {
	raw, err := strictjson.Marshal(v)
	if err != nil {
		return strictjson.Value("null") // our own structs of strings: it cannot fail
	}
	return raw
}

// list makes one edit per event.
func list(events []string, make func(event string) any) []edit {
	var out []edit
	for _, e := range events {
		out = append(out, edit{path: []string{"hooks", e}, value: value(make(e)), list: true})
	}
	return out
}

func one(f file, err error) ([]file, error) { return []file{f}, err }

func claudeAgent() *agent {
	gates := map[string]bool{"PreToolUse": true, "PostToolUse": true, "PostToolUseFailure": true, "UserPromptSubmit": true, "ConfigChange": true}
	tools := map[string]bool{"PreToolUse": true, "PostToolUse": true, "PostToolUseFailure": true}
	events := []string{
		"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop",
		"InstructionsLoaded", "ConfigChange", "SessionEnd",
	}
	return &agent{
		name: "claude", title: "Claude Code", programs: []string{"claude"}, managed: true,
		places: at(func(w World) string { return filepath.Join(w.folder("CLAUDE_CONFIG_DIR", ".claude"), "settings.json") },
			[]string{".claude", "settings.local.json"}, claudeManaged),
		plan: func(path string, c command) ([]file, error) {
			f := file{path: path, edits: list(events, func(event string) any {
				h := settings.Handler{Type: "command", Command: c.w.Hook, Args: c.args(""), Timeout: c.seconds()}
				if gates[event] {
					h.OnFailure = "block"
				}
				g := settings.Group{Hooks: []settings.Handler{h}}
				if tools[event] {
					g.Matcher = "*"
				}
				return g
			})}
			if c.w.Managed {
				f.edits = append(f.edits, edit{path: []string{"allowManagedHooksOnly"}, value: value(true)})
			}
			return one(f, nil)
		},
		gate:  gate{path: []string{"hooks", "PreToolUse"}},
		above: claudeAbove,
		open:  claudeOpen,
		probe: probe{body: nestedProbe("PreToolUse", "Bash"), refused: byExit},
		try:   tryClaude,
	}
}

func claudeManaged(w World) string {
	if runtime.GOOS == "darwin" {
		return filepath.Join(w.Root, "/Library/Application Support/ClaudeCode/managed-settings.json")
	}
	return w.etc("claude-code", "managed-settings.json")
}

func geminiAgent() *agent {
	return &agent{
		name: "gemini", title: "Gemini CLI", programs: []string{"gemini"},
		places: at(func(w World) string { return w.home(".gemini", "settings.json") }, []string{".gemini", "settings.json"}, nil),
		plan: func(path string, c command) ([]file, error) {
			events := []string{"SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "SessionEnd"}
			return one(file{path: path, comments: true, edits: list(events, func(event string) any {
				g := settings.Group{Hooks: []settings.Handler{{Name: "tidemark", Type: "command", Command: c.line(""), Timeout: c.seconds() * 1000}}}
				if event == "BeforeTool" || event == "AfterTool" {
					g.Matcher = "*"
				}
				return g
			})}, nil)
		},
		gate:  gate{path: []string{"hooks", "BeforeTool"}},
		open:  always("the hook is killed, or takes longer than the agent's own limit", "the hook exits with code 1 and prints no verdict (Tidemark's hook does not)"),
		probe: probe{body: nestedProbe("BeforeTool", "run_shell_command"), refused: byExit},
		try:   tryGemini,
	}
}

func copilotAgent() *agent {
	events := []string{"sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "postToolUseFailure", "sessionEnd"}
	return &agent{
		name: "copilot", title: "Copilot CLI", programs: []string{"copilot"}, managed: true,
		places: at(func(w World) string {
			return filepath.Join(w.folder("COPILOT_HOME", ".copilot"), "hooks", "tidemark.json")
		},
			[]string{".github", "hooks", "tidemark.json"},
			func(w World) string { return w.etc("github-copilot", "policy.d", "tidemark.json") }),
		plan: func(path string, c command) ([]file, error) {
			edits := []edit{{path: []string{"version"}, value: value(1), keep: true}}
			return one(file{path: path, edits: append(edits, list(events, func(event string) any {
				return settings.Handler{Type: "command", Exec: c.w.Hook, Args: c.args(event), Limit: c.seconds()}
			})...)}, nil)
		},
		gate:  gate{path: []string{"hooks", "preToolUse"}},
		open:  always("the hook is killed by, or takes longer than, the agent's own limit: Copilot then runs the tool, even for an administrator's hook"),
		probe: probe{body: copilotProbe, refused: byExit},
		try:   tryCopilot, admits: copilotAdmits,
	}
}

func ownJSON(path string, v any) (file, error) {
	raw, err := strictjson.MarshalIndent(v)
	return file{path: path, own: append(raw, '\n')}, err
}

func cursorAgent() *agent {
	return &agent{
		name: "cursor", title: "Cursor", programs: []string{"cursor-agent", "cursor"},
		places: at(func(w World) string { return w.home(".cursor", "hooks.json") }, []string{".cursor", "hooks.json"}, nil),
		plan: func(path string, c command) ([]file, error) {
			events := []string{"sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "postToolUseFailure", "sessionEnd"}
			edits := []edit{{path: []string{"version"}, value: value(1), keep: true}}
			return one(file{path: path, edits: append(edits, list(events, func(event string) any {
				closed := event == "preToolUse" || event == "beforeSubmitPrompt"
				return settings.Handler{Command: c.line(""), Timeout: c.seconds(), Closed: closed}
			})...)}, nil)
		},
		gate:  gate{path: []string{"hooks", "preToolUse"}},
		open:  always("hooks that Cursor imports from Claude's settings never fail closed; install into Cursor itself, as done here"),
		probe: probe{body: nestedProbe("preToolUse", "Shell"), refused: cursorRefused},
		notes: []string{"Cursor's hooks were tried with the executor of its SDK, not with the whole program"},
	}
}
