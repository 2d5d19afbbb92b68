package tidemark

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tidemark/tidemark/event"
	cut "github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// ErrSealed is returned for content that arrives after its turn was sealed. Its taint
// was recorded all the same; only the turn's graph stays as it is.
var ErrSealed = errors.New("the turn is sealed")

// Observation is something that came back from a tool.
type Observation struct {
	Ref    Ref
	Result tool.Result
	// Declared is a level the host or the tool itself states. It can only lower trust.
	Declared *trust.Level
	// From is the sub-agent session whose result this is.
	From string
	// Again marks a second report of a result (tool_result_persist after
	// after_tool_call): it is recorded only if the first never came.
	Again   bool
	Caution bool // the result itself asks for caution (CAU-08)
	Own     bool // the host's framework wrote it about itself; it counts for tools that steer the framework alone

	keep *keeping // whoever reports it can keep it from the agent; nil: the agent reads it
}

// Observe labels a result and records it. From then on the context is at least as
// distrusted as the result.
func (m *Monitor) Observe(ctx context.Context, o Observation) (trust.Label, error) {
	child, err := m.brought(ctx, o)
	if err != nil {
		return trust.Label{}, fmt.Errorf("observe result: %w", err)
	}
	var label trust.Label
	sealed := false
	err = m.with(ctx, o.Ref, func(s *live) error {
		b := s.state.Branch(o.Ref.Branch)
		late := !b.Turn.Has(o.Ref.Turn) && b.Sealed(o.Ref.Turn)
		if !late {
			var err error
			if b, err = m.turn(ctx, s, o.Ref); err != nil {
				return err
			}
		}
		sealed = late
		name := tool.Name(o.Result.Name)
		known, found := b.Call(o.Result.CallID, name)
		if o.Again && found && known.Seen {
			label = b.Mark
			return nil
		}
		came := arrival{name: name, args: tool.NewArgs(o.Result.Args)}
		if found {
			came.call, came.lookUp = &known, known.LookUp
		}
		back, err := m.brings(ctx, s, &o, &came)
		if err != nil {
			return err
		}
		came.other = s.state.JoinOwn(o.Ref.Session, child, o.From).Join(back)
		set := m.policy.Load().For(s.state.Agent)
		if set.Facts() { // before the result: what is kept of it depends on what came before
			if _, err := m.judgement(ctx, s); err != nil {
				return err
			}
		}
		event, err := m.came(ctx, s, b, &o, &came, late)
		if err != nil {
			return err
		}
		o.keepBack(s, b, &came, event.Seen, set, late)
		tainted := back.Level <= trust.External || child.Level <= trust.External || o.From != "" ||
			o.Declared != nil && *o.Declared <= trust.External
		event.Seen.Trace = s.noteResult(&o, &came, event.Seen, set, tainted)
		label = event.Seen.Label
		m.weigh(s)
		return m.appendResult(ctx, s, &came, event)
	})
	if err != nil {
		return trust.Label{}, fmt.Errorf("observe result: %w", err)
	}
	m.lighten(ctx)
	if sealed {
		return label, ErrSealed
	}
	return label, nil
}

// mayWait lets a result be written with the next record, where the record of its call says as much as it does.
func (m *Monitor) mayWait(ctx context.Context, came *arrival, e *event.Event) context.Context {
	if came.call == nil || came.call.Run == "" || e.Late || m.shared != nil || !came.call.Covers(e.Seen) {
		return ctx
	}
	return Later(ctx)
}

// arrival is what is known of a result beside what the host reports.
type arrival struct {
	name  string        // of its tool, normalised
	args  tool.Args     // of the call, where the host repeats them
	call  *session.Call // it answers; nil: none that is known
	other trust.Label   // what other sessions and labelled resources put into it

	lookUp string // the name that we looked up by it; "": the agent reads it
}

