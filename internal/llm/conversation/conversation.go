// Package conversation follows conversations through requests that each repeat the whole of one.
//
// Every message is known by its content. A request is a path through what is known; where
// it leaves it, the rest is new. What a context is worth is the join over its messages: the
// user's own words, what tools brought, what models wrote with all that before them. So
// branches, edits, retries and sub-agents fall out by themselves, and none of them carries
// more or less than it holds.
//
// Invariants:
//   - the branch a request is put in is at least as distrusted as everything in the request,
//     but for what stands before the owner's own word that resets trust;
//   - only text of a user's message that no harness, no tool and no model wrote is the
//     user's words;
//   - instructions are the operator's as far as a conversation began with them or the operator
//     vouches for them, and what tools and models wrote is theirs there too;
//   - what is forgotten counts as anybody's, for the tenant that forgot it alone;
//   - text of a model or a tool that nobody saw being made is untrusted;
//   - a picture or a file that the provider fetches is a third party's;
//   - conversations of different tenants never meet.
//
// It keeps bounded memory, does no I/O of its own and starts nothing; the log it reads
// back after a restart is the monitor's, and what models and tools wrote its keeper's.
package conversation

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/tidemark/tidemark/internal/agents/harness"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Caller is who sends a request, as far as credentials and headers tell.
type Caller struct {
	Tenant      string // conversations of different tenants never meet
	Session     string // the conversation's name, where the client gives one; scoped by Tenant unless Trusted
	Trusted     bool   // may name any session: Session is one of the monitor's as it stands
	HostReports bool   // the host reports its turns and results to the monitor itself, besides
	Agent       string // the harness, where it is known
	Owner       bool   // user messages are the owner's
	Child       bool   // the client says that a sub-agent speaks
	Parent      string // its session, where the client names it

	Keeps Keeping // results are kept from its model; nil: it reads them
}

// Monitor is what the follower reports to: all of it again with each request, so that what is written may wait for the next record.
type Monitor interface {
	Begin(ctx context.Context, t engine.Turn, how ...engine.RecordOption) (engine.Opening, error)
	Observe(ctx context.Context, o engine.Observation, how ...engine.RecordOption) (trust.Label, error)
	Taint(ctx context.Context, ref engine.Ref) (trust.Label, error)
	Open(ctx context.Context, ref engine.Ref) (bool, error)
	Recall(ctx context.Context, session string, visit func(engine.Recalled)) error
}

// Options are what a Follower needs besides the monitor. The zero Options do.
type Options struct {
	// Limit is how many messages are remembered; 0 is 200,000.
	Limit int
	// Markers enclose what harnesses write into user messages, besides those we know.
	Markers []harness.Marker
	// Instructions are the operator's whenever they come, line by line.
	Instructions []string
	// Commands says that chat commands in user messages are carried out. Whoever can reach
	// the proxy with the client's key can then speak as the owner, the agent's own shell too.
	Commands bool
	// Key is what hashes are made under. Without one nothing that was kept is known again.
	Key []byte
	// Keeper holds what models and tools wrote, in hashes, beyond the life of the process; nil:
	// it is forgotten with it.
	Keeper Keeper
	// Names turns a harness's name of a tool and its arguments into ours; nil: they are.
	Names func(agent, name string, args []byte) (string, []byte)
	// HostTools are a harness's own tools that work where it runs, by our names; nil: of no
	// harness is it known.
	HostTools func(agent string) []string
	// ControlTools are those by which a harness steers itself, by our names; nil: of no harness is it known.
	ControlTools func(agent string) []string
}

const defaultLimit = 200_000

