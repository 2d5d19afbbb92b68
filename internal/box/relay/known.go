package relay

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/tidemark/tidemark/internal/base/outbound"
)

// Known is a port of a computer that the owner's own settings name, and that has to prove by a key they hold who it is. So it may be one
// of a private network, where a name proves nothing. It is met at the same port of the box's loopback, and nobody else can be.
type Known struct {
	Host string // a name or an address
	Port int
	Here bool // it may be this machine
}

// openKnown leads a port of the box's loopback to the one computer.
func (r *Relay) openKnown(k *Known) error {
	if k.Port < 1 || k.Port > 65535 || slices.Contains(r.opts.Closed, k.Port) && k.Here {
		return errors.New("that port is never opened")
	}
	l, err := r.net.Listen(net.JoinHostPort("127.0.0.1", strconv.Itoa(k.Port)))
	if err != nil {
		return err
	}
	r.accept(l, func(c net.Conn) {
		out, err := r.reachKnown(r.ctx, k)
		if err != nil {
			r.refused(k.Host, k.Port, err.Error())
			refuse(c)
			return
		}
		r.carry(c, nil, out)
	})
	return nil
}

// reachKnown connects to the first of its addresses that answers.
func (r *Relay) reachKnown(ctx context.Context, k *Known) (net.Conn, error) {
	addresses, err := r.find(ctx, k.Host)
	if err != nil {
		return nil, err
	}
	err = errors.New("it is no computer that may be reached")
	for _, a := range addresses {
		if a = a.Unmap(); !k.may(a) {
			continue
		}
		var c net.Conn
		if c, err = r.dial(ctx, netip.AddrPortFrom(a, uint16(k.Port))); err == nil { // checked where it came in
			return c, nil
		}
		err = errors.New("it could not be reached")
	}
	return nil, err
}

// told is where a cloud tells its computers who they are, at an address that is private otherwise.
var told = netip.MustParsePrefix("fd00:ec2::/32")

// may reports whether it may be at an address: a public or a private one. What clouds tell their computers is at neither.
func (k *Known) may(a netip.Addr) bool {
	if a.IsLoopback() || ofThisMachine(a) {
		return k.Here && !a.IsUnspecified()
	}
	return outbound.Public(a) || a.IsPrivate() && !told.Contains(a)
}
