package relay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/mcp/wire"
)

// keepAlive is between two signs of life on a silent stream.
const keepAlive = 15 * time.Second

// exchange is one request on its way.
type exchange struct {
	relay *Relay
	u     *upstream
	r     *http.Request
	w     *client
	conn  *judge.Conn
	// machine is the one elsewhere whose token it came with: what it says of sessions is said of its own. "": none's.
	machine string
	m       *wire.Message // what the client sent; nil for GET and DELETE
}

// post takes one message of the client's.
func (x *exchange) post() {
	defer x.w.end()
	if mediaType(x.r.Header) != jsonType {
		judge.WriteProblem(x.w.w, http.StatusUnsupportedMediaType, "a message is application/json")
		return
	}
	raw, err := wire.Whole(x.r.Body, x.r.ContentLength, x.relay.o.MaxMessage)
	if err != nil {
		x.refuse(http.StatusRequestEntityTooLarge, &wire.Fault{
			Code: wire.CodeRequest, Text: fmt.Sprintf("the message could not be read, or is longer than %d bytes", x.relay.o.MaxMessage),
		})
		return
	}
	m, err := wire.Read(raw)
	if err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	x.m = m
	if fault := x.headersFit(m); fault != nil {
		x.refuse(http.StatusBadRequest, fault)
		return
	}
	if err := x.enter(); err != nil {
		x.refuse(http.StatusInternalServerError, &wire.Fault{Code: wire.CodeInternal, Text: "something went wrong inside", ID: m.ID})
		return
	}
	ends := judge.Ends{Server: x.ask}
	if x.w.streams {
		ends.Client = x.w.say
	}
	p := x.conn.Up(x.r.Context(), m, ends)
	switch {
	case p.Forward != nil:
		x.forward(p.Forward)
	case p.Reply != nil:
		x.w.answer(x.status(p.Reply), p.Reply)
	default:
		x.w.answer(http.StatusAccepted, nil)
	}
}

const jsonType = "application/json"

// mediaType is what a body says it is, without parameters; what cannot be read is no kind we know.
func mediaType(h http.Header) string {
	said := h.Get("Content-Type")
	if said == jsonType {
		return said
	}
	kind, _, err := mime.ParseMediaType(said)
	if err != nil {
		return ""
	}
	return kind
}

// status of our own replies is 200 for a call that is refused, and 400 for a malformed message.
func (x *exchange) status(reply []byte) int {
	if m, err := wire.Read(reply); err == nil && m.Error != nil {
		switch string(wire.Get(m.Error, "code")) {
		case "-32600", "-32602", "-32700":
			return http.StatusBadRequest
		}
	}
	return http.StatusOK
}

func (x *exchange) refuse(status int, err error) {
	var f *wire.Fault
	if !errors.As(err, &f) {
		f = &wire.Fault{Code: wire.CodeInternal, Text: "something went wrong inside"}
	}
	x.w.answer(status, judge.FaultReply(f))
}

const sessionID = "Mcp-Session-Id"

// enter finds the gate of the message. The newer revisions have no sessions: each request has a gate
// of its own, which shares the server's memory.
func (x *exchange) enter() error {
	named := x.r.Header.Get(SessionHeader)
	fresh := func() (*judge.Conn, error) { return x.relay.newConn(x.u, x.machine, named) }
	var err error
	if id := x.r.Header.Get(sessionID); id != "" && len(id) <= 1024 {
		x.conn, err = x.u.find(x.known(id), fresh)
		return err
	}
	x.conn, err = fresh()
	return err
}

// known is what a session of the upstream is known by here: no machine goes on with another's, nor one conversation with another's.
func (x *exchange) known(id string) string {
	return x.machine + "\x00" + x.r.Header.Get(SessionHeader) + "\x00" + id
}

// passes are the headers that go on to an upstream, besides those that begin with Mcp-.
var passes = []string{"Accept", "Content-Type", "Last-Event-Id", "Traceparent", "Tracestate", "User-Agent"}

// request is what goes to the upstream. Nothing of ours and nothing of the client's own credentials
// is in it, unless the file says that they are for it.
func (x *exchange) request(body []byte) *http.Request {
	out := (&http.Request{
		Method: x.r.Method, URL: x.u.base, Host: x.u.base.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header, 8),
	}).WithContext(x.r.Context())
	if body != nil {
		out.ContentLength = int64(len(body))
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		out.Body = io.NopCloser(bytes.NewReader(body))
	}
	for name, values := range x.r.Header {
		if strings.HasPrefix(name, "Mcp-") {
			out.Header[name] = values
		}
	}
	for _, name := range passes {
		if values := x.r.Header[name]; len(values) > 0 {
			out.Header[name] = values
		}
	}
	if _, named := out.Header["User-Agent"]; !named {
		out.Header["User-Agent"] = []string{""} // none came, none goes
	}
	if x.u.Passthrough && x.relay.o.Admission.Apart(x.r) {
		out.Header["Authorization"] = x.r.Header["Authorization"]
	}
	for name, value := range x.u.Headers {
		out.Header.Set(name, value)
	}
	return out
}

