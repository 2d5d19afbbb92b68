package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
)

// held is the status of a write that waits for its review.
const held = "held"

func (m *management) writeRoutes() {
	route(m, operation{http.MethodGet, "/v1/writes", "listWrites", "Quarantined writes, by session, newest session first"}, m.listWrites)
	route(m, operation{http.MethodGet, "/v1/writes/{id}", "viewWrite", "One quarantined write, whole"}, m.viewWrite)
	route(m, operation{http.MethodPost, "/v1/writes/{id}", "reviewWrite", "Release or discard a quarantined write"}, m.reviewWrite)
}

type writeRow struct {
	Session string `json:"session"`
	engine.WriteView
}

type writePage struct {
	Writes []writeRow `json:"writes"`
	Next   string     `json:"next,omitzero" doc:"the after of the next page; absent on the last"`
}

func (m *management) listWrites(ctx context.Context, in *pageInput) (writePage, error) {
	page := writePage{Writes: []writeRow{}}
	next, err := m.pageOf(ctx, in, func(v *engine.View) {
		for _, w := range v.Writes {
			page.Writes = append(page.Writes, writeRow{v.Session, w})
		}
	})
	page.Next = next
	return page, err
}

// findWrite is the write's line and the session it belongs to.
func (m *management) findWrite(ctx context.Context, session, id string) (writeRow, error) {
	is := func(w engine.WriteView) bool { return w.ID == id }
	v, err := m.findSession(ctx, session, func(v *engine.View) bool { return slices.ContainsFunc(v.Writes, is) })
	if err != nil {
		return writeRow{}, err
	}
	return writeRow{v.Session, v.Writes[slices.IndexFunc(v.Writes, is)]}, nil
}

type wholeWrite struct {
	Session string `json:"session"`
	engine.WriteView
	Args strictjson.Value `json:"args" doc:"the arguments of the blocked call"`
}

func (m *management) viewWrite(ctx context.Context, in *struct {
	ID      string `path:"id" doc:"the write's id"`
	Session string `query:"session" doc:"looked up among the newest sessions if absent"`
}) (wholeWrite, error) {
	row, err := m.findWrite(ctx, in.Session, in.ID)
	if err != nil {
		return wholeWrite{}, err
	}
	for e, err := range m.monitor.Events(ctx, row.Session) {
		if err != nil {
			return wholeWrite{}, err
		}
		if d := e.Decided; d != nil && d.Write != nil && d.Write.ID == in.ID {
			return wholeWrite{row.Session, row.WriteView, strictjson.Value(d.Write.Args)}, nil
		}
	}
	return wholeWrite{}, engine.ErrNotFound
}

type reviewDone struct {
	ID      string           `json:"id"`
	Session string           `json:"session"`
	Action  string           `json:"action"`
	Tool    string           `json:"tool"`
	Path    string           `json:"path"`
	Args    strictjson.Value `json:"args" doc:"the arguments of the call; after a release exactly this call may run once"`
}

func (m *management) reviewWrite(ctx context.Context, in *struct {
	ID   string `path:"id" doc:"the write's id"`
	Body struct {
		Action  string `json:"action" enum:"release,discard"`
		Session string `json:"session,omitempty" doc:"looked up among the newest sessions if absent"`
	}
}) (reviewDone, error) {
	if in.Body.Action == "release" {
		if err := m.proven(); err != nil {
			return reviewDone{}, err
		}
	}
	row, err := m.findWrite(ctx, in.Body.Session, in.ID)
	if err != nil {
		return reviewDone{}, err
	}
	call, err := m.monitor.Review(ctx, row.Session, in.ID, in.Body.Action == "release", by(ctx), via)
	if err != nil {
		return reviewDone{}, err
	}
	return reviewDone{ID: in.ID, Session: row.Session, Action: in.Body.Action, Tool: row.Tool, Path: row.Path, Args: call.Args}, nil
}

func (m *management) labelRoutes() {
	route(m, operation{http.MethodGet, "/v1/labels", "listLabels", "What was written while tainted, by key"}, m.listLabels)
	route(m, operation{http.MethodDelete, "/v1/labels", "clearLabel", "Vouch for something that was written while tainted"}, m.clearLabel)
}

type labelPage struct {
	Labels []engine.LabelView `json:"labels"`
	Next   string             `json:"next,omitzero" doc:"the after of the next page; absent on the last"`
}

func (m *management) listLabels(ctx context.Context, in *struct {
	Limit  int    `query:"limit" default:"200" minimum:"1" maximum:"1000" doc:"how many labels at most"`
	After  string `query:"after" doc:"key of the last label of the page before"`
	Prefix string `query:"prefix" doc:"only keys that start with this, e.g. file:work/"`
}) (labelPage, error) {
	page := labelPage{Labels: []engine.LabelView{}}
	all, err := m.monitor.Labels(ctx)
	if err != nil {
		return page, err
	}
	all = slices.DeleteFunc(all, func(l engine.LabelView) bool {
		return !strings.HasPrefix(l.Key, in.Prefix) || in.After != "" && l.Key <= in.After
	})
	if len(all) > in.Limit {
		all = all[:in.Limit]
		page.Next = all[in.Limit-1].Key
	}
	page.Labels = all
	return page, nil
}

type clearDone struct {
	Key     string `json:"key"`
	Cleared bool   `json:"cleared"`
}

// clearLabel takes the key as a query: it is often a path, and what stands between a
// client and us may read the slashes of a path in its own way.
func (m *management) clearLabel(ctx context.Context, in *struct {
	Key string `query:"key" required:"true" minLength:"1" doc:"the label's key, percent-encoded, e.g. file:work/notes.txt"`
}) (clearDone, error) {
	if err := m.proven(); err != nil {
		return clearDone{}, err
	}
	err := m.monitor.ClearLabel(ctx, in.Key, by(ctx), via)
	if errors.Is(err, engine.ErrNotFound) {
		return clearDone{}, notFound("nothing with this key is labelled")
	}
	return clearDone{Key: in.Key, Cleared: err == nil}, err
}
