// Package uuid makes identifiers that nobody else makes.
package uuid

import (
	"crypto/rand"
	"fmt"
)

// New is a random UUID (RFC 9562, version 4).
func New() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it does not fail: see its documentation
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