// pass takes GET and DELETE of the older revisions on.
func (x *exchange) pass() {
	defer x.w.end()
	if err := x.enter(); err != nil {
		judge.WriteProblem(x.w.w, http.StatusInternalServerError, "something went wrong inside")
		return
	}
	x.forward(nil)
}

// forward asks the upstream and passes its answer back.
func (x *exchange) forward(body []byte) {
	res, err := x.u.transport.RoundTrip(x.request(body))
	if err != nil {
		x.relay.o.Logger.LogAttrs(x.r.Context(), slog.LevelWarn, "mcp: upstream not reached",
			slog.String("server", x.u.Name), slog.String("error", err.Error()))
		const why = "The server %s could not be reached; if the connection broke, nobody knows whether the call ran."
		x.fail(http.StatusBadGateway, fmt.Sprintf(why, x.u.Name))
		return
	}
	defer func() { _ = res.Body.Close() }() // it was read as far as it is needed
	x.answered(res)
}

// answered passes the upstream's answer back.
func (x *exchange) answered(res *http.Response) {
	if id := res.Header.Get(sessionID); id != "" && res.StatusCode < 300 {
		x.u.begin(x.known(id), x.conn)
		x.w.header(sessionID, id)
	}
	gone := x.r.Header.Get(sessionID)
	if gone != "" && (res.StatusCode == http.StatusNotFound || x.r.Method == http.MethodDelete && res.StatusCode < 300) {
		x.u.end(x.known(gone))
	}
	for _, name := range []string{"Allow", "Retry-After"} {
		if v := res.Header.Get(name); v != "" {
			x.w.header(name, v)
		}
	}
	kind := mediaType(res.Header)
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		x.fail(http.StatusBadGateway, "The server "+x.u.Name+" sends elsewhere, and redirects are not followed.")
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		x.fail(http.StatusBadGateway, fmt.Sprintf("The server %s wants another authorisation (%d): "+
			"sign in (tidemark mcp login %[1]s), or give it in mcp.servers.%[1]s.headers.",
			x.u.Name, res.StatusCode))
	case kind == "text/event-stream" && res.StatusCode == http.StatusOK:
		x.stream(res.Body)
	case x.m == nil || x.m.Kind() != wire.Request:
		x.bare(res.StatusCode)
	default:
		x.whole(res)
	}
}

// bare passes a status on, without the words that came with it.
func (x *exchange) bare(status int) {
	if status >= 400 {
		x.fail(status, fmt.Sprintf("the server %s answered %d %s", x.u.Name, status, http.StatusText(status)))
		return
	}
	x.w.answer(status, nil)
}

// fail answers where the upstream did not, in the form that the request wants.
func (x *exchange) fail(status int, text string) {
	if x.m != nil && x.m.Kind() == wire.Request {
		if reply := x.conn.Fail(x.m.Key(), text); reply != nil {
			if status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusBadRequest {
				x.w.answer(status, reply)
				return
			}
			x.w.answer(http.StatusOK, reply)
			return
		}
	}
	x.w.mu.Lock()
	begun := x.w.begun || x.w.ended
	x.w.mu.Unlock()
	if begun {
		x.w.end()
		return
	}
	x.w.end()
	judge.WriteProblem(x.w.w, status, text)
}

// whole takes an answer that is one JSON text.
func (x *exchange) whole(res *http.Response) {
	raw, err := wire.Whole(res.Body, res.ContentLength, x.relay.o.MaxMessage)
	if err != nil {
		x.fail(http.StatusBadGateway, "The server's answer broke off or is too long, so it is not shown; the call may have run.")
		return
	}
	m, err := wire.Read(raw)
	if err != nil && res.StatusCode >= 400 { // some answer without the id of the request
		if named, putErr := wire.Put(raw, "id", x.m.ID); putErr == nil {
			m, err = wire.Read(named)
		}
	}
	if err != nil || m.Kind() != wire.Response || m.Key() != x.m.Key() {
		if res.StatusCode >= 400 {
			x.bare(res.StatusCode)
			return
		}
		x.fail(http.StatusBadGateway, "The server's answer could not be read, so it is not shown; the call may have run.")
		return
	}
	p := x.conn.Down(x.r.Context(), m)
	x.w.answer(res.StatusCode, p.Forward)
}
