package torture_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/tidemark/tidemark/internal/test/pgtest"
)

// troupe is servers on one database, some of which may be gone for a while.
type troupe struct {
	mu      sync.Mutex
	houses  []*house
	servers []*server
}

func startTroupe(t testing.TB, cluster *pgtest.Cluster, n int) *troupe {
	t.Helper()
	first := newHouse(t, cluster.New(t))
	r := &troupe{houses: []*house{first}, servers: []*server{first.must(t)}}
	for range n - 1 {
		h := first.beside(t)
		r.houses, r.servers = append(r.houses, h), append(r.servers, h.must(t))
	}
	return r
}

// any is one of them, whichever.
func (r *troupe) any(dice *rand.Rand) *server {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.servers[dice.IntN(len(r.servers))]
}

// again kills one of them and starts it anew.
func (r *troupe) again(t testing.TB, i int) error {
	r.mu.Lock()
	old := r.servers[i]
	r.mu.Unlock()
	old.kill()
	s, err := r.houses[i].start(t)
	if err == nil {
		r.mu.Lock()
		r.servers[i] = s
		r.mu.Unlock()
	}
	return err
}

// SEQ-09 BEY-10: two and three servers on one database, and clients that use any of them at once, while servers and the database are
// killed: every history of a held call and its answers, and of a session's taint, is one that a single server could have given.
func TestReplicasAreLinearizable(t *testing.T) {
	seconds := many("TORTURE_SECONDS", 2, 60)
	cluster := pgtest.Start(t)
	var rows [][]string
	for _, n := range []int{2, 3} {
		r := startTroupe(t, cluster, n)
		for _, trouble := range []string{"none", "servers killed", "database killed"} {
			if !long() && (n == 2) != (trouble == "none") {
				continue
			}
			out := r.run(t, time.Duration(seconds)*time.Second, trouble, cluster)
			say("%d servers, %s: %d histories, %d acts", n, trouble, out.histories, out.acts)
			rows = append(rows, []string{
				strconv.Itoa(n), trouble, strconv.Itoa(out.histories), strconv.Itoa(out.acts), strconv.Itoa(out.unknown),
				strconv.Itoa(out.allowed), strconv.Itoa(out.undecided), strconv.Itoa(out.illegal),
			})
		}
		for _, s := range r.servers {
			s.kill()
		}
	}
	table(t, "linearizability of approvals, permits and taint",
		[]string{"servers", "trouble", "histories", "acts", "unknown", "let through", "check gave up", "illegal"}, rows)
}

// outcome is what became of the histories of a run.
type outcome struct{ histories, acts, unknown, allowed, undecided, illegal int }

// run has clients make histories until the time is up.
func (r *troupe) run(t *testing.T, d time.Duration, trouble string, cluster *pgtest.Cluster) (out outcome) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	var all sync.WaitGroup
	var mu sync.Mutex
	run := strconv.FormatInt(time.Now().UnixNano(), 36)
	for i := range 4 {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				name := fmt.Sprintf("lin-%s-%d-%d", run, i, n)
				model, history := questions, r.errand
				if n%3 == 2 {
					model, history = taint, r.mark
				}
				h := history(t.Context(), name)
				result, _ := porcupine.CheckOperationsVerbose(model, h.list, 20*time.Second)
				mu.Lock()
				out.histories, out.acts, out.unknown, out.allowed = out.histories+1, out.acts+len(h.list), out.unknown+h.unknown, out.allowed+h.allowed
				switch result {
				case porcupine.Illegal:
					out.illegal++
					t.Errorf("no single server gives this history:\n%s", h.text())
				case porcupine.Unknown:
					out.undecided++
				}
				mu.Unlock()
			}
		})
	}
	all.Go(func() {
		for i := 0; trouble != "none" && ctx.Err() == nil; i++ {
			pause(ctx, 700*time.Millisecond)
			var err error
			if trouble == "database killed" {
				cluster.Crash()
				err = cluster.Start()
			} else {
				err = r.again(t, i%len(r.houses))
			}
			if err != nil {
				t.Errorf("%s: %v", trouble, err)
				return
			}
		}
	})
	all.Wait()
	return out
}

// history is what clients did and were told, in the order of time.
type history struct {
	mu      sync.Mutex
	began   time.Time
	list    []porcupine.Operation
	unknown int
	allowed int
}

