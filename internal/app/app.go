// Package app wires the parts together: it opens the log, reads the policy, starts
// the server and stops it again. Only cmd imports it, and only it imports adapters.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/agents/pulse"
	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/base/alarm"
	"github.com/tidemark/tidemark/internal/base/bodypace"
	"github.com/tidemark/tidemark/internal/base/build"
	"github.com/tidemark/tidemark/internal/base/debounce"
	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/claims"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/external/anchors"
	"github.com/tidemark/tidemark/internal/handles"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/llm/proxy"
	"github.com/tidemark/tidemark/internal/machines"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/people/channels"
	"github.com/tidemark/tidemark/internal/people/signin"
	"github.com/tidemark/tidemark/internal/people/webpush"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/policies"
	"github.com/tidemark/tidemark/internal/reports/tally"
	"github.com/tidemark/tidemark/internal/services"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/store/patient"
	"github.com/tidemark/tidemark/internal/store/postgres"
)

// Options say what to run.
type Options struct {
	Paths  datafolder.Paths
	Listen string // overrides the file's; "" for the file's or the default
	Plain  bool   // as the file's server.plain
	// Upstreams overrides where models are asked, by the upstream's name.
	Upstreams map[string]string
	Logger    *slog.Logger
}

// App is a server that can be started and stopped. New opens everything but listens on
// nothing; Stop is safe at any point, also after a New that failed half-way.
type App struct {
	Tokens    accounts.Tokens
	NewTokens bool // made by this start
	Monitor   *engine.Monitor

	opts      Options
	config    *config.Config
	held      *os.File // the data folder is ours while it is open
	log       installation.KeptLog
	patient   *patient.Store  // the log again, as decisions wait for it
	counts    *tally.Tally    // of the log, for reports
	shared    *postgres.Store // the log again, where other servers write it too; nil: none does
	external  *services.Set
	plugins   plugins // those that ship and are switched on
	server    *http.Server
	proxy     *proxy.Proxy
	keys      *approvalproof.Keeper
	desk      *signin.Desk
	people    *accounts.Roster // those with a token of their own
	push      *webpush.Sender  // tells browsers; nil: none are told
	kept      *handles.Desk    // results that are kept from agents
	claims    *claims.Book     // what other doors let through, for the MCP gateway
	pins      *pins.Keeper     // what MCP servers looked like when they were accepted
	shown     *debounce.Group  // writes what sessions were shown through the MCP gateway
	written   keeper           // what models and tools wrote, for the proxy
	greeting  *proxy.Handshake // signs the lines that plugins show upstreams which want one
	listener  net.Listener
	network   *machines.Network
	running   datafolder.Running
	unshown   bool                   // this start made the token file, and nobody has seen what is in it
	pulse     pulse.Book             // which hosts still ask
	alarms    alarm.Book             // what people must know of them
	moved     func()                 // wakes the channels
	announced atomic.Pointer[string] // where it listens; requests come while it starts
	seen      policies.Look          // how the policy file looked before it was read
	policy    *policies.Keeper
	stopped   sync.Once
	stopErr   error
	cancel    context.CancelFunc
	alone     context.CancelFunc // ends what goes on beside other servers; nil: nothing does
	pruned    context.CancelFunc // ends the pruning of the log; nil: it is not pruned
	anchors   *anchors.Writer    // writes the head of the log down elsewhere; nil: nobody does
	unanchor  context.CancelFunc // ends that
	anchoring sync.WaitGroup
	sharing   sync.WaitGroup
}

// New reads the policy and opens the log.
func New(ctx context.Context, o Options) (*App, error) {
	if o.Logger == nil {
		return nil, errors.New("new app: no logger")
	}
	seen := policies.LookAt(o.Paths.Config) // before it is read: a change in between is noticed
	cfg, warnings, err := load.Read(o.Paths.Config)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		o.Logger.Warn("policy", "fault", w.Error())
	}
	if err := o.Paths.Create(); err != nil {
		return nil, err
	}
	if err := o.Paths.Guarded(o.Logger); err != nil {
		return nil, err
	}
	if away, _, err := datafolder.JoinedTo(o.Paths); err != nil || away != nil {
		return nil, errors.Join(err, datafolder.JoinedElsewhere(away))
	}
	a := &App{
		opts: o, config: cfg, seen: seen,
		pulse: pulse.Book{Unbox: shim.Unboxed(o.Paths.Data)},
	}
	if err := a.open(ctx); err != nil {
		return nil, errors.Join(err, a.Stop(ctx))
	}
	return a, nil
}

