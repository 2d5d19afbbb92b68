package verifier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
)

// Who decided, as a Ruling names it.
const (
	byWebhook  = "webhook"
	byTelegram = "telegram"
	byFailMode = "failMode"
)

// authority is somebody who can be asked.
type authority interface {
	name() string
	limit() time.Duration
	// ask returns an error for everything that is no answer. It ends soon after ctx.
	ask(ctx context.Context, c engine.Check) (answer, error)
}

// answer is what an authority said. The zero answer denies.
type answer struct {
	allow  bool
	reason string
}

// failure is why there is no answer. Whoever made the call may read why, but not the
// cause: it can name machines.
type failure struct {
	why   string
	cause error
}

func (f *failure) Error() string {
	if f.cause == nil {
		return f.why
	}
	return f.why + ": " + f.cause.Error()
}

func (f *failure) Unwrap() error { return f.cause }

// result is the end of one ask.
type result struct {
	answer
	from string
	err  error
}

// public is what may be said about a failed ask.
func (r *result) public() string {
	var f *failure
	if errors.As(r.err, &f) {
		return r.from + ": " + f.why
	}
	return r.from + ": no answer"
}

// ask puts the question to all at once.
func (v *Verifier) ask(ctx context.Context, asked []authority, mode FailMode, c engine.Check) engine.Ruling {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan result, len(asked))
	for _, a := range asked {
		v.running.Go(func() { results <- v.one(inner, a, c) })
	}
	var t tally
	for range asked {
		var r result
		select {
		case r = <-results:
		case <-ctx.Done():
		}
		if ctx.Err() != nil { // also the cause of the failure that r may be
			return refused(reasonGone)
		}
		if r.err != nil {
			v.log.Warn("verifier: no answer", "asked", r.from, "tool", c.Tool, "agent", c.Agent, "failMode", string(mode), "cause", r.err)
		}
		if ruling, final := t.add(r, mode); final {
			return ruling
		}
	}
	return t.allowed()
}

// one asks one authority and stops waiting when its time is up. An allow that comes later
// is none; a deny that has come by then still counts.
func (v *Verifier) one(ctx context.Context, a authority, c engine.Check) result {
	ctx, cancel := context.WithTimeout(ctx, a.limit())
	defer cancel()
	done := make(chan result, 1)
	v.running.Go(func() { done <- safely(ctx, a, c) })
	late := result{from: a.name(), err: &failure{fmt.Sprintf("no answer within %v", a.limit()), context.DeadlineExceeded}}
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		select {
		case r = <-done:
		default:
			return late
		}
	}
	if ctx.Err() != nil && (r.err != nil || r.allow) {
		return late
	}
	return r
}

// safely turns a panic into a failure: an asker is somebody else's code, and here it runs
// on a goroutine whose panic would end the program.
func safely(ctx context.Context, a authority, c engine.Check) (r result) {
	defer func() {
		if p := recover(); p != nil {
			r = result{from: a.name(), err: &failure{"no answer", fmt.Errorf("panic: %v", p)}}
		}
	}()
	got, err := a.ask(ctx, c)
	return result{got, a.name(), err}
}

// tally collects results until they decide.
type tally struct {
	by      []string
	reasons []string
	failed  bool
}

// add reports whether the result is final, and then the ruling.
func (t *tally) add(r result, mode FailMode) (engine.Ruling, bool) {
	switch {
	case r.err != nil && mode != Allow:
		return engine.Ruling{By: byFailMode, Reason: r.public(), Failed: true}, true
	case r.err != nil:
		t.failed = true
		t.by, t.reasons = append(t.by, byFailMode), append(t.reasons, r.public())
	case !r.allow:
		return engine.Ruling{By: r.from, Reason: r.reason}, true
	default:
		t.by = append(t.by, r.from)
		if r.reason != "" {
			t.reasons = append(t.reasons, r.reason)
		}
	}
	return engine.Ruling{}, false
}

// allowed is the ruling after everybody allowed. Whoever took part is named, in an order
// that does not depend on who was faster.
func (t *tally) allowed() engine.Ruling {
	var by []string
	for _, name := range []string{byWebhook, byTelegram, byFailMode} {
		if slices.Contains(t.by, name) {
			by = append(by, name)
		}
	}
	slices.Sort(t.reasons)
	reason := shorten(strings.Join(t.reasons, "; "), maxReason)
	return engine.Ruling{Allow: true, By: strings.Join(by, "+"), Reason: reason, Failed: t.failed}
}
