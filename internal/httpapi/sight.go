package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/sight"
	"github.com/tidemark/tidemark/internal/store"
)

// Who may see which sessions is enforced here. Somebody who does not see everything reaches three kinds of routes: those that show
// nothing of sessions, those whose path names the session (it is looked at before the handler is), and those whose handlers ask
// what is below. A route that is in no list is closed to them.

// shows is what a route shows of sessions. The zero shows is that of a route nobody thought about: it is for those who see everything.
type shows uint8

const (
	showsAll    shows = iota
	showsNone         // nothing of any session
	showsNamed        // the session in its path
	showsSifted       // several, and its handler leaves out those that are hidden
)

// sights says what routes show.
var sights = map[string]shows{
	"GET /v1/version":        showsNone,
	"GET /v1/policy":         showsNone,
	"GET /v1/policy/text":    showsNone,
	"GET /v1/explain":        showsNone,
	"GET /v1/explain/matrix": showsNone,
	"POST /v1/policy/check":  showsNone,
	"POST /v1/try":           showsNone,

	"POST /v1/console/links":      showsNone,
	"GET /v1/console/links/{id}":  showsNone,
	"POST /v1/console/links/{id}": showsNone,

	"GET /v1/sessions/{key}":                    showsNamed,
	"GET /v1/sessions/{key}/begun":              showsNamed,
	"GET /v1/sessions/{key}/turns":              showsNamed,
	"GET /v1/sessions/{key}/turns/{turn}/graph": showsNamed,
	"GET /v1/sessions/{key}/steps":              showsNamed,

	"GET /v1/sessions":         showsSifted,
	"GET /v1/approvals":        showsSifted,
	"GET /v1/approvals/{id}":   showsSifted,
	"GET /v1/approvals/stream": showsSifted,
	"POST /v1/approvals/{id}":  showsSifted,
	"POST /v1/approvals":       showsSifted,
	"GET /v1/grants":           showsSifted,
	"DELETE /v1/grants/{id}":   showsSifted,
	"GET /v1/writes":           showsSifted,
	"GET /v1/writes/{id}":      showsSifted,
	"POST /v1/writes/{id}":     showsSifted,
	"GET /v1/audit":            showsSifted,
	"GET /v1/events":           showsSifted,
}

// sightOf is what a caller may see. Agents are told of their own by other rules, and whoever rules here could give themselves the rest.
func (a *API) sightOf(who caller) sight.Sight {
	if a.sees == nil || who.role == admin || who.role == agent {
		return sight.Everything()
	}
	return a.sees(who.String())
}

// look is a request that knows what its caller may see, or why they may not come here.
func (a *API) look(r *http.Request, pattern string, who caller) (*http.Request, *Problem) {
	s := a.sightOf(who)
	r = r.WithContext(sight.With(r.Context(), s))
	if s.Whole() || a.routes.access[pattern] == needNothing {
		return r, nil
	}
	switch sights[pattern] {
	case showsNone, showsSifted:
	case showsNamed:
		if !sight.At(r.Context(), a.monitor).Session(r.Context(), r.PathValue("key")) {
			return nil, a.explain(r.Context(), errHidden)
		}
	default:
		return nil, newProblem(http.StatusForbidden, "sight",
			fmt.Sprintf("this tells of the sessions of every agent, and %s does not see all of them (approvals.people, sees)", who))
	}
	return r, nil
}

// errHidden is said of what somebody may not see: the same as of what is not there.
var errHidden = fmt.Errorf("hidden: %w", engine.ErrNotFound)

// seen leaves out the questions that are hidden.
func seen(ctx context.Context, list []engine.Question) []engine.Question {
	s := sight.From(ctx)
	if s.Whole() {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(q engine.Question) bool { return !s.Agent(q.Agent) })
}

// seenView reads a session that is not hidden.
func (a *API) seenView(ctx context.Context, name string) (engine.View, error) {
	v, err := a.monitor.View(ctx, name)
	if err == nil && !sight.From(ctx).Agent(v.Agent) {
		return engine.View{}, errHidden
	}
	return v, err
}

// seenGrant reports whether something that holds in every session is shown: a pair is of a person and of no agent.
func seenGrant(ctx context.Context, g *engine.GrantView) bool {
	s := sight.From(ctx)
	return s.Whole() || !g.Pair && s.Agent(g.Agent)
}

// seenEntries leaves out the records that are hidden.
func seenEntries(ctx context.Context, l *sight.Look, list []store.Entry) []store.Entry {
	if l.Whole() {
		return list
	}
	return slices.DeleteFunc(list, func(e store.Entry) bool { return !l.Session(ctx, e.Session) })
}
