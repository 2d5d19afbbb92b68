package hook_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/hook"
)

func onEnd(fn func()) hook.Handlers {
	return hook.Handlers{AgentEnd: func(context.Context, *hook.AgentEnd, *hook.Context) error { fn(); return nil }}
}

func TestRegisterRefusesWhatCannotWork(t *testing.T) {
	tests := map[string]struct {
		handler hook.Handler
		want    string
	}{
		"no name":               {hook.Handler{On: onEnd(func() {})}, `register handler: no name`},
		"a negative time limit": {hook.Handler{FailOpen: true, Name: "a", Limit: -time.Second, On: onEnd(func() {})}, `register handler "a": negative time limit -1s`},
		"no function":           {hook.Handler{FailOpen: true, Name: "a"}, `register handler "a": it handles no hook`},
		"a name that is taken":  {hook.Handler{FailOpen: true, Name: "first", On: onEnd(func() {})}, `register handler "first": name is taken`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b, _ := quietBus()
			register(t, b, hook.Handler{FailOpen: true, Name: "first", On: onEnd(func() {})})
			err := b.Register(tt.handler)
			if err == nil || err.Error() != tt.want {
				t.Errorf("Register = %v, want %q", err, tt.want)
			}
		})
	}
}

// HOOK-07
func TestHandlersRunByPriorityThenByRegistration(t *testing.T) {
	b, _ := quietBus()
	var order []string
	for _, h := range []struct {
		name     string
		priority int
	}{{"low", -1}, {"middle one", 0}, {"high", 10}, {"middle two", 0}, {"highest", 11}} {
		register(t, b, hook.Handler{FailOpen: true, Name: h.name, Priority: h.priority, On: onEnd(func() { order = append(order, h.name) })})
	}
	if err := b.AgentEnd(t.Context(), &hook.AgentEnd{}, nil); err != nil {
		t.Fatalf("AgentEnd: %v", err)
	}
	want := []string{"highest", "high", "middle one", "middle two", "low"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestHandlesSaysWhetherAnybodyListens(t *testing.T) {
	b, _ := quietBus()
	if b.Handles(hook.NameAgentEnd) {
		t.Error("an empty bus handles agent_end")
	}
	register(t, b, hook.Handler{FailOpen: true, Name: "a", On: onEnd(func() {})})
	for _, n := range hook.Names() {
		if got, want := b.Handles(n), n == hook.NameAgentEnd; got != want {
			t.Errorf("Handles(%s) = %v, want %v", n, got, want)
		}
	}
}

func TestRegisteringWhileTheBusRunsIsSafe(t *testing.T) {
	b, _ := quietBus()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			err := b.Register(hook.Handler{FailOpen: true, Name: fmt.Sprint(i), Priority: i % 3, On: hook.Handlers{
				BeforeLLMCall: func(_ context.Context, e *hook.BeforeLLMCall, _ *hook.Context) (*hook.BeforeLLMCallResult, error) {
					return &hook.BeforeLLMCallResult{Tools: e.Tools[:1]}, nil
				},
			}})
			if err != nil {
				t.Errorf("Register: %v", err)
			}
		})
		wg.Go(func() {
			for range 20 {
				b.BeforeLLMCall(t.Context(), &hook.BeforeLLMCall{Tools: named("a", "b")}, &hook.Context{SessionKey: "k"})
			}
		})
	}
	wg.Wait()
	got := b.BeforeLLMCall(t.Context(), &hook.BeforeLLMCall{Tools: named("a", "b")}, nil)
	if diff := cmp.Diff([]string{"a"}, toolNames(got.Tools)); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestRegisteringDoesNotDisturbADispatchThatRuns(t *testing.T) {
	b, _ := quietBus()
	var order []string
	note := func(name string) hook.Handlers { return onEnd(func() { order = append(order, name) }) }
	join := onEnd(func() {
		order = append(order, "first")
		register(t, b, hook.Handler{FailOpen: true, Name: "late", Priority: 9, On: note("late")})
	})
	// Three, so that the list has room for a fourth in place.
	register(t, b, on("first", join), on("second", note("second")), on("third", note("third")))
	if err := b.AgentEnd(t.Context(), &hook.AgentEnd{}, nil); err != nil {
		t.Fatalf("AgentEnd: %v", err)
	}
	if diff := cmp.Diff([]string{"first", "second", "third"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// HOOK-08
func TestFaultsAreLogged(t *testing.T) {
	var out bytes.Buffer
	b := hook.New(hook.Options{Logger: slog.New(slog.NewTextHandler(&out, nil))})
	register(t, b, hook.Handler{FailOpen: true, Name: "flaky", On: hook.Handlers{
		AgentEnd:         func(context.Context, *hook.AgentEnd, *hook.Context) error { return errBroken },
		LoopIterationEnd: func(context.Context, *hook.LoopIterationEnd, *hook.Context) error { panic("boom") },
	}})
	if err := b.AgentEnd(t.Context(), &hook.AgentEnd{}, nil); err != nil {
		t.Errorf("AgentEnd = %v, want an observer's fault to be kept from the caller", err)
	}
	if err := b.LoopIterationEnd(t.Context(), &hook.LoopIterationEnd{}, nil); err != nil {
		t.Errorf("LoopIterationEnd = %v, want an observer's panic to be kept from the caller", err)
	}
	for _, want := range []string{"hook=agent_end", "plugin=flaky", "failClosed=false", "broken", "handler panicked: boom", "stack="} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("log does not hold %q:\n%s", want, out.String())
		}
	}
}
