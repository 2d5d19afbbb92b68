package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/internal/reports/timeline"
)

func (m *management) lookBackRoutes() {
	route(m, operation{
		http.MethodGet, "/v1/sessions/{key}/steps", "listSteps",
		"What happened in a session, step by step: words, verdicts, values and the mark",
	}, m.listSteps)
	route(m, operation{http.MethodGet, "/v1/report", "viewReport",
		"Which rules ask most, how people answer, what to reconsider"}, m.viewReport)
}

type stepPage struct {
	Steps []timeline.Step `json:"steps"`
	Next  uint64          `json:"next,omitzero" doc:"the after of the next page; absent on the last"`
}

func (m *management) listSteps(ctx context.Context, in *struct {
	Key   string `path:"key" doc:"the session's key, percent-encoded"`
	After uint64 `query:"after" doc:"seq of the last step already seen"`
	Limit int    `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"how many steps at most"`
	Stops bool   `query:"stops" doc:"only calls that were held or denied"`
	Turn  string `query:"turn" doc:"only this turn"`
}) (stepPage, error) {
	out := stepPage{Steps: []timeline.Step{}}
	if err := checkPath(in.Key); err != nil {
		return out, err
	}
	if _, err := m.monitor.View(ctx, in.Key); err != nil {
		return out, err
	}
	for s, err := range timeline.Of(m.monitor.Events(ctx, in.Key)) {
		switch {
		case err != nil:
			return out, err
		case s.Seq <= in.After, in.Stops && !s.Stops(), in.Turn != "" && s.Turn != in.Turn:
			continue
		case len(out.Steps) == in.Limit:
			out.Next = out.Steps[len(out.Steps)-1].Seq
			return out, nil
		}
		out.Steps = append(out.Steps, s)
	}
	return out, nil
}

func (m *management) viewReport(ctx context.Context, in *struct {
	Days int `query:"days" default:"30" minimum:"1" maximum:"3650" doc:"how far to look back, in whole days (UTC)"`
}) (report.Report, error) {
	return m.report(ctx, in.Days)
}

// report counts what happened in so many days.
func (m *management) report(ctx context.Context, days int) (report.Report, error) {
	r, err := m.counts.Report(ctx, report.Options{Since: m.now().Add(-time.Duration(days) * 24 * time.Hour)}, nil)
	if err != nil {
		return r, fmt.Errorf("read log: %w", err)
	}
	return r, nil
}
