package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/patience"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/conversation"
	"github.com/tidemark/tidemark/internal/llm/format"
)

// serve is the one entrance.
func (p *Proxy) serve(rw http.ResponseWriter, r *http.Request, u *upstream, rest string) {
	w := newResponse(rw, p.o.Limits.Idle)
	rt := route{api: u.provider.api}
	defer func() { p.metrics.served(u, rt.api, w.status) }()
	defer p.contain(w, r, u)
	var no *problem
	if refused := p.sameOrigin.Check(r); refused != nil {
		no = newProblem(refused.Status, refused.Text)
	} else if !plainPath(r.URL) && !u.plainCloud(r) {
		no = newProblem(http.StatusBadRequest, whyPath)
	}
	if no == nil {
		rt = routeOf(r, rest)
		no = p.take(w, r, u, rest, rt)
	}
	if no != nil && w.status == 0 {
		if rt.api == format.None {
			rt.api = u.provider.api
		}
		no.write(w, rt.api)
	}
}

// take admits a request and goes its way.
func (p *Proxy) take(w *response, r *http.Request, u *upstream, rest string, rt route) *problem {
	who, no := p.callers.find(r)
	if no != nil {
		return no
	}
	if p.o.RequireToken && !who.trusted {
		return newProblem(http.StatusUnauthorized, whyToken)
	}
	x := &exchange{p: p, u: u, rt: rt, who: who, w: w, r: r}
	if rt.members != nil || rt.way == refuse && !rt.locked {
		if x.vouches = u.vouched(r, rest); x.vouches {
			x.rt.way = through
		}
	}
	if x.rt.way == refuse {
		return x.refusal(rt.why)
	}
	if no := p.admits(u, x.rt, who); no != nil {
		return no
	}
	if u.Hooks && !x.rt.list {
		if no := p.hooked(r, u); no != nil {
			return no
		}
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	default:
		return unavailable("too many requests at once")
	}
	p.metrics.open.Inc()
	defer p.metrics.open.Dec()
	out, no := u.outgoing(r, rest, who)
	if no != nil {
		return no
	}
	x.out = out
	switch x.rt.way {
	case judged:
		if x.rt.socket {
			return x.socket()
		}
		return x.ask()
	case recalled:
		return x.recall()
	}
	return x.through()
}

// refusal is the answer to a request that is not served, with what would change that.
func (x *exchange) refusal(why string) *problem {
	if x.rt.locked {
		return newProblem(http.StatusForbidden, why)
	}
	return newProblem(http.StatusForbidden, why+x.vouching())
}

// vouching says how an operator lets a path pass. What is named is the client's own words.
func (x *exchange) vouching() string {
	path := x.r.URL.Path[1:]
	if path = strings.TrimPrefix(path, x.u.prefix); len(path) > 100 {
		path = path[:100]
	}
	const how = `. If you know that it carries none, add "%s %s" to llm.upstreams.%s.passPaths in the policy file`
	return fmt.Sprintf(how, x.r.Method, path, x.u.Name)
}

const whyToken = "this needs the agent token, as API key or in " + tokenHeader

// admits reports whether somebody may go this way. Where we put in the key, whoever has no
// token of ours may ask models, list them and count, and nothing else: the key could delete
// files and read what others stored. Where a plugin must be alive, only a request that can
// show it is served, and the list of models, which says nothing.
func (p *Proxy) admits(u *upstream, rt route, who visitor) *problem {
	switch {
	case u.lends() && !who.trusted && rt.way != judged && !rt.plain:
		return newProblem(http.StatusUnauthorized,
			whyToken+": the key of this upstream is ours, and without the token it is lent for asking models only")
	case u.Handshake && rt.way != judged && !rt.list:
		return newProblem(http.StatusForbidden, ErrHandshake.Error()+whyPlugin+", and this path cannot show one")
	}
	return nil
}

