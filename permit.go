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
	size   int32 // of the arguments where they are in short, -1 where they are in long
	name   string
	short  [64]byte // a copy of the arguments: the caller may change its bytes
	long   string
}

func newPermit(name string, args []byte) *Permit {
	p := &Permit{issued: true, name: name, size: -1}
	if len(args) <= len(p.short) {
		p.size = int32(copy(p.short[:], args))
	} else {
		p.long = string(args)
	}
	return p
}

// covers reports whether the call is, byte for byte, the one that was decided.
func (p *Permit) covers(call tool.Call) bool {
	same := false
	if p.size >= 0 {
		same = string(p.short[:p.size]) == string(call.Args)
	} else {
		same = p.long == string(call.Args)
	}
	return same && p.issued && p.name == tool.Name(call.Name)
}

// Redeem uses the permit up for call. It works once, and only for the same tool and
// the same argument bytes.
func (p *Permit) Redeem(call tool.Call) error {
	if p == nil || !p.covers(call) || !p.used.CompareAndSwap(false, true) {
		return ErrPermit
	}
	return nil
}
