package catalogue

import (
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// OpenCode: its plugin runs inside the agent and passes on what each hook got, as
// {"k": hook, "i": input, "o": output}. It must let a call go on only after exit code 0
// and {"allow":true}, and throw otherwise. A session that another one started carries
// that one's id as "parent": its prompts are written by a model.

var opencodeTools = map[string]string{
	"bash": "exec", "read": "read", "list": "read", "glob": "read", "grep": "read", "write": "write", "edit": "edit",
	"multiedit": "edit", "patch": "apply_patch", "apply_patch": "apply_patch", "webfetch": "web_fetch", "websearch": "web_search",
	"task": "sessions_spawn", "todowrite": own, "todoread": own, "question": own, "skill": "read",
}

type opencodePayload struct {
	Hook   string `json:"k"`
	Dir    string `json:"dir"`
	Parent string `json:"parent"`
	In     struct {
		Type       string           `json:"type"`
		Session    string           `json:"sessionID"`
		CallID     string           `json:"callID"`
		Tool       string           `json:"tool"`
		Args       strictjson.Value `json:"args"`
		Properties struct {
			Session string `json:"sessionID"`
			Info    struct {
				ID     string `json:"id"`
				Parent string `json:"parentID"`
			} `json:"info"`
		} `json:"properties"`
	} `json:"i"`
	Out strictjson.Value `json:"o"`
}

func opencode() *Agent {
	return &Agent{
		Name: "opencode",
		Read: opencodeRead,
		Pass: opencodePass, Refuse: opencodeRefuse, Hold: opencodeHold, Kept: opencodeKept,
		Limits: Limits{Apart: true}, Prefix: opencodePrefix(),
		Tools: &Tools{Agent: "opencode", Names: opencodeTools}, Proxied: true,
	}
}

func opencodeRead(in Input, names *Tools) (*Event, error) {
	var p opencodePayload
	if err := unmarshal(in.Body, &p); err != nil {
		return nil, err
	}
	if err := same("event", &p.Hook, in.Event); err != nil {
		return nil, err
	}
	e := &Event{Name: p.Hook, Session: p.In.Session, Parent: p.Parent, Cwd: p.Dir, CallID: p.In.CallID, Named: p.In.Tool, Speaker: Owner}
	switch p.Hook {
	case "init":
		e.Kind = Ignored
		return e, nil
	case "event":
		return e, p.happened(e)
	case "chat.message":
		e.Kind = Prompt
		return e, p.said(e)
	case "tool.execute.before":
		e.Kind = Call
		return e, p.called(e, names)
	case "tool.execute.after":
		e.Kind = Result
		return e, p.ran(e, names)
	}
	return nil, fmt.Errorf("unknown event %q", cut(p.Hook))
}

// happened reads an event of the agent's bus; most are nothing to us.
func (p *opencodePayload) happened(e *Event) error {
	e.Name, e.Kind = p.In.Type, Ignored
	switch p.In.Type {
	case "session.created":
		e.Kind = Start
		e.Session = p.In.Properties.Session
		if err := same("session", &e.Session, p.In.Properties.Info.ID); err != nil {
			return err
		}
		if err := same("parent", &e.Parent, p.In.Properties.Info.Parent); err != nil {
			return err
		}
		if e.Parent != "" {
			e.Kind = Spawn
		}
	case "session.deleted":
		e.Kind, e.Session = End, p.In.Properties.Session
		return same("session", &e.Session, p.In.Properties.Info.ID)
	}
	return nil
}

// said takes what the person typed; parts the agent adds are marked synthetic.
func (p *opencodePayload) said(e *Event) error {
	var out struct {
		Parts []struct {
			Type      string `json:"type"`
			Text      string `json:"text"`
			Synthetic bool   `json:"synthetic"`
		} `json:"parts"`
		Command *struct {
			Typed string `json:"typed"`
			Ran   bool   `json:"ran"`
		} `json:"command"`
	}
	if err := unmarshal(p.Out, &out); err != nil {
		return err
	}
	for _, part := range out.Parts {
		if part.Type == "text" && !part.Synthetic {
			e.Words += part.Text
		}
	}
	if c := out.Command; c != nil { // the rest is what a file says, and programs in it
		e.Given, e.Ran, e.Words = e.Words, c.Ran, c.Typed
	}
	e.Words = unquoted(e.Words)
	return nil
}

// unquoted takes off the quotes that "opencode run" puts around an argument with spaces:
// they are not the person's, and a command in them would not be seen.
func unquoted(words string) string {
	inner, opened := strings.CutPrefix(words, `"`)
	inner, closed := strings.CutSuffix(inner, `"`)
	if !opened || !closed || strings.Contains(inner, `"`) {
		return words
	}
	return inner
}

func (p *opencodePayload) called(e *Event, names *Tools) error {
	var out struct {
		Args strictjson.Value `json:"args"`
	}
	if err := unmarshal(p.Out, &out); err != nil {
		return err
	}
	e.Input = out.Args
	return names.fill(e, p.In.Tool, out.Args)
}

// ran takes the text of a built-in tool, or an MCP server's whole result.
func (p *opencodePayload) ran(e *Event, names *Tools) error {
	var out struct {
		Output strictjson.Value `json:"output"`
	}
	if err := unmarshal(p.Out, &out); err != nil {
		return err
	}
	e.Result = either(out.Output, p.Out)
	return names.fill(e, p.In.Tool, p.In.Args)
}

func opencodePass(_ *Event, notice string) []byte {
	reply := map[string]any{"allow": true}
	if notice != "" {
		reply["notice"] = notice
	}
	return object(reply)
}

func opencodeRefuse(_ *Event, reason string) Reply {
	return Reply{Stdout: object(map[string]any{"allow": false, "reason": reason}), Stderr: reason, Code: CodeRefuse}
}

func opencodeHold(e *Event, h Held) Reply {
	r := opencodeRefuse(e, h.Reason)
	if h.Person != "" {
		r.Stdout = object(map[string]any{"allow": false, "reason": h.Reason, "person": h.Person})
	}
	return r
}

// opencodeSetup says nothing of the plugin that is written: see install.
func opencodeSetup() *Setup {
	return &Setup{
		Agent: Lookup("opencode"), Title: "OpenCode", Programs: []string{"opencode"},
		Place: Places{
			User:    Place{Variable: "XDG_CONFIG_HOME", Home: ".config", File: "opencode/plugins/tidemark.js"},
			Project: ".opencode/plugins/tidemark.js",
		},
		Open: []string{
			"the plugin file is removed or does not load: OpenCode then runs without it",
		},
		Bypasses: opencodeBypasses(),
		Probe: func(session, _, command string) any {
			return map[string]any{
				"k": "tool.execute.before", "i": map[string]any{"tool": "bash", "sessionID": session, "callID": "canary"},
				"o": map[string]any{"args": map[string]any{"command": command}},
			}
		},
		Refused: func(p Printed) bool { return p.Code != CodePass || !answers(p.Out, "allow", "true") },
		Trial:   opencodeTrial,
	}
}

func opencodeTrial(s Stage) Launch {
	provider := map[string]any{
		"npm": "@ai-sdk/openai-compatible", "name": "canary",
		"options": map[string]any{"baseURL": s.Model + "/v1", "apiKey": "no-key"},
		"models":  map[string]any{"m": map[string]any{"name": "m"}},
	}
	return Launch{
		Files: []Aside{{
			s.home(".config", "opencode", "opencode.json"),
			map[string]any{"model": "canary/m", "provider": map[string]any{"canary": provider}},
		}},
		Fetched: []Place{
			opencodeOwn("node_modules"), opencodeOwn("package.json"), opencodeOwn("package-lock.json"), opencodeOwn("bun.lock"),
		},
		Args: []string{"run", "--format", "json", Words},
		Env: []string{
			"XDG_CONFIG_HOME=" + s.home(".config"), "XDG_DATA_HOME=" + s.home(".local", "share"),
			"XDG_CACHE_HOME=" + s.home(".cache"), "XDG_STATE_HOME=" + s.home(".state"),
			"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		},
	}
}

// opencodeOwn is where OpenCode keeps what plugins need, which it fetches where there is one.
func opencodeOwn(name string) Place {
	return Place{Variable: "XDG_CONFIG_HOME", Home: ".config", File: "opencode/" + name}
}
