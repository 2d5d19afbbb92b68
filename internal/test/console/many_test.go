package console_test

import (
	"bufio"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
)

// crowd are people with an open stream each, and what each of them has seen, in the order they saw it.
type crowd struct {
	w    *world
	mu   sync.Mutex
	seen [][]string             // guarded by mu; by person
	last map[string][]time.Time // guarded by mu; by question, when each saw it
	all  map[string]chan struct{}
	done sync.WaitGroup
}

// crowd opens a stream for each of so many people, and returns when all are live.
func (w *world) crowd(people int) *crowd {
	w.t.Helper()
	p := w.signIn("reader")
	p.http.Timeout = 0
	c := &crowd{w: w, seen: make([][]string, people), last: map[string][]time.Time{}, all: map[string]chan struct{}{}}
	var ready sync.WaitGroup
	for i := range people {
		req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.base+"/console/stream", nil)
		do(w.t, err)
		res, err := p.http.Do(req)
		do(w.t, err)
		ready.Add(1)
		c.done.Go(func() {
			defer res.Body.Close()
			lines := bufio.NewScanner(res.Body)
			lines.Buffer(nil, 8<<20)
			live := sync.OnceFunc(ready.Done)
			for lines.Scan() {
				if strings.HasPrefix(lines.Text(), "data:") {
					live()
				}
				c.sees(i, lines.Text())
			}
		})
	}
	ready.Wait()
	return c
}

// sees notes the questions that a line tells one of them of.
func (c *crowd) sees(person int, line string) {
	now := time.Now()
	for _, part := range strings.Split(line, `"id":"`)[1:] {
		id, _, _ := strings.Cut(part, `"`)
		c.mu.Lock()
		if !slices.Contains(c.seen[person][max(0, len(c.seen[person])-100):], id) {
			c.seen[person] = append(c.seen[person], id)
			if c.last[id] = append(c.last[id], now); len(c.last[id]) == len(c.seen) {
				close(c.of(id))
			}
		}
		c.mu.Unlock()
	}
}

// of is closed when everybody has seen a question.
// Preconditions: mu is held.
func (c *crowd) of(id string) chan struct{} {
	if c.all[id] == nil {
		c.all[id] = make(chan struct{})
	}
	return c.all[id]
}

// told waits until everybody has seen a question.
func (c *crowd) told(id string) {
	c.w.t.Helper()
	c.mu.Lock()
	all := c.of(id)
	c.mu.Unlock()
	select {
	case <-all:
	case <-time.After(10 * patience):
		c.mu.Lock()
		defer c.mu.Unlock()
		c.w.t.Fatalf("%s was seen by %d of %d", id, len(c.last[id]), len(c.seen))
	}
}

// asksFor asks one question after the other, at most twenty a second and twenty at a time, and has each denied when told
// says so. It returns them, and how long each decision took.
func (w *world) asksFor(name string, how time.Duration, told func(id string)) (asked []engine.Question, took []time.Duration) {
	w.t.Helper()
	pace := time.NewTicker(time.Second / 20)
	defer pace.Stop()
	var open []engine.Question
	deny := func() {
		told(open[0].ID)
		_, err := w.app.Monitor.Answer(w.t.Context(), voteFor(open[0], false))
		do(w.t, err)
		open = open[1:]
	}
	for end := time.Now().Add(how); time.Now().Before(end); <-pace.C {
		session := fmt.Sprint(name, len(asked))
		w.hook(session, "message_received", map[string]any{"content": wish, "from": "owner"})
		page := map[string]any{"toolName": "web_fetch", "params": map[string]any{"url": "https://bakery.example"}, "toolCallId": "c1"}
		w.hook(session, "before_tool_call", page)
		page["result"] = bait
		w.hook(session, "after_tool_call", page)
		start := time.Now()
		w.hook(session, "before_tool_call", map[string]any{"toolName": "send_email", "params": map[string]any{"to": evil}, "toolCallId": "c2"})
		took = append(took, time.Since(start))
		v, err := w.app.Monitor.View(w.t.Context(), session)
		do(w.t, err)
		asked, open = append(asked, v.Questions[0]), append(open, v.Questions[0])
		if len(open) == 20 {
			deny()
		}
	}
	for len(open) > 0 {
		deny()
	}
	return asked, took
}

// at is a share of times, in order.
func at(share int, times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[(len(times)-1)*share/100]
}

// CON-32: 200 people watch for a minute while questions come and go. Nobody misses one, and all see them in the order in which
// they were asked. How late they are, and what decisions cost beside it and without, is printed: the machine is shared.
func TestTwoHundredPeople(t *testing.T) {
	full(t)
	const people = 200
	w := serve(t, "")
	_, alone := w.asksFor("alone-", 20*time.Second, func(string) {})
	c := w.crowd(people)
	asked, beside := w.asksFor("watched-", time.Minute, c.told)
	var order []string
	var late []time.Duration
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range asked {
		order = append(order, q.ID)
		for _, s := range c.last[q.ID] {
			late = append(late, s.Sub(q.Asked))
		}
	}
	for i, seen := range c.seen {
		if !slices.Equal(seen, order) {
			t.Fatalf("person %d saw %d of %d questions, or not in their order", i, len(seen), len(order))
		}
	}
	t.Logf("%d questions seen by all of %d: median %s, p99 %s, the last %s", len(order), people, at(50, late), at(99, late), at(100, late))
	t.Logf("a held call cost %s (p99 %s) beside them, %s (p99 %s) without: %.2f times", at(50, beside), at(99, beside), at(50, alone), at(99, alone),
		float64(at(50, beside))/float64(at(50, alone)))
}
