package torture_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// figures is what a server takes at a moment.
type figures struct {
	resident, threads, files int // resident in kB
	processes, beside        int // of the program, and what the largest of them beside the server takes, in kB; 0: nobody looked
	metrics                  map[string]float64
}

// figures reads them from the kernel, and from the server's own metrics.
func (s *server) figures(ctx context.Context) (f figures, err error) {
	proc := fmt.Sprintf("/proc/%d", s.cmd.Process.Pid)
	raw, err := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil {
		return f, err
	}
	for line := range strings.Lines(string(raw)) {
		name, rest, _ := strings.Cut(line, ":")
		value := strings.Fields(rest)
		if len(value) == 0 {
			continue
		}
		switch n, _ := strconv.Atoi(value[0]); name { // a word is no number
		case "VmRSS":
			f.resident = n
		case "Threads":
			f.threads = n
		}
	}
	files, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil {
		return f, err
	}
	f.files = len(files)
	f.metrics, err = s.metrics(ctx)
	return f, err
}

// metrics are those without labels.
func (s *server) metrics(ctx context.Context) (map[string]float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.house.tokens.Admin)
	res, err := s.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	out := map[string]float64{}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), " ")
		if n, err := strconv.ParseFloat(value, 64); ok && err == nil {
			out[name] = n
		}
	}
	return out, lines.Err()
}

// times are how long many things took, taken by any number of goroutines.
type times struct {
	mu     sync.Mutex
	all    []time.Duration
	failed int
	why    error // of the first that failed
}

func (m *times) measure(act func() error) {
	began := time.Now()
	err := act()
	took := time.Since(began)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		if m.failed++; m.why == nil {
			m.why = err
		}
		return
	}
	m.all = append(m.all, took)
}

// row is how many there were in a second, the median, and what one in a hundred took.
func (m *times) row(d time.Duration) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.Sort(m.all)
	at := func(share float64) string {
		if len(m.all) == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f", float64(m.all[int(share*float64(len(m.all)-1))].Microseconds())/1000)
	}
	return []string{fmt.Sprintf("%.0f", float64(len(m.all))/d.Seconds()), at(.5), at(.99), at(1), strconv.Itoa(m.failed)}
}

// together runs an act from many goroutines at once until the time is up.
func together(ctx context.Context, n int, d time.Duration, act func(ctx context.Context, i int) error) *times {
	ctx, stop := context.WithTimeout(ctx, d)
	defer stop()
	m := &times{}
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			for ctx.Err() == nil {
				m.measure(func() error { return act(context.WithoutCancel(ctx), i) })
			}
		})
	}
	all.Wait()
	return m
}
