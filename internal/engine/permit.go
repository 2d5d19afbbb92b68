package engine

import (
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
	used   atomic.Bool
	issued bool
	boxed  bool // for a box, and nothing else
	bind   binding
}

// binding is a call in few bytes: name and arguments themselves where they fit, their
// digest where they do not. It holds no pointer, so that permits cost the collector
// nothing.
type binding struct {
	name, args int32 // lengths; args is -1 for a digest
	bytes      [80]byte
}

// to binds to a call whose normalised name is given.
func (b *binding) to(name string, call *tool.Call) {
	if len(name)+len(call.Args) > len(b.bytes) {
		d := call.Digest()
		b.args = -1
		copy(b.bytes[:], d[:])
		return
	}
	b.name, b.args = int32(len(name)), int32(len(call.Args))
	copy(b.bytes[copy(b.bytes[:], name):], call.Args)
}

func newPermit(name string, call *tool.Call) *Permit {
	p := &Permit{issued: true}
	p.bind.to(name, call)
	return p
}

// Redeem uses the permit up for call. It works once, and only for the same tool and
// the same argument bytes. One for a box it does not take.
func (p *Permit) Redeem(call tool.Call) error { return p.redeem(&call, false) }

// RedeemBoxed is Redeem for whoever has a call run in a box, and takes no other permit.
func (p *Permit) RedeemBoxed(call tool.Call) error { return p.redeem(&call, true) }

func (p *Permit) redeem(call *tool.Call, boxed bool) error {
	var given binding
	given.to(tool.Name(call.Name), call)
	if p == nil || !p.issued || p.boxed != boxed || p.bind != given || !p.used.CompareAndSwap(false, true) {
		return ErrPermit
	}
	return nil
}
