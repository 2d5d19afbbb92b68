package proxy

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/eventstream"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/llm/release"
	"github.com/tidemark/tidemark/tool"
)

// The hooks after a model call. A plugin that judges the answer must see all of it before
// the client sees any: where one is registered, answers arrive in one piece.

// rewrites reports whether somebody wants the whole answer first.
func (x *exchange) rewrites() bool {
	if x.visit == nil {
		return false
	}
	return x.p.handled(hook.NameAfterLLMCall, hook.NameBeforeResponseEmit) || x.p.o.Monitor.Policy().For(x.visit.Agent).Settings().Footer
}

// probe notes the calls of an answer and permits none.
type probe struct{ calls []hook.ToolCall }

// Decide implements release.Judge.
func (p *probe) Decide(_ context.Context, call tool.Call) (release.Ruling, error) {
	p.calls = append(p.calls, hook.ToolCall{ID: call.ID, Name: call.Name, Arguments: bytes.Clone(call.Args)})
	return release.Ruling{}, nil
}

// Observe implements release.Judge.
func (*probe) Observe(context.Context, string, string, []byte) error { return nil }

// left runs after_llm_call on the whole answer and makes the judge of what plugins left.
func (x *exchange) left(ctx context.Context, raw []byte, streamed bool) (*judge, *problem) {
	j := &judge{x: x}
	if x.visit == nil || !x.p.o.Bus.Handles(hook.NameAfterLLMCall) {
		return j, nil
	}
	seen := &probe{}
	_, o, err := x.judged(ctx, raw, streamed, seen)
	if err != nil {
		return nil, x.unjudged(ctx, err)
	}
	event := &hook.AfterLLMCall{
		ToolCalls: seen.calls, Iteration: max(0, x.iteration), Model: x.req.Model,
		LatencyMs:  float64(x.p.o.Now().Sub(x.sent).Milliseconds()),
		TokenUsage: &hook.TokenUsage{Input: o.TokensIn, Output: o.TokensOut},
	}
	if event.Messages, err = x.req.All(); err != nil {
		return nil, x.p.explain(ctx, err)
	}
	if !streamed {
		event.Response = strictjson.Value(raw)
	}
	r := x.p.o.Bus.AfterLLMCall(ctx, event, x.hooks)
	if !r.Block && r.ToolCalls == nil {
		return j, nil
	}
	j.some, j.left, j.why = true, kept(seen.calls, r.ToolCalls), r.BlockReason
	return j, nil
}

// kept are the calls that plugins left as they were, each at its place, and nil where they
// dropped one or changed it. Calls that are alike stand for one another.
func kept(calls, left []hook.ToolCall) []*hook.ToolCall {
	out := make([]*hook.ToolCall, len(calls))
	for _, l := range left {
		for i := range calls {
			if c := &calls[i]; out[i] == nil && l.ID == c.ID && l.Name == c.Name && sameArguments(l.Arguments, c.Arguments) {
				out[i] = c
				break
			}
		}
	}
	return out
}

// sameArguments reports whether a plugin gave arguments back: the same bytes, or none.
func sameArguments(given, had strictjson.Value) bool { return given == nil || bytes.Equal(given, had) }

// emit runs before_response_emit on a final answer and seals the turn with what goes out.
// The text is nil where the answer goes out as it is.
func (x *exchange) emit(ctx context.Context, res *result) (*string, *problem) {
	if !x.rewrites() || !res.Complete || len(x.released(res.Parts)) > 0 {
		return nil, nil
	}
	content := string(textOf(res.Parts))
	changed := content
	footer := ""
	if x.p.o.Bus.Handles(hook.NameBeforeResponseEmit) {
		r := x.p.o.Bus.BeforeResponseEmit(ctx, &hook.BeforeResponseEmit{Content: content, Channel: "llm",
			SessionKey: x.ref.Session}, x.hooks)
		if r.Content != nil {
			changed = *r.Content
		}
		footer = r.AppendFooter
		if res.blocked, res.reason = r.Block, r.BlockReason; r.Block {
			changed, footer = "Tidemark: the answer was held back by the plugin "+r.BlockedBy+". "+r.BlockReason, ""
		}
	}
	ended, err := x.p.o.Monitor.End(ctx, engine.Ending{
		Ref: x.ref, Content: []byte(changed), Blocked: res.blocked, Reason: res.reason,
	}, engine.DeferWrite())
	if err := unlessSealed(err); err != nil {
		return nil, x.p.explain(ctx, err)
	}
	res.ended = true
	if !res.blocked && ended.Footer {
		footer = joinLines(footer, hook.Footer(ended.Taint))
	}
	if footer != "" {
		changed += "\n\n" + footer
	}
	if changed == content {
		return nil, nil
	}
	return &changed, nil
}

func joinLines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// say answers in the model's place.
func (x *exchange) say(ctx context.Context, text string, blocked bool) *problem {
	x.sent = x.p.o.Now()
	// A turn that was blocked stays open, and blocked: the same request would begin another.
	o := format.Outcome{Model: "tidemark", Complete: true}
	return x.tell(ctx, text, result{Outcome: o, blocked: blocked, ended: blocked, reason: text})
}

// tell gives the client a text of ours as a complete answer, once it is noted.
func (x *exchange) tell(ctx context.Context, text string, res result) *problem {
	s := x.speech(text, res.ID)
	res.ID, res.Parts = s.ID, []format.Part{{Kind: format.Text, Text: text}}
	if err := x.finish(ctx, res); err != nil {
		return x.p.explain(ctx, err)
	}
	body, kind := s.Whole(), "application/json"
	switch {
	case x.req.Stream && x.rt.array:
		body = append(append([]byte("["), body...), ']')
	case x.req.Stream && x.rt.frames != eventstream.None:
		framed, err := eventstream.Frames(s.Events(), x.rt.frames)
		if err != nil {
			return x.unjudged(ctx, err)
		}
		body, kind = framed, eventstream.MediaType
	case x.req.Stream && x.rt.api.JSONLines():
		body, kind = s.Events(), "application/x-ndjson"
	case x.req.Stream:
		body, kind = s.Events(), "text/event-stream"
	}
	h := x.w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-store")
	x.w.WriteHeader(http.StatusOK)
	_, _ = x.w.Write(body) // a client that is gone cannot be told
	return nil
}

// speech is a text of ours in the client's format. Given is the id of the answer that it
// stands for, if there was one.
func (x *exchange) speech(text, given string) *format.Speech {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	s := format.NewSpeech(x.rt.api, "tidemark"+hex.EncodeToString(b[:]), given)
	if s.Model = x.req.Model; s.Model == "" {
		s.Model = "tidemark"
	}
	s.Text, s.Created = text, x.p.o.Now().Unix()
	return s
}
