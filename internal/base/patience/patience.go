// Package patience is how long one piece of work may wait for what it needs, all its waits together. Whoever begins the work
// puts its sum into the context, and whoever waits adds to it; how much is too much is for the one who waits to know.
//
// It does no I/O, reads no clock of its own and starts no goroutine. It is safe for concurrent use.
package patience

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrLate is in the error of work that ran out of time.
var ErrLate = errors.New("no answer in time")

// Sum is what a piece of work has waited so far.
type Sum struct{ waited atomic.Int64 }

type key struct{}

// Begin is the context of work whose waits are added up.
func Begin(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, &Sum{}) }

// For is Begin where what is waited for has a limit, and says so by a method Patient: nothing is counted for others.
func For(ctx context.Context, what any) context.Context {
	if w, ok := what.(interface{ Patient() bool }); ok && w.Patient() {
		return Begin(ctx)
	}
	return ctx
}

type unhurried struct{}

// Unhurried is the context of work that somebody waits for who has waited for a person, or is one: no clock of a host runs out over
// it, so that it may stand in a queue behind many others of its kind.
func Unhurried(ctx context.Context) context.Context { return context.WithValue(ctx, unhurried{}, true) }

// Hurried reports whether a host's clock may run while the work waits; it does unless somebody says otherwise.
func Hurried(ctx context.Context) bool { return ctx.Value(unhurried{}) == nil }

// Of is the sum of the work that a context is for; nil: nobody adds up.
func Of(ctx context.Context) *Sum {
	s, _ := ctx.Value(key{}).(*Sum)
	return s
}

// Add counts a wait. Where nobody adds up it does nothing.
func (s *Sum) Add(d time.Duration) {
	if s != nil && d > 0 {
		s.waited.Add(int64(d))
	}
}

// Waited is the sum; 0 where nobody adds up.
func (s *Sum) Waited() time.Duration {
	if s == nil {
		return 0
	}
	return time.Duration(s.waited.Load())
}

// Lock takes a lock, and counts how long that took: whoever holds it may be waiting too.
func Lock(ctx context.Context, mu *sync.Mutex, now func() time.Time) {
	if mu.TryLock() {
		return
	}
	since := now()
	mu.Lock()
	Of(ctx).Add(now().Sub(since))
}
