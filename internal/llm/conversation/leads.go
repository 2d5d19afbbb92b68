package conversation

import "math/bits"

// leads says which run leads to which writing. It is what generations is, for keys that are hashes already
// and of which there are millions: an entry takes some 15 bytes, and the collector looks into none.
type leads struct {
	young, old *leadTable
	limit      int // of one generation
	lost       bool
}

// leadTable is one generation. Places follow one another; a run stands at the first free one from where its
// sum says. Nothing is taken out of it: what has moved on stays until all of it goes.
type leadTable struct {
	generation uint32
	sums       []uint64 // 0: the place is free
	to         []uint32 // the number of the writing
	taken      int      // places
	moved      int      // of those, the ones whose run stands in a later generation
	writings   []*writing
	free       []uint32 // numbers that no run leads to
}

// A table fills so many of so many places before it grows.
const (
	fullTaken, fullPlaces = 4, 5
	fewestPlaces          = 16
)

// nonzero is a sum as it is kept: 0 means that there is none.
func nonzero(sum uint64) uint64 { return max(sum, 1) }

// place is where a sum stands, or the place where it would.
func (t *leadTable) place(sum uint64) int {
	at, _ := bits.Mul64(sum, uint64(len(t.sums)))
	i := int(at) // less than there are places
	for t.sums[i] != 0 && t.sums[i] != sum {
		if i++; i == len(t.sums) {
			i = 0
		}
	}
	return i
}

func (t *leadTable) get(sum uint64) (*writing, bool) {
	if t == nil || t.taken == 0 {
		return nil, false
	}
	i := t.place(sum)
	if t.sums[i] == 0 {
		return nil, false
	}
	return t.writings[t.to[i]], true
}

// put makes a run lead to a writing.
func (t *leadTable) put(sum uint64, w *writing, limit int) {
	if fullPlaces*(t.taken+1) > fullTaken*len(t.sums) {
		t.grow(limit)
	}
	i := t.place(sum)
	if t.sums[i] == 0 {
		t.sums[i] = sum
		t.taken++
	}
	t.to[i] = t.number(w)
}

// grow makes room: by half, and never more than a full generation needs.
func (t *leadTable) grow(limit int) {
	places := max(fewestPlaces, len(t.sums)+len(t.sums)/2)
	if most := fullPlaces*(limit+1)/fullTaken + 1; len(t.sums) < most {
		places = min(places, max(most, fewestPlaces))
	}
	before, to := t.sums, t.to
	t.sums, t.to = make([]uint64, places), make([]uint32, places)
	for i, sum := range before {
		if sum != 0 {
			at := t.place(sum)
			t.sums[at], t.to[at] = sum, to[i]
		}
	}
}

// number is what a writing is called in this generation.
func (t *leadTable) number(w *writing) uint32 {
	if w.generation == t.generation {
		return w.number
	}
	w.generation = t.generation
	if n := len(t.free); n > 0 {
		w.number, t.free = t.free[n-1], t.free[:n-1]
		t.writings[w.number] = w
		return w.number
	}
	w.number = uint32(len(t.writings)) // there are fewer than runs
	t.writings = append(t.writings, w)
	return w.number
}

func (l *leads) get(sum uint64) (*writing, bool) {
	sum = nonzero(sum)
	if w, ok := l.young.get(sum); ok {
		return w, true
	}
	w, ok := l.old.get(sum)
	if ok {
		l.old.moved++
		l.put(sum, w)
	}
	return w, ok
}

func (l *leads) put(sum uint64, w *writing) {
	sum = nonzero(sum)
	if l.young == nil {
		l.young = &leadTable{generation: 1}
	}
	if _, ok := l.young.get(sum); !ok && l.young.taken >= l.limit {
		l.turn()
	}
	l.young.put(sum, w, l.limit)
}

// turn begins a generation and drops the one before the last.
func (l *leads) turn() {
	if l.young == nil {
		return
	}
	l.lost = l.lost || l.old != nil && l.old.taken > l.old.moved
	l.old, l.young = l.young, &leadTable{generation: l.young.generation + 1}
}

// release lets go of a writing that no run leads to any more.
func (l *leads) release(w *writing) {
	if t := l.young; t != nil && w.generation == t.generation {
		t.writings[w.number] = nil
		t.free = append(t.free, w.number)
		w.generation = 0
	}
}

// len counts what takes room.
func (l *leads) len() int {
	n := 0
	for _, t := range l.tables() {
		n += t.taken
	}
	return n
}

func (l *leads) tables() []*leadTable {
	var out []*leadTable
	for _, t := range []*leadTable{l.old, l.young} {
		if t != nil {
			out = append(out, t)
		}
	}
	return out
}

// atATime is how many runs are brought together by their writings at once.
const atATime = 1 << 17

// each tells the runs of every writing that has any, until told to stop. It goes over the tables several times,
// so that it needs little memory of its own.
func (l *leads) each(yield func(*writing, []uint64) bool) bool {
	passes := uint32(l.len()/atATime + 1) // a few dozen
	order := map[*writing]uint32{}        // in which they are met
	for pass := range passes {
		by := map[*writing][]uint64{}
		for _, t := range l.tables() {
			for i, sum := range t.sums {
				if sum == 0 || t == l.old && l.young != nil && l.shadowed(sum) {
					continue
				}
				w := t.writings[t.to[i]]
				n, ok := order[w]
				if !ok {
					n = uint32(len(order)) // there are fewer than runs
					order[w] = n
				}
				if n%passes == pass {
					by[w] = append(by[w], sum)
				}
			}
		}
		for w, sums := range by {
			if !yield(w, sums) {
				return false
			}
		}
	}
	return true
}

// shadowed reports whether a run of the old generation has moved on.
func (l *leads) shadowed(sum uint64) bool {
	_, ok := l.young.get(sum)
	return ok
}
