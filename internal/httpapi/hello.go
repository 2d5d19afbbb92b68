package httpapi

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/afar"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/trust"
)

// Peers finds out whose hook a connection is of.
type Peers interface {
	// Agent is the process that speaks on this connection, or of the agent whose hook it is; "": nobody can tell.
	Agent(ctx context.Context, self bool) string
	// Follows reports whether the process may go on where the other one has ended.
	Follows(process, ended string) bool
	// Reads reports whether the process that speaks descends from a reader that was given this word.
	Reads(ctx context.Context, word string) bool
}

// Pulse hears that a host asks, so that somebody notices where it stops.
type Pulse interface {
	// Heard notes where the session's record is, and the call that is asked about; "": none, or it is not known.
	Heard(session, record, call string, now time.Time)
	// Let notes that a call was let run that has no id and says this.
	Let(session, sum string)
}

// beats tells the pulse of an event.
func (a *API) beats(c *hook.Context, call string) {
	if a.pulse != nil {
		a.pulse.Heard(refOf(c).Session, c.Record, call, a.now())
	}
}

// lets tells the pulse that a call may run.
func (a *API) lets(c *hook.Context) {
	if a.pulse != nil && c.RecordSum != "" {
		a.pulse.Let(refOf(c).Session, c.RecordSum)
	}
}

// unseen is the process of an agent where nobody can look at processes: all of them are alike, which doctor tells.
const unseen = "unseen"

// greeting is who speaks in one event, as far as it was said and seen.
type greeting struct {
	said    *hook.Hello
	ticket  string // a new one, for a session that begins
	process string
}

type greetingKey struct{}

func greetingOf(ctx context.Context) *greeting {
	g, _ := ctx.Value(greetingKey{}).(*greeting)
	return g
}

// greet takes the hello out of an event's context, so that nobody else is shown a ticket, and looks who speaks.
func (a *API) greeted(ctx context.Context, c *hook.Context) (context.Context, *Problem) {
	said := c.Hello
	if c.Hello = nil; said == nil {
		return ctx, nil
	}
	switch at := a.metAt(ctx); {
	case said.Version < 1:
		return ctx, badRequest("ctx.hello.version: want 1 or more")
	case said.Server != "" && at != "" && strings.TrimRight(said.Server, "/") != strings.TrimRight(at, "/"):
		return ctx, newProblem(http.StatusForbidden, "server", "this is the server at "+at+", and "+said.Server+" is meant")
	}
	g := &greeting{said: said}
	switch said.Process {
	case "":
	case "self", "parent":
		g.process = a.processOf(ctx, said.Process == "self")
	default:
		return ctx, badRequest("ctx.hello.process: want self or parent")
	}
	return context.WithValue(ctx, greetingKey{}, g), nil
}

func (a *API) processOf(ctx context.Context, self bool) string {
	if isAfar(ctx) {
		return "" // a process of another machine is nobody's to see, and its word for it none
	}
	if a.peers == nil {
		return unseen
	}
	return a.peers.Agent(ctx, self)
}

// claim is what is known about who speaks, for a session that has this holder.
func (a *API) claim(ctx context.Context, has event.Holder) *event.Claim {
	c := &event.Claim{Vouched: vouched(ctx), Unheld: a.unheld}
	g := greetingOf(ctx)
	if g == nil {
		return c
	}
	if g.said.Ticket != "" {
		c.Shows.Ticket = ticketHash(g.said.Ticket)
	}
	switch {
	case g.process != "":
		c.Shows.Process, c.Offer.Process = g.process, g.process
		if a.peers != nil && has.Process != "" && has.Process != g.process && a.peers.Follows(g.process, has.Process) {
			c.Over = has
		}
	case g.said.Process == "" && has.Nobody():
		if g.ticket == "" && isTicket(g.said.Ticket) {
			g.ticket = g.said.Ticket // it can make one again: an answer that is lost, and a host that starts again, cost no session
		}
		if g.ticket == "" {
			g.ticket = newTicket()
		}
		c.Offer.Ticket = ticketHash(g.ticket)
	}
	return c
}

// begin opens a turn for whoever speaks, and notes for the answer what they have proven.
func (a *API) begin(ctx context.Context, t engine.Turn) (engine.Opening, *helloNote, error) {
	at, err := a.monitor.Standing(ctx, t.Ref)
	if err != nil {
		return engine.Opening{}, nil, err
	}
	t.Claim = a.claim(ctx, at.Holder)
	open, err := a.monitor.Begin(ctx, t)
	if err != nil {
		return open, nil, err
	}
	return open, helloOf(ctx, t.Claim, open), nil
}

