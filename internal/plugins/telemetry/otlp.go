package telemetry

import (
	"cmp"
	"strconv"
)

// The shapes of OTLP in JSON: whole numbers of 64 bits are texts, ids are hexadecimal.

type attr struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

type value struct {
	Text  *string `json:"stringValue,omitzero"`
	Whole *string `json:"intValue,omitzero"`
}

func text(key, v string) attr { return attr{key, value{Text: &v}} }

func number(key string, n int64) attr {
	v := strconv.FormatInt(n, 10)
	return attr{key, value{Whole: &v}}
}

type resource struct {
	Attributes []attr `json:"attributes"`
}

type scope struct {
	Name    string `json:"name"`
	Version string `json:"version,omitzero"`
}

type tracesData struct {
	ResourceSpans []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource   resource     `json:"resource"`
	ScopeSpans []scopeSpans `json:"scopeSpans"`
}

type scopeSpans struct {
	Scope scope      `json:"scope"`
	Spans []wireSpan `json:"spans"`
}

type wireSpan struct {
	TraceID    string  `json:"traceId"`
	SpanID     string  `json:"spanId"`
	Parent     string  `json:"parentSpanId,omitzero"`
	Name       string  `json:"name"`
	Kind       int     `json:"kind"`
	Start      string  `json:"startTimeUnixNano"`
	End        string  `json:"endTimeUnixNano"`
	Attributes []attr  `json:"attributes"`
	Status     *status `json:"status,omitzero"`
}

type status struct {
	Code    int    `json:"code"`
	Message string `json:"message,omitzero"`
}

type metricsData struct {
	ResourceMetrics []resourceMetrics `json:"resourceMetrics"`
}

type resourceMetrics struct {
	Resource     resource       `json:"resource"`
	ScopeMetrics []scopeMetrics `json:"scopeMetrics"`
}

type scopeMetrics struct {
	Scope   scope    `json:"scope"`
	Metrics []metric `json:"metrics"`
}

type metric struct {
	Name      string         `json:"name"`
	Text      string         `json:"description"`
	Unit      string         `json:"unit"`
	Sum       *sumData       `json:"sum,omitzero"`
	Histogram *histogramData `json:"histogram,omitzero"`
}

// cumulative says that points count from the start on.
const cumulative = 2

type sumData struct {
	Points      []sumPoint `json:"dataPoints"`
	Temporality int        `json:"aggregationTemporality"`
	Monotonic   bool       `json:"isMonotonic"`
}

type sumPoint struct {
	Attributes []attr `json:"attributes"`
	Start      string `json:"startTimeUnixNano"`
	Time       string `json:"timeUnixNano"`
	Value      string `json:"asInt"`
}

type histogramData struct {
	Points      []histogramPoint `json:"dataPoints"`
	Temporality int              `json:"aggregationTemporality"`
}

type histogramPoint struct {
	Attributes []attr    `json:"attributes"`
	Start      string    `json:"startTimeUnixNano"`
	Time       string    `json:"timeUnixNano"`
	Count      string    `json:"count"`
	Sum        float64   `json:"sum"`
	Counts     []string  `json:"bucketCounts"`
	Bounds     []float64 `json:"explicitBounds"`
}

func (x *Exporter) resource() resource {
	return resource{[]attr{text("service.name", x.o.Service), text("service.version", x.o.Version)}}
}

func (x *Exporter) scope() scope { return scope{"github.com/tidemark/tidemark", x.o.Version} }

// failedStatus is what the protocol calls an error.
const failedStatus = 2

func (x *Exporter) traces(spans []span) tracesData {
	out := make([]wireSpan, 0, len(spans))
	for _, s := range spans {
		w := wireSpan{
			TraceID: s.trace, SpanID: s.id, Parent: s.parent, Name: s.name, Kind: s.kind, Attributes: s.attrs,
			Start: strconv.FormatInt(s.start, 10), End: strconv.FormatInt(s.end, 10),
		}
		if s.failed != "" {
			w.Status = &status{failedStatus, s.failed}
		}
		out = append(out, w)
	}
	return tracesData{[]resourceSpans{{x.resource(), []scopeSpans{{x.scope(), out}}}}}
}

func (x *Exporter) metrics() metricsData {
	f, now := &x.fold.figures, x.o.Now().UnixNano()
	verdicts := &sumData{Temporality: cumulative, Monotonic: true}
	for _, v := range sorted(f.decisions, func(a, b verdict) int { return cmp.Compare(a.effect+" "+a.kind, b.effect+" "+b.kind) }) {
		verdicts.Points = append(verdicts.Points, sumPoint{
			[]attr{text("tidemark.verdict", v.effect), text("tidemark.kind", v.kind)},
			strconv.FormatInt(f.since, 10), strconv.FormatInt(now, 10), strconv.FormatInt(f.decisions[v], 10),
		})
	}
	tokens, took := &histogramData{Temporality: cumulative}, &histogramData{Temporality: cumulative}
	for _, u := range sorted(f.tokens, func(a, b usage) int { return cmp.Compare(a.model+" "+a.kind, b.model+" "+b.kind) }) {
		tokens.Points = append(tokens.Points, f.tokens[u].point(f.since, now,
			text("gen_ai.operation.name", "chat"), text("gen_ai.request.model", u.model), text("gen_ai.token.type", u.kind)))
	}
	for _, model := range sorted(f.took, cmp.Compare[string]) {
		took.Points = append(took.Points, f.took[model].point(f.since, now,
			text("gen_ai.operation.name", "chat"), text("gen_ai.request.model", model)))
	}
	var all []metric
	if len(verdicts.Points) > 0 {
		all = append(all, metric{Name: "tidemark.decisions", Text: "Tool calls judged.", Unit: "{call}", Sum: verdicts})
	}
	if len(tokens.Points) > 0 {
		all = append(all, metric{Name: "gen_ai.client.token.usage", Text: "Tokens of a model call.", Unit: "{token}", Histogram: tokens})
	}
	if len(took.Points) > 0 {
		all = append(all, metric{Name: "gen_ai.client.operation.duration", Text: "Time of a model call.", Unit: "s", Histogram: took})
	}
	if f.mcp.count > 0 {
		point := f.mcp.point(f.since, now, text("mcp.method.name", "tools/call"))
		all = append(all, metric{Name: "mcp.server.operation.duration", Text: "Time of a call of an MCP server's tool.", Unit: "s",
			Histogram: &histogramData{[]histogramPoint{point}, cumulative}})
	}
	return metricsData{[]resourceMetrics{{x.resource(), []scopeMetrics{{x.scope(), all}}}}}
}
