package proxy

import (
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// metrics are what Prometheus is told. Labels come from the config and from us, never
// from a request.
type metrics struct {
	requests  *prometheus.CounterVec
	verdicts  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	open      prometheus.Gauge
}

func newMetrics(r *prometheus.Registry) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tidemark_llm_requests_total", Help: "Requests to models, by upstream, API and HTTP status.",
		}, []string{"upstream", "api", "status"}),
		verdicts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tidemark_llm_calls_total", Help: "Tool calls in models' answers, by upstream, API and verdict.",
		}, []string{"upstream", "api", "verdict"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tidemark_llm_prepare_seconds", Help: "Time from the whole request to its departure for the model.",
			Buckets: prometheus.ExponentialBuckets(50e-6, 2, 16), // 50 us to 1.6 s
		}, []string{"upstream", "api"}),
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "tidemark_llm_open_requests", Help: "Requests to models that are under way.",
		}),
	}
	for _, c := range []prometheus.Collector{m.requests, m.verdicts, m.durations, m.open} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) served(u *upstream, api format.API, status int) {
	m.requests.WithLabelValues(u.Name, api.String(), strconv.Itoa(status)).Inc()
}

func (m *metrics) decided(u *upstream, api format.API, verdict string) {
	m.verdicts.WithLabelValues(u.Name, api.String(), verdict).Inc()
}

func (m *metrics) prepared(u *upstream, api format.API, took time.Duration) {
	m.durations.WithLabelValues(u.Name, api.String()).Observe(took.Seconds())
}
