package torture_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/test/pgtest"
)

// balancer hands each connection to the next server, and knows nothing of what goes over it.
type balancer struct {
	listener net.Listener
	mu       sync.Mutex
	next     int
	to       []string
}

func balance(t testing.TB, servers []*server) *balancer {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{listener: listener}
	for _, s := range servers {
		b.to = append(b.to, strings.TrimPrefix(s.url, "http://"))
	}
	t.Cleanup(func() { _ = listener.Close() })
	go b.serve()
	return b
}

func (b *balancer) serve() {
	for {
		in, err := b.listener.Accept()
		if err != nil {
			return
		}
		out, err := b.dial()
		if err != nil {
			_ = in.Close()
			continue
		}
		carry := func(to, from net.Conn) {
			_, _ = io.Copy(to, from) // until either end is gone
			_ = to.Close()
			_ = from.Close()
		}
		go carry(in, out)
		go carry(out, in)
	}
}

// dial connects to the next server that answers.
func (b *balancer) dial() (net.Conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var err error
	for range b.to {
		b.next = (b.next + 1) % len(b.to)
		var conn net.Conn
		if conn, err = net.DialTimeout("tcp", b.to[b.next], time.Second); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// SEQ-09 BEY-10: three servers behind a plain balancer are one to their clients: every request may go to another, a call that waits at one is
// let through by an answer at another, and one that is killed takes nothing with it.
func TestThreeServersBehindABalancer(t *testing.T) {
	cluster := pgtest.Start(t)
	r := startTroupe(t, cluster, 3)
	b := balance(t, r.servers)
	door := &server{
		house: r.houses[0], url: "http://" + b.listener.Addr().String(),
		http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}, // another server each time
	}
	f := &faults{}
	l := newLife("behind", 1, f)
	for round := range many("TORTURE_ROUNDS", 2, 20) {
		if round == 1 {
			r.servers[2].kill()
		}
		if err := l.live(t.Context(), door); err != nil {
			t.Fatal(err)
		}
		if err := l.check(t.Context(), door); err != nil {
			t.Fatal(err)
		}
	}
	log := newLedger()
	if err := examine(t.Context(), r.houses[0], log, l, f); err != nil {
		t.Fatal(err)
	}
	f.none(t)
	woken := wakeUps(t, r.servers[0], r.servers[1], many("TORTURE_WAITS", 3, 50))
	row := woken.row(time.Second)
	table(t, "woken by an answer at another server", []string{"waits", "p50 ms", "p99 ms", "max ms", "failed"},
		[][]string{{strconv.Itoa(len(woken.all)), row[1], row[2], row[3], row[4]}})
	if woken.failed > 0 {
		t.Errorf("%d calls were not let through (%v)", woken.failed, woken.why)
	}
}

// wakeUps measures how long after an answer at one server a call goes on that waits at another.
func wakeUps(t testing.TB, waits, answers *server, n int) *times {
	t.Helper()
	m := &times{}
	for i := range n {
		name := fmt.Sprint("woken-", i)
		begin(t, waits, name)
		page := fields{"toolName": "web_fetch", "params": fields{"url": "https://x.example/"}, "result": "page"}
		rollout := fields{"toolName": "exec", "params": fields{"command": "rollout all"}}
		_, err := waits.hook(t.Context(), name, "after_tool_call", page, nil)
		if err != nil {
			t.Fatal(err)
		}
		asked, err := waits.hook(t.Context(), name, "before_tool_call", rollout, nil)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan time.Time, 1)
		go func() {
			a, err := waits.hook(context.WithoutCancel(t.Context()), name, "before_tool_call", rollout, fields{"wait": 50})
			if err == nil && !a.Block {
				done <- time.Now()
			}
			close(done)
		}()
		waitFor(t, waits, 1)
		if err := answers.call(t.Context(), http.MethodPost, "/v1/approvals/"+asked.asked(), fields{"decision": "approve"}, nil); err != nil {
			t.Fatal(err)
		}
		answered := time.Now()
		at, ok := <-done
		if !ok {
			m.failed++
			continue
		}
		m.all = append(m.all, max(0, at.Sub(answered)))
	}
	return m
}
