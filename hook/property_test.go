package hook_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// plan is what one drawn handler will do.
type plan struct {
	priority   int
	failClosed bool
	act        string // nothing, filter, block, error, panic
	keep       []string
}

func drawPlans(t *rapid.T) []plan {
	name := rapid.SampledFrom([]string{"read", "exec", "message", "browser", "sudo", "", "Read"})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) plan {
		return plan{
			priority:   rapid.IntRange(-2, 2).Draw(t, "priority"),
			failClosed: rapid.Bool().Draw(t, "failClosed"),
			act:        rapid.SampledFrom([]string{"nothing", "filter", "filter", "filter", "block", "error", "panic"}).Draw(t, "act"),
			keep:       rapid.SliceOfN(name, 0, 6).Draw(t, "keep"),
		}
	}), 0, 5).Draw(t, "plans")
}

// do acts out the plan; result builds the answer of a filter or a block.
func do[R any](p plan, result func(block bool) *R) (*R, error) {
	switch p.act {
	case "filter":
		return result(false), nil
	case "block":
		return result(true), nil
	case "error":
		return result(false), errBroken
	case "panic":
		panic("boom")
	}
	return nil, nil
}

// mustBlock says whether any handler blocks or fails closed. No earlier one can
// prevent it: a dispatch ends only in a block.
func mustBlock(plans []plan) bool {
	return slices.ContainsFunc(plans, func(p plan) bool {
		return p.act == "block" || p.failClosed && (p.act == "error" || p.act == "panic")
	})
}

// For any set of handlers the tools that are left are a subset of the host's and of
// every filter's, in the host's order and with its definitions; any block blocks.
//
// HOOK-07 HOOK-08
func TestNoSetOfHandlersWidensTheTools(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plans := drawPlans(t)
		in := named(rapid.SliceOfN(rapid.SampledFrom([]string{"read", "exec", "message", "browser", ""}), 0, 6).Draw(t, "tools")...)
		b, _ := quietBus()
		for i, p := range plans {
			err := b.Register(hook.Handler{Name: fmt.Sprint(i), Priority: p.priority, FailOpen: !p.failClosed, On: hook.Handlers{
				BeforeLLMCall: func(context.Context, *llmEvent, *hook.Context) (*llmResult, error) {
					return do(p, func(block bool) *llmResult { return &llmResult{Tools: named(p.keep...), Block: block} })
				},
			}})
			if err != nil {
				t.Fatal(err)
			}
		}
		got := b.BeforeLLMCall(t.Context(), &llmEvent{Tools: in}, nil)
		if got.Block != mustBlock(plans) {
			t.Fatalf("block = %v, want %v", got.Block, mustBlock(plans))
		}
		if got.Block && len(got.Tools) > 0 {
			t.Fatalf("a blocked result carries tools %v", toolNames(got.Tools))
		}
		want := slices.Clone(in)
		filtered := false
		for _, p := range plans {
			if p.act == "filter" {
				filtered = true
				want = slices.DeleteFunc(want, func(x hook.Tool) bool { return x.Name() == "" || !slices.Contains(p.keep, x.Name()) })
			}
		}
		switch {
		case got.Block:
		case !filtered && got.Tools != nil:
			t.Fatalf("tools = %v, want no change", toolNames(got.Tools))
		case filtered && !slices.EqualFunc(got.Tools, want, hook.Tool.Equal):
			t.Fatalf("tools = %v, want %v", toolNames(got.Tools), toolNames(want))
		}
	})
}

// The same for the calls of a response: no id, and no tool under an id, that the model
// did not ask for.
//
// HOOK-07 HOOK-08
func TestNoSetOfHandlersAddsACall(t *testing.T) {
	calls := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) hook.ToolCall {
		return hook.ToolCall{
			ID:        rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "id"),
			Name:      rapid.SampledFrom([]string{"read", "exec"}).Draw(t, "name"),
			Arguments: strictjson.Value(rapid.SampledFrom([]string{`{}`, `{"a":1}`, `{"a":2}`}).Draw(t, "arguments")),
		}
	}), 0, 5)
	rapid.Check(t, func(t *rapid.T) {
		plans, in := drawPlans(t), calls.Draw(t, "calls")
		answers := make([][]hook.ToolCall, len(plans))
		b, _ := quietBus()
		for i, p := range plans {
			answers[i] = append([]hook.ToolCall{}, calls.Draw(t, "answer")...)
			err := b.Register(hook.Handler{Name: fmt.Sprint(i), Priority: p.priority, FailOpen: !p.failClosed, On: hook.Handlers{
				AfterLLMCall: func(context.Context, *aftEvent, *hook.Context) (*aftResult, error) {
					return do(p, func(block bool) *aftResult { return &aftResult{ToolCalls: answers[i], Block: block} })
				},
			}})
			if err != nil {
				t.Fatal(err)
			}
		}
		got := b.AfterLLMCall(t.Context(), &aftEvent{ToolCalls: in}, nil)
		if got.Block != mustBlock(plans) || got.Block && len(got.ToolCalls) > 0 {
			t.Fatalf("result = %+v, want block %v", got, mustBlock(plans))
		}
		within := func(outer []hook.ToolCall) bool {
			count := map[[2]string]int{}
			for _, c := range outer {
				count[[2]string{c.ID, c.Name}]++
			}
			for _, c := range got.ToolCalls {
				count[[2]string{c.ID, c.Name}]--
			}
			for _, n := range count {
				if n < 0 {
					return false
				}
			}
			return true
		}
		if !within(in) {
			t.Fatalf("calls %+v are not all of %+v", got.ToolCalls, in)
		}
		for i, p := range plans {
			if p.act == "filter" && !within(answers[i]) {
				t.Fatalf("calls %+v are not all in the answer %+v", got.ToolCalls, answers[i])
			}
		}
	})
}
