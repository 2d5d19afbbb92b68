package conversation

// generations is a map that forgets what nobody asked for in a long while: two generations, of
// which the older is dropped whole when the younger is full.
type generations[K comparable, V any] struct {
	young, old map[K]V
	limit      int
}

func (s *generations[K, V]) get(k K) (V, bool) {
	if v, ok := s.young[k]; ok {
		return v, true
	}
	v, ok := s.old[k]
	if ok {
		s.put(k, v)
	}
	return v, ok
}

func (s *generations[K, V]) put(k K, v V) {
	if len(s.young) >= s.limit {
		s.turn()
	}
	if s.young == nil {
		s.young = map[K]V{}
	}
	s.young[k] = v
}

// turn begins a generation and drops the one before the last.
func (s *generations[K, V]) turn() { s.young, s.old = nil, s.young }
