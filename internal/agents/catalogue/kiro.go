package catalogue

import "strings"

// Kiro: exit code 2 with a reason. Its payload names no session, so all of a folder's
// conversations are one: what any of them read counts for all.

var kiroEvents = map[string]Kind{
	"SessionStart": Start, "agentSpawn": Start, "Stop": Ignored, "stop": Ignored, "UserPromptSubmit": Prompt, "userPromptSubmit": Prompt,
	"PreToolUse": Call, "preToolUse": Call, "PostToolUse": Result, "postToolUse": Result,
}

var kiroTools = map[string]string{
	"execute_bash": "exec", "execute_cmd": "exec", "shell": "exec", "fs_read": "read", "read": "read", "fs_write": "write", "write": "write",
	"web_fetch": "web_fetch", "web_search": "web_search", "use_subagent": "sessions_spawn", "delegate": "sessions_spawn",
	"todo_list": own, "thinking": own,
}

func kiro() *Agent {
	names := &Tools{Agent: "kiro", Names: kiroTools, Server: func(name string) (string, string, bool) {
		rest, ok := strings.CutPrefix(name, "@")
		if !ok {
			return "", "", false
		}
		server, tool, ok := strings.Cut(rest, "/")
		return server, tool, ok && tool != ""
	}}
	return &Agent{
		Name: "kiro", Title: "Kiro",
		Read: func(in Input) (*Event, error) { return kiroRead(in, names) },
		Pass: silent, Refuse: byExit,
		Tools: names,
	}
}

func kiroRead(in Input, names *Tools) (*Event, error) {
	p, err := readPayload(in)
	if err != nil {
		return nil, err
	}
	if p.Session == "" {
		p.Session = p.Cwd
	}
	e, err := p.event(kiroEvents)
	if err != nil {
		return nil, err
	}
	return e, p.complete(e, names)
}
