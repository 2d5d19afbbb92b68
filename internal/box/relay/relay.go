// Package relay is the only way out of a box: a resolver, doors for the names it gave, and a proxy. All of it runs outside, in the
// box's owner, on sockets that were made in the box's network and handed out of it.
//
// Invariants:
//   - a name is never asked outside before somebody said yes to it: the resolver answers each with an address of the box's own, and so
//     carries nothing out;
//   - a connection is held until Let has decided, and carried to nobody else than was decided about;
//   - the relay finds the addresses itself and reaches those it has looked at, public ones and none of this machine: no name leads
//     into a private network, to a cloud's metadata or to the monitor;
//   - hosts that may be read are read by the relay, over TLS of its own: GET and HEAD, no body, no login. What it cannot look into is
//     asked about, whatever the list says;
//   - ports of this machine are those that were named, and those that a person said yes to, and never those that are closed.
package relay

import (
	"context"
	"crypto/x509"
	_ "embed" // the lists are part of the program
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidemark/tidemark/internal/box"
)

// The verbs of what a command wants of a host.
const (
	Read    = "read"    // requests that the relay makes for it and looks at: GET and HEAD, no body, no login
	Connect = "connect" // a connection, on which anything may be sent
	Port    = "port"    // the service at a port of this machine
)

// Ask is something that a command wants of a host.
type Ask struct {
	Verb    string
	Host    string // the name that the command said; an address if it said one
	Port    int
	Program string // what the process calls itself, for people: it may call itself anything
	Asking  func() // to be called when a person is asked, so that the command's reader is told
}

// Decision is the answer. The zero Decision refuses.
type Decision struct {
	Allow bool
	Why   string // for who reads the command's output, if it is refused
}

// Let decides about what a command wants, and takes as long as a person does. It is asked once for all that want the same of one
// port of a host and wait at the same time. It ends when ctx does: nobody waits any more.
type Let func(ctx context.Context, a Ask) Decision

// Options say what may leave a box.
type Options struct {
	Let    Let      // nil: everything is refused
	Hosts  []string // hosts that may be read
	Ports  []int    // ports of this machine that can be reached
	Closed []int    // ports of this machine that never can: the monitor's own
	// Machine are the ports at which services of this machine listen now: somebody who wants one is held, and asked about. nil: none.
	Machine func() []int

	// Known is the one computer that can be reached, in the place of all others, names and the proxy; nil: as above.
	Known *Known

	// How the relay reaches others; nil: as this machine does.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	Roots   *x509.CertPool
}

// network is a box's network, as far as it is needed here.
type network interface {
	Listen(address string) (net.Listener, error)
	ListenPacket(address string) (net.PacketConn, error)
	Program(address string) string
	Tell(text string)
}

// Relay is the way out of one box.
type Relay struct {
	opts   Options
	net    network
	ctx    context.Context //nolint:containedctx // it lives as long as the relay
	cancel context.CancelFunc
	wait   sync.WaitGroup
	client *http.Transport
	talks  chan struct{} // one for each connection on which requests come

	mu        sync.Mutex
	closers   map[int]func() // guarded by mu: what is open
	next      int            // guarded by mu
	closed    bool           // guarded by mu
	addresses map[string]netip.Addr
	questions map[string]*question // guarded by mu
	told      map[string]bool      // guarded by mu

	looking  sync.Mutex
	services map[int]func() // guarded by looking: doors to services of this machine, and how each is closed
}

// New makes the way out of one box. It opens nothing before the box does.
func New(o Options) *Relay {
	ctx, cancel := context.WithCancel(context.Background())
	hosts := make([]string, len(o.Hosts))
	for i, h := range o.Hosts {
		hosts[i] = strings.ToLower(h)
	}
	o.Hosts = hosts
	r := &Relay{
		opts: o, ctx: ctx, cancel: cancel, closers: map[int]func(){}, addresses: map[string]netip.Addr{}, questions: map[string]*question{},
		told: map[string]bool{}, services: map[int]func(){}, talks: make(chan struct{}, maxConnections),
	}
	r.client = r.transport()
	return r
}

// Open opens the doors in a box's network.
func (r *Relay) Open(n *box.Network) error { return r.open(n) }

