package hook_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// always makes a handler that gives the same answer each time.
func always[E, R any](r *R, err error) hook.Func[E, R] {
	return func(context.Context, *E, *hook.Context) (*R, error) { return r, err }
}

func on(name string, h hook.Handlers) hook.Handler {
	return hook.Handler{FailOpen: true, Name: name, On: h}
}

// HOOK-06 HOOK-07
func TestBeforeToolCallComposes(t *testing.T) {
	type result = hook.BeforeToolCallResult
	set := func(name, params string) hook.Handler {
		return on(name, hook.Handlers{BeforeToolCall: always[hook.BeforeToolCall](&result{Params: strictjson.Value(params)}, nil)})
	}
	add := on("add", hook.Handlers{BeforeToolCall: func(_ context.Context, e *hook.BeforeToolCall, _ *hook.Context) (*result, error) {
		return &result{Params: strictjson.Value(`{"was":` + string(e.Params) + `}`)}, nil
	}})
	fails := on("fails", hook.Handlers{BeforeToolCall: always[hook.BeforeToolCall, result](nil, errBroken)})
	blocks := on("blocks", hook.Handlers{BeforeToolCall: always[hook.BeforeToolCall](&result{Block: true, BlockReason: "no"}, nil)})
	tests := map[string]struct {
		handlers []hook.Handler
		want     result
	}{
		"changes apply in order":         {[]hook.Handler{set("a", `{"a":1}`), add}, result{Params: strictjson.Value(`{"was":{"a":1}}`)}},
		"a list is no params":            {[]hook.Handler{set("a", `[]`)}, result{}},
		"null is no params":              {[]hook.Handler{set("a", `null`)}, result{}},
		"what is no JSON is no params":   {[]hook.Handler{set("a", `{`)}, result{}},
		"a block wins":                   {[]hook.Handler{set("a", `{}`), blocks, add}, result{Block: true, BlockReason: "no", BlockedBy: "blocks"}},
		"an observer's fault is skipped": {[]hook.Handler{fails, set("a", `{}`)}, result{Params: strictjson.Value(`{}`)}},
		"a security plugin's fault blocks": {[]hook.Handler{closed(fails)}, result{
			Block: true, BlockedBy: "fails", BlockReason: `plugin "fails" could not answer before_tool_call: it returned an error`,
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b, _ := quietBus()
			register(t, b, tt.handlers...)
			got := b.BeforeToolCall(t.Context(), &hook.BeforeToolCall{ToolName: "exec", Params: strictjson.Value(`{"command":"ls"}`)}, nil)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// HOOK-05 HOOK-07 HOOK-16
func TestBeforeResponseEmitComposes(t *testing.T) {
	type result = hook.BeforeResponseEmitResult
	redact := on("redact", hook.Handlers{BeforeResponseEmit: func(_ context.Context, e *hook.BeforeResponseEmit, _ *hook.Context) (*result, error) {
		s := e.Content + "!"
		return &result{Content: &s, AppendFooter: "redacted"}, nil
	}})
	footer := on("footer", hook.Handlers{BeforeResponseEmit: func(_ context.Context, e *hook.BeforeResponseEmit, _ *hook.Context) (*result, error) {
		return &result{AppendFooter: "saw " + e.Content}, nil
	}})
	blocks := on("blocks", hook.Handlers{BeforeResponseEmit: always[hook.BeforeResponseEmit](&result{Block: true, BlockReason: "pii"}, nil)})
	bad := on("bad", hook.Handlers{BeforeResponseEmit: always[hook.BeforeResponseEmit](&result{AppendFooter: "\xff"}, nil)})
	text := "hi!"
	tests := map[string]struct {
		handlers []hook.Handler
		want     result
	}{
		"edits apply and footers follow one another": {[]hook.Handler{redact, footer}, result{Content: &text, AppendFooter: "redacted\nsaw hi!"}},
		"a footer alone changes no content":          {[]hook.Handler{footer}, result{AppendFooter: "saw hi"}},
		"a block wins":                               {[]hook.Handler{redact, blocks}, result{Block: true, BlockReason: "pii", BlockedBy: "blocks"}},
		"a footer that is not UTF-8 is not used":     {[]hook.Handler{bad}, result{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b, _ := quietBus()
			register(t, b, tt.handlers...)
			got := b.BeforeResponseEmit(t.Context(), &hook.BeforeResponseEmit{Content: "hi", SessionKey: "k"}, nil)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// HOOK-06 HOOK-07
func TestMessageSendingComposes(t *testing.T) {
	type result = hook.MessageSendingResult
	text, bad := "edited", "\xff"
	edit := on("edit", hook.Handlers{MessageSending: always[hook.MessageSending](&result{Content: &text}, nil)})
	cancel := on("cancel", hook.Handlers{MessageSending: always[hook.MessageSending](&result{Cancel: true, CancelReason: "no"}, nil)})
	garbled := on("garbled", hook.Handlers{MessageSending: always[hook.MessageSending](&result{Content: &bad}, nil)})
	tests := map[string]struct {
		handlers []hook.Handler
		want     result
	}{
		"an edit applies":               {[]hook.Handler{edit}, result{Content: &text}},
		"a cancel wins":                 {[]hook.Handler{edit, cancel}, result{Cancel: true, CancelReason: "no", CanceledBy: "cancel"}},
		"garbled text is not used":      {[]hook.Handler{garbled}, result{}},
		"garbled security text cancels": {[]hook.Handler{closed(garbled)}, result{Cancel: true, CanceledBy: "garbled", CancelReason: `plugin "garbled" could not answer message_sending: result cannot be used`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b, _ := quietBus()
			register(t, b, tt.handlers...)
			got := b.MessageSending(t.Context(), &hook.MessageSending{To: "a", Content: "b"}, nil)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// HOOK-06 HOOK-07 HOOK-08
func TestBeforeAgentStartComposes(t *testing.T) {
	type result = hook.BeforeAgentStartResult
	text := "prompt"
	b, _ := quietBus()
	register(t, b,
		on("a", hook.Handlers{BeforeAgentStart: always[hook.BeforeAgentStart](&result{SystemPrompt: &text, PrependContext: "one"}, nil)}),
		on("b", hook.Handlers{BeforeAgentStart: func(_ context.Context, e *hook.BeforeAgentStart, _ *hook.Context) (*result, error) {
			return &result{PrependContext: "two after " + e.SystemPrompt}, nil
		}}),
		on("c", hook.Handlers{BeforeAgentStart: always[hook.BeforeAgentStart](&result{PrependContext: "\xff"}, nil)}))
	got, err := b.BeforeAgentStart(t.Context(), &hook.BeforeAgentStart{Prompt: "p"}, nil)
	want := result{SystemPrompt: &text, PrependContext: "one\n\ntwo after prompt"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("BeforeAgentStart = %v (-want +got):\n%s", err, diff)
	}
	register(t, b, closed(on("d", hook.Handlers{BeforeAgentStart: always[hook.BeforeAgentStart, result](nil, errBroken)})))
	got, err = b.BeforeAgentStart(t.Context(), &hook.BeforeAgentStart{}, nil)
	if !errors.Is(err, errBroken) || got != (result{}) {
		t.Errorf("BeforeAgentStart = %+v, %v, want an empty result and the security plugin's error", got, err)
	}
}

// HOOK-06 HOOK-07 HOOK-08
func TestToolResultPersistComposes(t *testing.T) {
	type result = hook.ToolResultPersistResult
	b, f := quietBus()
	register(t, b,
		on("a", hook.Handlers{ToolResultPersist: always[hook.ToolResultPersist](&result{Message: strictjson.Value(`{"n":1}`)}, nil)}),
		on("b", hook.Handlers{ToolResultPersist: func(_ context.Context, e *hook.ToolResultPersist, _ *hook.Context) (*result, error) {
			return &result{Message: strictjson.Value(`{"was":` + string(e.Message) + `}`)}, nil
		}}),
		on("c", hook.Handlers{ToolResultPersist: always[hook.ToolResultPersist](&result{Message: strictjson.Value(`7`)}, nil)}))
	got, err := b.ToolResultPersist(t.Context(), &hook.ToolResultPersist{Message: strictjson.Value(`{}`)}, nil)
	if want := `{"was":{"n":1}}`; string(got.Message) != want || err != nil {
		t.Errorf("ToolResultPersist = %s, %v, want %s", got.Message, err, want)
	}
	if diff := cmp.Diff([]string{"c: result cannot be used"}, f.kinds()); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	register(t, b, closed(on("d", hook.Handlers{ToolResultPersist: always[hook.ToolResultPersist, result](nil, errBroken)})))
	got, err = b.ToolResultPersist(t.Context(), &hook.ToolResultPersist{Message: strictjson.Value(`{}`)}, nil)
	if !errors.Is(err, errBroken) || got.Message != nil {
		t.Errorf("ToolResultPersist = %s, %v, want an empty result and the security plugin's error", got.Message, err)
	}
}

// Every observing hook tells all of its handlers, keeps the faults of observers to
// itself and returns those of security plugins.
//
// HOOK-03 HOOK-04 HOOK-06 HOOK-08
func TestObserversAreAllTold(t *testing.T) {
	var told []string
	listen := func(name string, err error) hook.Handlers {
		note := func(n hook.Name) error { told = append(told, name+" "+string(n)); return err }
		return hook.Handlers{
			MessageReceived:    func(_ context.Context, e *hook.MessageReceived, _ *hook.Context) error { return note(e.Hook()) },
			ContextAssembled:   func(_ context.Context, e *hook.ContextAssembled, _ *hook.Context) error { return note(e.Hook()) },
			LoopIterationStart: func(_ context.Context, e *hook.LoopIterationStart, _ *hook.Context) error { return note(e.Hook()) },
			LoopIterationEnd:   func(_ context.Context, e *hook.LoopIterationEnd, _ *hook.Context) error { return note(e.Hook()) },
			AfterToolCall:      func(_ context.Context, e *hook.AfterToolCall, _ *hook.Context) error { return note(e.Hook()) },
			AgentEnd:           func(_ context.Context, e *hook.AgentEnd, _ *hook.Context) error { return note(e.Hook()) },
		}
	}
	b, f := quietBus()
	register(t, b, closed(on("security", listen("security", errBroken))), on("observer", listen("observer", errBroken)), on("fine", listen("fine", nil)))
	for n, run := range map[hook.Name]func() error{
		hook.NameMessageReceived:    func() error { return b.MessageReceived(t.Context(), &hook.MessageReceived{}, nil) },
		hook.NameContextAssembled:   func() error { return b.ContextAssembled(t.Context(), &hook.ContextAssembled{}, nil) },
		hook.NameLoopIterationStart: func() error { return b.LoopIterationStart(t.Context(), &hook.LoopIterationStart{}, nil) },
		hook.NameLoopIterationEnd:   func() error { return b.LoopIterationEnd(t.Context(), &hook.LoopIterationEnd{}, nil) },
		hook.NameAfterToolCall:      func() error { return b.AfterToolCall(t.Context(), &hook.AfterToolCall{}, nil) },
		hook.NameAgentEnd:           func() error { return b.AgentEnd(t.Context(), &hook.AgentEnd{}, nil) },
	} {
		t.Run(string(n), func(t *testing.T) {
			told, f.list = nil, nil
			err := run()
			if want := `tell plugin "security" on ` + string(n) + `: handle event: broken`; err == nil || err.Error() != want {
				t.Errorf("error = %v, want %q", err, want)
			}
			if diff := cmp.Diff([]string{"security " + string(n), "observer " + string(n), "fine " + string(n)}, told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"security: error", "observer: error"}, f.kinds()); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}
