package verifier

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
)

// Coverage says whether calls of a tool are verified, and why.
type Coverage struct {
	Covered  bool     `json:"covered"`
	Why      string   `json:"why"`
	By       []string `json:"by,omitzero"`       // who is asked
	FailMode FailMode `json:"failMode,omitzero"` // what counts if they cannot be
}

// Explain says whether calls of a tool by an agent are verified, and why.
func (v *Verifier) Explain(agent, name string) Coverage {
	p := v.planOf(agent)
	name = tool.Name(name)
	asked := p.asked(name)
	c := Coverage{Covered: len(asked) > 0, Why: p.why(agent, name)}
	if c.Covered {
		c.FailMode = p.failMode
	}
	for _, a := range asked {
		who := a.name()
		if w, ok := a.(*webhook); ok {
			who += " " + w.shown()
		}
		c.By = append(c.By, who)
	}
	return c
}

func (p *plan) why(agent, name string) string {
	switch {
	case p.file.covers(name):
		return p.file.scope.why(name)
	case p.own.covers(name):
		return fmt.Sprintf("agent %s: %s", agent, p.own.scope.why(name))
	case !p.file.on && !p.own.on:
		return "the verifier is off"
	case p.file.on:
		return p.file.scope.why(name)
	}
	return fmt.Sprintf("agent %s: %s", agent, p.own.scope.why(name))
}

// Status is what the verifier is set up to do, and what it has done.
type Status struct {
	Enabled      bool     `json:"enabled"`  // for agents without an override
	Webhooks     []string `json:"webhooks"` // without what may be a secret
	Telegram     bool     `json:"telegram"`
	FailMode     FailMode `json:"failMode"`
	CacheSeconds int      `json:"cacheSeconds"`
	Agents       []string `json:"agents"` // those with an override
	Counts
}

// Counts are how many rulings there were since the start.
type Counts struct {
	Allowed       uint64    `json:"allowed"`
	Denied        uint64    `json:"denied"`
	Failed        uint64    `json:"failed"` // of both: where a fail mode took part
	Cached        uint64    `json:"cached"` // of the allowed: without asking
	LastFailure   string    `json:"lastFailure,omitzero"`
	LastFailureAt time.Time `json:"lastFailureAt,omitzero"`
}

// Status is the state now.
func (v *Verifier) Status() Status {
	s := Status{
		Enabled: v.file.file.on, Telegram: v.asker != nil, FailMode: v.file.failMode, CacheSeconds: int(v.file.cache / time.Second),
		Webhooks: []string{}, Agents: slices.AppendSeq([]string{}, maps.Keys(v.agents)), Counts: v.counts.read(),
	}
	for _, w := range v.hooks {
		s.Webhooks = append(s.Webhooks, w.shown())
	}
	slices.Sort(s.Agents)
	return s
}

type counters struct {
	mu sync.Mutex
	c  Counts // guarded by mu
}

func (t *counters) count(r engine.Ruling, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.Allow {
		t.c.Allowed++
	} else {
		t.c.Denied++
	}
	if r.Cached {
		t.c.Cached++
	}
	if r.Failed {
		t.c.Failed++
		t.c.LastFailure, t.c.LastFailureAt = r.Reason, now
	}
}

func (t *counters) read() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.c
}

// Check reports whether everybody could be asked now. It connects and says nothing.
func (v *Verifier) Check(ctx context.Context) error {
	var errs []error
	for _, w := range v.hooks {
		if err := v.reach(ctx, w); err != nil {
			errs = append(errs, fmt.Errorf("reach webhook %s: %w", w.shown(), err))
		}
	}
	if v.asker != nil {
		if err := v.asker.Check(ctx); err != nil {
			errs = append(errs, fmt.Errorf("reach telegram: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (v *Verifier) reach(ctx context.Context, w *webhook) error {
	port := w.url.Port()
	dialer := &net.Dialer{Timeout: dialTimeout}
	dial := dialer.DialContext
	if w.url.Scheme == "https" {
		dial = (&tls.Dialer{NetDialer: dialer, Config: tlsConfig(v.roots)}).DialContext
	}
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[w.url.Scheme]
	}
	conn, err := dial(ctx, "tcp", net.JoinHostPort(w.url.Hostname(), port))
	if err != nil {
		return err
	}
	return conn.Close()
}
