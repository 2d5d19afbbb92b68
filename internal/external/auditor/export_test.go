package auditor

// Counts is a small budget for tests.
type Counts struct{ l *lru[int] }

// NewCounts remembers this many keys.
func NewCounts(limit int) *Counts { return &Counts{newLRU[int](limit)} }

// Count counts a key and says how often it was.
func (c *Counts) Count(key string) int {
	c.l.edit(key, func(n *int) { *n++ })
	n, _ := c.l.get(key)
	return n
}
