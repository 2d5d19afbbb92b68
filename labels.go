package tidemark

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/commands"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/remembered"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// reserved begins the names of logs that are no sessions. No host can use one.
const reserved = "tidemark:"

// labelsLog is where labels of resources are kept: they belong to no session.
const labelsLog = reserved + "labels"

// labels are what was written while tainted, by any session (BEY-02), as far as their log
// was read.
type labels struct {
	shared bool        // others write them too: they are looked for each time
	none   atomic.Bool // the log was read, and there are none

	writing sync.Mutex // held while labels are written: whoever has it writes for all who wait

	mu     sync.RWMutex
	loaded bool           // guarded by mu
	state  session.Labels // guarded by mu
	queue  []*labelling   // guarded by mu; what is to be written next
}

// labelling is a call that waits until its labels are durable.
type labelling struct {
	list []event.Resource
	done chan error // holds one
}

// load reads what is new in the log.
// Preconditions: mu is held.
func (l *labels) load(ctx context.Context, store Store) error {
	for rec, err := range store.Load(ctx, labelsLog, l.state.Version) {
		if err != nil {
			return fmt.Errorf("read labels: %w", unavailable(err))
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return fmt.Errorf("read labels: %w", unavailable(err))
		}
		l.state.Apply(&e)
	}
	l.loaded = true
	l.none.Store(l.state.Len() == 0)
	return nil
}

// forget makes the next who asks read on: nobody knows what the log holds now.
// Preconditions: mu is held.
func (l *labels) forget() {
	l.loaded = false
	l.none.Store(false)
}

// maybe reports whether there can be labels at all, so that nobody pays for none. The first
// who asks reads the log.
func (l *labels) maybe(ctx context.Context, store Store) (bool, error) {
	if l.shared {
		return true, nil
	}
	if l.none.Load() {
		return false, nil
	}
	if !l.known() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if err := l.load(ctx, store); err != nil {
			return true, err
		}
	}
	return !l.none.Load(), nil
}

// find joins the labels of everything the keys may name, and of the content.
func (l *labels) find(ctx context.Context, store Store, keys []string, content *tool.Digest) (trust.Label, bool, error) {
	if l.shared || !l.known() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if err := l.load(ctx, store); err != nil {
			return session.Neutral(), false, err
		}
	} else {
		l.mu.RLock()
		defer l.mu.RUnlock()
	}
	label, found := l.state.Find(keys, content)
	return label, found, nil
}

// in are the files that other sessions labelled, for one that works in a folder.
func (l *labels) in(ctx context.Context, store Store, folder, name string) (k session.Kept, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shared || !l.loaded {
		err = l.load(ctx, store)
	}
	return l.state.In(folder, name), err
}

func (l *labels) known() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.loaded
}

// label records that resources were written from a tainted context. It must be durable
// before the write is let through. What several calls bring meanwhile is written together, and
// nobody who only reads labels waits for the disk.
func (m *Monitor) label(ctx context.Context, list []event.Resource) error {
	l := &m.labels
	own := &labelling{list, make(chan error, 1)}
	l.mu.Lock()
	l.queue = append(l.queue, own)
	l.mu.Unlock()
	l.writing.Lock()
	defer l.writing.Unlock()
	select {
	case err := <-own.done: // somebody wrote it with theirs
		return err
	default:
	}
	l.mu.Lock()
	batch := l.queue
	l.queue = nil
	l.mu.Unlock()
	err := m.writeLabels(context.WithoutCancel(ctx), batch) // it is not only for the one who does it
	for _, w := range batch {
		w.done <- err
	}
	return err
}

// writeLabels makes the labels of some calls durable.
// Preconditions: labels.writing is held.
func (m *Monitor) writeLabels(ctx context.Context, batch []*labelling) error {
	l := &m.labels
	const attempts = 4
	var err error
	for range attempts {
		var events []*event.Event
		var at uint64
		if events, at, err = m.newLabels(ctx, batch); err != nil || len(events) == 0 {
			return err
		}
		if err = m.store.Append(ctx, labelsLog, at, events); err == nil {
			return l.take(ctx, m.store, at, events)
		}
		l.mu.Lock()
		l.forget()
		l.mu.Unlock()
		if !errors.Is(err, ErrConflict) {
			return fmt.Errorf("record label: %w", unavailable(err))
		}
	}
	return err
}