func (a *App) open(ctx context.Context) error {
	var err error
	if a.held, err = datafolder.Lock(a.opts.Paths); err != nil {
		return err
	}
	if err := datafolder.TakeSecrets(os.Getenv(datafolder.SecretsVariable), a.opts.Paths); err != nil {
		return err
	}
	if err := a.openTokens(); err != nil {
		return err
	}
	key, err := datafolder.LoadKey(a.opts.Paths.Key())
	if err != nil {
		return err
	}
	if err := a.openStore(ctx, key); err != nil {
		return err
	}
	if a.external, err = services.Open(a.redirected(), services.FilesOf(a.opts.Paths), a.opts.Logger); err != nil {
		return err
	}
	a.counts = tally.New(a.proven(), a.opts.Paths.Counts(), installation.CountsKey(key))
	f := notify.New(a.patient)
	if a.shared != nil {
		if err := postgres.CheckKey(ctx, a.shared, key, a.opts.Paths.Key()); err != nil {
			return err
		}
	}
	if a.network, err = machines.Open(a.opts.Paths.Data, a.config.Server); err != nil {
		return err
	}
	if err := a.openPeople(ctx, f); err != nil {
		return err
	}
	if err := a.openMonitor(f, key); err != nil {
		return err
	}
	bus, err := newBus(a.config, a.opts.Logger)
	if err != nil {
		return err
	}
	if err := a.openPlugins(ctx, bus, f, key); err != nil {
		return err
	}
	if err := a.openDoors(f, bus, key); err != nil {
		return err
	}
	if err := installation.Recall(ctx, a.log, a.Monitor, a.opts.Logger); err != nil {
		return err
	}
	a.startRetention()
	a.external.Warm()
	if err := a.startAnchors(key); err != nil {
		return err
	}
	return a.startPeople(f)
}

// openDoors makes what agents and people speak to.
func (a *App) openDoors(f *notify.Store, bus *hook.Bus, key []byte) error {
	metrics := prometheus.NewRegistry()
	a.claims = claims.New(time.Now)
	a.kept = &handles.Desk{Monitor: a.Monitor}
	if a.external.Extracts != nil {
		a.kept.Reader = a.external.Extracts
	}
	var err error
	if a.proxy, err = a.openLLM(f, bus, metrics, key); err != nil {
		return err
	}
	people, err := a.openConsole(f, key)
	if err != nil {
		return err
	}
	api, err := a.openAPI(f, bus, metrics)
	if err != nil {
		return err
	}
	agents, err := a.openMCP(f, bus, api.Handler())
	if err != nil {
		return err
	}
	a.server = &http.Server{
		Handler:           bodypace.Handler(split(people, a.external.Answers(a.proxy.Handler(agents))), bodypace.Usual),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(a.opts.Logger.Handler(), slog.LevelDebug),
	}
	return nil
}

// startPeople begins to bring questions to people. Of several servers of one log one does: each
// person is asked once.
func (a *App) startPeople(f *notify.Store) error {
	a.moved = f.QuestionsMoved
	r := channels.Needs{Keys: a.keys, Link: a.questionURL, Who: &a.config.Approvals.Who, Pins: a.pins, Alarms: &a.alarms}
	if err := a.external.PerServer.Start(context.Background(), a.Monitor, f, r, a.opts.Logger); err != nil {
		return err
	}
	if a.shared == nil {
		return a.external.Channels.Start(context.Background(), a.Monitor, f, r, a.opts.Logger)
	}
	ctx, cancel := context.WithCancel(context.Background()) //nolint:gosec // Close calls it
	a.alone = cancel
	a.sharing.Go(func() { a.listen(ctx, f) })
	if len(a.external.Channels.List) == 0 {
		return nil
	}
	a.sharing.Go(func() {
		a.shared.Lease(ctx, "channels", func(held context.Context) {
			if err := a.external.Channels.Start(held, a.Monitor, f, r, a.opts.Logger); err != nil {
				a.opts.Logger.Error("questions do not reach people", "error", err)
			}
			<-held.Done()
			a.external.Channels.ShutDown()
		}, func(err error) { a.opts.Logger.Warn("channels wait for the database", "error", err) })
	})
	return nil
}

