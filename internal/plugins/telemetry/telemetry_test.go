package telemetry_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/plugins/telemetry"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/trust"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collector takes what is sent and keeps it.
type collector struct {
	mu     sync.Mutex
	spans  []wireSpan
	metric map[string]json.RawMessage
	header http.Header
	status int
	got    chan struct{} // a request came
}

type wireSpan struct {
	TraceID      string `json:"traceId"`
	SpanID       string `json:"spanId"`
	ParentSpanID string `json:"parentSpanId"`
	Name         string `json:"name"`
	Kind         int    `json:"kind"`
	Start        string `json:"startTimeUnixNano"`
	End          string `json:"endTimeUnixNano"`
	Attributes   []struct {
		Key   string `json:"key"`
		Value struct {
			StringValue string `json:"stringValue"`
			IntValue    string `json:"intValue"`
		} `json:"value"`
	} `json:"attributes"`
	Status struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"status"`
}

func (s wireSpan) attr(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.StringValue + a.Value.IntValue
		}
	}
	return ""
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() {
		select {
		case c.got <- struct{}{}:
		default:
		}
	}()
	if c.status != 0 {
		w.WriteHeader(c.status)
		return
	}
	c.header = r.Header
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields() // the shapes are those of the protocol, and no more
	switch r.URL.Path {
	case "/v1/traces":
		var in struct {
			ResourceSpans []struct {
				Resource   json.RawMessage `json:"resource"`
				ScopeSpans []struct {
					Scope json.RawMessage `json:"scope"`
					Spans []wireSpan      `json:"spans"`
				} `json:"scopeSpans"`
			} `json:"resourceSpans"`
		}
		if err := dec.Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		c.spans = append(c.spans, in.ResourceSpans[0].ScopeSpans[0].Spans...)
	case "/v1/metrics":
		var in struct {
			ResourceMetrics []struct {
				ScopeMetrics []struct {
					Metrics []json.RawMessage `json:"metrics"`
				} `json:"scopeMetrics"`
			} `json:"resourceMetrics"`
		}
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		for _, m := range in.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			var named struct {
				Name string `json:"name"`
			}
			_ = json.Unmarshal(m, &named)
			c.metric[named.Name] = m
		}
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (c *collector) named(name string) (wireSpan, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.spans, func(s wireSpan) bool { return s.Name == name })
	if i < 0 {
		return wireSpan{}, false
	}
	return c.spans[i], true
}

// station is an exporter between a log and a collector.
type station struct {
	t    *testing.T
	c    *collector
	log  *notify.Store
	stop func()
}

func start(t *testing.T, every time.Duration) *station { return startAfter(t, every, 0) }

func startAfter(t *testing.T, every time.Duration, after int64) *station {
	t.Helper()
	s := &station{t: t, c: &collector{metric: map[string]json.RawMessage{}, got: make(chan struct{}, 1)}}
	web := httptest.NewServer(s.c)
	t.Cleanup(web.Close)
	under := memory.New()
	s.log = notify.New(under)
	x, err := telemetry.New(telemetry.Options{
		Endpoint: web.URL, Headers: map[string]string{"X-Key": "k"}, Service: "tidemark", Version: "1", Every: every,
		Log: under, After: after, Grown: s.log.Grown, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.run(x)
	return s
}

// run starts the exporter; stop ends it.
func (s *station) run(x *telemetry.Exporter) {
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan struct{})
	go func() {
		x.Run(ctx)
		close(done)
	}()
	s.stop = sync.OnceFunc(func() { cancel(); <-done })
	s.t.Cleanup(s.stop)
}

var moment = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// story is a turn with a model call, a read, a refused mail, and a call that never came back.
func (s *station) story(provider string) {
	s.t.Helper()
	at := func(ms int) int64 { return moment.Add(time.Duration(ms) * time.Millisecond).UnixNano() }
	events := []*event.Event{
		{Kind: event.TurnBegan, Time: at(0), Turn: "t1", Began: &event.Began{
			Agent: "desk", Sender: trust.Sender{Provider: provider, ID: "secret-sender"}, Level: trust.Owner, Rule: "owner",
			Message: &event.Content{Preview: "secret words"},
		}},
		{Kind: event.ModelAnswered, Time: at(1500), Turn: "t1", Model: &event.Model{Name: "big", LatencyMs: 1200, TokensIn: 900, TokensOut: 30}},
		{Kind: event.CallDecided, Time: at(1510), Turn: "t1", Decided: &event.Decided{
			CallID: "c1", Tool: "web_fetch", Step: 1, Effect: "allow", Rule: "balanced", Warrant: "read act=said", Args: `{"url":"secret"}`, Level: trust.Owner, Policy: "v1"}},
		{Kind: event.ResultSeen, Time: at(1900), Turn: "t1", Seen: &event.Seen{CallID: "c1", Tool: "web_fetch"}},
		{Kind: event.CallDecided, Time: at(2000), Turn: "t1", Decided: &event.Decided{
			CallID: "c2", Tool: "send_email", Step: 2, Effect: "confirm", Kind: "taint-escalation", Rule: "balanced.send.aim", Reason: "secret reason",
			Warrant: "send act=said aim=none", Level: trust.Untrusted, Policy: "v1"}},
		{Kind: event.CallDecided, Time: at(2100), Turn: "t1", Decided: &event.Decided{CallID: "c3", Tool: "exec", Step: 3, Effect: "allow", Rule: "balanced", Policy: "v1"}},
		{Kind: event.TurnSealed, Time: at(3000), Turn: "t1", Seen: &event.Seen{}},
	}
	if err := s.log.Append(s.t.Context(), "s1", 0, events); err != nil {
		s.t.Fatal(err)
	}
}

// HOOK-15
func TestEveryCallIsASpanWithItsVerdict(t *testing.T) {
	s := start(t, time.Hour)
	s.story("slack")
	s.stop() // sends what is left
	root, ok := s.c.named("invoke_agent desk")
	if !ok || len(s.c.spans) != 5 {
		t.Fatalf("got %d spans, want 5: %+v", len(s.c.spans), s.c.spans)
	}
	hexID := regexp.MustCompile(`^[0-9a-f]+$`)
	for _, span := range s.c.spans {
		if span.TraceID != root.TraceID || len(span.TraceID) != 32 || len(span.SpanID) != 16 || !hexID.MatchString(span.TraceID+span.SpanID) {
			t.Errorf("%s: ids %s %s", span.Name, span.TraceID, span.SpanID)
		}
		if span.Name != root.Name && span.ParentSpanID != root.SpanID {
			t.Errorf("%s hangs below %q", span.Name, span.ParentSpanID)
		}
		if span.attr("gen_ai.conversation.id") != "s1" {
			t.Errorf("%s is of no conversation", span.Name)
		}
	}
	tests := map[string]struct {
		kind, status int
		took         time.Duration
		attrs        map[string]string
	}{
		"chat big": {3, 0, 1200 * time.Millisecond, map[string]string{
			"gen_ai.operation.name": "chat", "gen_ai.request.model": "big", "gen_ai.usage.input_tokens": "900", "gen_ai.usage.output_tokens": "30"}},
		"execute_tool web_fetch": {1, 0, 390 * time.Millisecond, map[string]string{
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "web_fetch", "gen_ai.tool.call.id": "c1",
			"tidemark.verdict": "allow", "tidemark.rule": "balanced", "tidemark.warrant": "read act=said", "tidemark.taint": "owner"}},
		"execute_tool send_email": {1, 2, 0, map[string]string{
			"tidemark.verdict": "confirm", "tidemark.kind": "taint-escalation", "tidemark.rule": "balanced.send.aim",
			"tidemark.warrant": "send act=said aim=none", "tidemark.taint": "untrusted", "error.type": "tidemark.confirm"}},
		"execute_tool exec": {1, 0, 900 * time.Millisecond, map[string]string{"tidemark.verdict": "allow"}},
		"invoke_agent desk": {1, 0, 3 * time.Second, map[string]string{"gen_ai.agent.name": "desk", "gen_ai.operation.name": "invoke_agent"}},
	}
	for name, want := range tests {
		span, ok := s.c.named(name)
		if !ok {
			t.Errorf("no span %s", name)
			continue
		}
		if span.Kind != want.kind || span.Status.Code != want.status || took(t, span) != want.took {
			t.Errorf("%s: kind %d, status %+v, took %s", name, span.Kind, span.Status, took(t, span))
		}
		for key, value := range want.attrs {
			if got := span.attr(key); got != value {
				t.Errorf("%s: %s is %q, want %q", name, key, got, value)
			}
		}
	}
	if s.c.header.Get("X-Key") != "k" || s.c.header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", s.c.header)
	}
}

func took(t *testing.T, s wireSpan) time.Duration {
	t.Helper()
	start, err := strconv.ParseInt(s.Start, 10, 64)
	end, err2 := strconv.ParseInt(s.End, 10, 64)
	if err != nil || err2 != nil {
		t.Errorf("%s: no times: %q, %q", s.Name, s.Start, s.End)
	}
	return time.Duration(end - start)
}

func TestCallsOfMCPServersGoByTheirConvention(t *testing.T) {
	s := start(t, time.Hour)
	s.story("mcp")
	s.stop()
	span, ok := s.c.named("tools/call web_fetch")
	if !ok || span.Kind != 2 || span.attr("mcp.method.name") != "tools/call" || span.attr("gen_ai.tool.name") != "web_fetch" {
		t.Errorf("got %+v", s.c.spans)
	}
	if s.c.metric["mcp.server.operation.duration"] == nil {
		t.Errorf("no figures of MCP servers: %v", s.c.metric)
	}
}

func TestMetricsCountFromTheStart(t *testing.T) {
	s := start(t, time.Hour)
	s.story("slack")
	s.stop()
	var names []string
	for name := range s.c.metric {
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"gen_ai.client.operation.duration", "gen_ai.client.token.usage", "tidemark.decisions"}, names); diff != "" {
		t.Fatalf("metrics (-want +got):\n%s", diff)
	}
	decisions := string(s.c.metric["tidemark.decisions"])
	for _, part := range []string{`"asInt":"2"`, `"asInt":"1"`, `"isMonotonic":true`, `"aggregationTemporality":2`, `"stringValue":"confirm"`} {
		if !strings.Contains(decisions, part) {
			t.Errorf("%s is not in %s", part, decisions)
		}
	}
	usage := string(s.c.metric["gen_ai.client.token.usage"])
	for _, part := range []string{`"sum":900`, `"sum":30`, `"gen_ai.token.type"`, `"count":"1"`, `"explicitBounds":[1,4,16`} {
		if !strings.Contains(usage, part) {
			t.Errorf("%s is not in %s", part, usage)
		}
	}
}

func TestNoContentLeaves(t *testing.T) {
	s := start(t, time.Hour)
	s.story("slack")
	s.stop()
	all, err := json.Marshal(s.c.spans)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(all), "secret") {
		t.Errorf("content is in a span: %s", all)
	}
}

func TestWhatACollectorDoesNotTakeIsSentAgain(t *testing.T) {
	s := start(t, time.Millisecond)
	s.c.mu.Lock()
	s.c.status = http.StatusServiceUnavailable
	s.c.mu.Unlock()
	s.story("slack")
	<-s.c.got // at least one was refused
	s.c.mu.Lock()
	s.c.status = 0
	s.c.mu.Unlock()
	s.stop()
	if _, ok := s.c.named("execute_tool send_email"); !ok {
		t.Errorf("spans are lost: %+v", s.c.spans)
	}
}

func TestWhatWasThereBeforeTheStartIsNotTold(t *testing.T) {
	s := startAfter(t, time.Hour, 4)
	s.story("slack")
	s.stop()
	if _, ok := s.c.named("chat big"); ok || len(s.c.spans) == 0 {
		t.Errorf("got %+v, want what came after the fourth record", s.c.spans)
	}
	if _, err := telemetry.New(telemetry.Options{}); err == nil {
		t.Error("an exporter without anything was made")
	}
}
