package catalogue

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Codex: anything on standard output that it does not expect lets the tool run, and so
// does a refusal without a reason. Exit code 2 with a reason is the only safe answer. A
// sub-agent has the session of the one it works for and an id of its own; its prompts,
// which that one wrote, come as prompts too.
//
// Of a hook that ends with code 1 the person sees the code alone. At the start of a session,
// where nothing is decided, a message says what is wrong. Without a terminal ("codex exec")
// it shows the reason for a refused call, but of a prompt only that it was refused.

var codexEvents = map[string]Kind{
	"SessionStart": Start, "SessionEnd": End, "Stop": Ignored, "UserPromptSubmit": Prompt,
	"PreToolUse": Call, "PostToolUse": Result, "SubagentStart": Spawn, "SubagentStop": Return,
	"PermissionRequest": Ignored, "PreCompact": Ignored, "PostCompact": Ignored,
}

var codexTools = map[string]string{
	"Bash": "exec", "shell": "exec", "local_shell": "exec", "exec_command": "exec", "write_stdin": "process",
	"apply_patch": "apply_patch", "view_image": "read", "read_file": "read", "list_dir": "read",
	"web_search": "web_search", "spawn_agent": "sessions_spawn", "send_input": "sessions_send", "wait_agent": "sessions_history",
	"update_plan": own, "request_user_input": own, "create_goal": own, "update_goal": own, "get_goal": own,
	// The tools of its sub-agents carry their group's name before their own. Closing and
	// resuming one gives back its last words.
	"multi_agent_v1spawn_agent": "sessions_spawn", "multi_agent_v1send_input": "sessions_send",
	"multi_agent_v1wait_agent":  "sessions_history",
	"multi_agent_v1close_agent": "sessions_history", "multi_agent_v1resume_agent": "sessions_history",
}

func codex() *Agent {
	return &Agent{
		Name: "codex",
		Read: codexRead,
		Pass: added, Refuse: byExit, Warn: warned, Rewrite: codexRewrite(),
		Tools: &Tools{Agent: "codex", Names: codexTools, Server: doubled}, Proxied: true,
	}
}

func codexRead(in Input, names *Tools) (*Event, error) {
	p, err := readPayload(in)
	if err != nil {
		return nil, err
	}
	e, err := p.event(codexEvents)
	if err != nil {
		return nil, err
	}
	if e.Record = p.Record; p.Agent != "" { // a sub-agent's calls stand in a record of its own
		e.Record = ""
	}
	if err := p.complete(e, names); err != nil {
		return e, err
	}
	if e.Tool == "exec" && pages(e.Params) {
		e.Params = append([]byte(`{"tty":true,`), e.Params[1:]...)
	}
	return e, nil
}

// pages reports whether a command names a program that, at a terminal, runs what is typed into it.
// Codex does not say whether there is one, and what is typed (write_stdin) reaches no hook, so for
// these there is.
func pages(params strictjson.Value) bool {
	var p struct {
		Command string           `json:"command"`
		TTY     strictjson.Value `json:"tty"`
	}
	if params.Kind() != '{' || strictjson.Unmarshal(params, &p) != nil || p.TTY != nil {
		return false
	}
	return gitEdits(p.Command) || slices.ContainsFunc(strings.FieldsFunc(p.Command, func(r rune) bool {
		return r < 'a' || r > 'z'
	}), func(word string) bool { return strings.Contains(" less more most man view pg ", " "+word+" ") })
}

// CodexHook is an event at which Codex starts our hook, and the name it has in the entries
// by which Codex trusts a hook.
type CodexHook struct{ Event, Entry string }

// CodexHooks are those we write, in the order of their entries.
func CodexHooks() []CodexHook {
	return []CodexHook{
		{"SessionStart", "session_start"}, {"UserPromptSubmit", "user_prompt_submit"}, {"PreToolUse", "pre_tool_use"},
		{"PostToolUse", "post_tool_use"}, {"SubagentStart", "subagent_start"}, {"SubagentStop", "subagent_stop"},
	}
}

// CodexPin keeps hooks on whatever a user, a project or a flag says.
func CodexPin() *Pin {
	return &Pin{File: "/etc/codex/requirements.toml", Path: []string{"features", "hooks"}, Value: "true"}
}

// codexSetup says nothing of the entries by which Codex trusts hooks: see install.
func codexSetup() *Setup {
	return &Setup{
		Agent: Lookup("codex"), Title: "Codex CLI", Programs: []string{"codex"},
		Place: Places{
			User:    Place{Variable: "CODEX_HOME", Home: ".codex", File: "hooks.json"},
			Project: ".codex/hooks.json",
			Managed: "/etc/codex/hooks.json",
		},
		Config: Place{Variable: "CODEX_HOME", Home: ".codex", File: "config.toml"},
		Plan:   codexPlan,
		Gate:   Gate{Path: []string{"hooks", "PreToolUse"}},
		Open: []string{
			crash, slow,
			"what is typed into a shell that already runs (write_stdin), and web searches of the provider, never reach a hook",
		},
		OpenUnmanaged: []string{
			"the hook's trust entry does not fit (a changed hook, another place in the list): Codex skips it without a word; " +
				"doctor compares it",
		},
		Bypasses:      codexBypasses(),
		NoteUnmanaged: "the hooks are marked as trusted in Codex's config.toml, as its /hooks command would do; look at them there",
		NoteManaged: "Codex takes these hooks without trust entries, beside a user's own; features.hooks = true in " +
			CodexPin().File + " keeps them on",
		Probe: nestedProbe("PreToolUse", "Bash"), Refused: exitRefused,
		Trial: func(s Stage) Launch {
			return Launch{
				Args: []string{"exec", "--skip-git-repo-check", "--json", "--dangerously-bypass-approvals-and-sandbox", Words},
				Env:  []string{"CODEX_HOME=" + s.home(".codex"), "CANARY_KEY=no-key"},
			}
		},
	}
}

func codexPlan(path string, c Command) []File {
	var events []string
	for _, h := range CodexHooks() {
		events = append(events, h.Event)
	}
	return []File{{Path: path, Edits: hooks(events, func(event string) any {
		h := settings.Handler{Type: "command", Command: c.Line(), Timeout: c.Seconds()}
		return group(among(event, ".*", "PreToolUse", "PostToolUse"), h)
	})}}
}
