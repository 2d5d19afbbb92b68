package proxy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/handles"
	"github.com/tidemark/tidemark/internal/llm/conversation"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// The hooks before a model call. Plugins come first, the monitor judges what they left,
// and its answer is applied last. Events are made only where somebody handles them: the
// whole conversation would have to be read.

// prepare asks plugins and monitor about the request. A refusal is the answer in place of
// the model's.
func (x *exchange) prepare(ctx context.Context, c conversation.Caller) (refusal string, err error) {
	x.hooks = hookContext(x.ref, c)
	if x.iteration, err = x.p.iteration(ctx, x.ref); err != nil {
		return "", err
	}
	if most := x.p.o.MaxIterations; most > 0 && x.iteration >= most {
		const text = "Tidemark: this turn has asked the model %d times, which is the most allowed (maxIterations). It ends here."
		return fmt.Sprintf(text, most), nil
	}
	if err := x.began(ctx); err != nil {
		return "", err
	}
	if refusal, err = x.plugins(ctx); refusal != "" || err != nil {
		return refusal, err
	}
	layer, err := x.layer(ctx)
	if err != nil {
		return "", err
	}
	if layer.Blocked {
		return "Tidemark: this turn was ended by security policy: " + layer.Reason + " (rule " + layer.Rule + ").", nil
	}
	x.edit.Owed, x.answers, x.argued = x.visit.Owed, layer.Answers, layer.Taint.Level < trust.Owner
	if x.argued && x.answers != "" && x.req.Formed() {
		x.answers = "" // a program reads it, and data must come as they are
	}
	if layer.Notice {
		x.edit.Notice = hook.TaintNotice(layer.Taint)
	}
	if n := x.visit.Notice; n != "" {
		x.edit.Notice = strings.TrimPrefix(x.edit.Notice+"\n\nTidemark: "+n, "\n\n")
	}
	return "", nil
}

func hookContext(ref engine.Ref, c conversation.Caller) *hook.Context {
	out := &hook.Context{
		SessionKey: ref.Session, Branch: ref.Branch, RunID: ref.Turn,
		AgentID: c.Agent, MessageProvider: "llm", SenderIsOwner: c.Owner,
	}
	if !c.Owner {
		known := false
		out.SenderMetadata = &known
	}
	return out
}

// began tells of the turn and the iteration.
func (x *exchange) began(ctx context.Context) error {
	bus := x.p.o.Bus
	if x.iteration <= 0 && bus.Handles(hook.NameContextAssembled) {
		event, err := x.census(ctx)
		if err == nil {
			err = pluginFault(bus.ContextAssembled(ctx, event, x.hooks))
		}
		if err != nil {
			return err
		}
	}
	if !bus.Handles(hook.NameLoopIterationStart) {
		return nil
	}
	results := 0
	for i := range x.req.New {
		for j := range x.req.New[i].Parts {
			if x.req.New[i].Parts[j].Kind == format.Result {
				results++
			}
		}
	}
	return pluginFault(bus.LoopIterationStart(ctx, &hook.LoopIterationStart{
		Iteration: x.iteration, PendingToolResults: results, MessageCount: x.req.Known + len(x.req.New), SessionKey: x.ref.Session,
	}, x.hooks))
}

// census is the context as the monitor knows it: what of it is distrusted, and why.
func (x *exchange) census(ctx context.Context) (*hook.ContextAssembled, error) {
	messages, err := x.req.All()
	if err != nil {
		return nil, err
	}
	mark, err := x.p.o.Monitor.Taint(ctx, x.ref)
	if err != nil {
		return nil, err
	}
	event := &hook.ContextAssembled{Messages: messages, SessionKey: x.ref.Session, AgentID: x.visit.Agent}
	if event.SystemPrompt, err = x.req.Prompt(); err != nil {
		return nil, err
	}
	for _, s := range mark.Sources {
		event.Sources = append(event.Sources, hook.Source{Kind: s.Kind, Tool: s.Tool, Trust: s.Level, MessageIndex: -1})
	}
	if len(event.Sources) == 0 {
		event.Sources = []hook.Source{{Kind: "user_message", Trust: min(mark.Level, trust.Owner), MessageIndex: -1}}
	}
	return event, nil
}

