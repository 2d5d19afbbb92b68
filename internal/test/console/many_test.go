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
)

// CON-32
func TestTwoHundredPeople(t *testing.T) {
	full(t)
	const people, asked = 200, 40
	w := serve(t, "")
	p := w.signIn("reader")
	p.http.Timeout = 0
	var mu sync.Mutex
	seen := map[string][]time.Time{}
	var ready, done sync.WaitGroup
	for range people {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.base+"/console/stream", nil)
		do(t, err)
		res, err := p.http.Do(req)
		do(t, err)
		ready.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			defer res.Body.Close()
			lines := bufio.NewScanner(res.Body)
			lines.Buffer(nil, 8<<20)
			found := map[string]bool{}
			first := true
			for lines.Scan() {
				if first && strings.HasPrefix(lines.Text(), "data:") {
					first = false
					ready.Done()
				}
				now := time.Now()
				for _, part := range strings.Split(lines.Text(), `"id":"`)[1:] {
					id, _, _ := strings.Cut(part, `"`)
					if found[id] {
						continue
					}
					found[id] = true
					mu.Lock()
					seen[id] = append(seen[id], now)
					mu.Unlock()
				}
				if len(found) == asked {
					return
				}
			}
		}()
	}
	ready.Wait()
	began := map[string]time.Time{}
	var took []time.Duration
	for i := range asked {
		start := time.Now()
		q := w.ask(fmt.Sprintf("s%d", i))
		took = append(took, time.Since(start))
		began[q.ID] = q.Asked
	}
	done.Wait()
	var late []time.Duration
	for id, at := range began {
		if len(seen[id]) != people {
			t.Errorf("%s was seen by %d", id, len(seen[id]))
		}
		for _, s := range seen[id] {
			late = append(late, s.Sub(at))
		}
	}
	slices.Sort(late)
	slices.Sort(took)
	p99 := late[len(late)*99/100]
	t.Logf("seen by all of %d: median %s, p99 %s; a story of four hooks: median %s", people, late[len(late)/2], p99, took[len(took)/2])
	if p99 > 2*time.Second {
		t.Errorf("p99 is %s", p99)
	}
}
