package sessions

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/tidemark/tidemark/internal/base/seal"
	"github.com/tidemark/tidemark/internal/session"
)

// unload drops what was said and read, and the state, unless something of it is unwritten. The log brings it back.
// Preconditions: e.mu is held.
func (t *Table) unload(e *Entry) {
	if len(e.unwritten) == 0 {
		e.loaded, e.State = false, nil
		e.inFlight, e.generation = 0, e.generation+1
	}
	e.Contents.Lose(All)
	t.held.Add(-e.weight)
	e.weight = 0
}

// evict makes space by forgetting sessions nobody is using; their logs bring them back.
// Preconditions: mu is held.
func (t *Table) evict() {
	if len(t.entries) < t.o.Most {
		return
	}
	all := slices.Collect(maps.Values(t.entries))
	slices.SortFunc(all, func(a, b *Entry) int { return cmp.Compare(a.used.Load(), b.used.Load()) })
	for _, e := range all[:max(1, len(all)/8)] {
		if e.mu.TryLock() { // one in use stays
			if len(e.unwritten) > 0 {
				e.mu.Unlock()
				continue
			}
			t.unload(e)
			e.mu.Unlock()
			delete(t.entries, e.Name)
		}
	}
}

// TrackMemory measures a session that has just spoken, and makes it the last to be unloaded.
// Preconditions: e.mu is held and e is loaded.
func (t *Table) TrackMemory(e *Entry) {
	t.measure(e)
	e.spoke.Store(t.heard.Add(1))
}

// measure counts the bytes that a session takes: its words and results, and its state. One that was only
// looked at counts too, and is unloaded first.
// Preconditions: e.mu is held and e is loaded.
func (t *Table) measure(e *Entry) {
	n := int64(e.State.Size()) + e.Contents.Size()
	t.held.Add(n - e.weight)
	e.weight = n
}

// EvictContexts drops what is in memory of the sessions that spoke least lately, until the rest is within the bound: first their
// conversations, which are large and of which a checkpoint is kept, then their states, which only the log brings back. The session
// that spoke last keeps all of it.
func (t *Table) EvictContexts(ctx context.Context) {
	held, left := t.held.Load(), t.left.Load()
	if held < left {
		t.left.Store(held)
	}
	if held <= t.o.MostBytes || held <= left+t.o.MostBytes/8 { // what could not be let go a moment ago cannot be now
		return
	}
	enough := func() bool { return t.held.Load() <= t.o.MostBytes-t.o.MostBytes/64 }
	all := func() []*Entry {
		t.mu.RLock()
		defer t.mu.RUnlock()
		return slices.Collect(maps.Values(t.entries))
	}
	spoke := func(e *Entry) int64 { return e.spoke.Load() }
	release := func(let func(*Entry)) func(*Entry) bool {
		return func(e *Entry) bool {
			if e.mu.TryLock() { // one in use stays
				let(e)
				e.mu.Unlock()
			}
			return enough()
		}
	}
	late := false
	if t.idle.conversations.Each(all, spoke, release(func(e *Entry) { late = !t.quiet(ctx, e) || late })) ||
		!late && t.idle.states.Each(all, spoke, release(t.unload)) {
		return
	}
	t.left.Store(t.held.Load())
}

// outlive taints a session whose last results were shown and, since the server crashed, are not in the log.
func (t *Table) outlive(st *session.State) error {
	if !st.Due("") {
		return nil
	}
	run, err := t.o.Run()
	if err != nil {
		return err
	}
	st.Outlive(run)
	return nil
}

// Forget drops what is in memory of a session, also the keys of what it has sealed: something was taken out of its log. The next
// one to speak in it finds what the log still has.
func (t *Table) Forget(session string) {
	t.mu.RLock()
	e := t.entries[session]
	t.mu.RUnlock()
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	t.unload(e)
	if e.Keys.Fresh() == "" { // else what is sealed with it is still to be written
		e.Keys = seal.Ring{Use: e.Name, Operator: t.o.Key, Random: t.o.Rand}
	}
}

// quiet forgets what was said and read in a session, and keeps its state. It is false where it keeps all of it for now, because the log is
// late: it would have to tell all of it again. For a while that is worth some memory.
// Preconditions: e.mu is held.
func (t *Table) quiet(ctx context.Context, e *Entry) bool {
	if e.Contents.Size() == 0 || e.loaded && e.weight-int64(e.State.Size()) < t.o.MostBytes>>15 {
		return true // it takes too little to be worth a look at the log
	}
	if !e.Contents.Rest(ctx, &t.room) && t.held.Load() < t.o.MostBytes+t.o.MostBytes/4 {
		return false
	}
	e.Contents.Lose(Heard)
	if e.loaded {
		t.measure(e)
	}
	return true
}

// Len is how many sessions are in memory.
func (t *Table) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.entries)
}

// Held is about how many bytes of memory sessions take.
func (t *Table) Held() int64 { return t.held.Load() }
