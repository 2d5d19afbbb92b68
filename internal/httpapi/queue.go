package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/sight"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/waiting"
)

// streamApprovals sends the queue as it is, and then every question that is new or has
// changed, its outcome included. Nothing is kept for a client: a slow one is told the
// latest state of what it missed.
func (a *API) streamApprovals(w http.ResponseWriter, r *http.Request) {
	s := queueStream{api: a, known: map[string]shown{}, stream: stream{w: w, control: http.NewResponseController(w)}}
	asked := a.feed.QuestionsChanged() // before reading, or a question could slip in between
	list, err := a.waitingFor(r.Context())
	definitions, failed := a.noticesFor(r.Context())
	if err := errors.Join(err, failed); err != nil {
		a.writeProblem(w, "", a.explain(r.Context(), err))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	for i := range list {
		s.known[list[i].ID] = shownAs(&list[i])
	}
	s.isNew(definitions)
	if s.event("snapshot", approvalList{Approvals: list, Definitions: definitions}) != nil {
		return
	}
	ticker := time.NewTicker(a.keepAlive)
	defer ticker.Stop()
	for {
		expiry := time.NewTimer(waiting.UntilNext(list))
		select {
		case <-asked:
		case <-expiry.C:
		case <-ticker.C:
			if s.send([]byte(": keep-alive\n\n")) != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
		expiry.Stop()
		if a.turnedAway(r) {
			return
		}
		asked = a.feed.QuestionsChanged()
		if list, err = a.waitingFor(r.Context()); err != nil || s.changes(r.Context(), list) != nil {
			return // the client reconnects
		}
	}
}

// waitingFor are the questions that whoever asks may see.
func (a *API) waitingFor(ctx context.Context) ([]engine.Question, error) {
	list, err := a.queue.Questions(ctx)
	return seen(ctx, list), err
}

// noticesFor are the definitions that wait: servers are everybody's, and are shown to whoever sees everything.
func (a *API) noticesFor(ctx context.Context) ([]pins.Notice, error) {
	if !sight.From(ctx).Whole() {
		return []pins.Notice{}, nil
	}
	return a.notices(ctx)
}

// definitionList is what of MCP servers waits for a person.
type definitionList struct {
	Definitions []pins.Notice `json:"definitions"`
}

// queueStream is one client and what it has been shown.
type queueStream struct {
	stream
	api   *API
	known map[string]shown
	// waiting are the definitions it knows of.
	waiting []string
}

// shown is what a client knows of a question.
type shown struct {
	session, state string
	abandoned      bool
}

func shownAs(q *engine.Question) shown { return shown{q.Session, q.State, q.Abandoned} }

// changes sends what differs from what the client knows.
func (s *queueStream) changes(ctx context.Context, list []engine.Question) error {
	open := make(map[string]bool, len(list))
	for i := range list {
		q := &list[i]
		open[q.ID] = true
		if s.known[q.ID] == shownAs(q) {
			continue
		}
		s.known[q.ID] = shownAs(q)
		if err := s.event("question", q); err != nil {
			return err
		}
	}
	return errors.Join(s.gone(ctx, open), s.definitions(ctx))
}

// gone tells what became of questions that are no longer open.
func (s *queueStream) gone(ctx context.Context, open map[string]bool) error {
	for id, was := range s.known {
		if open[id] {
			continue
		}
		delete(s.known, id)
		q, err := s.api.monitor.Question(ctx, was.session, id)
		if err != nil {
			q = engine.Question{ID: id, Session: was.session, State: "expired"}
		}
		if err := s.event("question", &q); err != nil {
			return err
		}
	}
	return nil
}

// definitions sends those that wait for a person, all of them, where they are others than before.
func (s *queueStream) definitions(ctx context.Context) error {
	list, err := s.api.noticesFor(ctx)
	if err != nil || !s.isNew(list) {
		return err
	}
	return s.event("definitions", definitionList{list})
}

// isNew reports whether the client knows of other definitions, and notes these.
func (s *queueStream) isNew(list []pins.Notice) bool {
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	if slices.Equal(ids, s.waiting) {
		return false
	}
	s.waiting = ids
	return true
}

func (s *queueStream) event(name string, v any) error {
	body, err := strictjson.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	s.buf.Reset()
	fmt.Fprintf(&s.buf, "event: %s\ndata: %s\n\n", name, body)
	return s.send(s.buf.Bytes())
}
