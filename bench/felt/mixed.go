package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const busy = 16 // clients at once

// mixed is work through all doors in sessions that have read something: CPU of the server for each request, whether it gets slower
// with time, and what is resident.
func mixed(ctx context.Context, o options, sessions, size int) (_ []line, err error) {
	h, err := open(ctx, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if err := each(ctx, sessions, func(i int) error {
		return h.hook(ctx, fmt.Sprint("s", i), "message_received", fields{"content": "Read the pages and tell me what they say, then mail ada@home.example a line"})
	}); err != nil {
		return nil, err
	}
	before, err := h.CPU()
	if err != nil {
		return nil, err
	}
	done, end := newFifths(o.seconds), time.Now().Add(o.seconds)
	if err := each(ctx, busy, func(worker int) error {
		dice := rand.New(rand.NewPCG(uint64(worker), 3))
		for time.Now().Before(end) {
			n, err := h.visit(ctx, dice, sessions, size)
			if err != nil {
				return err
			}
			done.add(n)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	after, err := h.CPU()
	if err != nil {
		return nil, err
	}
	now, most, err := h.Memory()
	if err != nil {
		return nil, err
	}
	name := fmt.Sprint("mixed_", sessions)
	rates, n := done.rates()
	return []line{
		{name + "_cpu_us", (after - before) / n / 1e3, fmt.Sprintf("CPU of the server for a request, µs: hooks, LLM proxy and MCP mixed, %d sessions, results of %d bytes, %.0f requests", sessions, size, n)},
		{name + "_last_vs_first", rates[len(rates)-1] / rates[0], "requests a second in the last fifth of the run / in the first"},
		{name + "_rss_mb", float64(now) / 1e6, fmt.Sprintf("resident at the end; the most was %d MB", most/1e6)},
	}, nil
}

// each does something for every number, as many at once as there are clients.
func each(_ context.Context, n int, act func(i int) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, busy)
	for worker := range busy {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && errs[worker] == nil; i = int(next.Add(1)) - 1 {
				errs[worker] = act(i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// visit is a few requests of one session through one of the doors. It returns how many.
func (h *house) visit(ctx context.Context, dice *rand.Rand, sessions, size int) (int, error) {
	i := dice.IntN(sessions)
	name := fmt.Sprint("s", i)
	switch dice.IntN(5) {
	case 0:
		call := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"set_note","arguments":{"title":"a","text":"note %d"}}}`, dice.IntN(1e6))
		return 1, h.post(ctx, "/mcp/up", h.tokens.Agent, []byte(call), "m"+name)
	case 1:
		body, err := json.Marshal(fields{"model": "m", "messages": []fields{
			{"role": "user", "content": fmt.Sprint("Conversation ", i, ": what does the page say?")},
			{"role": "assistant", "content": "That is what it says."},
			{"role": "user", "content": page(dice, size/4)},
		}})
		if err != nil {
			return 0, err
		}
		return 1, h.post(ctx, "/openai/v1/chat/completions", fmt.Sprint("sk-", i), body, "")
	}
	params := fields{"url": fmt.Sprint("https://pages.example/", dice.IntN(1e6))}
	if err := h.hook(ctx, name, "before_tool_call", fields{"toolName": "web_fetch", "params": params}); err != nil {
		return 0, err
	}
	return 2, h.hook(ctx, name, "after_tool_call", fields{"toolName": "web_fetch", "params": params, "result": page(dice, size)})
}

// page is words and records that hardly any other page has.
func page(dice *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "The ferry %d leaves berth %d for the island at %d and costs %d crowns. ", dice.IntN(1e5), dice.IntN(100), dice.IntN(24), dice.IntN(1e4))
	}
	return b.String()
}

// fifths counts what was done in each part of a run.
type fifths struct {
	began time.Time
	part  time.Duration
	done  [5]atomic.Int64
}

func newFifths(all time.Duration) *fifths { return &fifths{began: time.Now(), part: all / 5} }

func (t *fifths) add(n int) {
	t.done[min(int(time.Since(t.began)/t.part), len(t.done)-1)].Add(int64(n))
}

func (t *fifths) rates() (rates []float64, all float64) {
	for i := range t.done {
		n := float64(t.done[i].Load())
		rates, all = append(rates, n/t.part.Seconds()), all+n
	}
	return rates, all
}

// quantile is the value that a share of all values does not exceed.
func quantile(values []time.Duration, q float64) float64 {
	slices.Sort(values)
	return float64(values[min(int(q*float64(len(values))), len(values)-1)].Microseconds()) / 1e3
}
