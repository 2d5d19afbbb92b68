package format

import (
	"container/list"
	"slices"
	"sort"
)

// step is a beginning of a body that was read before: up to end, where entry number count
// of the list ends.
type step struct {
	end, count int
	base       sum    // of its whole blocks
	sample     uint64 // of some of the bytes after them, so that most misses cost next to nothing
	sum        sum
	prefix     prefixHash // of the bytes since the step before
	id         uint64     // never used twice: a step that was replaced is not mistaken for the new one
	value      any
}

func (s step) same(t step) bool { return s.end == t.end && s.count == t.count && s.sum == t.sum }

// line is a conversation as it grew, step by step. Where another one leaves it after
// some steps, that one is a child. A sealed line (the root of a tenant, the bytes before
// the list) does not grow: all that follows it is in its index of forks.
type line struct {
	parent   *line
	at       int // after how many steps of the parent it starts
	steps    []step
	children []*line
	forks    forkIndex
	depth    int
	sealed   bool
	dead     bool
	head     *outline      // what stands before the list, for the line of a head
	place    *list.Element // in the order of use; nil for a root
	key      rootKey       // of a root
}

type rootKey struct {
	tenant string
	api    API
}

// cursor is a step that a request stands on: the first k steps of a line.
type cursor struct {
	line  *line
	k     int
	id    uint64
	end   int
	count int
}

func (l *line) cursor(k int) cursor {
	c := cursor{line: l, k: k}
	if k > 0 {
		s := l.steps[k-1]
		c.id, c.end, c.count = s.id, s.end, s.count
	}
	return c
}

// valid reports whether the steps are still those the cursor was made for.
func (c cursor) valid() bool {
	return c.line != nil && !c.line.dead && c.k <= len(c.line.steps) &&
		(c.k == 0 || c.line.steps[c.k-1].id == c.id)
}

const (
	maxForks  = 64 // how deep lines leave one another
	shortStub = 4  // steps at the end of a line that make room for the line that replaces them
)

// search is one walk for the longest prefix that is known.
type search struct {
	sums *Sums
	body []byte
	best cursor
	memo any
}

// matches compares one step with the body.
func (s *search) matches(st *step) bool {
	if st.end > len(s.body) || s.sums.base(st.end) != st.base {
		return false
	}
	part := rest(s.body, st.end)
	return s.sums.s.sample(part) == st.sample && s.sums.s.chain(st.base, part) == st.sum
}

// along is how many steps of a line the body follows. Each holds the ones before it.
func (s *search) along(l *line) int {
	n := len(l.steps)
	if n > 0 && s.matches(&l.steps[n-1]) { // it has only grown
		return n
	}
	return sort.Search(n, func(i int) bool { return !s.matches(&l.steps[i]) })
}

// walk follows a line, and then the lines that leave it as far as it was followed.
func (s *search) walk(l *line) {
	k := s.along(l)
	if k == 0 && len(l.steps) > 0 {
		return
	}
	if k > 0 && l.steps[k-1].end > s.best.end {
		s.best, s.memo = l.cursor(k), l.steps[k-1].value
	}
	if l.sealed {
		l.forks.follow(s.sums.s, s.body, l.cursor(k).end, s.walk)
		return
	}
	for i := len(l.children) - 1; i >= 0; i-- {
		child := l.children[i]
		if child.at <= k {
			s.walk(child)
		}
	}
}

// insert adds a step after a cursor, or finds it there. The caller holds the lock.
func (c *Cache) insert(at cursor, st step) cursor {
	if !at.valid() {
		return cursor{}
	}
	l, k := at.line, at.k
	if !l.sealed && k < len(l.steps) && l.steps[k].same(st) {
		l.steps[k].value = st.value
		return l.cursor(k + 1)
	}
	beside := l.children
	if l.sealed {
		beside = l.forks.lines[st.prefix]
	}
	for _, child := range beside {
		if child.at == k && child.steps[0].same(st) {
			child.steps[0].value = st.value
			return child.cursor(1)
		}
	}
	c.lastID++
	st.id = c.lastID
	if !l.sealed && c.clear(l, k) {
		l.steps = append(l.steps, st)
		c.steps++
		return l.cursor(k + 1)
	}
	if l.depth >= maxForks {
		return cursor{}
	}
	child := &line{parent: l, at: k, steps: []step{st}, depth: l.depth + 1}
	if l.sealed {
		l.forks.add(child)
	} else {
		l.children = append(l.children, child)
	}
	child.place = c.order.PushFront(child)
	c.steps++
	return child.cursor(1)
}

// clear makes k the end of a line if nothing much stands after it: clients change marks
// in the last entries all the time, and a fork for each of them would help nobody.
func (c *Cache) clear(l *line, k int) bool {
	if len(l.steps)-k > shortStub && l.depth < maxForks {
		return false
	}
	for _, child := range l.children {
		if child.at > k {
			return false
		}
	}
	c.steps -= len(l.steps) - k
	clear(l.steps[k:]) // their values are the caller's and may be large
	l.steps = l.steps[:k]
	return true
}

// touch marks a line and all it stands on as used. Parents come last, so the line that
// was not used for longest is always one that no other stands on.
func (c *Cache) touch(l *line) {
	for ; l != nil; l = l.parent {
		if l.place != nil {
			c.order.MoveToFront(l.place)
		}
	}
}

// evict forgets lines until the limit holds.
func (c *Cache) evict() {
	for c.steps > c.limit {
		last := c.order.Back()
		if last == nil {
			return
		}
		l, _ := last.Value.(*line)
		c.order.Remove(last)
		c.steps -= len(l.steps)
		l.dead = true
		parent := l.parent
		if parent.sealed {
			parent.forks.remove(l)
		} else {
			parent.children = slices.DeleteFunc(parent.children, func(k *line) bool { return k == l })
		}
		if parent.parent == nil && len(parent.forks.lines) == 0 {
			parent.dead = true
			delete(c.roots, parent.key)
		}
	}
}
