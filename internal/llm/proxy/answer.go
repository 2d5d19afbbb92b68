package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"strconv"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/conversation"
	"github.com/tidemark/tidemark/internal/llm/eventstream"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/llm/release"
)

// result is an answer as it was given, and how its turn ends.
type result struct {
	format.Outcome
	ended   bool // the turn was sealed already, or must stay open
	blocked bool
	reason  string
}

// setHeaders makes the header that of a request we write ourselves: unpacked.
func setHeaders(h http.Header) {
	h.Set("Accept-Encoding", "identity")
	h.Del("Content-Encoding")
	h.Del("Content-Length")
}

// send asks the provider. The body is the lent buffer, or stands on its own.
func (x *exchange) send(lent *lease, body []byte) *problem {
	x.sent = x.p.o.Now()
	as := lent != nil && len(body) > 0 && len(body) == len(lent.buf) && &body[0] == &lent.buf[0] // as it came
	if x.early != nil && !as {
		x.u.sent.forget(x.who.tenant, lent.sums.Blocks())
	}
	if x.early != nil && as {
		resp, err := x.early.release() //nolint:bodyclose // heard closes it
		defer x.early.cancel()
		return x.heard(lent, resp, err, x.early.cancel)
	}
	x.early.breakOff()
	setHeaders(x.out.Header)
	if lent != nil {
		lent.users.Add(1) // for a transport that asks again
		defer lent.done()
		x.out.Body, x.out.ContentLength = lent.reader(body), int64(len(body))
		x.out.GetBody = func() (io.ReadCloser, error) { return lent.reader(body), nil }
	}
	x.sign(x.out, body)
	ctx, cancel := context.WithCancel(x.out.Context())
	defer cancel()
	carrier := x.carrier
	if carrier == nil {
		carrier = x.u.transport
	}
	resp, err := carrier.RoundTrip(x.out.WithContext(ctx)) //nolint:bodyclose // heard closes it
	if !as {
		lent = nil
	}
	return x.heard(lent, resp, err, cancel)
}

// heard takes what came of asking. What was sent as it came is known to the provider now.
func (x *exchange) heard(lent *lease, resp *http.Response, err error, cancel context.CancelFunc) *problem {
	if err != nil {
		return x.unreached(err)
	}
	if lent != nil {
		x.u.sent.add(x.who.tenant, lent.sums.Blocks())
	}
	defer func() { _ = resp.Body.Close() }() // what is left of it is nobody's
	return x.receive(resp, newIdleReader(resp.Body, x.p.o.Limits.Idle, cancel))
}

// noDial is the kind of failure that the operator can mend.
const noDial = "it cannot be reached"

// unreached is the answer where the provider gave none. What a transport says may quote
// what was sent, so the log gets its kind alone.
func (x *exchange) unreached(err error) *problem {
	if x.r.Context().Err() != nil {
		return unavailable("the client is gone")
	}
	kind := "the connection broke"
	var op *net.OpError
	var slow net.Error
	switch {
	case errors.As(err, &op) && op.Op == "dial":
		kind = noDial
	case errors.As(err, &slow) && slow.Timeout():
		kind = "it did not answer in time"
	}
	x.p.o.Logger.LogAttrs(x.r.Context(), slog.LevelWarn, "upstream failed", slog.String("upstream", x.u.Name), slog.String("cause", kind))
	if kind == noDial {
		kind += " (llm.upstreams in the policy file, or tidemark llm --upstream, says where it is)"
	}
	return &problem{status: http.StatusBadGateway, text: "upstream " + x.u.Name + ": " + kind, retry: true}
}

// receive takes the provider's answer. Errors pass as they are; what is no error is judged
// or refused.
func (x *exchange) receive(resp *http.Response, body io.Reader) *problem {
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return newProblem(http.StatusBadGateway, "the upstream sends clients elsewhere, where nothing would be judged")
	}
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		x.pass(resp, body)
		return nil
	}
	body, no := unpack(body, resp.Header)
	if no != nil {
		return newProblem(http.StatusBadGateway, "the upstream's answer is packed in a way that cannot be read")
	}
	if err := x.looked(x.r.Context()); err != nil {
		return x.p.explain(x.r.Context(), err)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	events := isStream(kind, x.rt.api)
	if x.framing(kind) {
		events, x.framed, body = true, true, eventstream.NewReader(body, x.rt.frames)
	}
	if !events && kind != "application/json" {
		return newProblem(http.StatusBadGateway, "the upstream's answer is neither JSON nor an event stream, so it cannot be judged")
	}
	streamed := events || x.rt.stream && x.rt.api.MayBeArray()
	switch {
	case x.rewrites():
		return x.whole(resp, body, streamed)
	case streamed:
		return x.stream(resp, body)
	}
	return x.whole(resp, body, false)
}

// isStream reports whether an answer of that kind is a stream of the format's.
func isStream(kind string, api format.API) bool {
	return kind == "text/event-stream" && !api.JSONLines() || kind == "application/x-ndjson" && api.JSONLines()
}

// pass lets an answer through as it is.
func (x *exchange) pass(resp *http.Response, body io.Reader) {
	copyHeaders(x.w.Header(), resp.Header)
	x.w.WriteHeader(resp.StatusCode)
	w := newFlushWriter(x.w)
	defer w.close()
	if _, err := io.Copy(w, body); err != nil {
		panic(http.ErrAbortHandler) // half an answer must not look whole
	}
}

func (x *exchange) options() release.Options {
	l := x.p.o.Limits
	return release.Options{API: x.rt.api, KeepAlive: l.KeepAlive, MaxHeld: l.Held, MaxEvent: l.Event, Vouched: x.u.PassNames}
}

