package catalogue

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
	"multi_agent_v1spawn_agent": "sessions_spawn", "multi_agent_v1send_input": "sessions_send", "multi_agent_v1wait_agent": "sessions_history",
	"multi_agent_v1close_agent": "sessions_history", "multi_agent_v1resume_agent": "sessions_history",
}

func codex() *Agent {
	names := &Tools{Agent: "codex", Names: codexTools, Server: doubled}
	return &Agent{
		Name: "codex", Title: "Codex CLI",
		Read: func(in Input) (*Event, error) { return codexRead(in, names) },
		Pass: added, Refuse: byExit, Warn: codexWarn,
		Tools: names, Proxied: true,
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
	return e, p.complete(e, names)
}

func codexWarn(e *Event, reason string) (Reply, bool) {
	if e.Kind != Start {
		return Reply{}, false
	}
	return Reply{Stdout: object(map[string]any{"systemMessage": reason}), Stderr: reason, Code: CodePass}, true
}
