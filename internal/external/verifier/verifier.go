// Package verifier asks authorities outside (a webhook, a person on Telegram) about
// calls that would otherwise run. It implements engine.Verifier.
//
// The package does network I/O. Reading its part of the configuration (Decode,
// DecodeAgent) does none; the environment is handed in.
//
// Invariants:
//   - all authorities that cover a call must allow it; the first deny ends the wait;
//   - what is no complete, known answer is a failure and goes to the fail mode, whose
//     zero value denies; a call that cannot be put into a request is denied whatever
//     the fail mode says, because whoever writes the call could make it so;
//   - a caller that has gone gets a deny;
//   - only real answers are remembered, only allows, and never for a worse taint;
//   - an agent's override can only tighten what the file says;
//   - secrets do not print, and no URL is in an error or in a reason;
//   - no proxy, cookie or credential is taken from the environment, no redirect is followed.
package verifier

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
)

var _ engine.Verifier = (*Verifier)(nil)

// maxParams is how many bytes of parameters are sent. An endpoint would refuse more, and
// a refusal is a failure: a call must not get past a fail mode by its size.
const maxParams = 1 << 20

// Options are what a Verifier is made of. Only Config is required.
type Options struct {
	Config    Config
	Agents    map[string]Override // by agent id
	Telegram  Asker               // required where AsksTelegram reports so
	PlainHTTP bool                // allow http:// webhooks: never in production
	RootCAs   *x509.CertPool      // who may sign an endpoint's certificate; nil is the system's
	Now       func() time.Time    // nil is time.Now
	Logger    *slog.Logger        // nil is silence
}

// Verifier is safe for concurrent use.
type Verifier struct {
	file     *plan            // for agents without an override
	agents   map[string]*plan // for the others
	hooks    []*webhook       // all of them, the file's first
	asker    Asker            // nil: nobody on Telegram
	client   *http.Client
	roots    *x509.CertPool
	remember cache
	counts   counters
	now      func() time.Time
	log      *slog.Logger

	mu      sync.Mutex
	closed  bool           // guarded by mu
	running sync.WaitGroup // asks under way; grows only under mu and while not closed
}

// New checks the options. It opens no connection.
func New(o Options) (*Verifier, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("configure verifier: %w", err)
	}
	v := &Verifier{
		agents: map[string]*plan{}, client: outbound.Client(outbound.Options{Roots: o.RootCAs}), roots: o.RootCAs, asker: o.Telegram,
		now: o.Now, log: o.Logger,
	}
	if v.now == nil {
		v.now = time.Now
	}
	if v.log == nil {
		v.log = slog.New(slog.DiscardHandler)
	}
	v.build(o)
	return v, nil
}

// Close ends idle connections and waits for what is still being asked: a message that
// nobody waits for any more is edited before its asker returns. Later calls are denied.
func (v *Verifier) Close(ctx context.Context) error {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	done := make(chan struct{})
	go func() {
		v.running.Wait()
		close(done)
	}()
	defer v.client.CloseIdleConnections()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close verifier: %w", ctx.Err())
	}
}

// Covers reports whether calls of the tool are verified for that agent.
func (v *Verifier) Covers(agent, name string) bool {
	return len(v.planOf(agent).asked(tool.Name(name))) > 0
}

func (v *Verifier) planOf(agent string) *plan {
	if p := v.agents[agent]; p != nil {
		return p
	}
	return v.file
}

// Verify asks all authorities that cover the call. It returns when they have answered,
// one has denied, their time is up, or ctx ends.
func (v *Verifier) Verify(ctx context.Context, c engine.Check) engine.Ruling {
	c.Tool = tool.Name(c.Tool)
	r := v.rule(ctx, c)
	v.counts.count(r, v.now())
	return r
}

func (v *Verifier) rule(ctx context.Context, c engine.Check) engine.Ruling {
	p := v.planOf(c.Agent)
	asked := p.asked(c.Tool)
	if len(asked) == 0 {
		return refused("no verifier is set up for this tool")
	}
	if ctx.Err() != nil {
		return refused(reasonGone)
	}
	if err := sendable(&c); err != nil {
		v.log.Warn("verifier: call cannot be sent", "tool", c.Tool, "cause", err)
		return refused(reasonUnsendable)
	}
	key, cached := keyOf(c), p.cache > 0 && c.Digest != tool.Digest{}
	if cached {
		if by, ok := v.remember.get(key, c.Taint, v.now()); ok {
			return engine.Ruling{Allow: true, By: by, Reason: "allowed a moment ago", Cached: true}
		}
	}
	if !v.begin() {
		return refused("the verifier is shutting down")
	}
	defer v.running.Done()
	r := v.ask(ctx, asked, p.failMode, c)
	switch {
	case !r.Allow:
		v.remember.drop(key)
	case cached && !r.Failed:
		v.remember.put(key, c.Taint, r.By, v.now(), p.cache)
	}
	return r
}

// begin counts the caller among what Close waits for; false after Close.
func (v *Verifier) begin() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return false
	}
	v.running.Add(1)
	return true
}

// Why a call is denied that nobody was asked about.
const (
	reasonGone       = "nobody waits for this call any more"
	reasonUnsendable = "the call cannot be sent to the verifier"
)

// refused is a deny that no authority gave and no fail mode can lift.
func refused(why string) engine.Ruling {
	return engine.Ruling{By: byFailMode, Reason: why, Failed: true}
}

// sendable makes sure that the call can be written into a request: its parameters are one
// JSON object of bearable size and its names are text.
func sendable(c *engine.Check) error {
	if len(c.Params) == 0 {
		c.Params = []byte("{}")
	}
	if len(c.Params) > maxParams {
		return fmt.Errorf("%d bytes of parameters", len(c.Params))
	}
	for _, name := range []string{c.Tool, c.Agent, c.Session, c.Branch, c.Provider} {
		if !utf8.ValidString(name) {
			return errors.New("a name is not UTF-8")
		}
	}
	if _, err := members(c.Params); err != nil {
		return fmt.Errorf("read parameters: %w", err)
	}
	return nil
}

// check holds the options against the package's invariants.
func (o *Options) check() error {
	if err := o.Config.check(o.PlainHTTP); err != nil {
		return err
	}
	for name, a := range o.Agents {
		if err := a.check(&o.Config, o.PlainHTTP); err != nil {
			return fmt.Errorf("agent %q: %w", name, err)
		}
	}
	if o.AsksTelegram() && o.Telegram == nil {
		return errors.New("telegram is to be asked, but there is no bot")
	}
	return nil
}

// AsksTelegram reports whether anybody is to be asked on Telegram.
func (o *Options) AsksTelegram() bool {
	t := o.Config.Telegram
	if t == nil {
		return false
	}
	asks := o.Config.Enabled && t.Enabled
	for _, a := range o.Agents {
		asks = asks || a.on(&o.Config) && a.telegram(&o.Config)
	}
	return asks
}
