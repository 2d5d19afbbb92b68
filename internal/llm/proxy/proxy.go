// Package proxy is the proxy between agents and models, for every agent that can
// be pointed at another base URL. The request is before_llm_call, the answer
// after_llm_call, and every tool call in it is decided before the client sees it.
//
// It does I/O (it serves HTTP and speaks to providers) and starts no goroutine of its own
// that outlives a request.
//
// Invariants:
//   - a tool call reaches the client only with a permit for exactly that call;
//   - what could carry a tool call and is not understood is refused, everything else
//     passes byte for byte;
//   - no request goes out before everything new in it was reported to the monitor;
//   - the client cannot send an answer back before it was noted whose it is;
//   - our tokens and the lines of our plugins never leave for a provider; keys and prompts never reach a log;
//   - conversations of different credentials never meet;
//   - a failure answers with an error in the client's own protocol.
package proxy

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/debounce"
	"github.com/tidemark/tidemark/internal/base/sameorigin"
	"github.com/tidemark/tidemark/internal/claims"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/handles"
	"github.com/tidemark/tidemark/internal/llm/conversation"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/waiting"
)

// Options are what the proxy needs. Monitor, Feed, Bus, Follower, Tokens, Upstreams and
// Logger are required.
type Options struct {
	Monitor   *engine.Monitor
	Feed      *notify.Store // the store the monitor writes to
	Bus       *hook.Bus
	Follower  *conversation.Follower
	Tokens    Tokens
	Upstreams []Upstream
	Handshake *Handshake // needed where an upstream wants one
	Hosts     []string   // names besides the loopback ones that clients may use

	Owner         bool // user messages are the owner's
	Commands      bool // chat commands in them count, so refusals name codes
	RequireToken  bool // only bearers of the agent token are served
	MaxContext    int64
	MaxConcurrent int
	MaxIterations int // model calls of a turn; 0 is without end
	Wait          time.Duration

	Logger  *slog.Logger
	Now     func() time.Time     // nil is time.Now
	Metrics *prometheus.Registry // nil is one of its own
	Claims  *claims.Book         // is told of calls that were let through, for the MCP gateway; nil: nobody is
	Desk    *handles.Desk        // keeps results from models whose clients ask for it; nil: nothing is kept
	// Lend is told of each request that goes to a model, with the headers that it goes out with, and when it has ended; nil: nobody is.
	Lend   func(session, upstream, api, wire string, h http.Header) (back func())
	Limits Limits
}

// Tokens are our own bearer tokens, the others perhaps as hashes. The agent's opens the
// proxy; none is ever forwarded.
type Tokens struct {
	Agent  string
	Others []string
	// Machine names the machine elsewhere that has joined with a token; empty: none has. nil: none can.
	Machine func(token string) string
}

// Limits bound what one request may hold and how long it may stand still. Zero values are
// the defaults.
type Limits struct {
	Answer    int           // bytes of an answer that is not a stream
	Held      int           // bytes of a stream kept back while calls are decided
	Event     int           // bytes of one event
	Prefixes  int           // conversations whose bytes are recognised
	Dial      time.Duration // to connect, and for TLS
	Header    time.Duration // from the request to the answer's first byte
	Idle      time.Duration // between two reads of a stream
	KeepAlive time.Duration // between two signs of life while somebody decides
}

func (l *Limits) complete() {
	number := func(v *int, def int) {
		if *v <= 0 {
			*v = def
		}
	}
	span := func(v *time.Duration, def time.Duration) {
		if *v <= 0 {
			*v = def
		}
	}
	number(&l.Answer, 64<<20)
	number(&l.Held, 64<<20)
	number(&l.Event, 16<<20)
	number(&l.Prefixes, 4096)
	span(&l.Dial, 15*time.Second)
	span(&l.Header, 15*time.Minute)
	span(&l.Idle, 5*time.Minute)
	span(&l.KeepAlive, 10*time.Second)
}

