package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/test/pgtest"
)

// rounds is how often each side is measured, in turns.
const rounds = 6

// besides times the calls of a session by itself and beside something, in turns, and compares p99.
func (h *house) besides(ctx context.Context, calls int, begin func(context.Context) (end func(), err error)) (alone, beside []time.Duration, err error) {
	if err := h.hook(ctx, "apart", "message_received", fields{"content": "read my notes"}); err != nil {
		return nil, nil, err
	}
	for round := range rounds {
		sides := []*[]time.Duration{&alone, &beside}
		for i := range sides {
			side := (i + round) % 2 // neither is always the first
			end := func() {}
			if side == 1 {
				if end, err = begin(ctx); err != nil {
					return nil, nil, err
				}
				time.Sleep(300 * time.Millisecond)
			}
			times, err := h.times(ctx, max(20, calls/rounds/2))
			end()
			if err != nil {
				return nil, nil, err
			}
			*sides[side] = append(*sides[side], times...)
		}
	}
	return alone, beside, nil
}

// times is how long calls of a session take that come one after the other, with a pause between.
func (h *house) times(ctx context.Context, n int) (out []time.Duration, err error) {
	for i := range n {
		began := time.Now()
		err := h.hook(ctx, "apart", "before_tool_call", fields{"toolName": "read", "params": fields{"path": fmt.Sprint("notes-", i%7, ".txt")}})
		if err != nil {
			return nil, err
		}
		out = append(out, time.Since(began))
		time.Sleep(2 * time.Millisecond)
	}
	return out, nil
}

func compared(name, what string, alone, beside []time.Duration) []line {
	of := fmt.Sprintf("of a call beside %s / alone: p50 %.2f and %.2f ms, p99 %.2f and %.2f ms, %d calls each", what,
		quantile(beside, 0.5), quantile(alone, 0.5), quantile(beside, 0.99), quantile(alone, 0.99), len(alone))
	return []line{
		{name + "_p50", quantile(beside, 0.5) / quantile(alone, 0.5), "p50 " + of},
		{name + "_p99", quantile(beside, 0.99) / quantile(alone, 0.99), "p99 " + of},
	}
}

// bombs are arguments that once cost seconds.
func bombs() []fields {
	keys := fields{}
	for i := range 20_000 {
		keys[fmt.Sprint("k", i)] = i
	}
	return []fields{
		{"path": strings.Repeat("../", 20_000)}, {"path": strings.Repeat("a/", 30_000)}, keys,
		{"command": "echo hi > " + strings.Repeat("a/", 20_000)}, {"command": strings.Repeat("(", 20_000)},
		{"command": strings.Repeat("true; ", 20_000)}, {"text": strings.Repeat("%25", 100_000)},
	}
}

// besideBomb is a call while somebody else sends the dearest arguments there are, one at a time, without a pause.
func besideBomb(ctx context.Context, o options) (_ []line, err error) {
	h, err := open(ctx, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if err := h.hook(ctx, "bomber", "message_received", fields{"content": "tidy up"}); err != nil {
		return nil, err
	}
	list := bombs()
	alone, beside, err := h.besides(ctx, o.calls, func(ctx context.Context) (func(), error) {
		ctx, stop := context.WithCancel(ctx)
		var all sync.WaitGroup
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				// Refused or held: what it costs is what counts.
				_ = h.hook(ctx, "bomber", "before_tool_call", fields{"toolName": "exec", "params": list[i%len(list)]})
			}
		})
		return func() { stop(); all.Wait() }, nil
	})
	if err != nil {
		return nil, err
	}
	return compared("beside_bomb", "one client that sends bombs", alone, beside), nil
}

// besideWatchers is a call while 200 streams of events and questions are open, and four sessions are busy on both sides.
func besideWatchers(ctx context.Context, o options) (_ []line, err error) {
	const watchers = 200
	h, err := open(ctx, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for i := range 4 {
		name := fmt.Sprint("noise-", i)
		if err := h.hook(ctx, name, "message_received", fields{"content": "read my notes"}); err != nil {
			return nil, err
		}
		go func() {
			for ctx.Err() == nil {
				_ = h.hook(ctx, name, "before_tool_call", fields{"toolName": "read", "params": fields{"path": "notes.txt"}}) // it only makes noise
				time.Sleep(50 * time.Millisecond)
			}
		}()
	}
	alone, beside, err := h.besides(ctx, o.calls, func(ctx context.Context) (func(), error) { return h.watch(ctx, watchers) })
	if err != nil {
		return nil, err
	}
	return compared("beside_watchers", fmt.Sprint(watchers, " watchers"), alone, beside), nil
}

// watch opens streams and reads them until the end: half of events, half of questions, as the console's pages have them.
func (h *house) watch(ctx context.Context, n int) (end func(), err error) {
	ctx, stop := context.WithCancel(ctx)
	transport := &http.Transport{MaxIdleConnsPerHost: 1}
	var all sync.WaitGroup
	end = func() { stop(); all.Wait(); transport.CloseIdleConnections() }
	for i := range n {
		path := []string{"/v1/events", "/v1/approvals/stream"}[i%2]
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.URL+path, nil)
		if err != nil {
			return end, err
		}
		req.Header.Set("Authorization", "Bearer "+h.tokens.Reader)
		resp, err := transport.RoundTrip(req)
		if err != nil {
			end()
			return end, err
		}
		all.Go(func() {
			_, _ = io.Copy(io.Discard, resp.Body) // until the end
			_ = resp.Body.Close()
		})
	}
	return end, nil
}

// deadDatabase is how long calls take while PostgreSQL takes requests and never answers: each is refused, within the deadline.
func deadDatabase(ctx context.Context, o options) (_ []line, err error) {
	cluster, err := pgtest.Open()
	defer cluster.Close()
	if err != nil {
		return nil, err
	}
	h, err := open(ctx, cluster.Address())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if err := h.hook(ctx, "apart", "message_received", fields{"content": "read my notes"}); err != nil {
		return nil, err
	}
	alive, err := h.times(ctx, max(20, o.calls/10))
	if err != nil {
		return nil, err
	}
	cluster.Pause()
	defer cluster.Resume()
	var dead []time.Duration
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		began := time.Now()
		if _, err := h.times(ctx, 1); err == nil {
			return nil, errors.New("a call was let through while the database was dead")
		}
		dead = append(dead, time.Since(began))
	}
	return []line{
		{"dead_database_worst_ms", quantile(dead, 1), fmt.Sprintf("the slowest of %d calls while the database is frozen, all refused; the deadline is 3000 ms", len(dead))},
		{"dead_database_p50_ms", quantile(dead, 0.5), fmt.Sprintf("p50 of them; %.2f ms while it lives", quantile(alive, 0.5))},
	}, nil
}