// Follower follows the conversations of all tenants. It is safe for concurrent use.
type Follower struct {
	monitor  Monitor
	limit    int
	markers  []harness.Marker
	names    func(agent, name string, args []byte) (string, []byte)
	hosts    func(agent string) []string
	controls func(agent string) []string
	plain    bool // no commands
	keys     *keyed
	given    map[uint64]bool // lines of instructions that the operator vouches for
	keeper   Keeper          // nil: none
	total    atomic.Int64    // runs of all tenants
	lost     bool            // not all of what was kept is there

	hearing  sync.Mutex // held while what other servers noted is taken in; before mu
	mu       sync.Mutex
	sessions generations[sessionKey, *session]     // guarded by mu
	places   generations[placeKey, *session]       // guarded by mu; where a message was seen
	pasts    generations[uint64, *past]            // guarded by mu; what tenants' models and tools wrote
	recalled map[uint64]*past                      // guarded by mu; likewise, of tenants that have not come yet
	answers  generations[answerKey, answer]        // guarded by mu; answers by their id, or their conversation's
	owed     generations[answerKey, []format.Owed] // guarded by mu; refused calls by the id of their answer, or the conversation's
	nodes    int                                   // guarded by mu; in all sessions, about
}

type (
	sessionKey struct{ tenant, name string }
	answerKey  struct{ tenant, id string }
	placeKey   struct {
		place  string
		digest tool.Digest
	}
	// answer is what a client can go on from by its id.
	answer struct {
		node  *node       // the request
		label trust.Label // of everything the model had, tools of the provider's included
	}
)

// New makes a Follower.
func New(m Monitor, o Options) *Follower {
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	f := &Follower{
		monitor: m, limit: o.Limit, markers: append(harness.Known(), o.Markers...), names: o.Names, hosts: o.HostTools,
		controls: o.ControlTools, plain: !o.Commands,
		keys: newKeyed(o.Key), keeper: o.Keeper, recalled: map[uint64]*past{}, pasts: generations[uint64, *past]{limit: maxTenants},
		sessions: generations[sessionKey, *session]{limit: 1 + o.Limit/16},
		places:   generations[placeKey, *session]{limit: o.Limit},
		answers:  generations[answerKey, answer]{limit: 1 + o.Limit/16},
		owed:     generations[answerKey, []format.Owed]{limit: 1 + o.Limit/64},
	}
	f.given = f.keys.vouched(o.Instructions)
	f.recallAll()
	return f
}

// Visit is one request on its way through.
type Visit struct {
	Ref     engine.Ref
	Agent   string
	Notice  string // the outcome of a chat command in the user's message
	Command string
	Owed    []format.Owed // refused calls that the provider waits for and the client sends nothing for
	Shown   []Shown       // results that the model must not get as the client sent them

	f       *Follower
	past    *past
	tenant  string
	session *session
	at      *node
	start   start
	begun   string // what the client has begun of the answer itself
}

// CallName is what the monitor calls the tool, and its arguments as policy knows them.
func (v *Visit) CallName(name string, args []byte) (string, []byte) {
	return v.f.callName(v.Agent, name, args)
}

func (f *Follower) callName(agent, name string, args []byte) (string, []byte) {
	if f.names == nil {
		return name, args
	}
	return f.names(agent, name, args)
}

// Enter finds the place of a request: its session, branch and turn, with everything new in
// it reported to the monitor. Only then may the model be asked.
func (f *Follower) Enter(ctx context.Context, who Caller, r *format.Request) (*Visit, error) {
	if err := f.hear(ctx); err != nil {
		return nil, err
	}
	e := &entry{f: f, who: who, r: r, messages: r.New, offset: r.Known, past: f.pastOf(who.Tenant)}
	if err := e.find(); err != nil {
		return nil, err
	}
	e.session.mu.Lock()
	defer e.session.mu.Unlock()
	err := e.run(ctx)
	if err == nil {
		err = f.settle(ctx)
	}
	if err != nil {
		f.mu.Lock()
		e.session.visits--
		f.mu.Unlock()
		return nil, err
	}
	return &Visit{
		Ref: e.ref, Agent: who.Agent, Notice: e.opening.Notice, Command: e.opening.Command,
		Owed: e.owes(), Shown: e.shown,
		f: f, past: e.past, tenant: who.Tenant, session: e.session, at: e.at, start: e.start, begun: e.begun,
	}, nil
}
