package valueindex

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// sumSize is how much of a hash is kept: 128 bits, which nobody meets by chance.
const sumSize = 16

// sealed are values that were said and are known by their hashes alone: a log must not
// hold a password, and after a restart its owner has still said it.
type sealed struct {
	key  []byte
	sums map[string]bool
}

// Seal is the hash of a value, in its one spelling, under a key; "" where there is nothing
// in it that could be looked up. Who has no key learns nothing from it; who has it can try
// values, so it belongs where secrets of the owner's lie.
func Seal(key []byte, value string) string {
	if len(key) == 0 {
		return ""
	}
	return sum(key, []byte(Normal(value)))
}

func sum(key, normal []byte) string {
	if len(normal) == 0 {
		return ""
	}
	h := hmac.New(sha256.New, key)
	h.Write(normal)
	return hex.EncodeToString(h.Sum(nil)[:sumSize])
}

// Sealed adds values of the user's own words that were kept as hashes under a key. All of
// an index are under one.
func (x *Index) Sealed(key []byte, sums []string) {
	if len(key) == 0 || len(sums) == 0 {
		return
	}
	if x.sealed.sums == nil {
		x.sealed.sums = map[string]bool{}
	}
	x.sealed.key = key
	for _, s := range sums {
		x.sealed.sums[s] = true
	}
}

// has reports whether a value is one of them, as a whole.
func (s *sealed) has(q *query) bool {
	if len(s.sums) == 0 {
		return false
	}
	var normal []byte
	for i := range q.toks {
		if i > 0 {
			normal = append(normal, ' ')
		}
		normal = append(normal, q.text(i)...)
	}
	return s.sums[sum(s.key, normal)]
}