// helloOf says what was proven; nil for somebody who did not ask and whose words count.
func helloOf(ctx context.Context, c *event.Claim, open engine.Opening) *helloNote {
	g, n := greetingOf(ctx), &helloNote{Version: hook.HelloVersion}
	switch {
	case open.Unproven && g == nil:
		n.Proof, n.Why = "none", "the session is somebody else's, or this server takes the owner's words only with a ticket: "+
			"send ctx.hello {\"version\": 1} with the first message of a session, and keep the ticket of the answer (docs/integrate.md)"
	case open.Unproven:
		n.Proof, n.Why = "none", "the session is somebody else's: its ticket is missing or another one's, "+
			"or the hook is not of the process that began it; start a new session"
	case g == nil:
		return nil
	case open.Taken && g.ticket != "":
		n.Proof, n.Ticket = "ticket", g.ticket
	case g.process != "":
		n.Proof = "process"
	case c.Vouched:
		n.Proof = "owner"
	case c.Shows.Ticket != "":
		n.Proof = "ticket"
	default:
		n.Proof, n.Why = "none", "the session was begun without a ticket; its words count for one version more"
	}
	return n
}

// proven reports whether an event of a session that is somebody's comes from them. A session that is nobody's is anybody's.
func (a *API) proven(ctx context.Context, ref engine.Ref) (bool, error) {
	at, err := a.monitor.Standing(ctx, ref)
	if err != nil || at.Holder.Nobody() {
		return true, err
	}
	c := a.claim(ctx, at.Holder)
	return c.Proves(at.Holder) || c.Over == at.Holder, nil
}

// own refuses what only the one whose session it is may do.
func (a *API) own(ctx context.Context, ref engine.Ref, what string) error {
	if ok, err := a.proven(ctx, ref); err != nil || ok {
		return err
	}
	return newProblem(http.StatusForbidden, "ticket",
		what+" needs the session's ticket (ctx.hello.ticket), or the process of the agent that began it")
}

// worst is what a result is worth that somebody else tells.
func worst() *trust.Level {
	l := trust.Untrusted
	return &l
}

func ticketHash(ticket string) string {
	sum := sha256.Sum256([]byte(ticket))
	return hex.EncodeToString(sum[:])
}

// ticketMark begins a ticket.
const ticketMark = "tms-"

// newTicket draws one that nobody can guess.
func newTicket() string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // it never fails: the program ends first
	return ticketMark + hex.EncodeToString(b[:])
}

// Afar is how this server is reached from other machines. The zero Afar is not at all.
type Afar struct {
	Pin     string // of its own key, where it speaks TLS itself
	Address string // as others write it who reach it through something that speaks TLS for it
}

type afarKey struct{}

// from notes for a request that came from another machine where it was met: at our own key, or behind something that speaks TLS for us.
// Whoever writes that address themselves loses by it.
func (a *API) from(r *http.Request) *http.Request {
	place := ""
	switch {
	case r.TLS != nil:
		place = afar.Place(a.afar.Pin)
	case a.afar.Address != "" && strings.EqualFold(r.Host, strings.TrimPrefix(a.afar.Address, "https://")):
		place = a.afar.Address
	case !atHome(r.Context()):
		place = a.at()
	default:
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), afarKey{}, place))
}

// atHome reports whether a connection came to an address that only this machine has, or was never on a network.
func atHome(ctx context.Context) bool {
	local, ok := ctx.Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return true
	}
	tcp, ok := local.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// isAfar reports whether a request came from another machine.
func isAfar(ctx context.Context) bool {
	_, ok := ctx.Value(afarKey{}).(string)
	return ok
}

// metAt is where a request has met this server, as the client must know it too.
func (a *API) metAt(ctx context.Context) string {
	if place, ok := ctx.Value(afarKey{}).(string); ok {
		return place
	}
	return a.at()
}

// qualify sets the machine on what comes from one: its sessions are its own, whatever they are called elsewhere. It returns the id of
// the agent.
func qualify(who caller, c *hook.Context) (agent string) {
	for _, session := range []*string{&c.SessionKey, &c.SpawnedBy} {
		*session = onMachine(who.machine, *session)
	}
	if c.InputProvenance != nil {
		p := *c.InputProvenance
		p.SourceSessionKey = onMachine(who.machine, p.SourceSessionKey)
		c.InputProvenance = &p
	}
	base, _, _ := strings.Cut(who.agent, "@")
	named := c.AgentID
	switch {
	case who.agent == "" && named == "":
		named = "agent"
	case named == "":
		named = base
	}
	c.AgentID = accounts.OnMachine(named, who.machine)
	if who.agent != "" {
		return who.agent
	}
	return c.AgentID
}

// onMachine is a session's name with its machine; one that has it keeps it.
func onMachine(machine, session string) string {
	if session == "" || machine == "" || strings.HasPrefix(session, machine+"/") {
		return session
	}
	return machine + "/" + session
}

// ofMachine is a session's name as its machine knows it; false: it is not of this machine.
func ofMachine(machine, session string) (string, bool) {
	if machine == "" {
		return session, true
	}
	return strings.CutPrefix(session, machine+"/")
}

// isTicket reports whether a text has the form of a ticket that nobody can guess.
func isTicket(s string) bool {
	raw, err := hex.DecodeString(strings.TrimPrefix(s, ticketMark))
	return err == nil && len(raw) >= 24 && strings.HasPrefix(s, ticketMark)
}
