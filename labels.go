package tidemark

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// reserved begins the names of logs that are no sessions. No host can use one.
const reserved = "tidemark:"

// labelsLog is where labels of resources are kept: they belong to no session.
const labelsLog = reserved + "labels"

// labels are what was written while tainted, by any session (BEY-02). They are a fold of
// their own log.
type labels struct {
	any atomic.Bool // there are some, or nobody has looked yet

	mu      sync.Mutex
	loaded  bool                            // guarded by mu
	version uint64                          // guarded by mu
	byKey   map[string]*event.Resource      // guarded by mu
	byName  map[string][]string             // guarded by mu; keys by the last part of their path
	byHash  map[tool.Digest]*event.Resource // guarded by mu
}

func (l *labels) reset() {
	l.byKey, l.byName = map[string]*event.Resource{}, map[string][]string{}
	l.byHash, l.version = map[tool.Digest]*event.Resource{}, 0
}

// apply folds one event of the log.
// Preconditions: mu is held.
func (l *labels) apply(e *event.Event) {
	l.version++
	r := e.Resource
	if r == nil {
		return
	}
	if e.Kind == event.LabelCleared {
		l.clear(r.Key)
		return
	}
	if old := l.byKey[r.Key]; old == nil {
		name := baseName(r.Key)
		l.byName[name] = append(l.byName[name], r.Key)
	} else {
		joined := *r
		joined.Label = old.Label.Join(r.Label)
		r = &joined
	}
	l.byKey[r.Key] = r
	if r.Hash != nil {
		l.byHash[*r.Hash] = graver(l.byHash[*r.Hash], r)
	}
}

// graver is whichever of two is trusted less.
func graver(a, b *event.Resource) *event.Resource {
	if a != nil && a.Label.Level < b.Label.Level {
		return a
	}
	return b
}

// clear forgets a label. The same content under another key keeps its own.
func (l *labels) clear(key string) {
	old := l.byKey[key]
	if old == nil {
		return
	}
	delete(l.byKey, key)
	name := baseName(key)
	l.byName[name] = slices.DeleteFunc(l.byName[name], func(k string) bool { return k == key })
	if old.Hash == nil {
		return
	}
	delete(l.byHash, *old.Hash)
	for _, r := range l.byKey {
		if sameHash(r.Hash, old.Hash) {
			l.byHash[*old.Hash] = graver(l.byHash[*old.Hash], r)
		}
	}
}

// load reads what is new in the log.
// Preconditions: mu is held.
func (l *labels) load(ctx context.Context, store Store) error {
	if l.byKey == nil {
		l.reset()
	}
	for rec, err := range store.Load(ctx, labelsLog, l.version) {
		if err != nil {
			return fmt.Errorf("read labels: %w", unavailable(err))
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return fmt.Errorf("read labels: %w", unavailable(err))
		}
		l.apply(&e)
	}
	l.loaded = true
	l.any.Store(len(l.byKey) > 0)
	return nil
}