// contain turns a panic into an error that lets nothing through.
func (p *Proxy) contain(w *response, r *http.Request, u *upstream) {
	v := recover()
	if v == nil {
		return
	}
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(v) // the server's own way to cut a connection
	}
	p.o.Logger.LogAttrs(r.Context(), slog.LevelError, "panic contained",
		slog.String("upstream", u.Name), slog.String("stack", string(debug.Stack())))
	if w.status != 0 {
		panic(http.ErrAbortHandler) // half an answer went out: it must not look whole
	}
	newProblem(http.StatusInternalServerError, "something went wrong inside; the server's log says more").write(w, u.provider.api)
}

// explain is the one table from errors of the inside to what the client is told.
func (p *Proxy) explain(ctx context.Context, err error) *problem {
	var known *problem
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return unavailable("the request was given up before it was decided")
	case errors.Is(err, engine.ErrConflict):
		return unavailable("the conversation was changed by somebody else at the same time")
	case errors.Is(err, conversation.ErrApproval):
		return newProblem(http.StatusForbidden, err.Error()+"; let the model ask for it again")
	case errors.Is(err, engine.ErrRef):
		return newProblem(http.StatusBadRequest, "a session's name is missing or too long")
	}
	level, what := slog.LevelError, "model request not served"
	if errors.Is(ctx.Err(), context.Canceled) && !errors.Is(err, patience.ErrLate) {
		level, what = slog.LevelInfo, "client hung up" // such as an answer that nobody was there to take
	}
	p.o.Logger.LogAttrs(ctx, level, what, slog.String("error", err.Error()))
	if errors.Is(err, patience.ErrLate) {
		return unavailable("the log did not answer in time (server.deadlineMs): nothing was decided, nothing may run")
	}
	if errors.Is(err, engine.ErrUnavailable) {
		return unavailable("the log cannot be written or read: nothing was decided, nothing may run")
	}
	return newProblem(http.StatusInternalServerError, "something went wrong inside; the server's log says more")
}

// bodyIdle is how long a client may pause while it sends its request.
const bodyIdle = 10 * time.Second

// readBody reads the whole request, unpacked, within the bound. The caller ends the lease.
// While it is read, what the provider has had of it before is sent on.
func (x *exchange) readBody() (*lease, *problem) {
	p, w, r := x.p, x.w, x.r
	limit := p.o.MaxContext
	tooLarge := newProblem(http.StatusRequestEntityTooLarge,
		fmt.Sprintf("the request is larger than %d bytes (llm.maxContextBytes)", limit))
	if r.ContentLength > limit {
		return nil, tooLarge
	}
	paced := &pacedReader{Reader: r.Body, control: http.NewResponseController(w)}
	body, no := unpack(paced, r.Header)
	if no != nil {
		return nil, no
	}
	l := lend(&p.buffers, int(max(r.ContentLength, 0)))
	l.sums = p.cache.NewSums()
	checked := -1
	if x.maySendEarly() {
		checked = 0
	}
	var err error
	l.buf, err = readAll(io.LimitReader(body, limit+1), l.buf, func(buf []byte) {
		l.buf = buf
		l.sums.Add(buf)
		if checked >= 0 {
			checked = x.sendKnown(l, checked)
		}
	})
	switch {
	case err != nil: // the deadline stays: the server reads on for a while before it lets go of the connection
		no = newProblem(http.StatusBadRequest, "the request could not be read to its end")
	case int64(len(l.buf)) > limit:
		no = tooLarge
	default:
		paced.rest()
		return l, nil
	}
	l.done()
	return nil, no
}

// readAll reads to the end, into a buffer that grows where it must. It tells what has come
// in while the rest is on its way.
func readAll(r io.Reader, buf []byte, tell func([]byte)) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		tell(buf)
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}

// pacedReader gives a client a while for each piece of its request.
type pacedReader struct {
	io.Reader
	control *http.ResponseController
	until   time.Time
}

func (r *pacedReader) Read(b []byte) (int, error) {
	if now := time.Now(); r.until.Sub(now) < bodyIdle/2 { // a deadline for each read would cost more than the read
		r.until = now.Add(bodyIdle)
		_ = r.control.SetReadDeadline(r.until) // a connection that has none is read without
	}
	return r.Reader.Read(b)
}

// rest takes the deadline away: the connection is now watched for the client leaving.
func (r *pacedReader) rest() { _ = r.control.SetReadDeadline(time.Time{}) }
