package auditor_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/external/auditor"
)

// slow is a model that takes its time, in a clock that runs by itself.
type slow struct{ takes func() time.Duration }

func (s *slow) Ask(ctx context.Context, _ auditor.Prompt) (auditor.Reply, error) {
	select {
	case <-time.After(s.takes()):
		return auditor.Reply{Text: empty}, nil
	case <-ctx.Done():
		return auditor.Reply{}, ctx.Err()
	}
}
func (s *slow) Check(context.Context) error { return nil }
func (s *slow) Close()                      {}

// spread draws times with such a median and such a 95th percentile.
func spread(r *rand.Rand, median, p95 time.Duration) time.Duration {
	sigma := math.Log(float64(p95)/float64(median)) / 1.645
	return time.Duration(float64(median) * math.Exp(sigma*r.NormFloat64()))
}

// What a reading costs: with a model that answers in 1.5 s at the median and in 4 s at the 95th percentile, asked when the message
// comes, it is there for nine first acts in ten, and a call waits for nothing at the median and for at most 1.5 s at the 95th
// percentile. An agent's own model takes 2.5 s for a step at the median and 7 s at the 95th percentile here; of ten first acts
// three come with its first step, where something was read before the message, and the others after a read. The clock is the
// test's own: what is measured is how the waits are arranged, and not this machine.
//
// MAN-12
func TestAReadingIsThereWhenItIsNeeded(t *testing.T) {
	const messages, wait = 2000, 3 * time.Second
	synctest.Test(t, func(t *testing.T) {
		dice := rand.New(rand.NewPCG(46, 46))
		times := make([]time.Duration, 0, messages) // drawn here: requests run beside one another
		for range messages {
			times = append(times, spread(dice, 1500*time.Millisecond, 4*time.Second))
		}
		next := make(chan time.Duration, messages)
		for _, d := range times {
			next <- d
		}
		c := reading(t, func(o *auditor.Options) {
			o.Provider, o.Program, o.ContractWait, o.PlanTimeout = auditor.Program, &slow{func() time.Duration { return <-next }}, wait, 12*time.Second
			o.PerSession = 10 * messages
		})
		var waits []time.Duration
		there, atOnce := 0, 0
		for i := range messages {
			r := wish(fmt.Sprintf("mail Petra %d", i))
			c.Prepare("s", r)
			steps := 2
			if dice.IntN(10) < 3 {
				steps = 1
			}
			for range steps {
				time.Sleep(spread(dice, 2500*time.Millisecond, 7*time.Second))
			}
			start := time.Now()
			_, _, err := c.Contract(t.Context(), "s", r, false)
			if atOnce++; errors.Is(err, engine.ErrLate) {
				atOnce--
				_, _, err = c.Contract(t.Context(), "s", r, true)
			}
			if err == nil {
				there++
			}
			waits = append(waits, time.Since(start))
		}
		slices.Sort(waits)
		p50, p95, most := waits[messages/2], waits[messages*95/100], waits[messages-1]
		t.Logf("there for %.1f %% of first acts, %.1f %% at once; waits p50 %s, p95 %s, at most %s",
			100*float64(there)/messages, 100*float64(atOnce)/messages, p50, p95.Round(time.Millisecond), most)
		if there*10 < messages*9 || p50 != 0 || p95 > 1500*time.Millisecond || most > wait {
			t.Error("that is too late")
		}
	})
}

// A call that needs its message read twice does not wait twice.
//
// MAN-12
func TestACallWaitsOnceForAllReadings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := reading(t, func(o *auditor.Options) {
			o.Provider, o.Program, o.ContractWait = auditor.Program, &slow{func() time.Duration { return 2 * time.Second }}, 3*time.Second
		})
		for _, tt := range []struct {
			waited, want time.Duration
			late         bool
		}{{0, 2 * time.Second, false}, {2 * time.Second, time.Second, true}, {5 * time.Second, 0, true}} {
			start := time.Now()
			_, _, err := c.Contract(intent.WithWaited(t.Context(), tt.waited), "s", wish(fmt.Sprint("mail Petra ", tt.waited)), true)
			if took := time.Since(start); took != tt.want || errors.Is(err, engine.ErrLate) != tt.late {
				t.Errorf("after %s: waited %s more, %v", tt.waited, took, err)
			}
		}
	})
}

// Twenty messages at once, two programs at a time of five seconds each, and a time of twelve seconds for one: every message is read,
// because the wait for its turn takes nothing off its time. What waits longer than it may is told so, and starts nothing.
//
// MAN-12
func TestAMessageThatWaitsForItsTurnHasItsWholeTime(t *testing.T) {
	for name, tt := range map[string]struct {
		queue time.Duration
		read  int
	}{
		"as a server has it": {0, 20},
		"a short queue":      {11 * time.Second, 6},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var begun atomic.Int32
				c := reading(t, func(o *auditor.Options) {
					o.Provider, o.Queue, o.MaxConcurrent, o.PlanTimeout, o.ContractWait = auditor.Program, tt.queue, 2, 12*time.Second, time.Hour
					o.Program = &slow{func() time.Duration {
						begun.Add(1)
						return 5 * time.Second
					}}
				})
				var read, told atomic.Int32
				var wg sync.WaitGroup
				for i := range 20 {
					name, q := fmt.Sprintf("s%d", i), wish(fmt.Sprintf("mail Petra %d", i))
					c.Prepare(name, q)
					wg.Go(func() {
						if _, _, err := c.Contract(t.Context(), name, q, true); err == nil {
							read.Add(1)
						} else if errors.Is(err, engine.ErrLate) && strings.HasSuffix(err.Error(), "wait for a free slot") {
							told.Add(1)
						}
					})
				}
				wg.Wait()
				if got := int(read.Load()); got != tt.read || int(told.Load()) != 20-got || int(begun.Load()) != got {
					t.Errorf("%d of 20 were read, want %d; %d were told that they were not; %d runs", got, tt.read, told.Load(), begun.Load())
				}
				if s := c.Status(); s.Breaker != "closed" || s.LastDay != tt.read {
					t.Errorf("waiting counts as failing, or costs: %+v", s)
				}
			})
		})
	}
}

// failing is a program that ends without an answer.
type failing struct{ slow }

func (f *failing) Ask(ctx context.Context, q auditor.Prompt) (auditor.Reply, error) {
	_, _ = f.slow.Ask(ctx, q) // it takes its time
	return auditor.Reply{}, errors.New("it ended with code 1")
}

// Those who wait when the breaker opens are told so, start nothing and cost nothing.
func TestWhatTheBreakerRefusesCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := reading(t, func(o *auditor.Options) {
			o.Provider, o.MaxConcurrent, o.PlanTimeout, o.ContractWait, o.PerDay = auditor.Program, 1, 12*time.Second, time.Hour, 100
			o.Program = &failing{slow{func() time.Duration { return time.Second }}}
		})
		var refused atomic.Int32
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				_, _, err := c.Contract(t.Context(), fmt.Sprintf("s%d", i), wish(fmt.Sprintf("mail Petra %d", i)), true)
				if errors.Is(err, auditor.ErrOpen) {
					refused.Add(1)
				}
			})
		}
		wg.Wait()
		if s := c.Status(); s.Breaker != "open" || s.LastDay != 20-int(refused.Load()) || int(s.Requests) != s.LastDay {
			t.Errorf("%d were refused: %+v", refused.Load(), s)
		}
	})
}
