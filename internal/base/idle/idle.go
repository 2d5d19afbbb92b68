// Package idle finds what nobody has used for longest, without sorting everything each time. It is pure.
package idle

import (
	"cmp"
	"slices"
	"sync"
)

// Queue gives things in the order of their last use, the longest unused first. The zero Queue is ready. It is safe for concurrent use:
// while one caller is at it, others find nothing.
type Queue[T any] struct {
	mu   sync.Mutex
	list []T   // guarded by mu; the longest unused last
	at   int64 // guarded by mu; the latest use when the list was made
}

// Each visits things until one visit is enough, and reports whether one was. The list of before goes on; where it ends, all are asked for,
// once. What was used since the list was made is left out, and so is what was used last of all.
func (q *Queue[T]) Each(all func() []T, used func(T) int64, visit func(T) (enough bool)) bool {
	if !q.mu.TryLock() {
		return true // somebody is at it
	}
	defer q.mu.Unlock()
	for fresh := false; ; fresh = true {
		for n := len(q.list); n > 0; n = len(q.list) {
			one := q.list[n-1]
			clear(q.list[n-1:])
			if q.list = q.list[:n-1]; used(one) <= q.at && visit(one) {
				return true
			}
		}
		if fresh {
			return false
		}
		type dated struct {
			one T
			at  int64
		}
		var list []dated
		for _, one := range all() {
			list = append(list, dated{one, used(one)}) // it may be used while they are sorted
		}
		if len(list) == 0 {
			return false
		}
		slices.SortFunc(list, func(a, b dated) int { return cmp.Compare(b.at, a.at) })
		q.at = list[0].at
		for _, d := range list[1:] {
			q.list = append(q.list, d.one)
		}
	}
}
