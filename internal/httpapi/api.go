// Package httpapi is the HTTP door: one POST per hook of the agent loop, and the
// management API that people and tools use to look at sessions, answer questions and
// read the log.
//
// It does I/O (it serves HTTP) and starts one goroutine, while somebody watches events. Only the app may import it.
//
// Invariants:
//   - every route names the roles it admits; one that names none admits administrators only;
//   - whoever does not see every session reaches only routes that say what they show, and is shown nothing of the others;
//   - a hook that gates never answers "go on" without a redeemed permit or the monitor's
//     word, and a failure on it carries the fields that block;
//   - what a plugin on the bus changes is shown to the monitor, whose answer comes last;
//   - an error of a kind nobody foresaw shows nothing of the inside;
//   - a reader of the event stream never holds up a decision.
package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/alarm"
	"github.com/tidemark/tidemark/internal/base/sameorigin"
	"github.com/tidemark/tidemark/internal/claims"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/handles"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/people/policyfile"
	"github.com/tidemark/tidemark/internal/people/sight"
	"github.com/tidemark/tidemark/internal/people/signin"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/reports/definitions"
	"github.com/tidemark/tidemark/internal/reports/tally"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/waiting"
)

// DefaultMaxBody bounds a request body where nothing else is said.
const DefaultMaxBody = 8 << 20

// Index finds sessions, turns and records in the log.
type Index interface {
	Sessions(ctx context.Context, q store.SessionQuery) ([]store.Session, error)
	Turns(ctx context.Context, session string) ([]store.Turn, error)
	Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error)
}

// Ledger says where the log stands and whether it is whole.
type Ledger interface {
	Head(ctx context.Context) (store.Head, error)
	Verify(ctx context.Context, progress func(done, total int64)) (store.Report, error)
	Ping(ctx context.Context) error
}

// Log is what the management API reads.
type Log interface {
	Index
	Ledger
}

// Options are what the API needs. Monitor, Log, Feed, Bus, Tokens and Logger are required.
type Options struct {
	Monitor *engine.Monitor
	Log     Log
	Feed    *notify.Store // the store the monitor writes to
	Bus     *hook.Bus
	Tokens  Tokens
	// Reload reads the policy again and puts it in force; on an error the old one must
	// stay. The error's text is shown to the administrator. Nil: it cannot be reloaded.
	Reload func(ctx context.Context) (warnings []string, err error)
	// Judges says which policy is in force and where it came from; nil: nobody knows.
	Judges func() any
	// Alarms are what was noticed about hosts, and are taken away by people who have seen them; nil: nobody looks.
	Alarms *alarm.Book
	// Status tells whether those outside can be reached; nil: there are none.
	Status func(ctx context.Context) any
	// Verified tells what an external verifier would do about a tool; nil: there is none.
	Verified func(agent, tool string) any
	// Greet signs the line by which a host's plugin shows the LLM proxy that it is alive in
	// a session; nil: nobody wants one.
	Greet func(session string) string
	// People are those with a token of their own; nil: there are none, and none can be added.
	People *accounts.Roster
	// SignIn lets people in at the console; nil: there is none.
	SignIn *signin.Desk
	// Console is the address of the console, once it is known.
	Console func() string
	// Ruled says that the file names whose approval counts: then a host's own dialog, which does
	// not know who answers, is none.
	Ruled bool
	// Proof says what approving takes besides a token: passkey, typed, or nothing. nil: nothing, ever.
	Proof func() string
	// Try decides one call and records nothing; nil: this server tries none.
	Try func(ctx context.Context, t policyfile.Trial) (policyfile.Tried, error)
	// Policy is the policy as a text; without all of it the policy is managed elsewhere.
	Policy policyfile.PolicyFile
	// Prove checks what somebody typed who wants what said says, where a proof is required, and records
	// it; nil: what takes a proof cannot be done here.
	Prove func(ctx context.Context, by, said, secret string) error
	// Claims is told of the calls that hosts were let run, for the MCP gateway; nil: nobody is.
	Claims *claims.Book
	// Counts are what reports are made from; nil: some of its own, which no restart outlives.
	Counts *tally.Tally
	// Pins knows the definitions of MCP servers; nil: nobody keeps them.
	Pins *pins.Keeper
	// Peers knows the processes behind connections; nil: nobody can look at them, and an agent's hooks are taken at their word.
	Peers Peers
	// Pulse is told of each call that is asked about, and where the host keeps its record; nil: nobody looks at that.
	Pulse Pulse
	// Kept are results that are kept from agents; nil: every result is shown.
	Kept *handles.Desk
	// Readings are questions for agents whose own model reads for them; nil: no agent's does.
	Readings Readings
	// Sees says what somebody, as the log names them, may look into; nil: everything.
	Sees func(by string) sight.Sight
	// Unheld says that words count in sessions that nobody asked a ticket for, as they did before there were tickets.
	Unheld  bool
	Logger  *slog.Logger
	Now     func() time.Time     // nil is time.Now
	Metrics *prometheus.Registry // nil is one of its own
	MaxBody int64                // bytes; 0 is DefaultMaxBody
	At      func() string        // the address that was announced; nil: none was
	Afar    Afar                 // how it is reached from other machines; zero: it is not
	Joins   Joins                // lets other machines join; nil: none may
	Hosts   []string             // names besides the loopback ones that clients may use
	Version string               // of the program, for the API document
}

