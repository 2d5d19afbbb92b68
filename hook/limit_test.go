package hook_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/hook"
)

// patient waits until its context ends; deaf waits until it is released, whatever its context says.
func patient(name string) hook.Handler {
	return hook.Handler{FailOpen: true, Name: name, On: hook.Handlers{
		BeforeLLMCall: func(ctx context.Context, _ *llmEvent, _ *hook.Context) (*llmResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}}
}

func deaf(name string, release <-chan struct{}) hook.Handler {
	return onLLM(name, func(e *llmEvent) (*llmResult, error) {
		<-release
		e.Tools[0], e.SystemPrompt = hook.ToolNamed("late"), "late"
		return &llmResult{Tools: named("read", "late"), Model: "late"}, nil
	})
}

// HOOK-08
func TestASlowHandlerIsCutOffAtItsLimit(t *testing.T) {
	tests := map[string]struct {
		limit time.Duration // of the handler
		want  time.Duration
	}{
		"two seconds by default":   {0, 2 * time.Second},
		"its own where it has one": {30 * time.Millisecond, 30 * time.Millisecond},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, f := quietBus()
				h := patient("slow")
				h.Limit = tt.limit
				register(t, b, h)
				start := time.Now()
				got := b.BeforeLLMCall(t.Context(), &llmEvent{}, nil)
				if passed := time.Since(start); passed != tt.want {
					t.Errorf("cut off after %v, want %v", passed, tt.want)
				}
				if got.Block || len(f.kinds()) != 1 {
					t.Errorf("result = %+v, faults %v, want an observer to be skipped and reported", got, f.kinds())
				}
			})
		})
	}
}

// HOOK-08
func TestTheBusHasALimitOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := hook.New(hook.Options{Limit: time.Minute, Logger: slog.New(slog.DiscardHandler)})
		register(t, b, closed(patient("slow")))
		start := time.Now()
		got := b.BeforeLLMCall(t.Context(), &llmEvent{}, nil)
		if passed := time.Since(start); passed != time.Minute {
			t.Errorf("cut off after %v, want the bus's minute", passed)
		}
		if !got.Block || got.BlockedBy != "slow" || !strings.Contains(got.BlockReason, `plugin "slow"`) {
			t.Errorf("result = %+v, want a block that names the plugin", got)
		}
	})
}

// A handler that ignores its context is left behind; what it does and returns later
// reaches nobody.
//
// HOOK-08
func TestAHandlerThatIgnoresItsContextIsAbandoned(t *testing.T) {
	for _, failClosed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b, f := quietBus()
			release := make(chan struct{})
			h := deaf("deaf", release)
			h.FailOpen, h.Priority = !failClosed, 1
			register(t, b, h, says("next", &llmResult{Tools: named("read")}))
			event := &llmEvent{Tools: named("read", "exec"), SystemPrompt: "s"}
			got := b.BeforeLLMCall(t.Context(), event, nil)
			close(release)
			synctest.Wait() // the late handler has ended

			want := llmResult{Tools: named("read")}
			if failClosed {
				want = llmResult{Tools: named(), Block: true, BlockedBy: "deaf", BlockReason: `plugin "deaf" could not answer before_llm_call: time limit passed`}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"deaf: time limit passed"}, f.kinds()); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
			if event.Tools[0].Name() != "read" || event.SystemPrompt != "s" {
				t.Errorf("the late handler changed the caller's event: %+v", event)
			}
		})
	}
}

// HOOK-08
func TestAHangingPluginIsNotStartedForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, f := quietBus()
		release := make(chan struct{})
		register(t, b, closed(deaf("deaf", release)))
		event := &llmEvent{Tools: named("read")}
		const hang = 64
		for range hang + 1 {
			if got := b.BeforeLLMCall(t.Context(), event, nil); !got.Block {
				t.Fatal("a hanging security plugin let a call through")
			}
		}
		kinds := f.kinds()
		if got := kinds[len(kinds)-1]; got != "deaf: too many earlier calls still hang" {
			t.Errorf("last fault = %q, want the plugin to be left alone", got)
		}
		close(release)
		synctest.Wait()
		if got := b.BeforeLLMCall(t.Context(), event, nil); got.Block {
			t.Errorf("result = %+v, want the plugin to be asked again once its calls ended", got)
		}
	})
}

// HOOK-08
func TestACallerWhoLeavesDoesNotOpenAnything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, f := quietBus()
		ctx, cancel := context.WithCancel(t.Context())
		register(t, b, hook.Handler{FailOpen: true, Name: "leaving", Priority: 1, On: hook.Handlers{
			BeforeLLMCall: func(ctx context.Context, _ *llmEvent, _ *hook.Context) (*llmResult, error) {
				cancel()
				<-ctx.Done()
				return nil, nil
			},
		}}, closed(says("security", nil)))
		got := b.BeforeLLMCall(ctx, &llmEvent{}, nil)
		if !got.Block || got.BlockedBy != "security" {
			t.Errorf("result = %+v, want the security plugin that could not be asked to block", got)
		}
		for _, x := range f.list {
			if x.Plugin == "security" && !errors.Is(x.Err, context.Canceled) {
				t.Errorf("fault = %v, want it to say that the caller left", x.Err)
			}
		}
	})
}

type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

// HOOK-08
func TestWhateverAHandlerDoesIsContained(t *testing.T) {
	tests := map[string]struct {
		do   func() error
		want string
	}{
		"it panics with an error":        {func() error { panic(errBroken) }, "handler panicked"},
		"it panics with nil":             {func() error { panic(nil) }, "handler panicked"},
		"it dereferences nil":            {func() error { var e *llmEvent; e.Model = ""; return nil }, "handler panicked"},
		"it ends its goroutine":          {func() error { runtime.Goexit(); return nil }, "handler panicked"},
		"it returns a typed nil error":   {func() error { var e *nilError; return e }, "error"},
		"it returns an error of its own": {func() error { return errBroken }, "error"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b, f := quietBus()
			register(t, b, closed(onLLM("a", func(*llmEvent) (*llmResult, error) { return nil, tt.do() })))
			got := b.BeforeLLMCall(t.Context(), &llmEvent{}, nil)
			if !got.Block || got.BlockedBy != "a" {
				t.Errorf("result = %+v, want a block", got)
			}
			if diff := cmp.Diff([]string{"a: " + tt.want}, f.kinds()); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
			if got, want := len(f.list[0].Stack) > 0, tt.want == "handler panicked"; got != want || !f.list[0].FailClosed || f.list[0].Hook != hook.NameBeforeLLMCall {
				t.Errorf("fault = %+v, want a stack: %v", f.list[0], want)
			}
		})
	}
}
