package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/tidemark/tidemark"
)

func (m *management) labelRoutes() {
	route(m, operation{http.MethodGet, "/v1/labels", "listLabels", "What was written while tainted, by key"}, m.listLabels)
	route(m, operation{http.MethodDelete, "/v1/labels", "clearLabel", "Vouch for something that was written while tainted"}, m.clearLabel)
}

type labelPage struct {
	Labels []tidemark.LabelView `json:"labels"`
	Next   string               `json:"next,omitzero" doc:"the after of the next page; absent on the last"`
}

func (m *management) listLabels(ctx context.Context, in *struct {
	Limit  int    `query:"limit" default:"200" minimum:"1" maximum:"1000" doc:"how many labels at most"`
	After  string `query:"after" doc:"key of the last label of the page before"`
	Prefix string `query:"prefix" doc:"only keys that start with this, e.g. file:work/"`
}) (labelPage, error) {
	page := labelPage{Labels: []tidemark.LabelView{}}
	all, err := m.monitor.Labels(ctx)
	if err != nil {
		return page, err
	}
	all = slices.DeleteFunc(all, func(l tidemark.LabelView) bool {
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
	if errors.Is(err, tidemark.ErrNotFound) {
		return clearDone{}, notFound("nothing with this key is labelled")
	}
	return clearDone{Key: in.Key, Cleared: err == nil}, err
}
