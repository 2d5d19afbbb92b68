package httpapi

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/store"
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

// streamEvents sends every record of the log as it is committed. The stream holds no
// records of its own: it is woken, and reads on from where its client is.
func (a *API) streamEvents(w http.ResponseWriter, r *http.Request) {
	q, p := a.streamQuery(r)
	if p != nil {
		a.writeProblem(w, "", p)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	s := stream{w: w, control: http.NewResponseController(w)}
	if s.send([]byte(": tidemark\n\n")) != nil {
		return
	}
	ticker := time.NewTicker(a.keepAlive)
	defer ticker.Stop()
	for {
		grown := a.feed.Grown() // before reading, or a record could slip in between
		entries, err := a.log.Since(r.Context(), q)
		if err != nil {
			_ = a.explain(r.Context(), err) // into our log; the client reconnects
			return
		}
		if a.turnedAway(r) { // after reading, or what took the token away is sent to its owner
			return
		}
		if len(entries) > 0 {
			q.After = entries[len(entries)-1].ID
			if s.records(entries) != nil {
				return
			}
			continue
		}
		select {
		case <-grown:
		case <-ticker.C:
			if s.send([]byte(": keep-alive\n\n")) != nil {
				return
			}
		case <-r.Context().Done():
			return
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
	buf     bytes.Buffer
}

// records sends entries as server-sent events.
func (s *stream) records(entries []store.Entry) error {
	s.buf.Reset()
	for _, e := range entries {
		body, err := strictjson.Marshal(recordOf(e))
		if err != nil {
			return fmt.Errorf("encode record %d: %w", e.ID, err)
		}
		fmt.Fprintf(&s.buf, "id: %d\nevent: record\ndata: %s\n\n", e.ID, body) // JSON has no line breaks of its own
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
