package catalogue

import "strings"

// Kiro: exit code 2 with a reason. Its payload names no session, so all of a folder's
// conversations are one: what any of them read counts for all.

var kiroEvents = map[string]Kind{
	"SessionStart": Start, "agentSpawn": Start, "Stop": Ignored, "stop": Ignored, "UserPromptSubmit": Prompt, "userPromptSubmit": Prompt,
	"PreToolUse": Call, "preToolUse": Call, "PostToolUse": Result, "postToolUse": Result,
}

var kiroTools = map[string]string{
	"execute_bash": "exec", "execute_cmd": "exec", "shell": "exec", "fs_read": "read", "read": "read", "fs_write": "write",
	"write":     "write",
	"web_fetch": "web_fetch", "web_search": "web_search", "use_subagent": "sessions_spawn", "delegate": "sessions_spawn",
	"todo_list": own, "thinking": own,
}

func kiro() *Agent {
	return &Agent{
		Name: "kiro",
		Read: kiroRead,
		Pass: silent, Refuse: byExit,
		Tools: &Tools{Agent: "kiro", Names: kiroTools, Server: func(name string) (string, string, bool) {
			rest, ok := strings.CutPrefix(name, "@")
			if !ok {
				return "", "", false
			}
			server, tool, ok := strings.Cut(rest, "/")
			return server, tool, ok && tool != ""
		}},
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

func kiroSetup() *Setup {
	return &Setup{
		Agent: Lookup("kiro"), Title: "Kiro", Programs: []string{"kiro-cli", "kiro"},
		Unboxed: cannotRewrite,
		Place:   Places{Project: ".kiro/hooks/tidemark.json"},
		Plan:    kiroPlan,
		Gate:    Gate{Path: []string{"hooks"}, Trigger: "PreToolUse"},
		Open: []string{
			crash, slow, "a version before CLI 3 or IDE 1, which keeps hooks elsewhere",
			"Kiro is started in another folder: its hooks belong to the project",
		},
		Notes:    []string{"Kiro's contract is known from its documentation; it was not tried on the real program"},
		Bypasses: []Bypass{untried("other settings or flags")},
		Probe:    nestedProbe("PreToolUse", "execute_bash"), Refused: exitRefused,
	}
}

// kiroPlan writes one list for all events.
func kiroPlan(path string, c Command) []File {
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
	edits := []Edit{version("v1")}
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"} {
		r := rule{
			Name: "tidemark " + event, Trigger: event, Matcher: among(event, ".*", "PreToolUse", "PostToolUse"),
			Action: action{"command", c.Line()}, Timeout: c.Seconds(),
		}
		edits = append(edits, Edit{Path: []string{"hooks"}, Value: value(r), List: true})
	}
	return []File{{Path: path, Edits: edits}}
}