// openMonitor makes the engine, with the policy that only looks on beside the one in force.
func (a *App) openMonitor(f *notify.Store, key []byte) (err error) {
	var shared engine.Shared
	if a.shared != nil {
		shared = a.patient.Shared(a.shared)
	}
	opts := engine.Options{Store: f, Key: key, Prover: a.keys, Shared: shared}
	if err := a.openCheckpoints(&opts); err != nil {
		return err
	}
	a.external.Advise(&opts)
	if a.Monitor, err = installation.NewMonitor(a.config, opts); err != nil {
		return err
	}
	a.policy = policies.New(a.opts.Paths, a.config, a.seen, policies.Options{
		Monitor: a.Monitor, Log: a.log, Tell: a.tellPolicy, Logger: a.opts.Logger,
		Unproven: func() bool { return a.keys.Required() == approvalproof.None },
	})
	candidate, err := load.Shadow(a.opts.Paths.Config, a.config)
	a.Monitor.SetShadow(candidate)
	return err
}

// openPeople reads what people have settled: their keys and tokens, and which definitions they accepted.
func (a *App) openPeople(ctx context.Context, f *notify.Store) (err error) {
	if a.keys, err = installation.Keys(ctx, a.config, f, a.shared != nil); err != nil {
		return err
	}
	if err := a.openPush(); err != nil {
		return err
	}
	if a.people, err = installation.Roster(a.opts.Paths, a.keys, a.left); err != nil {
		return err
	}
	a.pins, err = installation.Pins(ctx, f, installation.PinMode(a.config), a.shared != nil)
	return err
}

// openAPI makes the HTTP door and the management API.
func (a *App) openAPI(f *notify.Store, bus *hook.Bus, metrics *prometheus.Registry) (*httpapi.API, error) {
	t := a.Tokens
	api, err := httpapi.New(httpapi.Options{
		Monitor: a.Monitor, Log: a.proven(), Counts: a.counts, Feed: f, Bus: bus, Logger: a.opts.Logger, Now: time.Now,
		Tokens: httpapi.Tokens{Agent: t.Agent, Reader: t.Reader, Owner: t.Owner, Approver: t.Approver, Admin: t.Admin},
		Peers:  peersFor(a.opts.Paths), Pulse: &a.pulse, Readings: a.external.Readings(),
		Kept: a.kept, Unheld: a.unheld(),
		Reload: a.policy.Reload, Judges: func() any { return a.policy.Judges() },
		Status: a.status, Alarms: &a.alarms, Verified: a.verified,
		Hosts: a.config.Server.Hosts(), MaxBody: a.config.Server.MaxBody, Version: build.Version(),
		Metrics: metrics, Claims: a.claims, Pins: a.pins, Greet: a.greet(), At: a.at, Afar: a.network.Afar(),
		Joins:  machines.Joins{Network: a.network, Proofs: a.keys, People: a.people},
		People: a.people, SignIn: a.desk, Console: a.consoleURL,
		Try: a.policy.Try, Policy: a.policy.File(), Prove: a.prove,
		Ruled: len(a.config.Approvals.Who.List) > 0, Sees: a.config.Approvals.Who.Sees,
		Proof: func() string { return string(a.keys.Required()) },
	})
	if err != nil {
		return nil, fmt.Errorf("open door: %w", err)
	}
	return api, nil
}

// Reload reads the policy file again.
func (a *App) Reload(ctx context.Context) ([]string, error) { return a.policy.Reload(ctx) }

// Status says of everybody the monitor asks whether they can be reached.
func (a *App) Status(ctx context.Context) []services.Part {
	return append(a.external.Status(ctx), a.anchored()...)
}

func (a *App) status(ctx context.Context) any { return a.Status(ctx) }

// verified says what the verifier would do about a tool; nil: there is none.
func (a *App) verified(agent, tool string) any {
	if a.external.Verifier == nil {
		return nil
	}
	return a.external.Verifier.Explain(agent, tool)
}

