package relay

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/outbound"
)

// tlsPort is the port at which the beginning of a connection says whom it is for.
const tlsPort = 443

// mostHeld is how much of what a command sends is kept while a question is open.
const mostHeld = 64 << 10

// held holds a connection until it is decided about, and carries it.
func (r *Relay) held(c net.Conn, host string, port int) {
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	begun := r.watch(c, cancel, port == tlsPort)
	d := r.ask(ctx, Ask{Verb: Connect, Host: host, Port: port}, c.RemoteAddr().String())
	first := begun()
	if !d.Allow {
		if ctx.Err() == nil {
			r.refused(host, port, d.Why)
		}
		refuse(c)
		return
	}
	if err := r.join(ctx, c, first, host, port); err != nil {
		r.refused(host, port, err.Error())
		refuse(c)
	}
}

// watch reads what a command sends while it waits, so that its going away is heard of. What comes back ends that and gives what was
// read. A command that has said all it has to say is still there, but where programs never do so.
func (r *Relay) watch(c net.Conn, gone func(), ended bool) func() []byte {
	var (
		buf  []byte
		stop sync.WaitGroup
	)
	stop.Go(func() {
		chunk := make([]byte, 4<<10)
		for len(buf) < mostHeld {
			n, err := c.Read(chunk)
			buf = append(buf, chunk[:n]...)
			if err != nil {
				timeout := net.Error(nil)
				if !(errors.As(err, &timeout) && timeout.Timeout()) && (ended || len(buf) == 0 || !errors.Is(err, io.EOF)) {
					gone()
				}
				return
			}
		}
	})
	return func() []byte {
		_ = c.SetReadDeadline(time.Unix(1, 0)) // long ago: it ends the reading
		stop.Wait()
		_ = c.SetReadDeadline(time.Time{})
		return buf
	}
}

// join connects a command with whom it was let to.
func (r *Relay) join(ctx context.Context, c net.Conn, first []byte, host string, port int) error {
	if port == tlsPort {
		var err error
		if first, err = rightHello(ctx, c, first, host); err != nil {
			return err
		}
	}
	out, err := r.reach(ctx, host, port)
	if err != nil {
		return err
	}
	r.carry(c, first, out)
	return nil
}

// carry carries bytes both ways until both have ended.
func (r *Relay) carry(c net.Conn, first []byte, out net.Conn) {
	done := r.keep(out)
	defer done()
	var both sync.WaitGroup
	both.Go(func() {
		if _, err := out.Write(first); err == nil {
			_, _ = io.Copy(out, c)
		}
		endWriting(out)
	})
	_, _ = io.Copy(c, out)
	endWriting(c)
	both.Wait()
}

func endWriting(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	_ = c.Close()
}

// errNotPublic is said of names that lead where no command may go.
var errNotPublic = errors.New("it is no computer of the public network")

// reach finds where a name leads and connects to an address that it has looked at.
func (r *Relay) reach(ctx context.Context, host string, port int) (net.Conn, error) {
	addresses, err := r.find(ctx, host)
	if err != nil {
		return nil, err
	}
	err = errNotPublic
	for _, a := range addresses {
		if a = a.Unmap(); !outbound.Public(a) || ofThisMachine(a) {
			continue
		}
		var c net.Conn
		if c, err = r.dial(ctx, netip.AddrPortFrom(a, uint16(port))); err == nil { // checked where it came in
			return c, nil
		}
	}
	if errors.Is(err, errNotPublic) {
		return nil, err
	}
	return nil, errors.New("it could not be reached")
}

func (r *Relay) find(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	find := r.opts.Resolve
	if find == nil {
		find = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host+".")
		}
	}
	addresses, err := find(ctx, host)
	if err != nil || len(addresses) == 0 {
		return nil, errors.New("there is no computer of that name")
	}
	return addresses, nil
}

// dialTime is how long a computer has to answer.
const dialTime = 15 * time.Second

func (r *Relay) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	if r.opts.Dial != nil {
		return r.opts.Dial(ctx, to)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", to.String())
}

// ofThisMachine reports whether an address is one that this machine has itself. Where that cannot be known it is.
func ofThisMachine(a netip.Addr) bool {
	own, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	for _, o := range own {
		if p, err := netip.ParsePrefix(o.String()); err == nil && p.Addr().Unmap() == a {
			return true
		}
	}
	return false
}

// errHello ends the reading of a greeting: nothing is answered to it here.
var errHello = errors.New("the greeting was read")

// rightHello reads the greeting of TLS and refuses one that is for somebody else than was decided about: many live at one address.
// What is no greeting of TLS is handed on. It gives back all that was read.
func rightHello(ctx context.Context, c net.Conn, first []byte, host string) ([]byte, error) {
	const greeting = 0x16
	if len(first) == 0 {
		one := make([]byte, 4<<10)
		n, err := c.Read(one)
		if first = one[:n]; n == 0 && err != nil {
			return nil, errors.New("it said nothing")
		}
	}
	if first[0] != greeting {
		return first, nil
	}
	rec := &recorded{Conn: c, first: first}
	name, read := "", false
	hear := func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		name, read = strings.ToLower(strings.TrimSuffix(h.ServerName, ".")), true
		return nil, errHello
	}
	err := tls.Server(rec, &tls.Config{GetConfigForClient: hear}).HandshakeContext(ctx) // nothing is spoken
	switch {
	case !read:
		return nil, fmt.Errorf("its greeting cannot be read: %w", err)
	case name != "" && name != host:
		return nil, errors.New("the greeting is for somebody else")
	}
	return rec.all, nil
}

// recorded is a connection whose reader's bytes are kept, and to which nothing is written.
type recorded struct {
	net.Conn
	first, all []byte
}

func (c *recorded) Read(p []byte) (int, error) {
	var n int
	var err error
	if len(c.first) > 0 {
		n = copy(p, c.first)
		c.first = c.first[n:]
	} else {
		n, err = c.Conn.Read(p)
	}
	if c.all = append(c.all, p[:n]...); len(c.all) > mostHeld {
		return 0, errors.New("the greeting is too long")
	}
	return n, err
}

func (c *recorded) Write(p []byte) (int, error) { return len(p), nil }

func (c *recorded) Close() error { return nil }
