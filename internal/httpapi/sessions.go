package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/sight"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/trust"
)

func (m *management) sessionRoutes() {
	route(m, operation{http.MethodGet, "/v1/sessions", "listSessions", "Sessions, newest first"}, m.listSessions)
	route(m, operation{http.MethodGet, "/v1/sessions/{key}", "viewSession", "One session"}, m.viewSession)
	route(m, operation{
		http.MethodGet, "/v1/sessions/{key}/begun", "sessionBegun",
		"Whether a session was ever begun; nothing else about it",
	}, m.sessionBegun)
	route(m, operation{
		http.MethodGet, "/v1/sessions/{key}/handshake", "sessionHandshake",
		"The line that shows the LLM proxy a live plugin; empty where none is wanted",
	}, m.sessionHandshake)
	route(m, operation{http.MethodGet, "/v1/sessions/{key}/turns", "listTurns", "The turns of a session"}, m.listTurns)
	route(m, operation{http.MethodPost, "/v1/sessions/{key}/reset-trust", "resetTrust", "Trust a session's context again"}, m.resetTrust)
	m.graphRoute()
}

// keyInput names a session in the path.
type keyInput struct {
	Key string `path:"key" doc:"the session's key, percent-encoded"`
}

// checkPath refuses what no session can be called.
func checkPath(key string) error {
	if !utf8.ValidString(key) || checkKey(key) != nil {
		return badRequest("path.key: not a session key")
	}
	return nil
}

type sessionRow struct {
	Key         string    `json:"sessionKey"`
	Agent       string    `json:"agentId,omitzero"`
	Taint       string    `json:"taint" doc:"level of the least trusted thing in any of its contexts"`
	Sensitivity string    `json:"sensitivity"`
	Records     uint64    `json:"records"`
	Turns       uint64    `json:"turns"`
	Steps       int64     `json:"steps" doc:"calls judged"`
	Denied      int64     `json:"denied" doc:"calls refused or held"`
	Questions   int       `json:"questions" doc:"open questions"`
	Grants      int       `json:"grants"`
	Writes      int       `json:"writes" doc:"writes held for review"`
	First       time.Time `json:"first"`
	Last        time.Time `json:"last"`
	Unreadable  bool      `json:"unreadable,omitzero" doc:"its log cannot be read: its calls are refused"`
}

type sessionPage struct {
	Sessions []sessionRow `json:"sessions"`
	Next     string       `json:"next,omitzero" doc:"the after of the next page; absent on the last"`
}

func (m *management) listSessions(ctx context.Context, in *struct {
	Limit  int    `query:"limit" default:"50" minimum:"1" maximum:"200" doc:"how many sessions at most"`
	After  string `query:"after" doc:"key of the last session of the page before"`
	Prefix string `query:"prefix" doc:"only keys that start with this"`
}) (sessionPage, error) {
	page := sessionPage{Sessions: []sessionRow{}}
	query := store.SessionQuery{Limit: in.Limit, After: in.After, Prefix: in.Prefix}
	next, err := m.eachSession(ctx, query, func(s store.Session, v *engine.View) bool {
		if v == nil {
			page.Sessions = append(page.Sessions, unreadable(s))
		} else {
			page.Sessions = append(page.Sessions, rowOf(v))
		}
		return true
	})
	page.Next = next
	return page, err
}

// unreadable is the line of a session of which nothing else is known.
func unreadable(s store.Session) sessionRow {
	worst := trust.Label{}
	return sessionRow{
		Key: s.Name, Taint: worst.Level.String(), Sensitivity: worst.Sensitivity.String(), Records: s.Records,
		First: time.Unix(0, s.FirstTime).UTC(), Last: time.Unix(0, s.LastTime).UTC(), Unreadable: true,
	}
}

func rowOf(v *engine.View) sessionRow {
	r := sessionRow{
		Key: v.Session, Agent: v.Agent, Taint: v.Taint.Level.String(), Sensitivity: v.Taint.Sensitivity.String(),
		Records: v.Records, Turns: v.Turns, Steps: v.Steps, Denied: v.Denied, Grants: len(v.Grants), First: v.First, Last: v.Last,
	}
	for _, q := range v.Questions {
		if q.Pending() {
			r.Questions++
		}
	}
	for _, w := range v.Writes {
		if w.Status == held {
			r.Writes++
		}
	}
	return r
}

// eachSession visits a page of sessions until visit says no; the view is nil if the
// session's log cannot be read. Next is where the page after it starts, empty if there
// is none. What is hidden takes no place in a page, and no page begins after it: its name would be told.
func (m *management) eachSession(
	ctx context.Context, q store.SessionQuery, visit func(store.Session, *engine.View) bool,
) (next string, err error) {
	for left := store.Page(q.Limit); ; {
		rows, err := m.log.Sessions(ctx, q)
		if err != nil {
			return "", err
		}
		for _, r := range rows {
			view, err := m.viewOf(ctx, r.Name)
			if err != nil {
				return "", err
			}
			if s := sight.From(ctx); !s.Whole() && (view == nil || !s.Agent(view.Agent)) {
				continue
			}
			if !visit(r, view) {
				return "", nil
			}
			if left--; left == 0 {
				return r.Name, nil
			}
		}
		if len(rows) < store.Page(q.Limit) {
			return "", nil
		}
		q.After = rows[len(rows)-1].Name
	}
}