// newLabels are the events for those labels that are not there yet, and after how many records they come.
func (m *Monitor) newLabels(ctx context.Context, batch []*labelling) (events []*event.Event, at uint64, err error) {
	l := &m.labels
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shared || !l.loaded { // one that somebody cleared elsewhere is known no longer
		if err := l.load(ctx, m.store); err != nil {
			return nil, 0, err
		}
	}
	for _, w := range batch {
		for i := range w.list {
			r := &w.list[i]
			if !l.state.Known(r) {
				events = append(events, &event.Event{Kind: event.Labelled, Time: m.now().UnixNano(), Resource: r})
			}
		}
	}
	return events, l.state.Version, nil
}

// take folds what was just written, unless somebody has read it from the log meanwhile.
func (l *labels) take(ctx context.Context, store Store, at uint64, events []*event.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state.Version != at {
		return l.load(ctx, store)
	}
	for _, e := range events {
		l.state.Apply(e)
	}
	l.none.Store(false)
	return nil
}

// maxMeant bounds how many tools of a session are understood at once.
const maxMeant = 1024

// meaningOf is what is understood of a tool: from its definition where the host gave one.
func (s *live) meaningOf(name string) *meaning.Meaning {
	if s.heard != nil {
		return s.heard.Meaning(name)
	}
	if s.latest != nil && s.latest.Tool == name {
		return s.latest // an agent often calls the same tool again
	}
	if known := s.meant[name]; known != nil {
		s.latest = known
		return known
	}
	def := tool.Definition{Name: name}
	for _, d := range s.tools {
		if tool.Name(d.Name) == name {
			def = d
		}
	}
	if s.meant == nil || len(s.meant) >= maxMeant {
		s.meant = map[string]*meaning.Meaning{}
	}
	m := meaning.Of(def)
	s.meant[name], s.latest = m, m
	return m
}

// writes reports whether an act leaves something behind that can be read back.
func writes(a meaning.Act) bool { return a == meaning.Create || a == meaning.Change }

// readsBack reports whether an act may bring back what was written before.
func readsBack(a meaning.Act) bool { return a == meaning.Read || a == meaning.Unknown }

// expectLabels makes a call that reads something labelled expect it: what was written
// while tainted comes back as tainted, whoever reads it (BEY-02).
func (m *Monitor) expectLabels(ctx context.Context, x *step, name string) error {
	x.expect(x.left)
	if some, err := m.labels.maybe(ctx, m.store); err != nil || !some {
		return err
	}
	mean := x.live.meaningOf(name)
	if !readsBack(mean.Act) {
		return nil
	}
	fields, err := x.args.Fields()
	if err != nil || len(fields) == 0 {
		return nil //nolint:nilerr // unreadable arguments are the worst already
	}
	keys := remembered.Resources(mean, fields)
	if len(keys) == 0 {
		return nil
	}
	label, found, err := m.labels.find(ctx, m.store, keys, nil)
	if err != nil || !found {
		return err
	}
	x.expect(label)
	return nil
}

// expect makes what the call brings no better than a label.
func (x *step) expect(l trust.Label) {
	d := &x.decided
	d.Expect, d.ExpectS = d.Expect.Join(l.Level), d.ExpectS.Join(l.Sensitivity)
	d.Source = d.Source || l.Level <= trust.External
}

// brings is what the labels say about a result: by what the call named, and by its
// content.
func (m *Monitor) brings(ctx context.Context, s *live, o *Observation, came *arrival) (trust.Label, error) {
	if some, err := m.labels.maybe(ctx, m.store); err != nil || !some {
		return session.Neutral(), err
	}
	mean := s.meaningOf(came.name)
	if !readsBack(mean.Act) {
		return session.Neutral(), nil
	}
	fields, _ := came.args.Fields() // unreadable ones name nothing; the content is still looked at
	hash := tool.DigestOf(o.Result.Content)
	label, _, err := m.labels.find(ctx, m.store, remembered.Resources(mean, fields), &hash)
	return label, err
}

