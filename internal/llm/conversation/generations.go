package conversation

import (
	"iter"
	"maps"
)

// generations is a map that forgets what nobody asked for in a long while: two generations, of
// which the older is dropped whole when the younger is full.
type generations[K comparable, V any] struct {
	young, old map[K]V
	limit      int
	lost       bool // something was dropped
}

func (s *generations[K, V]) get(k K) (V, bool) {
	if v, ok := s.young[k]; ok {
		return v, true
	}
	v, ok := s.old[k]
	if ok {
		delete(s.old, k) // it moves on
		s.put(k, v)
	}
	return v, ok
}

func (s *generations[K, V]) put(k K, v V) {
	if _, ok := s.young[k]; !ok && len(s.young) >= s.limit {
		s.turn()
	}
	if s.young == nil {
		s.young = map[K]V{}
	}
	s.young[k] = v
}

// turn begins a generation and drops the one before the last.
func (s *generations[K, V]) turn() {
	s.lost = s.lost || len(s.old) > 0
	s.young, s.old = nil, s.young
}

// dropping are the values that go if another key comes now, in no order.
func (s *generations[K, V]) dropping() iter.Seq[V] {
	if len(s.young) < s.limit {
		return func(func(V) bool) {}
	}
	return maps.Values(s.old)
}

func (s *generations[K, V]) len() int { return len(s.young) + len(s.old) }

// all are the values, in no order.
func (s *generations[K, V]) all() iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, m := range []map[K]V{s.young, s.old} {
			for _, v := range m {
				if !yield(v) {
					return
				}
			}
		}
	}
}