// seenEvent labels a result. What its arguments said when the call was judged counts where
// the host does not repeat them, and it never gets better than what was expected then.
func (m *Monitor) seenEvent(s *live, b *session.Taint, o *Observation, came *arrival) *event.Event {
	name, call, other := came.name, came.call, came.other
	set := m.policy.Load().For(s.state.Agent)
	traits := set.Traits(name, &came.args)
	step := uint64(s.state.Steps())
	if call != nil {
		step = call.Step
		if len(o.Result.Args) == 0 {
			traits.Level, traits.Sensitivity, traits.Source, traits.Sensitive = call.Level, call.Sens, call.Source, call.Secret
		}
		traits.Level = traits.Level.Join(call.Level)
		traits.Sensitivity = traits.Sensitivity.Join(call.Sens)
		traits.Source, traits.Sensitive = traits.Source || call.Source, traits.Sensitive || call.Secret
	}
	if o.vouched(set, name) {
		traits.Level = max(traits.Level, trust.Local)
	}
	label := trust.Label{Level: traits.Level, Sensitivity: traits.Sensitivity}
	if o.Declared != nil {
		label.Level = label.Level.Join(*o.Declared)
	}
	if o.Result.Labels.Untrusted() {
		label.Level = label.Level.Join(trust.Untrusted)
	}
	label.Level = label.Level.Join(other.Level)
	label.Sensitivity = label.Sensitivity.Join(other.Sensitivity)
	content := m.content(o.Result.Content, set, traits.Sensitive, false)
	if label.Level <= trust.Shared || traits.Source {
		label.Sources = []trust.Source{{
			Level: label.Level, Step: step, Kind: "tool_result", Tool: name,
			Detail: set.Redactor().Preview([]byte(traits.Detail), 200), Excerpt: content.Preview,
		}}
	}
	label = label.Join(trust.Label{Level: trust.System, Sensitivity: trust.Public, Sources: other.Sources})
	seen := &event.Seen{
		CallID: o.Result.CallID, Tool: name, Step: step, Label: label, Content: content, From: o.From, Error: o.Result.Error,
		Source: traits.Source || label.Level <= trust.External, Sensitive: traits.Sensitive,
	}
	declared := o.Caution || s.state.Cautious(name) || o.From != "" && other.Level <= trust.External
	seen.Caution = traits.Caution || !traits.CautionFixed && declared
	if len(o.Result.Args) > 0 {
		d := tool.Call{Name: name, Args: o.Result.Args}.Digest()
		seen.Digest = &d
	}
	return &event.Event{
		Kind: event.ResultSeen, Time: m.at(s), Branch: o.Ref.Branch, Turn: b.Turn.ID, Iteration: b.Turn.Iteration, Seen: seen,
	}
}

// vouched reports whether the server of a result says that nobody else has a part in it, and the policy takes its word. What sub-agents,
// other sessions and labelled resources put into it counts all the same.
func (o *Observation) vouched(set *policy.Set, name string) bool {
	return o.Result.Labels.Trusted() && !o.Result.Error && set.Traits(name, nil).Vouched
}

// maxMessage bounds how much of a user's own message is kept.
const maxMessage = 32 << 10

// maxPreview is how much of a text its preview shows, in characters.
const maxPreview = 100

// content is what is kept of a text. Nothing of a sensitive one but its hash.
func (m *Monitor) content(text []byte, set *policy.Set, sensitive, message bool) *event.Content {
	cfg := set.Settings()
	c := &event.Content{Hash: tool.DigestOf(text), Bytes: len(text)}
	if cfg.Previews && !sensitive {
		c.Preview = cut.Words(set.Redactor().Preview(text, 2*maxPreview), maxPreview)
	}
	if message && cfg.RecordMessages && !sensitive {
		said := cut.Cover(string(text), maxMessage)
		c.Text, c.Sealed = set.Redactor().Text(said), m.sealed(set.Redactor(), said)
	}
	return c
}

// whole keeps a full context, without secrets, where a rule asks for it.
func (m *Monitor) whole(text []byte) *event.Content {
	return &event.Content{Hash: tool.DigestOf(text), Bytes: len(text), Text: m.Policy().Redactor().Text(string(text))}
}

// Ending is a response that is about to go out.
type Ending struct {
	Ref     Ref
	Content []byte
	Blocked bool
	Reason  string
}

// Ended is what the response stands on.
type Ended struct {
	Turn   string
	Taint  trust.Label
	Footer bool // it stands on what others wrote, and the policy wants that said below it (HOOK-16)
}

