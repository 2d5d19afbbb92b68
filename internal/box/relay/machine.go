package relay

import (
	"context"
	"net"
	"slices"
	"strconv"
)

// thisMachine is the host of a question about a port of this machine.
const thisMachine = "localhost"

// mostServices is how many services of this machine can be asked for at a time.
const mostServices = 32

// Look opens a door in the box for each service of this machine that listens now, and closes those of services that are gone. What
// comes to such a door is held until somebody said yes. A port that something in the box listens at is the box's own.
func (r *Relay) Look() {
	if r.opts.Machine == nil || r.net == nil {
		return
	}
	r.looking.Lock()
	defer r.looking.Unlock()
	now := r.opts.Machine()
	for port, shut := range r.services {
		if !slices.Contains(now, port) {
			shut()
			delete(r.services, port)
		}
	}
	for _, port := range now {
		if r.services[port] != nil || len(r.services) >= mostServices || slices.Contains(r.opts.Closed, port) ||
			slices.Contains(r.opts.Ports, port) || r.ctx.Err() != nil {
			continue
		}
		l, err := r.net.Listen(net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		r.services[port] = func() { _ = l.Close() } // nobody is let in any more
		r.accept(l, func(c net.Conn) { r.serviced(c, port) })
	}
}

// serviced holds who wants a service of this machine until it is decided about.
func (r *Relay) serviced(c net.Conn, port int) {
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	begun := r.watch(c, cancel, false)
	d := r.ask(ctx, Ask{Verb: Port, Host: thisMachine, Port: port}, c.RemoteAddr().String())
	first := begun()
	if !d.Allow {
		if ctx.Err() == nil {
			r.refused(thisMachine, port, d.Why)
		}
		refuse(c)
		return
	}
	r.toMachine(c, first, strconv.Itoa(port))
}