// some reports whether there are labels at all, so that nobody pays for none.
func (l *labels) some(ctx context.Context, store Store) (bool, error) {
	if !l.any.Load() {
		return false, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.loaded {
		if err := l.load(ctx, store); err != nil {
			return false, err
		}
	}
	return len(l.byKey) > 0, nil
}

// find joins the labels of everything the keys may name. A file is also found by a path
// that ends or begins differently: hosts disagree on where a workspace is.
func (l *labels) find(ctx context.Context, store Store, keys []string, content *tool.Digest) (trust.Label, bool, error) {
	out, found := session.Neutral(), false
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.loaded {
		if err := l.load(ctx, store); err != nil {
			return out, false, err
		}
	}
	add := func(r *event.Resource) {
		if r == nil {
			return
		}
		label := r.Label
		label.Sources = []trust.Source{{
			Level: r.Label.Level, Step: r.Step, Kind: "labelled resource", Tool: r.Tool,
			Detail: fmt.Sprintf("%s, written in session %s", r.Key, r.Session),
		}}
		out, found = out.Join(label), true
	}
	for _, k := range keys {
		for _, other := range l.byName[baseName(k)] {
			if sameResource(k, other) {
				add(l.byKey[other])
			}
		}
	}
	if content != nil {
		add(l.byHash[*content])
	}
	return out, found, nil
}

func baseName(key string) string {
	if i := strings.LastIndexByte(key, '/'); i >= 0 {
		return key[i+1:]
	}
	_, name, _ := strings.Cut(key, ":")
	return name
}

// sameResource reports whether two keys may name the same thing: one is the other, or
// the end of the other's path.
func sameResource(a, b string) bool {
	kindA, nameA, _ := strings.Cut(a, ":")
	kindB, nameB, _ := strings.Cut(b, ":")
	if kindA != kindB {
		return false
	}
	return nameA == nameB || strings.HasSuffix(nameA, "/"+nameB) || strings.HasSuffix(nameB, "/"+nameA)
}

// label records that resources were written from a tainted context. It must be durable
// before the write is let through.
func (m *Monitor) label(ctx context.Context, list []event.Resource) error {
	l := &m.labels
	l.mu.Lock()
	defer l.mu.Unlock()
	const attempts = 4
	var err error
	for range attempts {
		if !l.loaded {
			if err = l.load(ctx, m.store); err != nil {
				return err
			}
		}
		var events []*event.Event
		for i := range list {
			r := &list[i]
			if old := l.byKey[r.Key]; old != nil && old.Label.Covers(r.Label) && sameHash(old.Hash, r.Hash) {
				continue
			}
			events = append(events, &event.Event{Kind: event.Labelled, Time: m.now().UnixNano(), Resource: r})
		}
		if len(events) == 0 {
			return nil
		}
		if err = m.store.Append(ctx, labelsLog, l.version, events); err == nil {
			for _, e := range events {
				l.apply(e)
			}
			l.any.Store(true)
			return nil
		}
		l.loaded = false
		if !errors.Is(err, ErrConflict) {
			return fmt.Errorf("record label: %w", unavailable(err))
		}
	}
	return err
}

func sameHash(a, b *tool.Digest) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// LabelView is a labelled resource as people see it.
type LabelView struct {
	Key     string         `json:"key"`
	Level   trust.Level    `json:"level"`
	Session string         `json:"session"`
	Tool    string         `json:"tool"`
	Step    uint64         `json:"step"`
	Sources []trust.Source `json:"sources"`
}

// Labels lists what was written while tainted, by key.
func (m *Monitor) Labels(ctx context.Context) ([]LabelView, error) {
	l := &m.labels
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(ctx, m.store); err != nil {
		return nil, err
	}
	out := []LabelView{}
	for _, r := range slices.SortedFunc(maps.Values(l.byKey), func(a, b *event.Resource) int { return cmp.Compare(a.Key, b.Key) }) {
		out = append(out, LabelView{Key: r.Key, Level: r.Label.Level, Session: r.Session, Tool: r.Tool, Step: r.Step, Sources: r.Label.Sources})
	}
	return out, nil
}

// ClearLabel is a person's word that a resource may be trusted again. It is recorded.
func (m *Monitor) ClearLabel(ctx context.Context, key, by, via string) error {
	l := &m.labels
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(ctx, m.store); err != nil {
		return err
	}
	if l.byKey[key] == nil {
		return fmt.Errorf("clear label: %w", ErrNotFound)
	}
	e := &event.Event{
		Kind: event.LabelCleared, Time: m.now().UnixNano(), Resource: &event.Resource{Key: key},
		Answer: &event.Answer{By: by, Via: via, Verdict: "clear"},
	}
	if err := m.store.Append(ctx, labelsLog, l.version, []*event.Event{e}); err != nil {
		l.loaded = false
		return fmt.Errorf("clear label: %w", unavailable(err))
	}
	l.apply(e)
	l.any.Store(len(l.byKey) > 0)
	return nil
}
