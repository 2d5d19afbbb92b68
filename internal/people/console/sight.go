package console

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/sight"
	"github.com/tidemark/tidemark/internal/reports/recordsearch"
)

// sifted are the pages for somebody who does not see every session: those that show nothing of sessions, and those that leave out what
// is hidden. Every other page is closed to them, also one that is added later.
var sifted = []string{
	"GET /console/{$}", "GET /console/q/{id}", "GET /console/q/{id}/card", "POST /console/q/{id}", "POST /console/q/{id}/challenge",
	"GET " + severalPath, "POST " + severalPath, "POST " + severalPath + "/challenge", "GET " + grantsPath,
	"GET /console/stream", "GET /console/snapshot", "GET /console/sessions", "GET /console/session", "POST " + sessionActPath,
	"GET /console/audit", "GET /console/audit/export", "POST " + actChallenge,
	"GET /console/keys", "POST /console/keys", "POST /console/keys/challenge", "POST /console/logout",
}

// look notes what a visitor may see, and reports whether the page is for them.
func (c *Console) look(v *visit, pattern string) bool {
	s := sight.Everything()
	if c.sees != nil && v.Role != "admin" {
		s = c.sees(v.By)
	}
	v.r = v.r.WithContext(sight.With(v.r.Context(), s))
	if s.Whole() || slices.Contains(sifted, pattern) {
		return true
	}
	c.fail(v.w, v.r, http.StatusForbidden,
		"This page tells of the sessions of every agent, and you do not see all of them. Questions, Sessions, Grants and Audit show yours.")
	return false
}

// seenTabs are the pages that a visitor can open.
func seenTabs(v *visit) []tab {
	if sight.From(v.r.Context()).Whole() {
		return tabs
	}
	return slices.DeleteFunc(slices.Clone(tabs), func(t tab) bool {
		return t.path != Path+"/" && !slices.Contains(sifted, "GET "+t.path)
	})
}

// seenView reads a session that is not hidden.
func (c *Console) seenView(ctx context.Context, name string) (engine.View, error) {
	v, err := c.monitor.View(ctx, name)
	if err == nil && !sight.From(ctx).Agent(v.Agent) {
		return engine.View{}, fmt.Errorf("hidden: %w", engine.ErrNotFound)
	}
	return v, err
}

// seenLasting is what holds in every session of the agents that are seen. Pairs are of a person and of no agent.
func (c *Console) seenLasting(ctx context.Context) ([]engine.GrantView, error) {
	s := sight.From(ctx)
	list, err := c.monitor.Lasting(ctx)
	return slices.DeleteFunc(list, func(g engine.GrantView) bool { return !s.Whole() && (g.Pair || !s.Agent(g.Agent)) }), err
}

// seenRecords reads a page of the log without what is hidden.
func (c *Console) seenRecords(ctx context.Context, f *recordsearch.Filter, most int) ([]recordsearch.Row, int64, error) {
	rows, next, err := recordsearch.Newest(ctx, c.log, c.monitor.Arguments, f, most)
	l := sight.At(ctx, c.monitor)
	if l.Whole() {
		return rows, next, err
	}
	return slices.DeleteFunc(rows, func(r recordsearch.Row) bool { return !l.Session(ctx, r.Session) }), next, err
}

// seenAct refuses an act about a session, or a grant of every one, that is hidden.
func (c *Console) seenAct(ctx context.Context, session, grant string) error {
	switch {
	case sight.From(ctx).Whole():
		return nil
	case session != "":
		_, err := c.seenView(ctx, session)
		return err
	}
	list, err := c.seenLasting(ctx)
	if err == nil && !slices.ContainsFunc(list, func(g engine.GrantView) bool { return g.ID == grant }) {
		err = fmt.Errorf("hidden: %w", engine.ErrNotFound)
	}
	return err
}