// writing is a call that may write.
type writing struct {
	tool   string
	step   uint64
	args   *tool.Args
	folder string // that is worked in; "": nobody said
	what   uint64 // what is known of files that it may be a copy of
}

// labelWrites labels what an allowed call writes from a context that is not trusted. The
// label is durable before the call may run.
func (m *Monitor) labelWrites(ctx context.Context, s *live, mark *trust.Label, w *writing) error {
	mean := s.meaningOf(w.tool)
	if !writes(mean.Act) && !tool.IsShell(mean.Tool) {
		return nil
	}
	fields, err := w.args.Fields()
	if err != nil {
		return nil //nolint:nilerr // nobody can say what it writes
	}
	var list []event.Resource
	for _, key := range remembered.Leaves(mean, fields) {
		r := event.Resource{
			Key:   remembered.Placed(key, w.folder),
			Label: trust.Label{Level: mark.Level, Sensitivity: mark.Sensitivity, Sources: tainting(*mark)},
			Hash:  remembered.Written(fields), Session: s.name, Tool: w.tool, Step: w.step, Folder: w.folder,
		}
		if name, file := strings.CutPrefix(key, "file:"); file && s.heard != nil {
			r.What = s.heard.Wrote(name) | w.what
		}
		list = append(list, r)
	}
	if len(list) == 0 {
		return nil
	}
	if err := m.unmoved(ctx, s); err != nil {
		return err
	}
	return m.label(ctx, list)
}

// unmoved is ErrConflict where another monitor has written to the session: what is labelled by a state of before would keep its
// level and its step, though the call is then judged anew.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) unmoved(ctx context.Context, s *live) error {
	if m.shared == nil {
		return nil
	}
	for _, err := range m.store.Load(ctx, s.name, s.state.Version-uint64(len(s.waiting))) {
		if err != nil {
			return fmt.Errorf("read session %q: %w", s.name, unavailable(err))
		}
		return fmt.Errorf("label what is written: %w", ErrConflict)
	}
	return nil
}

type folderKey struct{}

// In is for a door whose host works in a folder. With the context of Decide it says which: files that earlier sessions wrote there count.
func In(ctx context.Context, folder string) context.Context {
	return context.WithValue(ctx, folderKey{}, folder)
}

// remember makes a command that runs what other sessions wrote after others had spoken be judged as in those: what they read
// counts for it, and is what its result will be worth.
func (m *Monitor) remember(ctx context.Context, x *step, in *policy.Input) error {
	x.left, x.leftWhat = session.Neutral(), 0
	if some, err := m.labels.maybe(ctx, m.store); err != nil || !some || !tool.IsShell(in.Tool) {
		return err
	}
	own := x.live.name
	if x.taint.Mark.Level > trust.Shared { // what it wrote itself it passed on
		own = ""
	}
	kept, err := m.labels.in(ctx, m.store, x.folder, own)
	if err != nil {
		return err
	}
	reader := shell.NewReader()
	reader.Remember(kept.Files)
	fields, err := x.args.Fields()
	if err != nil {
		return nil //nolint:nilerr // unreadable arguments are the worst already
	}
	lines, _ := commands.Of(reader, x.live.meaningOf(in.Tool), fields)
	var runs, shown remembered.Files
	for _, l := range lines {
		runs, shown = append(runs, kept.Files.Meant(l)...), append(shown, kept.Files.Named(l)...)
	}
	if in.Facts != nil {
		x.live.facts.Of.Labelled(kept.Files)
		x.live.facts.Led = len(runs) > 0
	}
	if len(runs) > 0 {
		x.taint = x.taint.With(kept.Label(runs))
		fill(in, x.live, x.taint, in.Tool, &x.args)
	}
	x.left, x.leftWhat = kept.Label(append(runs, shown...)), runs.What() // a copy is no better
	return nil
}

// appendResult records a result, and that it closes the session.
func (m *Monitor) appendResult(ctx context.Context, s *live, came *arrival, e *event.Event) error {
	events, err := m.closing(ctx, s, e, came.call)
	if err != nil {
		return err
	}
	return m.append(m.mayWait(ctx, came, e), s, events...)
}