// End records the response and seals the turn. Ending a turn twice is ErrSealed.
func (m *Monitor) End(ctx context.Context, e Ending) (Ended, error) {
	var out Ended
	err := m.with(ctx, e.Ref, func(s *live) error {
		b := s.state.Branch(e.Ref.Branch)
		if !b.Turn.Has(e.Ref.Turn) {
			if !b.Begun() {
				return fmt.Errorf("%w: no turn is open", ErrNotFound)
			}
			return ErrSealed
		}
		set := m.policy.Load().For(s.state.Agent)
		out = Ended{Turn: b.Turn.ID, Taint: b.Settled()}
		out.Footer = set.Settings().Footer && out.Taint.Level < trust.Local
		label := trust.Label{Level: out.Taint.Level, Sensitivity: out.Taint.Sensitivity}
		trace := ""
		if set.Facts() && !e.Blocked && e.Ref.Branch == "" { // the user may agree to it
			c, err := m.judgement(ctx, s)
			if err != nil {
				return err
			}
			trace = s.traced(c.Answered(string(e.Content)))
		}
		return m.append(ctx, s, &event.Event{
			Kind: event.TurnSealed, Time: m.at(s), Branch: e.Ref.Branch, Turn: b.Turn.ID, Iteration: b.Turn.Iteration,
			Seen: &event.Seen{
				Label: label, Content: m.content(e.Content, set, b.Sensitive, false), Blocked: e.Blocked, Reason: e.Reason, Trace: trace,
			},
		})
	})
	if err != nil {
		return Ended{}, fmt.Errorf("end turn: %w", err)
	}
	return out, nil
}

// childrenLog begins the names of the logs of who was spawned by whom, one for each parent: they
// belong to two sessions.
const childrenLog = reserved + "children:"

// children are the sub-agents of a session, as far as their log was read.
type children struct {
	names   []string
	version uint64 // how many of its records were folded
	durable int    // how many of the names are in it; they come first
}

// spawned records that a session was spawned by another, before it begins: what the parent reads
// back of its sub-agents carries their taint on every server, and after a restart.
func (m *Monitor) spawned(ctx context.Context, parent, child string) error {
	if parent == "" || parent == child {
		return nil
	}
	log, known := childrenLogOf(parent), m.family(parent)
	const attempts = 8
	var err error
	for i := 0; !slices.Contains(known.names[:known.durable], child); i++ {
		if i == attempts {
			return fmt.Errorf("record sub-agent: %w", ErrConflict)
		}
		e := &event.Event{Kind: event.SessionSpawned, Time: m.now().UnixNano(), Spawned: &event.Spawned{Parent: parent, Child: child}}
		err = m.store.Append(ctx, log, known.version, []*event.Event{e})
		if err != nil && !errors.Is(err, ErrConflict) {
			return fmt.Errorf("record sub-agent: %w", unavailable(err))
		}
		if known, err = m.readChildren(ctx, parent); err != nil {
			return err
		}
	}
	return nil
}

// childrenLogOf names the log of a session's sub-agents; its own name may be as long as a log's.
func childrenLogOf(parent string) string {
	return childrenLog + tool.DigestOf([]byte(parent)).String()
}

// family is what is known of a session's sub-agents without a look into their log.
func (m *Monitor) family(parent string) children {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.children[parent]
}