func (r *Relay) open(n network) error {
	if r.net != nil {
		return errors.New("the relay is that of another box")
	}
	r.net = n
	if r.opts.Known != nil {
		return r.openKnown(r.opts.Known)
	}
	names, err := n.ListenPacket(box.NameServer)
	if err != nil {
		return err
	}
	r.keep(names)
	r.start(func() { r.answerNames(names) })
	proxy, err := n.Listen(box.Proxy)
	if err != nil {
		return err
	}
	r.serveHTTP(proxy, http.HandlerFunc(r.proxy))
	for _, port := range r.opts.Ports {
		if err := r.openPort(port); err != nil {
			return err
		}
	}
	return nil
}

// openPort leads a port of the box's loopback to the same one of this machine.
func (r *Relay) openPort(port int) error {
	if slices.Contains(r.opts.Closed, port) || port < 1 || port > 65535 {
		return fmt.Errorf("port %d of this machine is never opened", port)
	}
	at := strconv.Itoa(port)
	l, err := r.net.Listen("127.0.0.1:" + at)
	if err != nil {
		return err
	}
	doors := []net.Listener{l}
	if six, err := r.net.Listen("[::1]:" + at); err == nil { // where there is none nobody looks for it
		doors = append(doors, six)
	}
	for _, d := range doors {
		r.accept(d, func(c net.Conn) { r.toMachine(c, nil, at) })
	}
	return nil
}

func (r *Relay) toMachine(c net.Conn, first []byte, port string) {
	dialer := net.Dialer{}
	out, err := dialer.DialContext(r.ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		out, err = dialer.DialContext(r.ctx, "tcp", net.JoinHostPort("::1", port))
	}
	if err != nil {
		refuse(c)
		return
	}
	r.carry(c, first, out)
}

// Close ends every connection and every question.
func (r *Relay) Close() error {
	r.cancel()
	r.mu.Lock()
	r.closed = true
	closers := r.closers
	r.closers = map[int]func(){}
	r.mu.Unlock()
	for _, c := range closers {
		c()
	}
	r.wait.Wait()
	r.client.CloseIdleConnections()
	return nil
}

// start runs a function until the relay is closed.
func (r *Relay) start(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.wait.Go(f)
}

// keep notes what must be closed with the relay; done takes it off again and closes it.
func (r *Relay) keep(c interface{ Close() error }) (done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	shut := func() { _ = c.Close() } // nothing is lost that was not lost before
	if r.closed {
		shut()
		return func() {}
	}
	r.next++
	id := r.next
	r.closers[id] = shut
	return func() {
		r.mu.Lock()
		delete(r.closers, id)
		r.mu.Unlock()
		shut()
	}
}

// maxConnections bounds how many connections of a box are open at a time.
const maxConnections = 512

// accept serves each connection that comes to a door.
func (r *Relay) accept(l net.Listener, serve func(net.Conn)) {
	done := r.keep(l)
	r.start(func() {
		defer done()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.mu.Lock()
			full := len(r.closers) > maxConnections+3*maxNames
			r.mu.Unlock()
			if full {
				refuse(c)
				continue
			}
			shut := r.keep(c)
			r.start(func() {
				defer shut()
				serve(c)
			})
		}
	})
}

// refuse ends a connection as one is ended that nobody takes.
func refuse(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

// tell tells the reader of the commands' output something, once.
func (r *Relay) tell(text string) string {
	text = "[confined: no network. " + text + "]"
	r.mu.Lock()
	again := r.told[text]
	r.told[text] = true
	r.mu.Unlock()
	if !again {
		r.net.Tell(text)
	}
	return text
}

//go:embed names.txt
var namesText string

// block is a list of the data. One that is missing would open what it should close, so nothing runs without it.
func block(name string) []string {
	var out []string
	in := ""
	for line := range strings.Lines(namesText) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "//") {
			continue
		}
		if head, ok := strings.CutSuffix(line, " :"); ok {
			in = head
		} else if in == name {
			out = append(out, strings.Fields(line)...)
		}
	}
	if len(out) == 0 {
		panic("relay: no list is called " + name) // it is part of the program
	}
	return out
}

var (
	doorPorts   = block("ports")
	nowhere     = block("nowhere")
	readHeaders = block("headers")
	keptBack    = block("kept-back")
)
