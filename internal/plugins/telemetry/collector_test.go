package telemetry_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/plugins/telemetry"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
)

// said is what a program prints, while it prints it.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return s.text.Write(p)
}

// until waits for words.
func (s *said) until(t *testing.T, words string) string {
	t.Helper()
	for {
		s.mu.Lock()
		text := s.text.String()
		s.mu.Unlock()
		if strings.Contains(text, words) {
			return text
		}
		select {
		case <-s.more:
		case <-t.Context().Done():
			t.Fatalf("%q was never said:\n%s", words, text)
		case <-time.After(time.Minute):
			t.Fatalf("%q was never said:\n%s", words, text)
		}
	}
}

// A collector of the OpenTelemetry project reads what is sent: scripts/otel builds it and says where it is.
// HOOK-15
func TestARealCollectorTakesIt(t *testing.T) {
	program := os.Getenv("OTEL_COLLECTOR")
	if program == "" {
		t.Skip("no collector: run scripts/otel")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	config := filepath.Join(t.TempDir(), "otelcol.yaml")
	text := fmt.Sprintf("receivers: {otlp: {protocols: {http: {endpoint: %q}}}}\nexporters: {debug: {verbosity: detailed}}\n"+
		"service:\n  telemetry: {metrics: {level: none}}\n  pipelines:\n    traces: {receivers: [otlp], exporters: [debug]}\n    metrics: {receivers: [otlp], exporters: [debug]}\n", address)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := &said{more: make(chan struct{}, 1)}
	cmd := exec.CommandContext(t.Context(), program, "--config", "file:"+config)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	out.until(t, "Everything is ready")

	s := &station{t: t}
	under := memory.New()
	s.log = notify.New(under)
	x, err := telemetry.New(telemetry.Options{
		Endpoint: "http://" + address, Service: "tidemark", Version: "1", Every: 50 * time.Millisecond,
		Log: under, Grown: s.log.Grown, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.run(x)
	s.story("mcp")
	out.until(t, "mcp.server.operation.duration")
	got := out.until(t, "gen_ai.client.token.usage")
	s.stop()
	for _, part := range []string{
		"tools/call send_email", "tidemark.verdict: Str(confirm)", "tidemark.rule: Str(balanced.send.aim)", "tidemark.warrant: Str(send act=said aim=none)",
		"gen_ai.usage.input_tokens: Int(900)", "invoke_agent desk", "service.name: Str(tidemark)", "AggregationTemporality: Cumulative", "Kind           : Server",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("the collector did not say %q:\n%s", part, got)
		}
	}
}
