package torture_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/test/pgtest"
)

// Load: how many calls a second are decided durably, by how many clients ask at once, and how long each waits. Nothing is held against the
// clock here; that no call fails is.
func TestLoad(t *testing.T) {
	seconds := time.Duration(many("TORTURE_SECONDS", 1, 10)) * time.Second
	s := newHouse(t, "").must(t)
	const sessions = 512
	for i := range sessions {
		begin(t, s, fmt.Sprint("load-", i))
	}
	decide := func(name func(i int) string) func(context.Context, int) error {
		return func(ctx context.Context, i int) error {
			_, err := s.hook(ctx, name(i), "before_tool_call", fields{"toolName": "read", "params": fields{"path": "notes.txt"}}, nil)
			return err
		}
	}
	many := decide(func(i int) string { return fmt.Sprint("load-", i%sessions) })
	hot := decide(func(int) string { return "load-0" })
	var rows [][]string
	measure := func(what string, clients int, act func(context.Context, int) error) {
		m := together(t.Context(), clients, seconds, act)
		if m.failed > 0 {
			t.Errorf("%s, %d clients: %d calls failed, the first one: %v", what, clients, m.failed, m.why)
		}
		rows = append(rows, append([]string{what, strconv.Itoa(clients)}, m.row(seconds)...))
		say("%v", rows[len(rows)-1])
	}
	for _, clients := range []int{1, 8, 64, 512} {
		measure("many sessions", clients, many)
	}
	measure("one hot session", 64, hot)
	watchers := 20
	if long() {
		watchers = 1000
	}
	leave := watch(t, s, watchers)
	measure(fmt.Sprintf("a session of its own, %d watchers, 4 busy beside", watchers), 1, beside(t, s, many))
	leave()
	measure("a session of its own, no watchers, 4 busy beside", 1, beside(t, s, many))
	table(t, "load, SQLite, shipped policy", []string{"what", "clients", "calls/s", "p50 ms", "p99 ms", "max ms", "failed"}, rows)
}

func begin(t testing.TB, s *server, name string) {
	t.Helper()
	if _, err := s.hook(t.Context(), name, "message_received", fields{"content": "read my notes"}, nil); err != nil {
		t.Fatal(err)
	}
}

// beside is the call of a session of its own, while others are busy.
func beside(t testing.TB, s *server, busy func(context.Context, int) error) func(context.Context, int) error {
	t.Helper()
	begin(t, s, "apart")
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	for i := range 4 {
		go func() {
			for ctx.Err() == nil {
				_ = busy(ctx, i) // it only makes noise
				pause(ctx, 50*time.Millisecond)
			}
		}()
	}
	return func(ctx context.Context, _ int) error {
		_, err := s.hook(ctx, "apart", "before_tool_call", fields{"toolName": "read", "params": fields{"path": "notes.txt"}}, nil)
		return err
	}
}

// BEY-10: many callers wait for people, half of them are approved and half denied, and each is told what was answered to it.
func TestManyHeldCalls(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { holdMany(t, "") })
	t.Run("PostgreSQL", func(t *testing.T) { holdMany(t, pgtest.Start(t).New(t)) })
}

func holdMany(t *testing.T, store string) {
	n := many("TORTURE_HELD", 50, 2000)
	s := newHouse(t, store).must(t)
	s.http.Timeout = 10 * time.Minute
	type result struct {
		approved bool
		answer
		err error
	}
	results := make(chan result, n)
	answered, everybody, at := &times{}, make(chan struct{}), make(chan struct{}, 1000)
	var all sync.WaitGroup
	for i := range n {
		name := fmt.Sprint("held-", i)
		begin(t, s, name)
		page := fields{"toolName": "web_fetch", "params": fields{"url": "https://x.example/"}, "result": "page"}
		if _, err := s.hook(t.Context(), name, "after_tool_call", page, nil); err != nil {
			t.Fatal(err)
		}
		rollout := fields{"toolName": "exec", "params": fields{"command": "rollout all"}}
		first, err := s.hook(t.Context(), name, "before_tool_call", rollout, nil)
		if err != nil || first.asked() == "" {
			t.Fatalf("%+v, %v", first, err)
		}
		all.Go(func() {
			a, err := s.hook(t.Context(), name, "before_tool_call", rollout, fields{"wait": 550})
			results <- result{i%2 == 0, a, err}
		})
		all.Go(func() {
			<-everybody
			at <- struct{}{} // so many connections a process may have
			defer func() { <-at }()
			decision := map[bool]string{true: "approve", false: "deny"}[i%2 == 0]
			answered.measure(func() error {
				return s.call(t.Context(), http.MethodPost, "/v1/approvals/"+first.asked(), fields{"decision": decision}, nil)
			})
		})
	}
	waitFor(t, s, n)
	close(everybody)
	all.Wait()
	close(results)
	wrong, why := 0, ""
	for r := range results {
		if r.err != nil || r.Block == r.approved {
			wrong, why = wrong+1, fmt.Sprintf("%+v, %v", r.answer, r.err)
		}
	}
	took := answered.row(time.Second)
	table(t, "held calls", []string{"held", "answer p50 ms", "p99 ms", "max ms", "told wrong"},
		[][]string{{strconv.Itoa(n), took[1], took[2], took[3], strconv.Itoa(wrong)}})
	if wrong > 0 || answered.failed > 0 {
		t.Errorf("%d of %d callers were told something else than was answered (%s), %d answers failed (%v): %s",
			wrong, n, why, answered.failed, answered.why, s.said.String())
	}
}

// waitFor returns when so many callers wait at the server.
func waitFor(t testing.TB, s *server, n int) {
	t.Helper()
	for {
		var status struct {
			Waiting int `json:"waiting"`
		}
		if err := s.call(t.Context(), http.MethodGet, "/v1/status", nil, &status); err != nil {
			t.Fatal(err)
		}
		if status.Waiting >= n {
			return
		}
		pause(t.Context(), 50*time.Millisecond)
	}
}
