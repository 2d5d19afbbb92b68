package format

import (
	"container/list"
	"sync"
)

const (
	// factBytes bounds what is remembered of system prompts, tools and the members
	// after the list.
	factBytes = 64 << 20
	// factLeast is the size from which remembering is cheaper than reading again.
	factLeast = 2 << 10
	// factMost is the largest value remembered: one request must not push out the rest.
	factMost = factBytes / 8
	// maxOutline is how many members of an object are remembered at most.
	maxOutline = 256
)

// Cache remembers which conversations were read: hashes of their bytes, and what the
// caller thought of them. It never keeps a body. Tenants share nothing. It is safe for
// concurrent use; what it hands out is shared and must not be changed.
type Cache struct {
	sums  *hasher
	limit int

	mu     sync.RWMutex
	roots  map[rootKey]*line
	order  *list.List // of *line, the last used first
	steps  int
	lastID uint64

	factMu    sync.Mutex
	facts     map[factKey]*list.Element
	factOrder *list.List // of *fact, the last used first
	factBytes int
}

// factKey finds what was read from some bytes.
type factKey struct {
	tenant string
	api    API
	kind   string // the member's key; empty for the members after the list
	size   int
	sum    sum
}

type fact struct {
	key   factKey
	value any
	bytes int
}

// NewCache returns a cache that remembers up to limit prefixes.
func NewCache(limit int) *Cache {
	return &Cache{
		sums:  newHasher(),
		limit: max(limit, 0),
		roots: map[rootKey]*line{}, order: list.New(),
		facts: map[factKey]*list.Element{}, factOrder: list.New(),
	}
}

// find is the longest known prefix of a body, and the caller's value for it.
func (c *Cache) find(api API, tenant string, body []byte, sums *Sums) (cursor, *outline, any) {
	s := search{sums: sums, body: body}
	c.mu.RLock()
	root := c.roots[rootKey{tenant, api}]
	if root != nil {
		s.walk(root)
	}
	var head *outline
	for l := s.best.line; l != nil && head == nil; l = l.parent {
		head = l.head
	}
	c.mu.RUnlock()
	if s.best.line != nil {
		c.mu.Lock()
		if s.best.valid() {
			c.touch(s.best.line)
		}
		c.mu.Unlock()
	}
	return s.best, head, s.memo
}

// root is the cursor before everything. The caller holds the lock.
func (c *Cache) root(api API, tenant string) cursor {
	key := rootKey{tenant, api}
	l := c.roots[key]
	if l == nil {
		l = &line{sealed: true, key: key}
		c.roots[key] = l
	}
	return cursor{line: l}
}

// keepHead remembers the bytes before the list, and what stands there.
func (c *Cache) keepHead(api API, tenant string, st step, head *outline) cursor {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.insert(c.root(api, tenant), st)
	if at.line != nil {
		at.line.sealed, at.line.head = true, head
		c.touch(at.line)
	}
	c.evict()
	return at
}

// keep remembers a step after a cursor.
func (c *Cache) keep(at cursor, st step) cursor {
	c.mu.Lock()
	defer c.mu.Unlock()
	at = c.insert(at, st)
	if at.line != nil {
		c.touch(at.line)
	}
	c.evict()
	return at
}

// renew replaces the value of the step a cursor stands on.
func (c *Cache) renew(at cursor, value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.valid() && at.k > 0 {
		at.line.steps[at.k-1].value = value
	}
}

// fact is what was read from bytes like these before; read is asked if nothing was. It
// says how much memory its answer holds.
func (c *Cache) fact(key factKey, b []byte, read func() (any, int, error)) (any, error) {
	if len(b) < factLeast {
		value, _, err := read()
		return value, err
	}
	key.size, key.sum = len(b), c.sums.of(b)
	c.factMu.Lock()
	if e := c.facts[key]; e != nil {
		c.factOrder.MoveToFront(e)
		f, _ := e.Value.(*fact)
		c.factMu.Unlock()
		return f.value, nil
	}
	c.factMu.Unlock()
	value, size, err := read()
	if err == nil && size <= factMost && c.limit > 0 {
		c.addFact(&fact{key, value, size + 256})
	}
	return value, err
}

func (c *Cache) addFact(f *fact) {
	c.factMu.Lock()
	defer c.factMu.Unlock()
	if c.facts[f.key] != nil {
		return
	}
	c.facts[f.key] = c.factOrder.PushFront(f)
	c.factBytes += f.bytes
	for c.factBytes > factBytes {
		last := c.factOrder.Back()
		old, _ := last.Value.(*fact)
		c.factOrder.Remove(last)
		delete(c.facts, old.key)
		c.factBytes -= old.bytes
	}
}
