// Package telemetry is a plugin that tells an OpenTelemetry collector what happened: a span for
// each turn, each model call and each tool call with its verdict, rule and warrant, and metrics, by the
// conventions for generative AI and for MCP. It speaks OTLP over HTTP in JSON, by hand: the public SDK would
// make the program a third larger, for two requests.
//
// A plugin on the hook bus is asked before a call is decided and cannot know the verdict. So this
// one reads the log, at its own pace, after records were committed: it holds no call up, every door
// is in it, and what it tells is what was recorded.
//
// It does I/O: HTTP to the endpoint. Run is its one loop; the caller starts and ends it.
//
// Invariants:
//   - no prompt, argument, result, reason or sender leaves: names of tools, models, rules and sessions do;
//   - memory is bounded: what a collector does not take in time is dropped, and counted.
package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
)

// Log is what is read.
type Log interface {
	// Since is a page of records, in the order they were committed.
	Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error)
}

// Options configure an Exporter.
type Options struct {
	Endpoint string            // such as http://127.0.0.1:4318; /v1/traces and /v1/metrics are added
	Headers  map[string]string // of every request
	Service  string            // service.name
	Version  string            // service.version
	Every    time.Duration     // between two requests; 0 is 5 s
	Log      Log
	After    int64                  // records up to this one are not told
	Grown    func() <-chan struct{} // is closed when the log has grown; see notify.Store.Grown
	Now      func() time.Time
	Logger   *slog.Logger
}

// Exporter reads the log and tells the collector.
type Exporter struct {
	o     Options
	http  *http.Client
	fold  *fold
	spans []span // not sent yet
	lost  int    // dropped since the last word about it
}

const (
	defaultEvery = 5 * time.Second
	maxSpans     = 8192 // that wait for the collector
	maxBatch     = 512  // in one request
	sendLimit    = 10 * time.Second
)

// New makes an exporter. Nothing is contacted yet.
func New(o Options) (*Exporter, error) {
	if o.Log == nil || o.Grown == nil || o.Now == nil || o.Logger == nil || o.Endpoint == "" {
		return nil, errors.New("new exporter: an endpoint, a log, its news, a clock and a logger are needed")
	}
	if o.Every <= 0 {
		o.Every = defaultEvery
	}
	return &Exporter{
		o: o, fold: newFold(o.Now()),
		http: &http.Client{Timeout: sendLimit, Transport: outbound.Transport(outbound.Options{}), CheckRedirect: stay},
	}, nil
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Run tells what is recorded, until the context ends; then it sends what is left.
func (x *Exporter) Run(ctx context.Context) {
	defer x.http.CloseIdleConnections()
	at := x.o.After
	tick := time.NewTicker(x.o.Every)
	defer tick.Stop()
	for {
		grown := x.o.Grown() // before reading, or a record could slip in between
		at = x.read(ctx, at)
		select {
		case <-grown:
		case <-tick.C:
			x.send(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendLimit)
			defer cancel()
			x.read(last, at)
			x.keep(x.fold.end(x.o.Now()))
			x.send(last)
			return
		}
	}
}

// read folds what is new, and returns how far it came.
func (x *Exporter) read(ctx context.Context, at int64) int64 {
	for {
		page, err := x.o.Log.Since(ctx, store.EntryQuery{After: at, Limit: store.MaxLimit})
		if err != nil {
			if ctx.Err() == nil {
				x.o.Logger.Warn("telemetry could not read the log", "error", err)
			}
			return at
		}
		for i := range page {
			at = page[i].ID
			e, err := event.FromRecord(page[i].Record)
			if err != nil || strings.HasPrefix(page[i].Session, store.Own) {
				continue // the log's own check says what is wrong with it; our own logs are no sessions
			}
			x.keep(x.fold.add(page[i].Session, &e))
		}
		if len(page) < store.MaxLimit {
			return at
		}
	}
}

// keep holds spans until they are sent; of too many the oldest go.
func (x *Exporter) keep(spans []span) {
	x.spans = append(x.spans, spans...)
	if over := len(x.spans) - maxSpans; over > 0 {
		x.spans = append([]span(nil), x.spans[over:]...)
		x.lost += over
	}
}

// send brings spans and metrics to the collector. What it does not take now waits; what it calls
// wrong is dropped.
func (x *Exporter) send(ctx context.Context) {
	for len(x.spans) > 0 {
		n := min(len(x.spans), maxBatch)
		again, err := x.post(ctx, "/v1/traces", x.traces(x.spans[:n]))
		if err != nil {
			x.o.Logger.Warn("telemetry was not taken", "error", err, "waiting", len(x.spans), "lost", x.lost)
			x.lost = 0
			if again {
				return
			}
		}
		x.spans = x.spans[n:]
	}
	if x.fold.empty() {
		return
	}
	if _, err := x.post(ctx, "/v1/metrics", x.metrics()); err != nil {
		x.o.Logger.Warn("telemetry was not taken", "error", err)
	}
}

// post sends one request, and says whether it is worth sending again.
func (x *Exporter) post(ctx context.Context, path string, body any) (again bool, err error) {
	raw, err := strictjson.Marshal(body)
	if err != nil {
		return false, fmt.Errorf("encode: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.o.Endpoint+path, bytes.NewReader(raw))
	if err != nil {
		return false, fmt.Errorf("make request: %w", err)
	}
	for name, value := range x.o.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := x.http.Do(req)
	if err != nil {
		return true, err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	err = errors.Join(err, res.Body.Close())
	switch {
	case res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= http.StatusInternalServerError:
		return true, fmt.Errorf("%s: %s", path, res.Status)
	case res.StatusCode >= http.StatusMultipleChoices:
		return false, fmt.Errorf("%s: %s", path, res.Status)
	}
	return false, err
}