func (o *Options) check() error {
	switch {
	case o.Monitor == nil:
		return errors.New("no monitor")
	case o.Log == nil:
		return errors.New("no log")
	case o.Feed == nil:
		return errors.New("no feed")
	case o.Bus == nil:
		return errors.New("no bus")
	case o.Logger == nil:
		return errors.New("no logger")
	case o.MaxBody < 0:
		return fmt.Errorf("body limit of %d bytes", o.MaxBody)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	if o.MaxBody == 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.At == nil {
		o.At = func() string { return "" }
	}
	if o.Version == "" {
		o.Version = "0"
	}
	if o.Counts == nil {
		o.Counts = tally.New(o.Log, "", nil)
	}
	return nil
}

// API serves the hooks and the management API. It is safe for concurrent use.
type API struct {
	monitor *engine.Monitor
	log     Log
	counts  *tally.Tally
	feed    *notify.Store
	waiter  *waiting.Waiter
	bus     *hook.Bus
	reload  func(ctx context.Context) ([]string, error)
	judges  func() any
	status  func(ctx context.Context) any
	alarms  *alarm.Book
	covered func(agent, tool string) any
	greet   func(session string) string
	desk    *signin.Desk
	console func() string
	ruled   bool
	wants   func() string // what approving takes besides a token
	try     func(ctx context.Context, t policyfile.Trial) (policyfile.Tried, error)
	text    policyfile.PolicyFile // the policy as a text
	prove   func(ctx context.Context, by, said, secret string) error
	claims  *claims.Book
	pins    *pins.Keeper
	history *definitions.Book // how tools came to be described as they are
	peers   Peers
	pulse   Pulse
	unheld  bool
	sees    func(by string) sight.Sight
	asks    Readings
	kept    *handles.Desk
	logger  *slog.Logger
	now     func() time.Time
	maxBody int64
	version string
	started time.Time
	hosts   hosts

	keys       keyring
	at         func() string
	afar       Afar
	sameOrigin *sameorigin.Guard
	routes     *routes
	hooks      map[hook.Name]handler
	metrics    *metrics
	buffers    buffers
	tail       *tail
	queue      *waiting.Queue

	keepAlive time.Duration // between two signs of life on an idle event stream
}

// New checks the options and makes an API.
func New(o Options) (*API, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("new HTTP API: %w", err)
	}
	keys, err := newKeyring(o.Tokens, o.People)
	if err != nil {
		return nil, fmt.Errorf("new HTTP API: %w", err)
	}
	keys.joins = o.Joins
	g, err := sameorigin.New(o.Hosts)
	if err != nil {
		return nil, fmt.Errorf("new HTTP API: %w", err)
	}
	a := &API{
		monitor: o.Monitor, log: o.Log, counts: o.Counts, feed: o.Feed, waiter: waiting.New(o.Monitor, o.Feed), bus: o.Bus,
		reload: o.Reload, judges: o.Judges, status: o.Status, alarms: o.Alarms,
		covered: o.Verified, greet: o.Greet, desk: o.SignIn, console: o.Console,
		wants: wantsOf(o.Proof), claims: o.Claims, pins: o.Pins, ruled: o.Ruled, try: o.Try, text: o.Policy, prove: o.Prove,
		peers: o.Peers, pulse: o.Pulse, unheld: o.Unheld, sees: o.Sees, asks: o.Readings, kept: o.Kept,
		logger: o.Logger, now: o.Now, maxBody: o.MaxBody, keys: keys, sameOrigin: g, keepAlive: keepAlive,
		version: o.Version, started: o.Now(), at: o.At, afar: o.Afar,
	}
	a.history = definitions.New(o.Log)
	a.tail, a.queue = newTail(o.Log, o.Feed), waiting.NewQueue(o.Monitor, o.Feed, o.Now)
	a.hooks = a.handlers()
	if a.metrics, err = newMetrics(o.Metrics, o.Monitor, o.Feed); err != nil {
		return nil, fmt.Errorf("new HTTP API: %w", err)
	}
	a.routes = a.newRoutes(o)
	return a, nil
}

// Handler is what to serve. Event streams end with their request's context.
func (a *API) Handler() http.Handler { return http.HandlerFunc(a.serve) }
