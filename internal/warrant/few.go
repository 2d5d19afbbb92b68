package warrant

import "slices"

// few is a set that is small as a rule: a clause has a handful of words, and a map for each of
// them costs more than hearing it. The zero few is empty.
type few[T comparable] struct {
	list  []T
	known map[T]bool // of what is in the list, where that is long
}

// fewest is up to which size a list is searched.
const fewest = 24

func (f *few[T]) has(v T) bool {
	if f.known != nil {
		return f.known[v]
	}
	return slices.Contains(f.list, v)
}

// add puts something in, and reports whether it was not there.
func (f *few[T]) add(v T) bool {
	if f.has(v) {
		return false
	}
	if f.list = append(f.list, v); f.known != nil {
		f.known[v] = true
	} else if len(f.list) > fewest {
		f.known = make(map[T]bool, 2*len(f.list))
		for _, v := range f.list {
			f.known[v] = true
		}
	}
	return true
}
