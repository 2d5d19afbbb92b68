package catalogue

import (
	"path/filepath"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Goose: exit code 2 with a reason. Its own tools have plain names, those of extensions are
// named extension__tool. It reports that a tool ran or failed, not what came of it. Its
// read_image is in no table: it fetches addresses as well as files. What its sub-agents do
// reaches no hook at all, and neither do the tools that a program of its Code Mode calls.

var gooseEvents = map[string]Kind{
	"SessionStart": Start, "SessionEnd": End, "Stop": Ignored, "UserPromptSubmit": Prompt,
	"PreToolUse": Call, "PostToolUse": Result, "PostToolUseFailure": Result,
	"PreToolUseResult": Ignored, "BeforeShellExecution": Ignored, "AfterShellExecution": Ignored, "BeforeReadFile": Ignored,
	"AfterFileEdit": Ignored, "PreCompact": Ignored, "PostCompact": Ignored, "Notification": Ignored,
}

var gooseTools = map[string]string{
	"shell": "exec", "write": "write", "edit": "edit", "tree": "read", "analyze": "read", "load_skill": "read",
	"developer__shell": "exec", "developer__write": "write", "developer__edit": "edit", "developer__tree": "read",
	"developer__text_editor": "edit", "computercontroller__web_scrape": "web_fetch",
	"delegate": "sessions_spawn", "subagent__execute_task": "sessions_spawn", "load": "sessions_history",
}

func goose() *Agent {
	return &Agent{
		Name: "goose",
		Read: gooseRead,
		Pass: silent, Refuse: byExit,
		Tools: &Tools{Agent: "goose", Names: gooseTools, Server: doubled}, Proxied: true,
	}
}

func gooseRead(in Input, names *Tools) (*Event, error) {
	p, err := readPayload(in)
	if err != nil {
		return nil, err
	}
	var g struct {
		Event  string           `json:"event"`
		CallID string           `json:"tool_call_id"`
		Cwd    string           `json:"working_dir"`
		Words  string           `json:"message"`
		Output strictjson.Value `json:"tool_output"`
	}
	if err := unmarshal(in.Body, &g); err != nil {
		return nil, err
	}
	if err := firstOf(same("event", &p.Event, g.Event), same("call", &p.CallID, g.CallID), same("prompt", &p.Words, g.Words)); err != nil {
		return nil, err
	}
	p.Cwd, p.Result = g.Cwd, either(p.Result, g.Output)
	e, err := p.event(gooseEvents)
	if err != nil {
		return nil, err
	}
	if err := p.complete(e, names); err != nil {
		return nil, err
	}
	e.Never = gooseNever(p.Tool)
	return e, nil
}

// gooseNever says why a tool may not run: others would run behind it, unasked. An extension
// is told by its tool, for its own name is the user's to choose. Tools that send messages
// are many; the orchestrator's is the one that sends them to a sub-agent.
func gooseNever(name string) string {
	if strings.HasPrefix(name, "subrecipe__") {
		return gooseSubAgent
	}
	extension, plain := "", name
	if i := strings.LastIndex(name, "__"); i >= 0 {
		extension, plain = name[:i], name[i+2:]
	}
	switch plain {
	case "delegate", "start_agent", "execute_task":
		return gooseSubAgent
	case "send_message":
		if extension == "" || strings.HasSuffix(extension, "orchestrator") {
			return gooseSubAgent
		}
	case "execute_typescript", "execute_code":
		return "Goose asks no hook about the tools that a program calls, so none may be run this way; call the tools yourself"
	}
	return ""
}

const gooseSubAgent = "Goose asks no hook about what a sub-agent does, so none may be started; do the work yourself"

func gooseSetup() *Setup {
	path := ".agents/plugins/tidemark/hooks/hooks.json"
	return &Setup{
		Agent: Lookup("goose"), Title: "Goose", Programs: []string{"goose"},
		Unboxed: cannotRewrite,
		Place:   Places{User: Place{File: path}, Project: path},
		Plan:    goosePlan,
		Gate:    Gate{Path: []string{"hooks", "PreToolUse"}},
		Open: []string{
			"the plugin is turned off in Goose", "a version before 1.38, which has no hooks",
			"it reports that a tool ran, but not what came of it: what counts is what the call can bring",
		},
		Bypasses: gooseBypasses(), Shadow: ".agents/plugins/tidemark",
		Probe: func(session, cwd, command string) any {
			return map[string]any{
				"event": "PreToolUse", "session_id": session, "tool_name": "shell", "tool_call_id": "canary",
				"tool_input": map[string]any{"command": command}, "working_dir": cwd,
			}
		},
		Refused: exitRefused,
		Trial:   gooseTrial,
	}
}

// goosePlan writes a plugin folder of our own. The matcher is left out: "*" is no valid
// expression there and turns the rule off without a word.
func goosePlan(path string, c Command) []File {
	events := []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionEnd"}
	edits := hooks(events, func(event string) any {
		h := settings.Handler{Type: "command", Command: c.Line(), Timeout: c.Seconds()}
		if event == "PreToolUse" {
			h.OnFail = "block"
		}
		return group("", h)
	})
	return []File{
		{Path: filepath.Join(filepath.Dir(filepath.Dir(path)), "plugin.json"), Own: indented(gooseAbout())},
		{Path: path, Edits: edits},
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

func gooseTrial(s Stage) Launch {
	base := s.Home
	if s.Project {
		base = s.Work
	}
	return Launch{
		Files: []Aside{{filepath.Join(base, ".agents", "plugins", "tidemark", "plugin.json"), gooseAbout()}},
		Args:  []string{"run", "--no-session", "--with-builtin", "developer", "-t", Words},
		Env: []string{
			"GOOSE_PROVIDER=openai", "GOOSE_MODEL=gpt-4o", "GOOSE_MODE=auto", "GOOSE_DISABLE_KEYRING=1",
			"OPENAI_HOST=" + s.Model, "OPENAI_API_KEY=no-key",
			"XDG_CONFIG_HOME=" + s.home(".config"), "XDG_DATA_HOME=" + s.home(".local", "share"), "XDG_STATE_HOME=" + s.home(".state"),
		},
	}
}
