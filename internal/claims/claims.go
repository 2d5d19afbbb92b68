// Package claims remembers the calls of servers' tools that a door has just let through, so that
// the MCP door, which meets the same call again on its way to the server, does not decide and ask
// twice. It holds what was released, in memory, for a while: what it forgot is decided anew.
//
// Invariants:
//   - a claim is good once, and only for the same tool with the same arguments;
//   - it is noted by a door that redeemed, or handed on, the permit of exactly that call.
package claims

import (
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
)

// The bounds of what is remembered.
const (
	maxClaims = 8192
	lives     = 15 * time.Minute // a host may ask its own person in between
)

// Book holds claims. It is safe for concurrent use; nil holds none.
type Book struct {
	now func() time.Time

	mu    sync.Mutex
	byID  map[string]claim // guarded by mu
	order []string         // guarded by mu; ids as they came, some of them claimed since
}

type claim struct {
	ref    engine.Ref
	digest [sha256.Size]byte
	until  time.Time
}

// New is an empty book.
func New(now func() time.Time) *Book { return &Book{now: now, byID: map[string]claim{}} }

// Note remembers that a call was let through in a place. A call without an id, and one of a tool
// that is no server's, cannot be met again.
func (b *Book) Note(ref engine.Ref, call tool.Call) {
	if b == nil || call.ID == "" || !strings.Contains(call.Name, "__") {
		return
	}
	digest, err := digestOf(call)
	if err != nil {
		return // what nobody can spell in one way is decided anew
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.byID[call.ID]; !known {
		b.order = append(b.order, call.ID)
	}
	b.byID[call.ID] = claim{ref, digest, b.now().Add(lives)}
	for len(b.order) > maxClaims {
		delete(b.byID, b.order[0])
		b.order = b.order[1:]
	}
}

// Claim takes the claim of a call, and says where it was let through. One that does not fit stays
// for the call that it is of.
func (b *Book) Claim(call tool.Call) (engine.Ref, bool) {
	if b == nil || call.ID == "" {
		return engine.Ref{}, false
	}
	b.mu.Lock()
	_, known := b.byID[call.ID]
	b.mu.Unlock()
	if !known {
		return engine.Ref{}, false // most calls are met here first
	}
	digest, err := digestOf(call)
	if err != nil {
		return engine.Ref{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c, known := b.byID[call.ID]
	if !known || c.digest != digest || b.now().After(c.until) {
		return engine.Ref{}, false
	}
	delete(b.byID, call.ID)
	return c.ref, true
}

// digestOf is a call whatever its arguments are spelled like: hosts write them anew.
func digestOf(call tool.Call) (out [sha256.Size]byte, err error) {
	args := call.Args
	if len(args) == 0 {
		args = []byte("{}")
	}
	var v any
	if err := strictjson.Unmarshal(args, &v); err != nil { // what two parsers read in two ways is no call that was let through
		return out, err
	}
	canonical, err := strictjson.Canonical(args)
	if err != nil {
		return out, err
	}
	return tool.Call{Name: call.Name, Args: canonical}.Digest(), nil
}