// viewOf is a session of a page; nil: its log cannot be read.
func (m *management) viewOf(ctx context.Context, name string) (*engine.View, error) {
	v, err := m.monitor.View(ctx, name)
	switch {
	case err == nil:
		return &v, nil
	case ctx.Err() != nil:
		return nil, err
	}
	m.logger.LogAttrs(ctx, slog.LevelError, "session cannot be read", slog.String("session", name), slog.String("error", err.Error()))
	return nil, nil //nolint:nilnil // it is one, of which nothing else is known
}

// lookBack is how many sessions are searched for something whose session is not named.
const lookBack = 1000

// findSession is the named session, or the first of the newest ones that fits.
func (m *management) findSession(ctx context.Context, name string, fits func(*engine.View) bool) (*engine.View, error) {
	if name != "" {
		v, err := m.seenView(ctx, name)
		if err == nil && !fits(&v) {
			err = engine.ErrNotFound
		}
		return &v, err
	}
	var found *engine.View
	_, err := m.eachSession(ctx, store.SessionQuery{Limit: lookBack}, func(_ store.Session, v *engine.View) bool {
		if v != nil && fits(v) {
			found = v
		}
		return found == nil
	})
	if err == nil && found == nil {
		err = notFound("none of the newest sessions has it; name the session")
	}
	return found, err
}

func (m *management) viewSession(ctx context.Context, in *keyInput) (engine.View, error) {
	if err := checkPath(in.Key); err != nil {
		return engine.View{}, err
	}
	return m.monitor.View(ctx, in.Key)
}

type begun struct {
	Session string `json:"session"`
	Begun   bool   `json:"begun"`
}

// sessionBegun is for hosts, which may not look into sessions: a new one has no history
// to be narrowed by. It tells them no more than the taint in every hook's answer does.
func (m *management) sessionBegun(ctx context.Context, in *keyInput) (begun, error) {
	out := begun{Session: in.Key}
	if err := checkPath(in.Key); err != nil {
		return out, err
	}
	v, err := m.monitor.View(ctx, onMachine(callerOf(ctx).machine, in.Key)) // a machine is told of its own
	if errors.Is(err, engine.ErrNotFound) {
		return out, nil
	}
	out.Begun = err == nil && v.Turns > 0
	return out, err
}

type handshake struct {
	Session string `json:"session"`
	Line    string `json:"line" doc:"for the system prompt; the proxy takes it out again"`
}

// sessionHandshake gives a host's plugin what it shows the proxy in a session's requests.
func (m *management) sessionHandshake(ctx context.Context, in *keyInput) (handshake, error) {
	out := handshake{Session: in.Key}
	if err := checkPath(in.Key); err != nil {
		return out, err
	}
	if m.greet != nil {
		out.Line = m.greet(onMachine(callerOf(ctx).machine, in.Key))
	}
	return out, nil
}

type turnRow struct {
	ID     string    `json:"turnId"`
	Branch string    `json:"branch,omitzero"`
	Time   time.Time `json:"time"`
	Seq    uint64    `json:"seq" doc:"number of the record that began it"`
}

type turnList struct {
	Turns []turnRow `json:"turns"`
}

func (m *management) listTurns(ctx context.Context, in *keyInput) (turnList, error) {
	out := turnList{Turns: []turnRow{}}
	if err := checkPath(in.Key); err != nil {
		return out, err
	}
	turns, err := m.log.Turns(ctx, in.Key)
	if err != nil {
		return out, err
	}
	for _, t := range turns {
		out.Turns = append(out.Turns, turnRow{ID: t.ID, Branch: t.Branch, Time: time.Unix(0, t.Time).UTC(), Seq: t.Seq})
	}
	return out, nil
}

type resetDone struct {
	Session string `json:"session"`
	Branch  string `json:"branch,omitzero"`
	Reset   bool   `json:"reset"`
}

func (m *management) resetTrust(ctx context.Context, in *struct {
	Key  string `path:"key" doc:"the session's key, percent-encoded"`
	Body *struct {
		Branch string `json:"branch,omitempty" doc:"the main one if empty"`
	}
}) (resetDone, error) {
	if err := checkPath(in.Key); err != nil {
		return resetDone{}, err
	}
	if err := m.proven(); err != nil {
		return resetDone{}, err
	}
	out := resetDone{Session: in.Key, Reset: true}
	if in.Body != nil {
		out.Branch = in.Body.Branch
	}
	err := m.monitor.Reset(ctx, engine.Ref{Session: in.Key, Branch: out.Branch}, by(ctx), via)
	if errors.Is(err, engine.ErrNotFound) {
		return out, notFound("nobody ever began this context")
	}
	return out, err
}
