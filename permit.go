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
	issued bool
	name   string // normalised
	args   string // a copy: the caller may change its bytes
	used   atomic.Bool
}

// Redeem uses the permit up for call. It works once, and only for the same tool and
// the same argument bytes.
func (p *Permit) Redeem(call tool.Call) error {
	if p == nil || !p.issued || p.name != tool.Name(call.Name) || p.args != string(call.Args) || !p.used.CompareAndSwap(false, true) {
		return ErrPermit
	}
	return nil
}
