package tidemark

import (
	"bytes"
	"errors"
	"sync/atomic"

	"github.com/tidemark/tidemark/tool"
)

// ErrPermit is returned by Permit.Redeem for anything but the first use for the
// exact call that was decided.
var ErrPermit = errors.New("no permit for this call")

// Permit is proof that one exact call was decided, recorded and allowed. Only Decide
// makes one; nil and the zero Permit cover nothing. Whatever lets a call through takes
// a *Permit and redeems it.
type Permit struct {
	issued bool
	used   atomic.Bool
	name   string // normalised
	size   int
	short  [96]byte // a copy of the arguments: the caller may change its bytes
	long   []byte   // the copy, where it does not fit into short
}

func newPermit(name string, args []byte) *Permit {
	p := &Permit{issued: true, name: name, size: len(args)}
	if copy(p.short[:], args) < len(args) {
		p.long = bytes.Clone(args)
	}
	return p
}

// covers reports whether the call is, byte for byte, the one that was decided.
func (p *Permit) covers(call tool.Call) bool {
	args := p.long
	if p.size <= len(p.short) {
		args = p.short[:p.size]
	}
	return p.issued && p.name == tool.Name(call.Name) && bytes.Equal(args, call.Args)
}

// Redeem uses the permit up for call. It works once, and only for the same tool and
// the same argument bytes.
func (p *Permit) Redeem(call tool.Call) error {
	if p == nil || !p.covers(call) || !p.used.CompareAndSwap(false, true) {
		return ErrPermit
	}
	return nil
}
