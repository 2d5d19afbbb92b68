package valueindex

// sums is a set of hashes that takes a few bytes for each. It grows by tables that are added, each four times as
// large as the one before, so that nothing is moved. Of a hash half is kept, and where it stands says more: two are
// taken for one another once in four thousand million times.
type sums struct {
	tables [][]uint32 // a slot is the upper half of a hash, 0 is empty
	room   int        // left in the last one
	used   int
}

const firstSums = 1 << 10

// put adds a hash, and reports whether it is new.
func (s *sums) put(h uint64) bool {
	if s.has(h) {
		return false
	}
	if s.room == 0 {
		size := firstSums
		if n := len(s.tables); n > 0 {
			size = 4 * len(s.tables[n-1])
		}
		s.tables = append(s.tables, make([]uint32, size))
		s.room = size / 8 * 7
	}
	t := s.tables[len(s.tables)-1]
	i := h & uint64(len(t)-1)
	for t[i] != 0 {
		i = (i + 1) & uint64(len(t)-1)
	}
	t[i] = upper(h)
	s.room--
	s.used++
	return true
}

func (s *sums) has(h uint64) bool {
	for n := len(s.tables) - 1; n >= 0; n-- {
		t := s.tables[n]
		for i := h & uint64(len(t)-1); t[i] != 0; i = (i + 1) & uint64(len(t)-1) {
			if t[i] == upper(h) {
				return true
			}
		}
	}
	return false
}

// upper is the half of a hash that is kept, never 0.
func upper(h uint64) uint32 { return max(uint32(h>>32), 1) }

// size is how many bytes of memory the set takes.
func (s *sums) size() int {
	n := 0
	for _, t := range s.tables {
		n += 4 * len(t)
	}
	return n
}