// do does one thing and notes when it began and ended. What ended in an error may still come about until the end.
func (h *history) do(client int, in, out any, act func() error) error {
	call := time.Since(h.began).Nanoseconds()
	err := act()
	end := time.Since(h.began).Nanoseconds()
	h.mu.Lock()
	defer h.mu.Unlock()
	op := porcupine.Operation{ClientId: client, Input: in, Output: out, Call: call, Return: end}
	if refusedBy(err) {
		op.Output = undone{}
	} else if err != nil {
		op.Output, op.Return = unknown{}, 1<<62
		h.unknown++
	}
	h.list = append(h.list, op)
	return err
}

func (h *history) text() (out string) {
	for _, op := range h.list {
		out += fmt.Sprintf("  client %d: %T %v gave %v, from %d to %d\n", op.ClientId, op.Input, op.Input, op.Output, op.Call/1000, op.Return/1000)
	}
	return out
}

// errand is one held call: some clients make it at any server, others answer the questions they hear of.
func (r *troupe) errand(ctx context.Context, name string) *history {
	h := &history{began: time.Now()}
	dice := rand.New(rand.NewPCG(rand.Uint64(), 0))
	for range 100 { // until it is tainted: then the call is held
		s := r.any(dice)
		_, err := s.hook(ctx, name, "message_received", fields{"content": "read the page"}, nil)
		if err == nil {
			page := fields{"toolName": "web_fetch", "params": fields{"url": "https://x.example/"}, "result": "page"}
			if _, err = s.hook(ctx, name, "after_tool_call", page, nil); err == nil {
				break
			}
		}
		pause(ctx, 50*time.Millisecond)
	}
	h.began = time.Now()
	known := make(chan string, 100)
	var all sync.WaitGroup
	for client := range 3 {
		dice := rand.New(rand.NewPCG(rand.Uint64(), 0))
		all.Go(func() {
			for range 5 {
				h.calls(ctx, client, r.any(dice), name, known)
			}
		})
	}
	for client := 3; client < 5; client++ {
		dice := rand.New(rand.NewPCG(rand.Uint64(), 0))
		all.Go(func() {
			for range 3 {
				select {
				case id := <-known:
					h.approves(ctx, client, r.any(dice), id)
				case <-time.After(200 * time.Millisecond):
				}
			}
		})
	}
	all.Wait()
	return h
}

func (h *history) calls(ctx context.Context, client int, s *server, name string, known chan<- string) {
	out := &called{}
	_ = h.do(client, call{}, out, func() error { // what went wrong is noted
		a, err := s.hook(ctx, name, "before_tool_call", fields{"toolName": "exec", "params": fields{"command": "rollout all"}}, nil)
		out.allowed, out.question = err == nil && !a.Block, a.asked()
		return err
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	if out.allowed {
		h.allowed++
	}
	if out.question != "" {
		select {
		case known <- out.question:
		default:
		}
	}
}

func (h *history) approves(ctx context.Context, client int, s *server, id string) {
	_ = h.do(client, approve{id}, &settled{}, func() error { // what went wrong is noted
		return s.call(ctx, http.MethodPost, "/v1/approvals/"+id, fields{"decision": "approve"}, nil)
	})
}

// mark is a session's taint: some clients bring in a page or reset it, others look.
func (r *troupe) mark(ctx context.Context, name string) *history {
	dice := rand.New(rand.NewPCG(rand.Uint64(), 0))
	for range 100 {
		if _, err := r.any(dice).hook(ctx, name, "message_received", fields{"content": "read the page"}, nil); err == nil {
			break
		}
		pause(ctx, 50*time.Millisecond)
	}
	h := &history{began: time.Now()}
	var all sync.WaitGroup
	for client := range 4 {
		dice := rand.New(rand.NewPCG(rand.Uint64(), 0))
		all.Go(func() {
			for range 6 {
				s := r.any(dice)
				switch act := dice.IntN(6); {
				case act == 0:
					_ = h.do(client, reset{}, nil, func() error { // what went wrong is noted
						return s.call(ctx, http.MethodPost, "/v1/sessions/"+name+"/reset-trust", fields{}, nil)
					})
				case act == 1:
					_ = h.do(client, page{}, nil, func() error { // likewise
						_, err := s.hook(ctx, name, "after_tool_call", fields{"toolName": "web_fetch", "params": fields{}, "result": "page"}, nil)
						return err
					})
				default:
					out := &seen{}
					_ = h.do(client, look{}, out, func() error { // likewise
						a, err := s.hook(ctx, name, "loop_iteration_start", fields{"iteration": 0}, nil)
						out.tainted = a.Tidemark.Taint == "untrusted"
						return err
					})
				}
			}
		})
	}
	all.Wait()
	return h
}
