package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/trust"
)

// acked is what a client was told about a session before the crash.
type acked struct {
	records uint64
	level   trust.Level
	known   bool
}

// SEQ-09 BEY-12: kill -9 at any point loses no acknowledged event, breaks no chain and
// leaves no session less tainted than acknowledged.
func TestKillLosesNothing(t *testing.T) {
	const rounds, sessions = 4, 8
	data := t.TempDir()
	var mu sync.Mutex
	told := make([]acked, sessions)
	for round := range rounds {
		s := startServer(t, data)
		ctx, stop := context.WithCancel(t.Context())
		var load sync.WaitGroup
		for i := range sessions {
			load.Go(func() { hammer(ctx, s, i, &mu, told) })
		}
		time.Sleep(time.Duration(150+rand.IntN(400)) * time.Millisecond)
		s.kill()
		stop()
		load.Wait()
		checkAfterCrash(t, data, round, told)
	}
}

// hammer drives one session and notes every acknowledgement.
func hammer(ctx context.Context, s *server, i int, mu *sync.Mutex, told []acked) {
	name := sessionName(i)
	steps := []struct {
		hook  string
		event map[string]any
	}{
		{"message_received", map[string]any{"content": "go on"}},
		{"before_tool_call", map[string]any{"toolName": "read", "params": map[string]any{"path": "a"}}},
		{"after_tool_call", map[string]any{"toolName": "read", "params": map[string]any{"path": "a"}, "result": "x"}},
		{"after_tool_call", map[string]any{"toolName": []string{"web_fetch", "memory_get", "gog"}[i%3], "params": map[string]any{}, "result": "y"}},
		{"before_tool_call", map[string]any{"toolName": "exec", "params": map[string]any{"command": "ls"}}},
	}
	for n := 0; ctx.Err() == nil; n++ {
		var a answered
		if s.hook(ctx, name, steps[n%len(steps)].hook, steps[n%len(steps)].event, &a) != nil {
			return // the server is gone: nothing more is acknowledged
		}
		level, err := trust.ParseLevel(a.Tidemark.Taint)
		if err != nil {
			return
		}
		mu.Lock()
		told[i].records++
		if !told[i].known || level < told[i].level {
			told[i].level, told[i].known = level, true
		}
		mu.Unlock()
	}
}

func checkAfterCrash(t *testing.T, data string, round int, told []acked) {
	t.Helper()
	out, errOut, code := command(t, "audit", "verify", "--data", data)
	if code != exitOK || !strings.Contains(out, "unbroken") {
		t.Fatalf("round %d: audit verify: exit %d, %q, %q", round, code, out, errOut)
	}
	s := startServer(t, data)
	defer s.kill()
	for i, want := range told {
		if !want.known {
			continue
		}
		var v struct {
			Records uint64 `json:"records"`
			Taint   struct {
				Level trust.Level `json:"level"`
			} `json:"taint"`
		}
		if err := s.call(t.Context(), http.MethodGet, "/v1/sessions/"+url.PathEscape(sessionName(i)), nil, &v); err != nil {
			t.Fatalf("round %d: session %d: %v", round, i, err)
		}
		if v.Records < want.records || v.Taint.Level > want.level {
			t.Errorf("round %d: session %d: %d records at %s after the crash, %d at %s were acknowledged",
				round, i, v.Records, v.Taint.Level, want.records, want.level)
		}
	}
}