// stream lets an event stream through while it comes. The answer is noted when its end is
// decided, and before it goes out: a client that has seen it may send it back at once. When
// the upstream closes its connection matters to nobody.
func (x *exchange) stream(resp *http.Response, body io.Reader) *problem {
	ctx := x.r.Context()
	x.head(resp, -1)
	w := newFlushWriter(x.w)
	defer w.close()
	j := &judge{x: x}
	noted := false
	note := func(o format.Outcome) error {
		noted = true
		x.notify(ctx, j.notices)
		return x.finish(ctx, result{Outcome: o})
	}
	options := x.options()
	options.Ended, options.Shown = note, j
	var to io.Writer = w
	if x.framed {
		to = eventstream.NewWriter(w, x.rt.frames)
	}
	o, err := release.Stream(ctx, options, to, body, j)
	if err != nil {
		x.broke(ctx, err)
	}
	if !noted {
		err = note(o)
	} else if errors.Is(err, format.ErrRefused) || errors.Is(err, release.ErrCut) {
		err = nil // after the end, when the client had all it waits for
	}
	if err != nil {
		_ = x.p.explain(ctx, err) // for the log; the client sees that the stream broke off
	}
	if err != nil || ctx.Err() != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// broke logs why an answer ended early. Errors of package release quote nothing of it.
func (x *exchange) broke(ctx context.Context, err error) {
	cause := "the connection broke"
	if errors.Is(ctx.Err(), context.Canceled) { // then reading breaks as well, sooner or later than writing
		x.p.o.Logger.LogAttrs(ctx, slog.LevelInfo, "client hung up", slog.String("upstream", x.u.Name))
		return
	}
	switch {
	case errors.Is(err, format.ErrRefused), errors.Is(err, engine.ErrUnavailable):
		cause = err.Error()
	case errors.Is(err, release.ErrCut):
		cause = release.ErrCut.Error()
	}
	x.p.o.Logger.LogAttrs(ctx, slog.LevelWarn, "model answer broken off", slog.String("upstream", x.u.Name), slog.String("cause", cause))
}

// head begins the answer to the client with the provider's header. The length may have
// changed; -1 is one that nobody knows.
func (x *exchange) head(resp *http.Response, size int) {
	h := x.w.Header()
	copyHeaders(h, resp.Header)
	for _, name := range []string{"Content-Length", "Etag", "Content-Md5", "Digest", "Content-Digest"} {
		h.Del(name)
	}
	if size >= 0 {
		h.Set("Content-Length", strconv.Itoa(size))
	}
	x.w.WriteHeader(resp.StatusCode)
}

// whole judges an answer that is here to its end before any of it goes out: plain JSON,
// and streams that plugins want to see complete.
func (x *exchange) whole(resp *http.Response, body io.Reader, streamed bool) *problem {
	ctx := x.r.Context()
	limit := x.p.o.Limits.Answer
	likely := 512 + min(max(resp.ContentLength, 0), int64(limit))
	raw, err := readAll(io.LimitReader(body, int64(limit)+1), make([]byte, 0, likely), func([]byte) {})
	if err != nil {
		return x.unreached(err)
	}
	if len(raw) > limit {
		return newProblem(http.StatusBadGateway, "the upstream's answer is too large to be judged")
	}
	j, no := x.left(ctx, raw, streamed)
	if no != nil {
		return no
	}
	out, o, err := x.judged(ctx, raw, streamed, j)
	if err != nil {
		return x.unjudged(ctx, err)
	}
	x.notify(ctx, j.notices)
	res := result{Outcome: o}
	text, no := x.emit(ctx, &res)
	if no != nil {
		return no
	}
	if text != nil {
		return x.tell(ctx, *text, res)
	}
	if err := x.finish(ctx, res); err != nil {
		return x.p.explain(ctx, err)
	}
	if x.framed {
		if out, err = eventstream.Frames(out, x.rt.frames); err != nil {
			return x.unjudged(ctx, err)
		}
	}
	x.head(resp, len(out))
	_, _ = x.w.Write(out) // a client that is gone cannot be told
	return nil
}

// judged runs a whole answer through package release.
func (x *exchange) judged(ctx context.Context, raw []byte, streamed bool, j release.Judge) ([]byte, format.Outcome, error) {
	options := x.options()
	options.Shown, _ = j.(release.Shower)
	if !streamed {
		return release.Whole(ctx, options, raw, j)
	}
	var out bytes.Buffer
	o, err := release.Stream(ctx, options, &out, bytes.NewReader(raw), j)
	return out.Bytes(), o, err
}

// unjudged is the answer where none could be let through.
func (x *exchange) unjudged(ctx context.Context, err error) *problem {
	if errors.Is(err, format.ErrRefused) {
		x.broke(ctx, err)
		return newProblem(http.StatusBadGateway, err.Error())
	}
	return x.p.explain(ctx, err)
}

// recall fetches an answer that was made earlier. What the model had read for it is not
// known here, so its calls are judged as if it had read the worst.
func (x *exchange) recall() *problem {
	x.ref = engine.Ref{Session: "llm:" + x.who.tenant + ":fetched"}
	x.answers, x.argued = x.p.o.Monitor.Policy().Answers(), true
	x.hooks = hookContext(x.ref, conversation.Caller{Tenant: x.who.tenant})
	if x.r.Method != http.MethodGet {
		lent, no := x.readBody()
		if no != nil {
			return no
		}
		defer lent.done()
		if x.p.callers.inBody(lent.buf) {
			return newProblem(http.StatusForbidden, whyStray)
		}
		return x.send(lent, lent.buf)
	}
	return x.send(nil, nil)
}
