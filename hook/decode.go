package hook

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
)

// Envelope is an event with its context, as it travels:
// {"hook": "before_llm_call", "event": {…}, "ctx": {…}}.
type Envelope struct {
	Event Event
	Ctx   Context
}

type wire[E any] struct {
	Hook  Name     `json:"hook,omitzero"`
	Event E        `json:"event"`
	Ctx   *Context `json:"ctx"`
}

// Encode writes the envelope.
func (e *Envelope) Encode() ([]byte, error) {
	if e.Event == nil {
		return nil, errors.New("encode event: there is none")
	}
	b, err := strictjson.Marshal(wire[Event]{Hook: e.Event.Hook(), Event: e.Event, Ctx: &e.Ctx})
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", e.Event.Hook(), err)
	}
	return b, nil
}

// Decode reads the envelope of that hook. With an empty name the body must name its
// hook; where both do they must agree. Every event needs a sessionKey, in its context
// or in itself; what one of them leaves out is taken from the other.
func Decode(name Name, body []byte) (*Envelope, error) {
	if name == "" {
		var head struct {
			Hook string `json:"hook"`
		}
		if err := strictjson.Unmarshal(body, &head); err != nil {
			return nil, fmt.Errorf("decode event: %w", err)
		}
		name = Name(head.Hook)
	}
	read := decoderOf(name)
	if read == nil {
		return nil, fmt.Errorf("decode event: unknown hook %q", text.Fit(string(name), 64))
	}
	env, hook, err := read(body)
	switch {
	case err != nil:
	case hook != "" && hook != name:
		err = fmt.Errorf("hook: body is for %q", text.Fit(string(hook), 64))
	default:
		if err = env.Event.check(&env.Ctx); err == nil && env.Ctx.SessionKey == "" {
			err = errors.New("ctx.sessionKey: missing")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", name, err)
	}
	return env, nil
}

// DecodeResult reads a handler's answer. Unknown fields are refused: an answer that we
// would understand only in part cannot be honoured.
func DecodeResult[R any](body []byte) (*R, error) {
	if kind := JSON(body).Kind(); kind != '{' {
		return nil, fmt.Errorf("decode result: want an object, got %s", kindOf(body))
	}
	r := new(R)
	if err := strictjson.UnmarshalKnown(body, r); err != nil {
		return nil, fmt.Errorf("decode result: %w", err)
	}
	return r, nil
}

type decoder func(body []byte) (*Envelope, Name, error)

// decoderOf is nil for a hook nobody knows.
func decoderOf(n Name) decoder {
	switch n {
	case NameMessageReceived:
		return decodeAs[MessageReceived]
	case NameBeforeAgentStart:
		return decodeAs[BeforeAgentStart]
	case NameContextAssembled:
		return decodeAs[ContextAssembled]
	case NameLoopIterationStart:
		return decodeAs[LoopIterationStart]
	case NameBeforeLLMCall:
		return decodeAs[BeforeLLMCall]
	case NameAfterLLMCall:
		return decodeAs[AfterLLMCall]
	case NameBeforeToolCall:
		return decodeAs[BeforeToolCall]
	case NameAfterToolCall:
		return decodeAs[AfterToolCall]
	case NameToolResultPersist:
		return decodeAs[ToolResultPersist]
	case NameLoopIterationEnd:
		return decodeAs[LoopIterationEnd]
	case NameBeforeResponseEmit:
		return decodeAs[BeforeResponseEmit]
	case NameMessageSending:
		return decodeAs[MessageSending]
	case NameAgentEnd:
		return decodeAs[AgentEnd]
	}
	return nil
}

func decodeAs[E any, P interface {
	*E
	Event
}](body []byte) (*Envelope, Name, error) {
	var w wire[P]
	if err := strictjson.Unmarshal(body, &w); err != nil {
		return nil, "", explain(body, reflect.TypeFor[E](), err)
	}
	if w.Event == nil {
		return nil, "", errors.New("event: missing")
	}
	return &Envelope{Event: w.Event, Ctx: contextOf(w.Ctx)}, w.Hook, nil
}

// explain finds the field that does not fit, in the sender's words instead of Go's.
func explain(body []byte, event reflect.Type, cause error) error {
	var parts struct {
		Hook  JSON `json:"hook"`
		Event JSON `json:"event"`
		Ctx   JSON `json:"ctx"`
	}
	if strictjson.Unmarshal(body, &parts) != nil {
		return cause
	}
	if parts.Hook != nil && parts.Hook.Kind() != '"' {
		return fmt.Errorf("hook: want a string, got %s", kindOf(parts.Hook))
	}
	return first(misfit("event", parts.Event, event), misfit("ctx", parts.Ctx, reflect.TypeFor[Context]()), cause)
}

// misfit names the first field of the object that its Go type cannot hold.
func misfit(where string, object JSON, shape reflect.Type) error {
	if object == nil {
		return nil
	}
	var fields map[string]JSON
	if strictjson.Unmarshal(object, &fields) != nil {
		return fmt.Errorf("%s: want an object, got %s", where, kindOf(object))
	}
	for i := range shape.NumField() {
		f := shape.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		value, there := fields[name]
		if !there {
			continue
		}
		err := strictjson.Unmarshal(value, reflect.New(f.Type).Interface())
		if err == nil {
			continue
		}
		if want, got := wanted(f.Type), kindOf(value); want != got {
			return fmt.Errorf("%s.%s: want %s, got %s", where, name, want, got)
		}
		return fmt.Errorf("%s.%s: %w", where, name, err)
	}
	return nil
}

// wanted is the JSON a field's type is written as.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Slice:
		return "an array"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	}
	return "an object"
}

func kindOf(v JSON) string {
	switch v.Kind() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "no JSON"
}
