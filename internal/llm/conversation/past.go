package conversation

import (
	"sync"
	"sync/atomic"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// memory is what is known of a content: what it is worth, and which session it is from.
type memory struct {
	label   trust.Label
	session string // "" where it is not known any more
}

// recalledArgument is the kind of a text that a model gave to a tool.
const recalledArgument engine.RecalledKind = 1 << 7

// recalledItem is the kind of something a provider keeps, by its id.
const recalledItem engine.RecalledKind = recalledArgument + 1

// contentKey is a whole content.
type contentKey [16]byte

// writing is a text that a model or a tool wrote, as its runs lead to it.
type writing struct {
	memory
	kind  engine.RecalledKind
	key   contentKey
	total int // runs that were kept of it
	own   int // of those, the ones that lead here and to nobody less trusted
	rate  int // one run of so many was kept

	generation, number uint32 // where leads has it
}

// past is what is remembered of one tenant. What one forgets, only that one does.
type past struct {
	keys   *keyed
	tenant uint64
	size   atomic.Int64  // of runs
	total  *atomic.Int64 // of all tenants'

	mu      sync.Mutex
	known   generations[contentKey, memory] // guarded by mu
	runs    leads                           // guarded by mu
	prompts generations[uint64, struct{}]   // guarded by mu; lines of instructions that began a conversation
	starts  generations[contentKey, uint64] // guarded by mu; how sessions began that nobody named
	lost    bool                            // guarded by mu; something was forgotten before it came here
	keeper  Keeper                          // nil: nothing outlives the process
}

// forgot reports whether something is remembered no more: then a text that nobody knows may
// be anybody's.
// Preconditions: mu is held.
func (p *past) forgot() bool { return p.lost || p.known.lost || p.runs.lost }

// remember holds a content in this process.
func (p *past) remember(kind engine.RecalledKind, d tool.Digest, m memory) {
	key := p.key(kind, d)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(key, m)
}

func (p *past) key(kind engine.RecalledKind, d tool.Digest) contentKey {
	return contentKey(p.keys.tag(p.tenant, kind, d))
}

// put remembers a content.
// Preconditions: mu is held.
func (p *past) put(key contentKey, m memory) {
	if old, ok := p.known.get(key); ok { // two that wrote the same: both stand behind it
		m.label = m.label.Join(old.label)
	}
	p.known.put(key, m)
}

func (p *past) recognise(kind engine.RecalledKind, d tool.Digest) (memory, bool) {
	key := p.key(kind, d)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known.get(key)
}

// note remembers a text that a model or a tool wrote: as a whole, and by its runs of words.
func (p *past) note(kind engine.RecalledKind, d tool.Digest, text string, m memory) {
	hashes, rate := sampled(p.keys.runs(text))
	key, sums := p.key(kind, d), p.keys.sums(p.tenant, hashes)
	p.mu.Lock()
	_, before := p.known.get(key)
	p.put(key, m)
	p.write(&writing{memory: m, kind: kind, key: key, rate: rate}, sums)
	p.mu.Unlock()
	if p.keeper != nil && !before { // without the lock: the keeper may ask for all there is
		p.keeper.Keep(kept{p.tenant, kind, m.label.Level, m.label.Sensitivity, key, rate, sums}.record())
	}
}

// write makes runs lead to a writing, but for those that somebody less trusted wrote too.
// Preconditions: mu is held.
func (p *past) write(w *writing, sums []uint64) {
	w.total = len(sums)
	for _, s := range sums {
		old, ok := p.runs.get(s)
		if ok && old.label.Covers(w.label) {
			continue
		}
		w.own++
		p.runs.put(s, w)
		if !ok {
			continue
		}
		if old.own--; old.own == 0 {
			p.runs.release(old)
		}
	}
	p.sized()
}

// sized counts the runs.
// Preconditions: mu is held.
func (p *past) sized() {
	n := int64(p.runs.len())
	p.total.Add(n - p.size.Swap(n))
}

// shrink makes room for others.
func (p *past) shrink() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs.turn()
	p.sized()
}

// prompted reports which lines of instructions began no conversation yet, and notes them
// where this one begins with them.
func (p *past) prompted(lines []uint64, begins bool) (fresh []bool, added []uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fresh = make([]bool, len(lines))
	for i, line := range lines {
		if _, ok := p.prompts.get(line); !ok {
			fresh[i] = true
			if begins {
				p.prompts.put(line, struct{}{})
				added = append(added, line)
			}
		}
	}
	return fresh, added
}

// The bounds of all tenants together, in messages of one. Who has the most makes room.
const (
	runsPerMessage = 5  // a generation of one tenant's
	allPerMessage  = 20 // of all
	maxTenants     = 4096
	maxPromptLines = 1 << 16
)

// unprompted reports whether a tenant's instructions were never seen, before the last start either.
func (p *past) unprompted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.prompts.len() == 0
}

// pastOf is what is remembered of a tenant.
func (f *Follower) pastOf(tenant string) *past {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := f.keys.tenant(tenant)
	if p, ok := f.pasts.get(id); ok {
		return p
	}
	p := f.recalled[id]
	if p == nil {
		p = f.newPast(id)
	}
	delete(f.recalled, id)
	p.lost = p.lost || f.pasts.lost // it may have been among those that were dropped
	for dropped := range f.pasts.dropping() {
		f.total.Add(-dropped.size.Swap(0)) // what nobody holds takes no room
	}
	f.pasts.put(id, p)
	return p
}

func (f *Follower) newPast(id uint64) *past {
	return &past{
		keys: f.keys, tenant: id, total: &f.total, keeper: f.keeper, lost: f.lost,
		known:   generations[contentKey, memory]{limit: f.limit},
		runs:    leads{limit: runsPerMessage * f.limit},
		prompts: generations[uint64, struct{}]{limit: maxPromptLines},
		starts:  generations[contentKey, uint64]{limit: f.limit},
	}
}

// makeRoom keeps what all tenants hold within the bound.
func (f *Follower) makeRoom() {
	most := int64(allPerMessage * f.limit)
	if f.total.Load() <= most {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.total.Load() > most {
		var largest *past
		for p := range f.pasts.all() {
			if largest == nil || p.size.Load() > largest.size.Load() {
				largest = p
			}
		}
		if largest == nil || largest.size.Load() == 0 {
			return // what is left was recalled for tenants that have not come yet
		}
		largest.shrink()
	}
}