// readChildren reads what is new in the log of a session's sub-agents.
func (m *Monitor) readChildren(ctx context.Context, parent string) (children, error) {
	c := m.family(parent)
	var names []string
	for rec, err := range m.store.Load(ctx, childrenLogOf(parent), c.version) {
		if err != nil {
			return c, fmt.Errorf("read sub-agents: %w", unavailable(err))
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return c, fmt.Errorf("read sub-agents: %w", unavailable(err))
		}
		if rec.Seq != c.version+1 {
			return c, fmt.Errorf("read sub-agents: %w: record %d follows %d", ErrUnavailable, rec.Seq, c.version)
		}
		if c.version = rec.Seq; e.Spawned != nil {
			names = append(names, e.Spawned.Child)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.children[parent]
	if now.version >= c.version {
		return now, nil // somebody else has read it too
	}
	others := slices.DeleteFunc(slices.Clone(now.names[now.durable:]), func(n string) bool { return slices.Contains(names, n) })
	all := append(append(slices.Clone(c.names[:c.durable]), names...), others...)
	now = children{names: all, version: c.version, durable: len(all) - len(others)}
	m.children[parent] = now
	m.forgetFamilies(parent)
	return now, nil
}

// maxFamilies is of how many sessions the sub-agents are known without a look into the log.
const maxFamilies = 4096

// forgetFamilies forgets half of them where there are more: the log has them.
// Preconditions: mu is held.
func (m *Monitor) forgetFamilies(but string) {
	if len(m.children) <= maxFamilies {
		return
	}
	for parent, c := range m.children {
		if len(m.children) <= maxFamilies/2 {
			return
		}
		if parent != but && len(c.names) == c.durable {
			delete(m.children, parent)
		}
	}
}

// adopt notes that a session was spawned by another, so that what the parent reads back
// of its sub-agents carries their taint even where the host does not say whose it is.
func (m *Monitor) adopt(parent, child string) {
	if parent == "" || parent == child {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.children[parent]
	if !slices.Contains(known.names, child) {
		known.names = append(slices.Clip(known.names), child)
		m.children[parent] = known
	}
}

// brought is what other sessions put into a result: the one the host names, the one the
// call asked about, or else every sub-agent of the session. One that the host names and
// nobody knows is the worst.
func (m *Monitor) brought(ctx context.Context, o Observation) (trust.Label, error) {
	if o.From != "" {
		return m.child(ctx, o.Ref, o.From)
	}
	if !policy.SpeaksForSessions(tool.Name(o.Result.Name)) {
		return session.Neutral(), nil
	}
	if name := namedSession(o); name != "" {
		if l, known, err := m.mark(ctx, name); known || err != nil {
			return l, err
		}
	}
	out := session.Neutral()
	known, err := m.readChildren(ctx, o.Ref.Session)
	if err != nil {
		return trust.Label{}, err
	}
	for _, name := range known.names {
		l, err := m.child(ctx, o.Ref, name)
		if err != nil {
			return trust.Label{}, err
		}
		out = out.Join(l)
	}
	return out, nil
}

// child is what a sub-agent session's result carries: its taint, or the worst where
// nobody saw what it did. Results of the session's own branches are not read here.
func (m *Monitor) child(ctx context.Context, ref Ref, name string) (trust.Label, error) {
	if name == "" || name == ref.Session {
		return session.Neutral(), nil
	}
	l, known, err := m.mark(ctx, name)
	if err == nil && !known {
		l = trust.Label{Level: trust.Untrusted, Sensitivity: trust.Internal, Sources: []trust.Source{{Kind: "sub_agent", Detail: name}}}
	}
	return l, err
}

// mark is the taint of a session over all its branches.
func (m *Monitor) mark(ctx context.Context, name string) (trust.Label, bool, error) {
	l, known := session.Neutral(), false
	err := m.with(ctx, Ref{Session: name}, func(s *live) error {
		if known = s.state.Version > 0; known {
			l = s.state.Mark()
		}
		return nil
	})
	return l, known, err
}

// namedSession is the other session that a call is about, by its arguments.
func namedSession(o Observation) string {
	args := tool.NewArgs(o.Result.Args)
	for _, field := range []string{"sessionKey", "session_key", "session", "childSessionKey"} {
		if name, ok := args.Text(field); ok && name != o.Ref.Session && (Ref{Session: name}).check() == nil {
			return name
		}
	}
	return ""
}

// weigh counts what is held of a session that speaks.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) weigh(s *live) {
	m.count(s)
	s.spoke.Store(m.heard.Add(1))
}

// count is how much is held of a session: its words and results, and its state. One that was only
// looked at counts too, and is the first to go.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) count(s *live) {
	n := int64(s.state.Size())
	if s.heard != nil {
		n += int64(s.heard.Size())
	}
	for _, u := range s.spoken {
		n += int64(len(u.text))
	}
	m.held.Add(n - s.weight)
	s.weight = n
}

// Checkpoints is where conversations are kept that are not in memory, sealed: of each session the latest. It may lose any of them at any
// time. It is safe for concurrent use.
type Checkpoints interface {
	Get(session string) []byte         // nil: there is none
	Put(session string, sealed []byte) // which are not its own afterwards
	Drop(session string)
}

// lighten lets go of what is held of sessions that spoke least lately, until the rest is within the bound: of their conversations first,
// which are large and of which a checkpoint is kept, and then of their states, which only the log brings back. The one that spoke last
// keeps all of it.
func (m *Monitor) lighten(ctx context.Context) {
	held, left := m.held.Load(), m.left.Load()
	if held < left {
		m.left.Store(held)
	}
	if held <= m.most || held <= left+m.most/8 { // what could not be let go a moment ago cannot be now
		return
	}
	enough := func() bool { return m.held.Load() <= m.most-m.most/64 }
	all := func() []*live {
		m.mu.RLock()
		defer m.mu.RUnlock()
		return slices.Collect(maps.Values(m.sessions))
	}
	spoke := func(s *live) int64 { return s.spoke.Load() }
	release := func(let func(*live)) func(*live) bool {
		return func(s *live) bool {
			if s.mu.TryLock() { // one in use stays
				let(s)
				s.mu.Unlock()
			}
			return enough()
		}
	}
	late := false
	if m.idle.conversations.Each(all, spoke, release(func(s *live) { late = !m.quiet(ctx, s) || late })) ||
		!late && m.idle.states.Each(all, spoke, release(m.letGo)) {
		return
	}
	m.left.Store(m.held.Load())
}
