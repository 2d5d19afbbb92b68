package format

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// A harness begins every conversation with the same bytes, so thousands of lines may leave
// the same place. To follow a body they are not tried one by one: they are found by what
// comes first after that place.

// lead is what a line begins with: a hash of its first 1<<bits bytes.
type lead struct {
	bits uint8
	hash uint64
}

// maxLead bounds what is hashed. Lines that are alike for longer are tried one by one.
const maxLead = 16

// leadOf is the lead of the bytes between two places of a body.
func (s *summer) leadOf(body []byte, from, to int) lead {
	if to <= from {
		return lead{}
	}
	n := uint8(min(bits.Len(uint(to-from))-1, maxLead))
	return lead{n, maphash.Bytes(s.seeds[1], body[from:from+1<<n])}
}

// crowd is the lines that leave one place, by their leads.
type crowd struct {
	lines map[lead][]*line
	sizes [maxLead + 1]int // how many leads are of which length
}

func (c *crowd) add(l *line) {
	if c.lines == nil {
		c.lines = map[lead][]*line{}
	}
	key := l.steps[0].lead
	if len(c.lines[key]) == 0 {
		c.sizes[key.bits]++
	}
	c.lines[key] = append(c.lines[key], l)
}

func (c *crowd) remove(l *line) {
	key := l.steps[0].lead
	left := slices.DeleteFunc(c.lines[key], func(k *line) bool { return k == l })
	if len(left) > 0 {
		c.lines[key] = left
		return
	}
	if _, ok := c.lines[key]; ok {
		delete(c.lines, key)
		c.sizes[key.bits]--
	}
}

// follow tells of every line that a body may follow from a place on.
func (c *crowd) follow(s *summer, body []byte, from int, tell func(*line)) {
	for n, leads := range c.sizes {
		if leads == 0 || from+1<<n > len(body) {
			continue
		}
		lines := c.lines[s.leadOf(body, from, from+1<<n)]
		for i := len(lines) - 1; i >= 0; i-- {
			tell(lines[i])
		}
	}
}
