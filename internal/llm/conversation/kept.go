package conversation

import (
	"context"
	"encoding/binary"
	"iter"
	"maps"
	"slices"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/trust"
)

// What models and tools wrote outlives the process in records of hashes under a key: whose it
// is, what it is worth, the content as a whole and its runs of words. No text is kept.

// Keeper holds records beyond the life of the process. It is safe for concurrent use. What it
// cannot hold is its own to report: here it counts as remembered until the next start.
type Keeper interface {
	// Keep adds a record.
	Keep(record []byte)
	// Kept visits the records of earlier processes, the oldest first. It reports whether they
	// are all there.
	Kept(visit func(record []byte)) bool
	// Full reports that there are more records than are worth keeping.
	Full() bool
	// Replace puts other records in place of all.
	Replace(records func(yield func(record []byte) bool))
}

// Sharing is a Keeper that other servers add records to as well.
type Sharing interface {
	Keeper
	// News are the records of others since it was last asked, or since Kept.
	News(ctx context.Context) ([][]byte, error)
	// Settle returns when others find in their News what Keep was given.
	Settle(ctx context.Context) error
}

// hear takes in what other servers noted. Where that cannot be known, nobody is let in: a text that
// one of them knows to be a stranger's would count as the user's here.
func (f *Follower) hear(ctx context.Context) error {
	others, ok := f.keeper.(Sharing)
	if !ok {
		return nil
	}
	f.hearing.Lock() // whoever comes next finds all of it
	defer f.hearing.Unlock()
	records, err := others.News(ctx)
	if err != nil || len(records) == 0 {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range records {
		f.recallOne(r)
	}
	return nil
}

// settle makes other servers know what was noted here.
func (f *Follower) settle(ctx context.Context) error {
	if others, ok := f.keeper.(Sharing); ok {
		return others.Settle(ctx)
	}
	return nil
}

// keptVersion is the first byte of a record. It changes with its form and with how words are
// hashed.
const keptVersion = 1

// forgottenKind is the kind of a record that says of its tenant that something was forgotten.
const forgottenKind engine.RecalledKind = 0

// kept is one record.
type kept struct {
	tenant      uint64
	kind        engine.RecalledKind
	level       trust.Level
	sensitivity trust.Sensitivity
	key         contentKey
	rate        int
	sums        []uint64
}

const keptHead = 1 + 8 + 1 + 1 + 1 + 16 + 1

func (k kept) record() []byte {
	b := make([]byte, 0, keptHead+8*len(k.sums))
	b = binary.LittleEndian.AppendUint64(append(b, keptVersion), k.tenant)
	b = append(b, byte(k.kind), byte(k.level), byte(k.sensitivity))
	b = append(append(b, k.key[:]...), byte(k.rate))
	for _, s := range k.sums {
		b = binary.LittleEndian.AppendUint64(b, s)
	}
	return b
}

func readKept(b []byte) (k kept, ok bool) {
	if len(b) < keptHead || b[0] != keptVersion || (len(b)-keptHead)%8 != 0 {
		return k, false
	}
	k.tenant = binary.LittleEndian.Uint64(b[1:])
	k.kind, k.level, k.sensitivity = engine.RecalledKind(b[9]), trust.Level(b[10]), trust.Sensitivity(b[11])
	copy(k.key[:], b[12:])
	k.rate = int(b[28])
	for b = b[keptHead:]; len(b) > 0; b = b[8:] {
		k.sums = append(k.sums, binary.LittleEndian.Uint64(b))
	}
	return k, k.level <= trust.System && k.rate > 0
}

// label is what a text is worth of which only that is known.
func (k kept) label() trust.Label {
	l := trust.Label{Level: k.level, Sensitivity: k.sensitivity}
	if l.Level <= trust.Shared {
		l.Sources = []trust.Source{{Level: l.Level, Kind: "remembered_text", Detail: "written before the last start, or at another server"}}
	}
	return l
}

// recallAll reads what earlier processes kept.
func (f *Follower) recallAll() {
	if f.keeper == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.keeper.Kept(f.recallOne) {
		f.loses()
	}
}

// recallOne takes in a record. One that cannot be read may say anything of anybody.
// Preconditions: mu is held.
func (f *Follower) recallOne(record []byte) {
	k, ok := readKept(record)
	if !ok {
		f.loses()
		return
	}
	p, known := f.pasts.get(k.tenant)
	if !known {
		p = f.recalled[k.tenant]
	}
	if p == nil {
		p = f.newPast(k.tenant)
		f.recalled[k.tenant] = p
	}
	p.restore(k)
}

// loses notes that something of what was kept is not there.
// Preconditions: mu is held.
func (f *Follower) loses() {
	f.lost = true
	for _, list := range []iter.Seq[*past]{f.pasts.all(), maps.Values(f.recalled)} {
		for p := range list {
			p.mu.Lock()
			p.lost = true
			p.mu.Unlock()
		}
	}
}

// restore adds what a record says.
func (p *past) restore(k kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k.kind == forgottenKind {
		p.lost = true
		return
	}
	switch {
	case k.kind == startKind && len(k.sums) == 1:
		p.starts.put(k.key, k.sums[0])
		return
	case k.kind == promptKind:
		for _, line := range k.sums {
			p.prompts.put(line, struct{}{})
		}
		return
	}
	m := memory{label: k.label()}
	p.put(k.key, m)
	p.write(&writing{memory: m, kind: k.kind, key: k.key, rate: k.rate}, k.sums)
}

// compact replaces the records by what is still remembered.
func (f *Follower) compact() {
	if f.keeper == nil || !f.keeper.Full() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keeper.Replace(func(yield func([]byte) bool) {
		for p := range f.pasts.all() {
			if !p.records(yield) {
				return
			}
		}
		for _, p := range f.recalled {
			if !p.records(yield) {
				return
			}
		}
	})
}

// records tells what is remembered of a tenant. Runs are told by their writing, and contents
// apart: which of them is whose is not known any more.
func (p *past) records(yield func([]byte) bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.forgot() && !yield(kept{tenant: p.tenant, kind: forgottenKind, rate: 1}.record()) {
		return false
	}
	var lines []uint64
	for _, prompts := range []map[uint64]struct{}{p.prompts.old, p.prompts.young} {
		lines = slices.AppendSeq(lines, maps.Keys(prompts))
	}
	if len(lines) > 0 && !yield(kept{tenant: p.tenant, kind: promptKind, rate: 1, sums: lines}.record()) {
		return false
	}
	told := p.runs.each(func(w *writing, sums []uint64) bool {
		return yield(kept{p.tenant, w.kind, w.label.Level, w.label.Sensitivity, w.key, w.rate, sums}.record())
	})
	if !told {
		return false
	}
	for _, known := range []map[contentKey]memory{p.known.old, p.known.young} {
		for key, m := range known {
			k := kept{tenant: p.tenant, kind: engine.RecalledOutput, level: m.label.Level, sensitivity: m.label.Sensitivity}
			if k.key, k.rate = key, 1; !yield(k.record()) {
				return false
			}
		}
	}
	return true
}
