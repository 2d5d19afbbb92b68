package hook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultLimit is how long a handler may take where nothing else is said.
const DefaultLimit = 2 * time.Second

// Func handles a hook that may change what happens. A nil result is "no change".
// It must not change the event's messages nor keep them after it returned.
type Func[E, R any] func(ctx context.Context, event *E, c *Context) (*R, error)

// Observer handles a hook that only tells.
type Observer[E any] func(ctx context.Context, event *E, c *Context) error

// Handlers are the functions of one plugin; nil means the plugin does not care.
type Handlers struct {
	MessageReceived    Observer[MessageReceived]
	BeforeAgentStart   Func[BeforeAgentStart, BeforeAgentStartResult]
	ContextAssembled   Observer[ContextAssembled]
	LoopIterationStart Observer[LoopIterationStart]
	BeforeLLMCall      Func[BeforeLLMCall, BeforeLLMCallResult]
	AfterLLMCall       Func[AfterLLMCall, AfterLLMCallResult]
	BeforeToolCall     Func[BeforeToolCall, BeforeToolCallResult]
	AfterToolCall      Observer[AfterToolCall]
	ToolResultPersist  Func[ToolResultPersist, ToolResultPersistResult]
	LoopIterationEnd   Observer[LoopIterationEnd]
	BeforeResponseEmit Func[BeforeResponseEmit, BeforeResponseEmitResult]
	MessageSending     Func[MessageSending, MessageSendingResult]
	AgentEnd           Observer[AgentEnd]
}

// Handler is one plugin's registration.
type Handler struct {
	Name     string // of the plugin; unique on a bus
	Priority int    // higher runs first; ties in order of registration
	// FailOpen marks an observer: where it cannot answer it is skipped and the fault
	// reported. Without it the plugin fails closed: no answer means no.
	FailOpen bool
	Limit    time.Duration // per call; 0 is the bus's
	On       Handlers
}

// Options configure a Bus.
type Options struct {
	Limit   time.Duration // default time limit of a handler; 0 is DefaultLimit
	Logger  *slog.Logger  // gets every fault; nil is slog.Default
	OnFault func(Fault)   // called with every fault besides, on the caller's goroutine
}

// Bus runs the handlers of all plugins. It is safe for concurrent use; handlers may
// be registered while it runs and take part in dispatches that start afterwards.
type Bus struct {
	limit   time.Duration
	logger  *slog.Logger
	onFault func(Fault)

	table atomic.Pointer[table] // never changed in place

	mu sync.Mutex // serialises Register
}

// New makes a bus without handlers.
func New(o Options) *Bus {
	b := &Bus{limit: o.Limit, logger: o.Logger, onFault: o.OnFault}
	if b.limit <= 0 {
		b.limit = DefaultLimit
	}
	if b.logger == nil {
		b.logger = slog.Default()
	}
	b.table.Store(&table{})
	return b
}

// Register adds a plugin.
func (b *Bus) Register(h Handler) error {
	switch {
	case h.Name == "":
		return errors.New("register handler: no name")
	case h.Limit < 0:
		return fmt.Errorf("register handler %q: negative time limit %v", h.Name, h.Limit)
	case len(h.On.names()) == 0:
		return fmt.Errorf("register handler %q: it handles no hook", h.Name)
	}
	p := &plugin{name: h.Name, priority: h.Priority, failClosed: !h.FailOpen, limit: h.Limit}
	if p.limit == 0 {
		p.limit = b.limit
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.table.Load()
	if slices.Contains(old.plugins, h.Name) {
		return fmt.Errorf("register handler %q: name is taken", h.Name)
	}
	b.table.Store(old.with(p, &h.On))
	return nil
}

// Handles reports whether anybody handles the hook, so that a door need not build
// an event for nobody.
func (b *Bus) Handles(n Name) bool { return slices.Contains(b.table.Load().handled, n) }

// Fault is something a handler did wrong. Err has one of this package's sentinels in
// it, or the handler's own error.
type Fault struct {
	Hook       Name
	Plugin     string
	FailClosed bool
	Err        error
	Stack      []byte // after a panic
}

// What a fault can be, besides a handler's own error.
var (
	ErrTimeLimit = errors.New("time limit passed")
	ErrPanic     = errors.New("handler panicked")
	ErrStuck     = errors.New("too many earlier calls still hang")
	ErrResult    = errors.New("result cannot be used")
	ErrWidens    = errors.New("result would widen") // the widening part was dropped, the rest applied
)

func (b *Bus) report(ctx context.Context, hook Name, p *plugin, err error) {
	f := Fault{Hook: hook, Plugin: p.name, FailClosed: p.failClosed, Err: err}
	var crash *panicError
	if errors.As(err, &crash) {
		f.Stack = crash.stack
	}
	attrs := []slog.Attr{
		slog.String("hook", string(hook)), slog.String("plugin", p.name),
		slog.Bool("failClosed", p.failClosed), slog.String("error", err.Error()),
	}
	if f.Stack != nil {
		attrs = append(attrs, slog.String("stack", string(f.Stack)))
	}
	b.logger.LogAttrs(ctx, slog.LevelWarn, "hook handler fault", attrs...)
	if b.onFault != nil {
		b.onFault(f)
	}
}