// closing is a result as it is recorded, and where it is of a call that was to run in a box and did not, that the session is
// closed: whatever ran it does not do what it is told.
func (m *Monitor) closing(ctx context.Context, s *live, e *event.Event, call *session.Call) ([]*event.Event, error) {
	out := []*event.Event{e}
	if call == nil || call.Ticket == nil || s.state.Closed != "" {
		return out, nil
	}
	used, err := m.tickets().Redeemed(ctx, *call.Ticket)
	if err != nil {
		return nil, unavailable(err)
	}
	if used {
		return out, nil
	}
	const says = "step %d, a call of %s, was to run in a box and came back without one: nothing may act in this session until its " +
		"owner has looked and resets its trust"
	why := fmt.Sprintf(says, call.Step, call.Tool)
	return append(out, &event.Event{
		Kind: event.SessionClosed, Time: e.Time, Branch: e.Branch, Turn: e.Turn, Iteration: e.Iteration,
		Box: &event.Box{Ticket: *call.Ticket, CallID: call.ID, Tool: call.Tool, Step: call.Step, Reason: why},
	}), nil
}

// noteWrites remembers what an allowed call writes: by labels, and for judgement.
func (m *Monitor) noteWrites(ctx context.Context, x *step, v *Verdict) error {
	x.noteFiles()
	if name := x.live.input.Tool; v.Effect == policy.Allow && x.live.owns(name) {
		x.decided.Temp = remembered.Temporary(x.live.meaningOf(name), &x.args)
	}
	if x.taint.Mark.Level > trust.Shared {
		return nil
	}
	return m.labelWrites(ctx, x.live, &x.taint.Mark, &writing{v.Tool, v.Step, &x.args, x.folder, x.leftWhat})
}

// shown are messages as a question shows them.
func (m *Monitor) shown(words []intent.Word) []event.Said {
	if n := len(words); n > maxShown {
		words = append(words[:1:1], words[n-maxShown+1:]...)
	}
	out := make([]event.Said, len(words))
	for i, w := range words {
		out[i] = event.Said{Turn: w.Turn, Text: m.preview(w.Text, maxShownText)}
	}
	return out
}

// RuleAnswer is the rule of an address in the agent's answer.
const RuleAnswer = "answer"

// Shows decides whether the answer may show an address as it is: whoever shows the answer fetches it, or makes a link of it, so that it
// reaches the host with whatever is in it. It is decided and recorded like a call. But nobody is asked, and it brings nothing back.
func (m *Monitor) Shows(ctx context.Context, ref Ref, address string, image bool) (bool, error) {
	as := warrant.AsLink
	if image {
		as = warrant.AsImage
	}
	args, err := strictjson.Marshal(map[string]string{as: address})
	if err != nil {
		return false, fmt.Errorf("show an address: %w", err)
	}
	var v Verdict
	err = m.verdict(ctx, &proposal{ref: ref, call: tool.Call{Name: warrant.Answer, Args: args}, gated: true, shows: true}, &v)
	return err == nil && v.Effect == policy.Allow, err
}

// leave lets a call through to where it is asked about again. An address in an answer is not: what was decided stands.
func (x *step) leave(v *Verdict) {
	if !x.shows {
		v.Effect, v.Kind, v.Rule, v.Reasons = policy.Allow, "", "left-to-the-host", nil
	}
}

// judgeShown is what a policy says of an address in an answer: it is one that nothing of the agent's is in, or the policy names its host.
// Nobody else may use the name of these calls.
func (x *step) judgeShown(set *policy.Set, in *policy.Input) policy.Decision {
	if !x.shows || in.Facts == nil {
		return refuse(ruleReserved, "calls of this name are made for answers alone")
	}
	if _, found := x.live.facts.Least(warrant.Cargo); !found {
		return refuse(RuleAnswer, "it cannot be read")
	}
	for _, s := range x.live.facts.Found.Slots {
		if s.Kind == warrant.Cargo && s.Has < warrant.Followed && !set.AnswersTo(s.Value) {
			return refuse(RuleAnswer, s.Why)
		}
	}
	return policy.Decision{Effect: policy.Allow, Rule: RuleAnswer}
}