// iterated tells that the model has answered.
func (x *exchange) iterated(ctx context.Context, calls int) error {
	if !x.p.o.Bus.Handles(hook.NameLoopIterationEnd) {
		return nil
	}
	return pluginFault(x.p.o.Bus.LoopIterationEnd(ctx, &hook.LoopIterationEnd{
		Iteration: x.iteration, ToolCallsMade: calls, NewMessagesAdded: 1, WillContinue: calls > 0, SessionKey: x.ref.Session,
	}, x.hooks))
}

// pluginFault is the answer when a plugin that fails closed could not be told. Its own
// words may hold anything and are left out.
func pluginFault(err error) error {
	if err == nil {
		return nil
	}
	return unavailable("a plugin that must see this could not take it")
}

// plugins runs before_llm_call and takes over what they change.
func (x *exchange) plugins(ctx context.Context) (refusal string, err error) {
	if !x.p.o.Bus.Handles(hook.NameBeforeLLMCall) {
		return "", nil
	}
	event := &hook.BeforeLLMCall{
		Model: x.req.Model, Iteration: max(0, x.iteration), Tools: hookTools(x.req.Tools),
		SessionKey: x.ref.Session, AgentID: x.visit.Agent,
	}
	if event.Messages, err = x.req.All(); err != nil {
		return "", err
	}
	if event.SystemPrompt, err = x.req.Prompt(); err != nil {
		return "", err
	}
	r := x.p.o.Bus.BeforeLLMCall(ctx, event, x.hooks)
	if r.Block {
		return "Tidemark: this turn was ended by the plugin " + r.BlockedBy + ". " + r.BlockReason, nil
	}
	x.edit.System, x.edit.Messages, x.edit.Model = r.SystemPrompt, r.Messages, r.Model
	if r.Tools != nil {
		for _, t := range x.req.Tools {
			if !slices.ContainsFunc(r.Tools, func(k hook.Tool) bool { return k.Name() == t.Name }) {
				x.edit.Hide = append(x.edit.Hide, t.Name)
			}
		}
	}
	return "", nil
}

// hookTools are the tools in the form plugins know.
func hookTools(tools []format.Tool) []hook.Tool {
	out := make([]hook.Tool, 0, len(tools))
	for _, t := range tools {
		def := map[string]any{"name": t.Name, "description": t.Description}
		if t.Schema != nil {
			def["parameters"] = strictjson.Value(t.Schema)
		}
		made := hook.ToolNamed(t.Name)
		if raw, err := strictjson.Marshal(def); err == nil {
			if whole, err := hook.NewTool(raw); err == nil {
				made = whole
			}
		}
		out = append(out, made)
	}
	return out
}

// layer asks the monitor which tools the model may see, and hides the others.
func (x *exchange) layer(ctx context.Context) (engine.Layer, error) {
	m := x.p.o.Monitor
	call := engine.ModelCall{Ref: x.ref, Iteration: x.iteration, Loose: true, Model: x.req.Model, Context: x.req.Body}
	if x.edit.Model != "" {
		call.Model = x.edit.Model
	}
	names := make(map[string]string, len(x.req.Tools)) // as the client spells them -> as the monitor does
	for _, t := range x.req.Tools {
		if slices.Contains(x.edit.Hide, t.Name) {
			continue
		}
		known, _ := x.visit.CallName(t.Name, nil)
		if x.keeps && handles.IsTool(known) {
			continue
		}
		names[t.Name] = known
		call.Tools = append(call.Tools, known)
		if len(call.Definitions) < maxDefinitions && m.Reads() { // nobody else looks at them
			call.Definitions = append(call.Definitions, definition(known, t))
		}
	}
	layer, err := m.Tools(ctx, call, engine.DeferWrite())
	if err != nil {
		return layer, err
	}
	for _, t := range x.req.Tools {
		if known, offered := names[t.Name]; offered && slices.Contains(layer.Hidden, known) {
			x.edit.Hide = append(x.edit.Hide, t.Name)
		}
	}
	return layer, nil
}

// The bounds on what is kept of a client's tools.
const (
	maxDefinitions = 256
	maxDescription = 2000
	maxSchema      = 64 << 10
)

func definition(name string, t format.Tool) tool.Definition {
	d := tool.Definition{Name: name, Description: t.Description}
	for i := range d.Description {
		if i >= maxDescription {
			d.Description = d.Description[:i]
			break
		}
	}
	if len(t.Schema) <= maxSchema {
		d.Schema = slices.Clone(t.Schema)
	}
	return d
}
