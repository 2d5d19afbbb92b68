package format

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// A harness begins every conversation with the same bytes, so thousands of lines may leave
// the same place. To follow a body they are not tried one by one: they are found by what
// comes first after that place.

// prefixHash is what a line begins with: a hash of its first 1<<bits bytes.
type prefixHash struct {
	bits uint8
	hash uint64
}

// maxPrefixBits bounds what is hashed. Lines that are alike for longer are tried one by one.
const maxPrefixBits = 16

// prefixOf is the hash of the bytes between two places of a body.
func (s *hasher) prefixOf(body []byte, from, to int) prefixHash {
	if to <= from {
		return prefixHash{}
	}
	n := uint8(min(bits.Len(uint(to-from))-1, maxPrefixBits))
	return prefixHash{n, maphash.Bytes(s.seeds[1], body[from:from+1<<n])}
}

// forkIndex is the lines that leave one place, by their hashes.
type forkIndex struct {
	lines map[prefixHash][]*line
	sizes [maxPrefixBits + 1]int // how many hashes are of which length
}

func (c *forkIndex) add(l *line) {
	if c.lines == nil {
		c.lines = map[prefixHash][]*line{}
	}
	key := l.steps[0].prefix
	if len(c.lines[key]) == 0 {
		c.sizes[key.bits]++
	}
	c.lines[key] = append(c.lines[key], l)
}

func (c *forkIndex) remove(l *line) {
	key := l.steps[0].prefix
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
func (c *forkIndex) follow(s *hasher, body []byte, from int, tell func(*line)) {
	for n, hashes := range c.sizes {
		if hashes == 0 || from+1<<n > len(body) {
			continue
		}
		lines := c.lines[s.prefixOf(body, from, from+1<<n)]
		for i := len(lines) - 1; i >= 0; i-- {
			tell(lines[i])
		}
	}
}