// Start listens and serves in the background. It returns the address it listens on.
func (a *App) Start(ctx context.Context) (string, error) {
	var err error
	if a.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", a.address()); errors.Is(err, syscall.EADDRINUSE) {
		return "", fmt.Errorf("listen: %w (another program has that port; tidemark serve --listen ADDRESS takes another)", err)
	} else if err != nil {
		return "", fmt.Errorf("listen: %w", err)
	}
	if tcp, ok := a.listener.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() && !a.opts.Plain && !a.config.Server.Plain {
		l := a.listener
		a.listener = nil
		return "", errors.Join(machines.PlainError(tcp.String()), l.Close())
	}
	a.running = datafolder.Running{URL: "http://" + a.listener.Addr().String(), Life: serverproof.Own()}
	a.announced.Store(&a.running.URL)
	a.Monitor.SetStation(a.station())
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a.cancel = cancel
	a.server.BaseContext = func(net.Listener) context.Context { return base }
	if err := a.network.Listen(ctx); err != nil {
		return "", errors.Join(err, a.listener.Close())
	}
	a.keys.SetOrigins(a.origins())
	if err := datafolder.Announce(a.opts.Paths, a.running); err != nil {
		return "", errors.Join(err, a.listener.Close(), a.network.Close())
	}
	if err := a.listenForHooks(base); err != nil {
		a.opts.Logger.Warn("hooks have no socket of their own and cannot show whose they are", "error", err)
	}
	a.network.Serve(a.server, a.opts.Logger)
	a.unshown = false // the caller shows them
	now := a.policy.Judges()
	a.opts.Logger.Info("policy in force", "version", now.Version, "from", policies.Source(now.File))
	go a.policy.Watch(base, time.Tick(policies.WatchEvery))
	go a.watchHosts().Run(base, time.Tick(pulse.Every))
	if a.shared != nil { // a probe of a file would wake the disk of a machine that has nothing to do
		go a.patient.Watch(base, watchStore)
	}
	go func() {
		if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
			a.opts.Logger.Error("serve", "error", err)
		}
	}()
	return a.running.URL, nil
}

// ServeAside starts a server for a trial, on a port of its own and without a word.
func ServeAside(ctx context.Context, p datafolder.Paths) (url, token string, stop func(context.Context) error, err error) {
	a, err := New(ctx, Options{Paths: p, Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return "", "", nil, err
	}
	if url, err = a.Start(ctx); err != nil {
		return "", "", nil, errors.Join(err, a.Stop(ctx))
	}
	return url, a.Tokens.Agent, a.Stop, nil
}

// at is the address as it was announced, by which clients know that nobody stands between.
func (a *App) at() string {
	if url := a.announced.Load(); url != nil {
		return *url
	}
	return ""
}

// station is where the monitor stands, for those who must not reach it.
func (a *App) station() engine.Station {
	s := engine.Station{PID: strconv.Itoa(os.Getpid())}
	for _, path := range []string{a.opts.Paths.Data, a.opts.Paths.Config} {
		s.Data = append(s.Data, datafolder.Spellings(path)...)
	}
	if home, err := os.UserHomeDir(); err == nil {
		s.Home = home
	}
	if tcp, ok := a.listener.Addr().(*net.TCPAddr); ok {
		s.Port = strconv.Itoa(tcp.Port)
	}
	return s
}

// Stop ends the server and closes the log. Calls under way may finish first.
func (a *App) Stop(ctx context.Context) error {
	a.stopped.Do(func() {
		var errs []error
		if a.listener != nil {
			datafolder.Withdraw(a.opts.Paths, a.running)
			a.cancel() // event streams end; they would hold the shutdown up
			errs = append(errs, a.server.Shutdown(ctx))
		}
		if a.proxy != nil {
			a.proxy.Close()
		}
		if a.shown != nil {
			a.shown.Close()
		}
		if a.written != nil {
			errs = append(errs, a.written.Close())
		}
		for _, end := range []context.CancelFunc{a.alone, a.pruned} {
			if end != nil {
				end()
			}
		}
		a.sharing.Wait()
		if a.counts != nil {
			errs = append(errs, a.counts.Save(ctx))
		}
		if a.unanchor != nil {
			a.unanchor() // it writes where the log stands in the end
			a.anchoring.Wait()
		}
		if a.external != nil {
			errs = append(errs, a.external.Close(ctx))
		}
		errs = append(errs, a.plugins.close())
		if a.patient != nil {
			a.patient.Close()
		}
		if a.log != nil {
			errs = append(errs, a.log.Close())
		}
		if a.unshown { // a start that failed: the next one makes tokens and shows them
			errs = append(errs, os.Remove(a.opts.Paths.Tokens()))
		}
		if a.held != nil {
			errs = append(errs, a.held.Close()) // last: who comes next finds everything closed
		}
		a.stopErr = errors.Join(errs...)
	})
	return a.stopErr
}
