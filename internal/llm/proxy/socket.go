package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Responses over a websocket: each message of the client's that asks for an answer is a request, and the
// events that come back until the answer ends are its stream. So each goes the way of any other request,
// between two sockets instead of two connections; only the way to the provider and the way back differ.

const (
	socketAsks = "response.create"
	whySocket  = "on a websocket only response.create is served, one answer at a time and without stream_id: " +
		"what else it carries cannot be judged here"
	whyTwoEvents = "the message cannot be read in one way only, so it was not sent"
)

// wantsSocket reports whether a request opens a websocket.
func wantsSocket(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") && len(r.Header["Upgrade"]) == 1
}

// socket serves a websocket for as long as both sides keep it open.
func (x *exchange) socket() *problem {
	ctx, cancel := context.WithCancel(x.r.Context())
	defer cancel()
	for name := range x.out.Header {
		if strings.HasPrefix(name, "Sec-Websocket-") {
			delete(x.out.Header, name)
		}
	}
	there, resp, err := websocket.Dial(ctx, x.out.URL.String(), &websocket.DialOptions{ //nolint:bodyclose // the library closes it
		HTTPClient: &http.Client{Transport: x.u.transport}, HTTPHeader: x.out.Header, CompressionMode: websocket.CompressionDisabled,
	})
	switch {
	case err != nil && resp != nil && resp.StatusCode >= 400:
		x.pass(resp, resp.Body)
		return nil
	case err != nil:
		return x.unreached(err)
	}
	defer func() { _ = there.CloseNow() }() // it may be closed already
	there.SetReadLimit(int64(x.p.o.Limits.Event))
	here, err := websocket.Accept(x.w, x.r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil // the library has answered
	}
	defer func() { _ = here.CloseNow() }() // likewise
	here.SetReadLimit(x.p.o.MaxContext)
	events := make(chan []byte)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(events)
		x.pump(ctx, there, events)
	}()
	x.turns(ctx, here, &socketTransport{there: there, events: events})
	cancel()
	<-done
	return nil
}

// pump reads what the provider says.
func (x *exchange) pump(ctx context.Context, there *websocket.Conn, events chan<- []byte) {
	for {
		kind, message, err := there.Read(ctx)
		if err != nil || kind != websocket.MessageText {
			return
		}
		select {
		case events <- message:
		case <-ctx.Done():
			return
		}
	}
}

// turns takes one message after another. After one whose answer did not come to its end nobody could tell
// what belongs to which, so the connection ends.
func (x *exchange) turns(ctx context.Context, here *websocket.Conn, there *socketTransport) {
	for {
		kind, message, err := here.Read(ctx)
		if err != nil {
			return
		}
		w := &socketWriter{ctx: ctx, here: here, header: http.Header{}}
		y := &exchange{p: x.p, u: x.u, rt: x.rt, who: x.who, w: newResponse(w, x.p.o.Limits.Idle), carrier: there}
		y.r, y.out = x.r.Clone(ctx), x.out.Clone(ctx)
		y.r.Method, y.r.Body, y.r.ContentLength = http.MethodPost, io.NopCloser(bytes.NewReader(message)), int64(len(message))
		y.out.Method = http.MethodPost
		no := askedFor(kind, message)
		if no == nil && y.u.Hooks {
			no = y.p.hooked(y.r, y.u)
		}
		there.open = false
		whole := true
		if no == nil {
			no, whole = y.once()
		}
		if no != nil && w.status == 0 {
			no.write(y.w, y.rt.api)
		}
		if !whole || there.open || w.failed {
			_ = here.Close(websocket.StatusInternalError, "the answer could not be let through") // it ends either way
			return
		}
	}
}

// once is one request and its answer. It reports whether the answer came to its end.
func (x *exchange) once() (no *problem, whole bool) {
	defer func() {
		if v := recover(); v != nil {
			if err, ok := v.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				x.p.o.Logger.Error("llm proxy: panic contained", "upstream", x.u.Name)
			}
			no, whole = nil, false
		}
	}()
	return x.ask(), true
}