func (o *Options) check() error {
	switch {
	case o.Monitor == nil:
		return errors.New("no monitor")
	case o.Feed == nil:
		return errors.New("no feed")
	case o.Bus == nil:
		return errors.New("no bus")
	case o.Follower == nil:
		return errors.New("no follower")
	case o.Logger == nil:
		return errors.New("no logger")
	case o.Tokens.Agent == "":
		return errors.New("no agent token")
	case o.MaxContext <= 0 || o.MaxConcurrent <= 0:
		return errors.New("no bounds on requests")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	o.Limits.complete()
	return nil
}

// Proxy serves the models. It is safe for concurrent use.
type Proxy struct {
	o          Options
	waiter     *waiting.Waiter
	upstreams  map[string]*upstream // by the path they stand under
	cache      *format.Cache
	sameOrigin *sameorigin.Guard
	callers    *callers
	metrics    *metrics
	counts     counter
	hosts      hosts
	flushes    *debounce.Group
	aside      aside
	buffers    sync.Pool     // of *[]byte, for requests
	slots      chan struct{} // one place for each request at once
}

// New checks the options and makes a Proxy. Nothing is contacted.
func New(o Options) (*Proxy, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("new LLM proxy: %w", err)
	}
	p := &Proxy{
		o: o, waiter: waiting.New(o.Monitor, o.Feed), upstreams: map[string]*upstream{}, cache: format.NewCache(o.Limits.Prefixes),
		callers: newCallers(o.Tokens), slots: make(chan struct{}, o.MaxConcurrent),
	}
	for _, u := range o.Upstreams {
		made, err := newUpstream(u, o.Limits)
		if err != nil {
			return nil, fmt.Errorf("new LLM proxy: %w", err)
		}
		if u.Handshake && o.Handshake == nil {
			return nil, fmt.Errorf("new LLM proxy: upstream %s wants a handshake and nobody signs one", u.Name)
		}
		p.upstreams[made.prefix] = made
	}
	tried, err := newUpstream(Upstream{Name: CanaryUpstream, API: "openai", BaseURL: "http://canary.invalid", Key: "canary"}, o.Limits)
	if err != nil {
		return nil, fmt.Errorf("new LLM proxy: %w", err)
	}
	tried.transport = canary{}
	p.upstreams[tried.prefix] = tried
	p.flushes = debounce.New(flushAfter, p.flush)
	if p.sameOrigin, err = sameorigin.New(o.Hosts); err != nil {
		return nil, fmt.Errorf("new LLM proxy: %w", err)
	}
	if p.metrics, err = newMetrics(o.Metrics); err != nil {
		return nil, fmt.Errorf("new LLM proxy: %w", err)
	}
	return p, nil
}

// Handler serves the proxy's paths and leaves all others to next.
func (p *Proxy) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, rest := p.find(r.URL.Path); u != nil {
			p.serve(w, r, u, rest)
			return
		}
		if api := lost(r.URL.Path); api != format.None {
			p.nowhere(w, r, api)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// nowhere answers it, and says what there is.
func (p *Proxy) nowhere(w http.ResponseWriter, r *http.Request, api format.API) {
	if refused := p.sameOrigin.Check(r); refused != nil {
		newProblem(refused.Status, refused.Text).write(w, api)
		return
	}
	if who, no := p.callers.find(r); no != nil || p.o.RequireToken && !who.trusted {
		newProblem(http.StatusUnauthorized, whyToken).write(w, api) // strangers are not told what there is
		return
	}
	var names []string
	for prefix := range p.upstreams {
		names = append(names, "/"+prefix)
	}
	slices.Sort(names)
	newProblem(http.StatusNotFound, "there is no upstream of that name; there are "+strings.Join(names, ", ")+
		" (llm.upstreams in the policy file adds others)").write(w, api)
}

// Close writes what waits to be recorded, and lets go of idle connections.
func (p *Proxy) Close() {
	p.flushes.Close()
	for _, u := range p.upstreams {
		if t, ok := u.transport.(*http.Transport); ok {
			t.CloseIdleConnections()
		}
	}
}

// find is the upstream of a path, and what of the path is the upstream's own.
func (p *Proxy) find(path string) (*upstream, string) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if first == "llm" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		first = "llm/" + name
	}
	return p.upstreams[first], "/" + rest
}
