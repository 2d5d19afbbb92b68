package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"cel.dev/cel-go/common/types"

	"github.com/tidemark/tidemark/bench/question"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

func decideVsCEL(ctx context.Context) (result, error) {
	return againstCEL(ctx, question.Plain, policy.Allow, question.Begin)
}

func decideRuleVsCEL(ctx context.Context) (result, error) {
	return againstCEL(ctx, question.Ruled, policy.Deny, question.Begin)
}

func decideShippedVsCEL(ctx context.Context) (result, error) {
	return againstCEL(ctx, question.Shipped, policy.Confirm, question.Begin) // nobody named the address
}

func decideShippedAllowedVsCEL(ctx context.Context) (result, error) {
	return againstCEL(ctx, question.Shipped, policy.Allow, question.BeginAsked)
}

// decideSendVsRead compares an act with a look: both are allowed, because the user asked for them.
func decideSendVsRead(ctx context.Context) (result, error) {
	m, err := question.NewMonitor(question.Shipped, question.Nowhere{})
	if err != nil {
		return result{}, err
	}
	read, err := question.BeginAsked(ctx, m, "read")
	if err != nil {
		return result{}, err
	}
	send, err := question.BeginSend(ctx, m, "send")
	if err != nil {
		return result{}, err
	}
	of := func(ref engine.Ref, call tool.Call) side {
		return run(func(b *testing.B) {
			for b.Loop() {
				if v, err := m.Decide(ctx, ref, call); err != nil || v.Effect != policy.Allow {
					b.Fatalf("decide: got %s by %s, %v, want it allowed", v.Effect, v.Rule, err)
				}
			}
		})
	}
	return compare(of(send, question.Send()), of(read, question.Call()))
}

// begins opens the session that is asked about.
type begins func(ctx context.Context, m *engine.Monitor, session string) (engine.Ref, error)

func againstCEL(ctx context.Context, file string, want policy.Effect, begin begins) (result, error) {
	program, err := question.NewProgram()
	if err != nil {
		return result{}, err
	}
	m, err := question.NewMonitor(file, question.Nowhere{})
	if err != nil {
		return result{}, err
	}
	ref, err := begin(ctx, m, "bench")
	if err != nil {
		return result{}, err
	}
	call, values := question.Call(), question.Values()
	ours := func(b *testing.B) {
		for b.Loop() {
			if v, err := m.Decide(ctx, ref, call); err != nil || v.Effect != want {
				b.Fatalf("decide: got %s, %v, want %s", v.Effect, err, want)
			}
		}
	}
	bare := func(b *testing.B) {
		for b.Loop() {
			if out, _, err := program.Eval(values); err != nil || out != types.True {
				b.Fatalf("eval: got %v, %v, want true", out, err)
			}
		}
	}
	return compare(run(ours), run(bare))
}

// The growth of a session: several sessions of each age, and few decisions in each, so
// that young sessions stay young.
const (
	aged     = 16      // sessions of each age
	oldAge   = 100_000 // events
	youngAge = 100
	asked    = 50 // decisions that are timed in each
	repeats  = 20 // of a measurement, with new young sessions each time
)

func decideGrowth(ctx context.Context) (result, error) {
	m, err := question.NewMonitor(question.Plain, question.Nowhere{})
	if err != nil {
		return result{}, err
	}
	old, err := grow(ctx, m, "old", oldAge)
	if err != nil {
		return result{}, err
	}
	generation := 0
	// Both sides make new sessions before the clock starts, or only the young one would
	// pay for the garbage that leaves behind.
	measure := func(pick func(young []engine.Ref) []engine.Ref) side {
		return func() (float64, error) {
			var total float64
			for range repeats {
				generation++
				young, err := grow(ctx, m, fmt.Sprintf("young-%d", generation), youngAge)
				if err != nil {
					return 0, err
				}
				ns, err := ask(ctx, m, pick(young))
				if err != nil {
					return 0, err
				}
				total += ns / repeats
			}
			return total, nil
		}
	}
	return compare(
		measure(func([]engine.Ref) []engine.Ref { return old }),
		measure(func(young []engine.Ref) []engine.Ref { return young }),
	)
}

// grow begins sessions and lets each judge calls until it has that many events.
func grow(ctx context.Context, m *engine.Monitor, name string, events int) ([]engine.Ref, error) {
	refs := make([]engine.Ref, aged)
	call := question.Call()
	for i := range refs {
		var err error
		if refs[i], err = question.Begin(ctx, m, fmt.Sprintf("%s-%d", name, i)); err != nil {
			return nil, err
		}
		for range events - 1 {
			if err := question.Decide(ctx, m, refs[i], call, policy.Allow); err != nil {
				return nil, err
			}
		}
	}
	return refs, nil
}

// ask times a few decisions in each session, in nanoseconds each.
func ask(ctx context.Context, m *engine.Monitor, refs []engine.Ref) (float64, error) {
	call := question.Call()
	start := time.Now()
	for range asked {
		for _, ref := range refs {
			if err := question.Decide(ctx, m, ref, call, policy.Allow); err != nil {
				return 0, err
			}
		}
	}
	return float64(time.Since(start).Nanoseconds()) / float64(asked*len(refs)), nil
}
