package hook

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// maxStuck bounds how many calls of one plugin may hang beyond their limit at once.
// A plugin that reaches it is not called again until one of them returns.
const maxStuck = 64

type answer[R any] struct {
	got *R
	err error
}

// call runs one handler under its time limit, on a goroutine of its own so that one
// that ignores its context can be left behind. What it returns after that is lost.
func call[E, R any](ctx context.Context, l link[E, R], event *E, c *Context) (*R, error) {
	if l.stuck.Load() >= maxStuck {
		return nil, ErrStuck
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("wait for handler: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()
	done := make(chan answer[R], 1)
	settled := new(atomic.Bool) // set by whoever comes first: the handler's end or the limit
	go l.attempt(limited, event, c, settled, done)
	select {
	case a := <-done:
		return a.got, a.err
	case <-limited.Done():
		l.stuck.Add(1)
		if settled.Swap(true) {
			l.stuck.Add(-1) // it ended in the same moment
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("wait for handler: %w", err)
		}
		return nil, fmt.Errorf("%w (%v)", ErrTimeLimit, l.limit)
	}
}

// attempt runs the handler and delivers what came of it, unless nobody waits any more.
// It delivers from a deferred function, because a handler may end its goroutine.
func (l link[E, R]) attempt(ctx context.Context, event *E, c *Context, settled *atomic.Bool, done chan<- answer[R]) {
	var a answer[R]
	returned := false
	defer func() {
		if !returned {
			a = answer[R]{err: &panicError{value: fmt.Sprint(recover()), stack: debug.Stack()}}
		}
		if settled.Swap(true) {
			l.stuck.Add(-1)
			return
		}
		done <- a
	}()
	a.got, a.err = l.fn(ctx, event, c)
	if a.err != nil {
		a.err = fmt.Errorf("handle event: %w", a.err) // takes its text here, where a panic is contained
	}
	returned = true
}

// panicError is a panic as an error. A handler that ended its goroutine without
// returning is one too.
type panicError struct {
	value string
	stack []byte
}

func (e *panicError) Error() string { return ErrPanic.Error() + ": " + e.value }

func (e *panicError) Unwrap() error { return ErrPanic }
