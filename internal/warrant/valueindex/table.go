package valueindex

// table finds the newest entry with a hash. It holds numbers of entries only; their
// hashes stand in a slice of the owner, given to each call. A slot is a number plus
// one, 0 is empty.
type table struct {
	slots []uint32
	used  int
}

func (t *table) slot(h uint32) int { return int(uint64(h) * uint64(len(t.slots)) >> 32) }

// get is the newest entry with the hash, plus one; 0 for none.
func (t *table) get(h uint32, keys []uint32) uint32 {
	if len(t.slots) == 0 {
		return 0
	}
	for i := t.slot(h); ; i++ {
		if i == len(t.slots) {
			i = 0
		}
		if s := t.slots[i]; s == 0 || keys[s-1] == h {
			return s
		}
	}
}

// put makes id the newest entry with keys[id] and returns the one before, plus one.
func (t *table) put(id uint32, keys []uint32) uint32 {
	if t.used >= len(t.slots)-len(t.slots)/4 {
		t.grow(keys)
	}
	h := keys[id]
	for i := t.slot(h); ; i++ {
		if i == len(t.slots) {
			i = 0
		}
		switch s := t.slots[i]; {
		case s == 0:
			t.slots[i] = id + 1
			t.used++
			return 0
		case keys[s-1] == h:
			t.slots[i] = id + 1
			return s
		}
	}
}

// room is the next size of a table: at first in large steps, later in smaller ones, since most of what
// a conversation takes in memory would be empty slots.
func room(slots int) int {
	switch {
	case slots == 0:
		return 256
	case slots < 1<<10:
		return 4 * slots
	case slots < 1<<14:
		return 2 * slots
	}
	return slots + slots/2
}

func (t *table) grow(keys []uint32) {
	old := t.slots
	t.slots = make([]uint32, room(len(old)))
	for _, s := range old {
		if s == 0 {
			continue
		}
		i := t.slot(keys[s-1])
		for t.slots[i] != 0 {
			if i++; i == len(t.slots) {
				i = 0
			}
		}
		t.slots[i] = s
	}
}
