package tidemark

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
	bind   binding
}

// binding is a call in few bytes: name and arguments themselves where they fit, their
// digest where they do not. It holds no pointer, so that permits cost the collector
// nothing.
type binding struct {
	name, args int32 // lengths; args is -1 for a digest
	bytes      [80]byte
}

func bind(call tool.Call) (b binding) {
	name := tool.Name(call.Name)
	if len(name)+len(call.Args) > len(b.bytes) {
		d := call.Digest()
		b.args = -1
		copy(b.bytes[:], d[:])
		return b
	}
	b.name, b.args = int32(len(name)), int32(len(call.Args))
	copy(b.bytes[copy(b.bytes[:], name):], call.Args)
	return b
}

// Redeem uses the permit up for call. It works once, and only for the same tool and
// the same argument bytes.
func (p *Permit) Redeem(call tool.Call) error {
	if p == nil || !p.issued || p.bind != bind(call) || !p.used.CompareAndSwap(false, true) {
		return ErrPermit
	}
	return nil
}
