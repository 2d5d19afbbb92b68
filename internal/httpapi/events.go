package httpapi

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/tidemark/tidemark/internal/people/sight"
	"github.com/tidemark/tidemark/internal/store"
)

const (
	// keepAlive keeps proxies from taking an idle stream for a dead one.
	keepAlive = 15 * time.Second
	// writeLimit is how long a client may take to accept a write. A slow one is cut off
	// and comes back with its Last-Event-ID.
	writeLimit = 10 * time.Second
	// streamPage bounds what is read from the log for one client at a time.
	streamPage = 64
)

// streamEvents sends every record of the log as it is committed. A client reads by itself until it has seen all there is, and is
// then told of what is new; one that is too slow reads by itself again.
func (a *API) streamEvents(w http.ResponseWriter, r *http.Request) {
	q, p := a.streamQuery(r)
	if p != nil {
		a.writeProblem(w, "", p)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	s := stream{w: w, control: http.NewResponseController(w), look: sight.At(r.Context(), a.monitor)}
	if s.send([]byte(": tidemark\n\n")) != nil {
		return
	}
	ticker := time.NewTicker(a.keepAlive)
	defer ticker.Stop()
	me := &watcher{session: q.Session, kind: q.Kind, bell: make(chan struct{}, 1)}
	defer a.tail.leave(me)
	for {
		if err := a.catchUp(r, &s, &q, me); err != nil {
			if !errors.Is(err, errLeft) {
				_ = a.explain(r.Context(), err) // into our log; the client reconnects
			}
			return
		}
		for behind := false; !behind; {
			select {
			case <-me.bell:
				var pieces []piece
				pieces, behind, q.After = a.tail.take(me)
				if a.turnedAway(r) || s.pieces(r.Context(), pieces) != nil {
					return
				}
			case <-ticker.C:
				if a.turnedAway(r) || s.send([]byte(": keep-alive\n\n")) != nil {
					return
				}
			case <-r.Context().Done():
				return
			}
		}
	}
}

// errLeft ends a stream whose client is gone, or may no longer read.
var errLeft = errors.New("the reader of a stream is gone")

// catchUp sends what the log holds, and returns when the client is told of what is new.
func (a *API) catchUp(r *http.Request, s *stream, q *store.EntryQuery, me *watcher) error {
	for {
		head, err := a.log.Head(r.Context()) // before reading: what comes later is not among what was read
		if err != nil {
			return err
		}
		entries, err := a.log.Since(r.Context(), *q)
		if err != nil {
			return err
		}
		if a.turnedAway(r) || r.Context().Err() != nil { // after reading, or what took the token away is sent to its owner
			return errLeft
		}
		if len(entries) > 0 {
			q.After = entries[len(entries)-1].ID
			if s.records(seenEntries(r.Context(), s.look, entries)) != nil {
				return errLeft
			}
			continue
		}
		q.After = max(q.After, head.Records) // nothing up to there is wanted
		if a.tail.join(me, q.After) {
			return nil
		}
	}
}

// turnedAway reports that whoever reads a stream may no longer: their token was taken away.
func (a *API) turnedAway(r *http.Request) bool {
	_, p := a.keys.admit(r, needReader)
	return p != nil
}

// streamQuery is where the client wants to start: after the record it saw last, or now.
func (a *API) streamQuery(r *http.Request) (store.EntryQuery, *Problem) {
	v := r.URL.Query()
	q := store.EntryQuery{Session: v.Get("session"), Kind: v.Get("kind"), Limit: streamPage}
	field, after := "Last-Event-ID", r.Header.Get("Last-Event-ID")
	if after == "" {
		field, after = "query.after", v.Get("after")
	}
	if after == "" {
		head, err := a.log.Head(r.Context())
		if err != nil {
			return q, a.explain(r.Context(), err)
		}
		q.After = head.Records
		return q, nil
	}
	id, err := strconv.ParseInt(after, 10, 64)
	if err != nil || id < 0 {
		return q, badRequest(field + ": must be the id of a record")
	}
	q.After = id
	return q, nil
}

// stream is one client.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	look    *sight.Look // of the log: which sessions it is told of
	buf     bytes.Buffer
}

// records sends entries as server-sent events.
func (s *stream) records(entries []store.Entry) error {
	s.buf.Reset()
	for _, e := range entries {
		text, err := sentEvent(e)
		if err != nil {
			return err
		}
		s.buf.Write(text)
	}
	return s.send(s.buf.Bytes())
}

// pieces sends records that are ready to go out.
func (s *stream) pieces(ctx context.Context, list []piece) error {
	s.buf.Reset()
	for _, p := range list {
		if s.look.Session(ctx, p.session) {
			s.buf.Write(p.text)
		}
	}
	if s.buf.Len() == 0 {
		return nil
	}
	return s.send(s.buf.Bytes())
}

func (s *stream) send(b []byte) error {
	// A connection that takes no deadline is one of a test; it cannot be slow either.
	_ = s.control.SetWriteDeadline(time.Now().Add(writeLimit))
	if _, err := s.w.Write(b); err != nil {
		return err
	}
	return s.control.Flush()
}
