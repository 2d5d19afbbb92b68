// Package relay is the MCP door over HTTP: /mcp/NAME of the server stands for one upstream, in whatever
// revision the client speaks. It relays bytes that the gate has judged, and nothing else: a body is read
// whole before anything goes on, and an answer is recorded before it is passed back.
//
// Invariants:
//   - nothing is served without the agents' token; no credential of a client goes to an upstream, and
//     none of an upstream's comes back;
//   - what an upstream answers is passed on only as a message that was read, never as it came.
package relay

import (
	"container/list"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/mcp/judge"
)

// Path is where the gateway stands.
const Path = "/mcp/"

// Upstream is a server that is reached over HTTP.
type Upstream struct {
	judge.Server
	Headers     map[string]string // put on every request
	Passthrough bool              // the client's own Authorization goes on to it
}

// Options are what the relay needs. Port, Pins, Admission, Transports and Logger are required.
type Options struct {
	Upstreams  []Upstream
	Port       judge.Port
	Pins       judge.Pins
	Transports judge.Transports
	Admission  *judge.Admission
	Owner      bool // whoever has the token speaks for the owner
	Elicit     bool // questions may be put to clients
	Patience   time.Duration
	MaxMessage int64
	Logger     *slog.Logger
}

// Relay serves the upstreams. It is safe for concurrent use.
type Relay struct {
	o         Options
	upstreams map[string]*upstream
}

// upstream is an Upstream with its connections and sessions.
type upstream struct {
	Upstream
	base      *url.URL
	transport http.RoundTripper
	memory    *judge.Memory

	mu    sync.Mutex
	conns map[string]*list.Element // guarded by mu; by the session's id
	order *list.List               // guarded by mu; of *session, the one used last in front
}

// session is one of the older revisions.
type session struct {
	id   string
	conn *judge.Conn
}

// maxSessions bounds how many sessions of one upstream are remembered. One that is forgotten goes on
// with a gate that knows of no open request.
const maxSessions = 10_000

// New checks the options and makes a Relay. Nothing is contacted.
func New(o Options) (*Relay, error) {
	if o.Port == nil || o.Pins == nil || o.Transports == nil || o.Admission == nil || o.Logger == nil || o.MaxMessage <= 0 {
		return nil, errors.New("new MCP relay: something is missing")
	}
	r := &Relay{o: o, upstreams: map[string]*upstream{}}
	for _, u := range o.Upstreams {
		base, err := url.Parse(u.URL)
		if err != nil || base.Host == "" {
			return nil, fmt.Errorf("new MCP relay: server %s: the URL is not usable", u.Name)
		}
		made := &upstream{Upstream: u, base: base, conns: map[string]*list.Element{}, order: list.New()}
		if made.transport, err = o.Transports.Transport(u.Server); err != nil {
			return nil, fmt.Errorf("new MCP relay: server %s: %w", u.Name, err)
		}
		if made.memory, err = judge.NewMemory(); err != nil {
			return nil, err
		}
		r.upstreams[u.Name] = made
	}
	return r, nil
}

// Handler serves what stands under Path, and leaves the rest to next.
func (r *Relay) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		name, ours := strings.CutPrefix(req.URL.Path, Path)
		if !ours {
			next.ServeHTTP(w, req)
			return
		}
		r.serve(w, req, strings.TrimSuffix(name, "/"))
	})
}

func (r *Relay) serve(w http.ResponseWriter, req *http.Request, name string) {
	if status, why := r.o.Admission.Check(req); status != 0 {
		judge.WriteProblem(w, status, why)
		return
	}
	u := r.upstreams[name]
	switch {
	case u == nil:
		var names []string
		for n := range r.upstreams {
			names = append(names, Path+n)
		}
		slices.Sort(names)
		judge.WriteProblem(w, http.StatusNotFound, "there is no MCP server of that name; there are: "+strings.Join(names, ", ")+
			" (mcp.servers in the policy file adds others)")
		return
	case req.URL.RawQuery != "":
		judge.WriteProblem(w, http.StatusBadRequest, "this address takes no query; the token goes into the Authorization header")
		return
	}
	x := &exchange{relay: r, u: u, r: req, machine: r.o.Admission.MachineOf(req)}
	x.w = &client{w: w, control: http.NewResponseController(w), streams: accepts(req)}
	switch req.Method {
	case http.MethodPost:
		x.post()
	case http.MethodGet, http.MethodDelete:
		x.pass()
	default:
		w.Header().Set("Allow", "POST, GET, DELETE")
		judge.WriteProblem(w, http.StatusMethodNotAllowed, "MCP takes POST, GET and DELETE")
	}
}

// accepts reports whether a client takes a stream of events.
func accepts(r *http.Request) bool {
	for _, v := range r.Header["Accept"] {
		if strings.Contains(v, "text/event-stream") || strings.Contains(v, "*/*") {
			return true
		}
	}
	return false
}

// SessionHeader lets a client say which conversation it is in, where it knows.
const SessionHeader = "X-Tidemark-Session"

// newConn is the gate of one connection. Whoever shares the token shares a conversation, unless the
// client names one: taint must not be lost by connecting anew.
func (r *Relay) newConn(u *upstream, machine, named string) (*judge.Conn, error) {
	return judge.New(judge.Options{
		Server: u.Server, Port: r.o.Port, Pins: r.o.Pins, Memory: u.memory, Patience: r.o.Patience, Elicit: r.o.Elicit, Local: true,
		Logger: r.o.Logger,
		Origin: judge.Origin{Session: named, Owner: r.o.Owner, Gateway: true, Machine: machine},
	})
}

// find is the gate of a session; one that is not known begins here.
func (u *upstream) find(id string, make func() (*judge.Conn, error)) (*judge.Conn, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if e := u.conns[id]; e != nil {
		u.order.MoveToFront(e)
		return e.Value.(*session).conn, nil //nolint:forcetypeassert // nothing else is in the list
	}
	conn, err := make()
	if err != nil {
		return nil, err
	}
	u.keep(id, conn)
	return conn, nil
}

// begin remembers the gate of a session that the upstream has just made.
func (u *upstream) begin(id string, conn *judge.Conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.conns[id] == nil {
		u.keep(id, conn)
	}
}

// Preconditions: mu is held.
func (u *upstream) keep(id string, conn *judge.Conn) {
	u.conns[id] = u.order.PushFront(&session{id, conn})
	for u.order.Len() > maxSessions {
		oldest := u.order.Back()
		delete(u.conns, oldest.Value.(*session).id) //nolint:forcetypeassert // nothing else is in the list
		u.order.Remove(oldest)
	}
}

// end forgets a session.
func (u *upstream) end(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if e := u.conns[id]; e != nil {
		u.order.Remove(e)
		delete(u.conns, id)
	}
}
