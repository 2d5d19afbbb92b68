package relay

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/mcp/wire"
)

// stream passes a stream of events back, event by event, each judged before it goes on. It ends when
// the upstream ends it. An answer that has not come by then may come on another stream, where the events
// of this one have ids; otherwise it is lost, and the client is told.
func (x *exchange) stream(body io.Reader) {
	x.w.start()
	ctx, cancel := context.WithCancel(x.r.Context())
	defer cancel()
	go x.beat(ctx)
	go x.news(ctx)
	events := wire.NewEvents(body, int(x.relay.o.MaxMessage))
	resumable := false
	for {
		ev, err := events.Next()
		if err != nil {
			over := errors.Is(err, io.EOF) && x.r.Header.Get(sessionID) != "" // a session may close a stream and be polled
			if !resumable && !over || errors.Is(err, wire.ErrSize) {
				x.fail(0, "The server's answer broke off or is too long, so it is not shown; the call may have run.")
			}
			return
		}
		resumable = resumable || ev.HasID && ev.ID != "" || ev.Retry != ""
		if len(ev.Data) == 0 {
			if err := x.w.event(ev); err != nil {
				return
			}
			continue
		}
		if done, ok := x.judged(ctx, ev); !ok || done {
			return
		}
	}
}

// judged passes one event on, if the gate does; done says that it was the answer, which ends the stream
// of a request.
func (x *exchange) judged(ctx context.Context, ev *wire.Event) (done, ok bool) {
	m, err := wire.Read(ev.Data)
	if err != nil {
		x.fail(0, "The server's answer could not be read, so it is not shown; the call may have run.")
		return true, false
	}
	p := x.conn.Down(ctx, m)
	if p.Reply != nil {
		x.back(p.Reply)
	}
	if p.Forward == nil {
		return false, true
	}
	ev.Data = p.Forward
	if err := x.w.event(ev); err != nil {
		return false, false
	}
	return x.m != nil && m.Kind() == wire.Response && m.Key() == x.m.Key(), true
}

// back answers a request of the upstream's in the client's place.
func (x *exchange) back(reply []byte) {
	req := x.request(reply)
	req.Method = "POST"
	req.Header.Set("Content-Type", "application/json")
	if res, err := x.u.transport.RoundTrip(req); err == nil {
		_ = res.Body.Close() // it holds nothing
	}
}

// news tells a client of what was accepted, on the stream on which it listens for that.
func (x *exchange) news(ctx context.Context) {
	if message, ok := judge.Listener(x.m); ok {
		x.conn.Watch(ctx, func() { _ = x.w.say(message) }) // a client that is gone is noticed elsewhere
	}
	if x.m != nil {
		return
	}
	x.conn.Watch(ctx, func() { // the open stream of a session, which may be there before the client is ready
		if x.conn.Listens() {
			_ = x.w.say(judge.Changed()) // as above
		}
	})
}

// beat keeps a silent stream alive.
func (x *exchange) beat(ctx context.Context) {
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if x.w.alive() != nil {
				return
			}
		}
	}
}
