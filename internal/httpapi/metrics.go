package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/notify"
)

// metrics are what Prometheus is told.
type metrics struct {
	registry  *prometheus.Registry
	decisions *prometheus.CounterVec
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	known     map[hook.Name]bool
}

func newMetrics(r *prometheus.Registry, m *engine.Monitor, f *notify.Store) (*metrics, error) {
	out := &metrics{
		registry: r,
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tidemark_decisions_total", Help: "Tool calls judged on the hook API, by effect and kind.",
		}, []string{"effect", "kind"}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tidemark_hook_requests_total", Help: "Hook requests, by hook and HTTP status.",
		}, []string{"hook", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tidemark_hook_duration_seconds", Help: "Time to answer a hook request.",
			Buckets: prometheus.ExponentialBuckets(25e-6, 2, 16), // 25 us to 0.8 s
		}, []string{"hook"}),
		known: map[hook.Name]bool{},
	}
	for _, n := range hook.Names() {
		out.known[n] = true
	}
	for _, c := range []prometheus.Collector{
		out.decisions, out.requests, out.durations,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "tidemark_open_questions", Help: "Held calls that wait for an answer.",
		}, func() float64 { return float64(m.OpenQuestions()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "tidemark_stopped", Help: "1 while everything is stopped, or nobody knows whether it is (tidemark stop-all).",
		}, func() float64 {
			if runs(m) {
				return 0
			}
			return 1
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "tidemark_sessions_in_memory", Help: "Sessions whose state is in memory; others are read from the log when they speak.",
		}, func() float64 { return float64(m.Sessions()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "tidemark_session_bytes", Help: "About how many bytes of memory sessions take; server.sessionMemoryMB is the bound.",
		}, func() float64 { return float64(m.Held()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "tidemark_session_resumes_total", Help: "Conversations that were not in memory and came back from a checkpoint.",
		}, func() float64 { resumed, _ := m.Returns(); return float64(resumed) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "tidemark_session_rebuilds_total", Help: "Conversations that were not in memory and were told again from the log.",
		}, func() float64 { _, rebuilt := m.Returns(); return float64(rebuilt) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "tidemark_goroutines", Help: "Goroutines of the server.",
		}, func() float64 { return float64(runtime.NumGoroutine()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "tidemark_store_errors_total", Help: "Times the log could not be written or read.",
		}, func() float64 { return float64(f.Failures()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "tidemark_waiting_calls", Help: "Callers that wait for the answer to a question.",
		}, func() float64 { return float64(f.Watching()) }),
	} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return out, nil
}

// runs reports whether anything may run.
func runs(m *engine.Monitor) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	stopped, err := m.Stopped(ctx)
	return err == nil && stopped == nil
}

// decided counts a verdict.
func (m *metrics) decided(effect, kind string) { m.decisions.WithLabelValues(effect, kind).Inc() }

// hook counts a request. Names nobody knows share one label: a caller must not be able
// to make labels.
func (m *metrics) hook(name hook.Name, status int, took time.Duration) {
	if !m.known[name] {
		name = "unknown"
	}
	m.requests.WithLabelValues(string(name), strconv.Itoa(status)).Inc()
	m.durations.WithLabelValues(string(name)).Observe(took.Seconds())
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
