package catalogue

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// payload is what the agents that follow the same naming send. Fields an agent adds are
// ignored; one of ours with a wrong type is an error.
type payload struct {
	Event   string `json:"hook_event_name"`
	Session string `json:"session_id"`
	Prompt  string `json:"prompt_id"`
	Turn    string `json:"turn_id"`
	Cwd     string `json:"cwd"`
	Mode    string `json:"permission_mode"`
	Agent   string `json:"agent_id"`
	Record  string `json:"transcript_path"`

	Words  string `json:"prompt"`
	Source string `json:"source"`
	File   string `json:"file_path"`

	Tool     string           `json:"tool_name"`
	Input    strictjson.Value `json:"tool_input"`
	CallID   string           `json:"tool_use_id"`
	Response strictjson.Value `json:"tool_response"`
	Result   strictjson.Value `json:"tool_result"`
	Error    strictjson.Value `json:"error"`
}

// readPayload also settles which event it is.
func readPayload(in Input) (*payload, error) {
	var p payload
	if err := unmarshal(in.Body, &p); err != nil {
		return nil, err
	}
	return &p, same("event", &p.Event, in.Event)
}

// unmarshal reads exactly one object.
func unmarshal(body []byte, v any) error {
	if strictjson.Value(body).Kind() != '{' {
		return errors.New("want a JSON object")
	}
	return strictjson.Unmarshal(body, v)
}

// same completes *v from other; the two must not differ.
func same(what string, v *string, other string) error {
	if *v != "" && other != "" && *v != other {
		return fmt.Errorf("it names two different values of %s", what)
	}
	*v = cmp.Or(*v, other)
	return nil
}

// event is the part of the payload all kinds have.
func (p *payload) event(kinds map[string]Kind) (*Event, error) {
	kind := kinds[p.Event]
	if kind == Unknown {
		return nil, fmt.Errorf("unknown event %q", cut(p.Event))
	}
	return &Event{
		Kind: kind, Name: p.Event, Session: p.Session, Turn: cmp.Or(p.Prompt, p.Turn), Branch: p.Agent, Cwd: p.Cwd, Mode: p.Mode,
		Speaker: Owner, Words: p.Words, Path: p.File,
		Resumed: kind == Start && p.Source != "" && p.Source != "startup" && p.Source != "new" &&
			p.Source != "clear" && p.Source != "compact",
	}, nil
}

// complete fills in the tool of a call or result.
func (p *payload) complete(e *Event, names *Tools) error {
	if e.Kind != Call && e.Kind != Result {
		return nil
	}
	e.CallID, e.Named = p.CallID, p.Tool
	e.Result = p.Response
	if e.Result == nil {
		e.Result = p.Result
	}
	e.Input, e.Error = p.Input, text(p.Error)
	return names.fill(e, p.Tool, p.Input)
}

func either(a, b strictjson.Value) strictjson.Value {
	if a != nil {
		return a
	}
	return b
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// text is a value as words: a string's own, anything else as it is written.
func text(v strictjson.Value) string {
	if v == nil || v.Kind() == 'n' {
		return ""
	}
	var s string
	if v.Kind() == '"' && strictjson.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

// cut keeps what a payload says short in a message.
func cut(s string) string {
	if len(s) > 64 {
		return s[:64] + "…"
	}
	return s
}