// askedFor says why a message is not served.
func askedFor(kind websocket.MessageType, message []byte) *problem {
	var given map[string]strictjson.Value
	if kind != websocket.MessageText || strictjson.Unmarshal(message, &given) != nil {
		return newProblem(http.StatusBadRequest, whyTwoEvents)
	}
	if _, multiplexed := given["stream_id"]; multiplexed || string(given["type"]) != `"`+socketAsks+`"` {
		return newProblem(http.StatusBadRequest, whySocket)
	}
	return nil
}

// socketTransport sends a request as a message, and gives the events that come back as a stream.
type socketTransport struct {
	there  *websocket.Conn
	events <-chan []byte
	open   bool // an answer has begun and not ended
}

// RoundTrip implements http.RoundTripper.
func (t *socketTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil {
		return nil, err
	}
	if err := t.there.Write(r.Context(), websocket.MessageText, body); err != nil {
		return nil, err
	}
	t.open = true
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: -1,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(&socketReader{ctx: r.Context(), t: t}),
	}, nil
}

// socketReader gives the events of one answer, one line of data each.
type socketReader struct {
	ctx context.Context
	t   *socketTransport
	out []byte
}

// Read implements io.Reader.
func (s *socketReader) Read(b []byte) (int, error) {
	if len(s.out) == 0 {
		if !s.t.open {
			return 0, io.EOF
		}
		select {
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		case message, ok := <-s.t.events:
			if !ok {
				return 0, io.ErrUnexpectedEOF
			}
			s.take(message)
		}
	}
	n := copy(b, s.out)
	s.out = s.out[n:]
	return n, nil
}

// take is the next event. Line ends can only stand between values.
func (s *socketReader) take(message []byte) {
	var event struct {
		Type string `json:"type"`
	}
	if strictjson.Unmarshal(message, &event) == nil {
		switch event.Type {
		case "response.completed", "response.failed", "response.incomplete", "error":
			s.t.open = false
		}
	}
	line := bytes.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, message)
	s.out = append(append([]byte("data: "), line...), "\n\n"...)
}

// socketWriter gives a client the events of a stream as messages, and an error as one.
type socketWriter struct {
	ctx    context.Context
	here   *websocket.Conn
	header http.Header
	status int
	failed bool
}

// Header implements http.ResponseWriter.
func (w *socketWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *socketWriter) WriteHeader(status int) { w.status = status }

// FlushError lets http.ResponseController flush: messages are not kept.
func (w *socketWriter) FlushError() error { return nil }

// Write implements http.ResponseWriter. What is written is whole events, or a whole error.
func (w *socketWriter) Write(b []byte) (int, error) {
	if w.status >= 300 {
		return len(b), w.send(socketProblem(w.status, b))
	}
	for event := range bytes.SplitSeq(b, []byte("\n\n")) {
		for line := range bytes.SplitSeq(event, []byte{'\n'}) {
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
				if err := w.send(data); err != nil {
					return 0, err
				}
			}
		}
	}
	return len(b), nil
}

func (w *socketWriter) send(message []byte) error {
	err := w.here.Write(w.ctx, websocket.MessageText, message)
	w.failed = w.failed || err != nil
	return err
}

// socketProblem is an error as an event.
func socketProblem(status int, body []byte) []byte {
	var given map[string]strictjson.Value
	if strictjson.Unmarshal(body, &given) != nil || given["error"] == nil {
		given = map[string]strictjson.Value{"error": strictjson.Value(`{"message":"the request was not served"}`)}
	}
	out, err := strictjson.Marshal(map[string]any{"type": "error", "status": status, "error": given["error"]})
	if err != nil {
		return []byte(`{"type":"error"}`)
	}
	return out
}
