// Package backoff says how long to wait before something is tried again: longer each time, and by chance, so that many
// who failed together do not come back together. It waits for nothing itself.
package backoff

import (
	"math/rand/v2"
	"time"
)

// Growing are pauses that grow by half from First to Most, each by chance up to half of itself shorter or longer. It is
// one caller's: not for use by several at once.
type Growing struct {
	First, Most time.Duration // 0: half a second, a minute
	next        time.Duration // 0: First
}

// Next is the next pause.
func (g *Growing) Next() time.Duration {
	most := g.Most
	if most <= 0 {
		most = time.Minute
	}
	if g.next == 0 {
		if g.next = g.First; g.next <= 0 {
			g.next = 500 * time.Millisecond
		}
	}
	pause := g.next
	g.next = min(g.next+g.next/2+1, most)
	return pause/2 + rand.N(pause+1)
}

// Reset begins anew, after something worked.
func (g *Growing) Reset() { g.next = 0 }
