package auditor

import (
	"context"
	"errors"
	"sync"
	"time"
)

// flight is one question on its way, and those who wait for its answer.
type flight struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiting int    // guarded by flights.mu
	text    string // set before done closes
	err     error  // likewise
}

// flights sends a question once for all who ask it at the same time. Nobody who leaves
// takes the answer away from others; when the last one has been cancelled, so is the
// question. Running out of time is not leaving: the question then goes on to its own
// deadline, so that a caller in a hurry does not hide a slow endpoint from the breaker.
type flights struct {
	mu     sync.Mutex
	open   map[string]*flight // guarded by mu
	closed bool               // guarded by mu
	wg     sync.WaitGroup
}

func (g *flights) do(ctx context.Context, key string, timeout time.Duration, fetch func(context.Context) (string, error)) (string, error) {
	f, err := g.join(ctx, key, timeout, fetch)
	if err != nil {
		return "", err
	}
	select {
	case <-f.done:
		return f.text, f.err
	case <-ctx.Done():
		g.leave(key, f, ctx.Err())
		return "", ctx.Err()
	}
}

// flying reports whether a question is on its way.
func (g *flights) flying(key string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open[key] != nil
}

func (g *flights) join(
	ctx context.Context, key string, timeout time.Duration, fetch func(context.Context) (string, error),
) (*flight, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, ErrClosed
	}
	if f := g.open[key]; f != nil {
		f.waiting++
		return f, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	f := &flight{done: make(chan struct{}), cancel: cancel, waiting: 1}
	g.open[key] = f
	g.wg.Add(1)
	go g.run(ctx, key, f, fetch)
	return f, nil
}

func (g *flights) run(ctx context.Context, key string, f *flight, fetch func(context.Context) (string, error)) {
	defer g.wg.Done()
	defer f.cancel()
	f.text, f.err = safely(ctx, fetch)
	g.mu.Lock()
	g.forget(key, f)
	g.mu.Unlock()
	close(f.done)
}

// safely turns a panic into an error: a fault in reading an answer must not take down
// the monitor.
func safely(ctx context.Context, fetch func(context.Context) (string, error)) (text string, err error) {
	defer func() {
		if recover() != nil {
			text, err = "", errPanic
		}
	}()
	return fetch(ctx)
}

func (g *flights) leave(key string, f *flight, why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f.waiting--; f.waiting == 0 && errors.Is(why, context.Canceled) {
		g.forget(key, f)
		f.cancel()
	}
}

// forget needs mu. Another flight may have taken the key since.
func (g *flights) forget(key string, f *flight) {
	if g.open[key] == f {
		delete(g.open, key)
	}
}

// close ends all flights and waits for them.
func (g *flights) close() {
	g.mu.Lock()
	g.closed = true
	for _, f := range g.open {
		f.cancel()
	}
	g.mu.Unlock()
	g.wg.Wait()
}
