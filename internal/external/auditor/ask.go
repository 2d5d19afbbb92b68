package auditor

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/backoff"
)

// request is one thing to ask the model.
type request struct {
	kind         string // caution, consistency, act, plan, contract, definition
	session      string // who asks it first; only for whoever lends a credential, and never sent
	system, user string
	maxTokens    int
	timeout      time.Duration
	queue        time.Duration           // how long it waits for a free slot, besides; 0: within its time
	check        func(text string) error // is this an answer?
	schema       string                  // of the answer, as JSON Schema; empty: it is no JSON, or of a free form
	apart        bool                    // the answer is this session's alone
	used         func(in, out int)       // is told what an answer cost, in tokens; nil: nobody is
}

// limit is how long it may take all in all.
func (r *request) limit() time.Duration { return r.queue + r.timeout }

// cost tells what an answer cost.
func (r *request) cost(in, out int) {
	if r.used != nil {
		r.used(max(in, 0), max(out, 0))
	}
}

// key is the same for the same question to the same model, and for no other.
func (r *request) key(model string) string {
	h := sha256.New()
	parts := []string{intent.Version, model, r.kind, r.system, r.user}
	if r.apart {
		parts = append(parts, r.session)
	}
	for _, part := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// answer is what a model said, and until when that counts.
type answer struct {
	text  string
	until time.Time
}

// answer finds the answer to a request: recorded, remembered, or asked for. Only what is
// asked for costs the session something.
func (c *Client) answer(ctx context.Context, session string, r *request) (text string, cached bool, err error) {
	r.session, r.apart = session, c.o.Lent != nil
	key := r.key(c.o.Model)
	if c.replay != nil {
		text, known := c.replay[key]
		if !known {
			return "", false, fmt.Errorf("%w: question %s", ErrUnrecorded, key)
		}
		return text, false, r.check(text)
	}
	if err := ctx.Err(); err != nil {
		return "", false, err
	}
	if text, ok := c.remembered(key); ok {
		return text, true, nil
	}
	if !c.spend(session) {
		return "", false, ErrBudget
	}
	text, err = c.flights.do(ctx, key, r.limit(), func(ctx context.Context) (string, error) { return c.fetch(ctx, key, r) })
	return text, false, err
}

func (c *Client) remembered(key string) (string, bool) {
	a, ok := c.cache.get(key)
	return a.text, ok && c.o.Now().Before(a.until)
}

// Audited implements engine.Audited: what the log tells of others counts, whichever server asked.
func (c *Client) Audited(session string, before int) {
	c.budget.edit(session, func(used *int) { *used = max(*used, before) })
}

// spend takes one audit off the session's budget.
func (c *Client) spend(session string) (ok bool) {
	c.budget.edit(session, func(used *int) {
		if ok = *used < c.o.PerSession; ok {
			*used++
		}
	})
	return ok
}

// fetch asks the endpoint. It runs once for all who wait for the same answer.
func (c *Client) fetch(ctx context.Context, key string, r *request) (string, error) {
	if text, ok := c.remembered(key); ok {
		return text, nil // it came while this request was on its way here
	}
	if c.breaker.state() == breakerOpen {
		return "", ErrOpen // before the wait for a slot, which slow requests may hold
	}
	if err := c.slot(ctx, r); err != nil {
		return "", err
	}
	defer func() { <-c.slots }()
	if c.breaker.state() == breakerOpen {
		return "", ErrOpen // it opened meanwhile; what is not sent costs nothing
	}
	if !c.spent.take(c.o.Now()) {
		return "", ErrSpent
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	r.used = c.status.cost
	text, err := c.breaker.do(func() (string, error) { return c.try(ctx, r) })
	if errors.Is(err, ErrOpen) {
		return "", ErrOpen
	}
	c.status.reached(c.o.Now(), err)
	if err != nil {
		return "", err
	}
	c.record(key, r, text)
	if err := r.check(text); err != nil {
		return "", err
	}
	c.keep(key, r, text)
	if c.o.CacheFor > 0 {
		c.cache.put(key, answer{text, c.o.Now().Add(c.o.CacheFor)})
	}
	return text, nil
}

// slot waits for a free one.
func (c *Client) slot(ctx context.Context, r *request) error {
	if r.queue > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.queue)
		defer cancel()
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("wait for a free slot: %w", err)
	}
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for a free slot: %w", ctx.Err())
	}
}

// maxTries is how often a question is sent at most.
const maxTries = 4

// try sends a request until it is answered, as long as another try may help and the
// deadline leaves time for it.
func (c *Client) try(ctx context.Context, r *request) (string, error) {
	pauses := backoff.Growing{First: 100 * time.Millisecond, Most: time.Second}
	for n := 1; ; n++ {
		c.status.requested()
		text, err := c.askOnce(ctx, r)
		if err == nil || n == maxTries || !transient(err) || !c.spent.take(c.o.Now()) {
			return text, err
		}
		pause := max(pauses.Next(), retryAfter(err))
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= pause {
			return "", err
		}
		if err := sleep(ctx, pause); err != nil {
			return "", err
		}
	}
}

func (c *Client) askOnce(ctx context.Context, r *request) (string, error) {
	if c.o.Before != nil {
		if err := c.o.Before(); err != nil {
			return "", err
		}
	}
	return c.model.ask(ctx, r)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
