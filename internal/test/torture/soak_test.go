package torture_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// SEQ-09: hours of many sessions with large results take no more memory, goroutines, files or rows than the first minutes did.
func TestSoak(t *testing.T) {
	minutes := many("TORTURE_MINUTES", 0, 5)
	sessions := many("TORTURE_SESSIONS", 40, 10_000)
	length := max(2*time.Second, time.Duration(minutes)*time.Minute)
	s := newHouse(t, "").must(t)
	ctx, stop := context.WithTimeout(t.Context(), length)
	defer stop()
	load := &times{}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(i), 7))
			for ctx.Err() == nil {
				load.measure(func() error { return visit(t.Context(), s, dice, sessions) })
			}
		})
	}
	var rows [][]string
	var seen []figures
	const samples = 20
	for range samples {
		pause(ctx, length/samples)
		f, err := s.figures(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, f)
		info, _ := os.Stat(filepath.Join(s.house.data, "tidemark.db")) // it is there while the server runs
		load.mu.Lock()
		done := len(load.all)
		load.mu.Unlock()
		rows = append(rows, []string{
			strconv.Itoa(done), strconv.Itoa(f.resident >> 10), strconv.Itoa(f.threads), strconv.Itoa(f.files),
			fmt.Sprint(f.metrics["tidemark_goroutines"]), fmt.Sprint(f.metrics["tidemark_sessions_in_memory"]), strconv.FormatInt(info.Size()>>20, 10),
		})
		say("%v", rows[len(rows)-1])
	}
	all.Wait()
	table(t, fmt.Sprintf("soak: %d sessions, %s, %d visits failed", sessions, length, load.failed),
		[]string{"visits", "RSS MB", "threads", "files", "goroutines", "sessions in memory", "log MB"}, rows)
	if load.failed > 0 {
		t.Errorf("%d visits failed, the first one: %v", load.failed, load.why)
	}
	flat(t, seen)
}

// visit is one turn of some session: it reads something large, and calls a tool.
func visit(ctx context.Context, s *server, dice *rand.Rand, sessions int) error {
	name := fmt.Sprint("soak-", dice.IntN(sessions))
	if _, err := s.hook(ctx, name, "message_received", fields{"content": "look at the page and go on"}, nil); err != nil {
		return err
	}
	var b strings.Builder
	for size := 4<<10 + dice.IntN(96<<10); b.Len() < size; {
		fmt.Fprintf(&b, "word%d ", dice.IntN(1<<20))
	}
	page := fields{"toolName": "web_fetch", "params": fields{"url": fmt.Sprint("https://x.example/", dice.IntN(1000))}, "result": b.String()}
	if _, err := s.hook(ctx, name, "after_tool_call", page, nil); err != nil {
		return err
	}
	command := fields{"command": fmt.Sprint("rollout ", dice.IntN(100))} // held: a question is open
	_, err := s.hook(ctx, name, "before_tool_call", fields{"toolName": "exec", "params": command}, nil)
	return err
}

// flat fails where the second half of a long run took more than the first half had.
func flat(t testing.TB, seen []figures) {
	t.Helper()
	if !long() {
		return
	}
	half := len(seen) / 2
	most := func(part []figures, of func(figures) int) (out int) {
		for _, f := range part {
			out = max(out, of(f))
		}
		return out
	}
	for name, of := range map[string]func(figures) int{
		"resident memory": func(f figures) int { return f.resident },
		"files":           func(f figures) int { return f.files },
		"goroutines":      func(f figures) int { return int(f.metrics["tidemark_goroutines"]) },
		"processes":       func(f figures) int { return f.processes },
		"a relay":         func(f figures) int { return f.beside },
	} {
		before, after := most(seen[len(seen)/4:half], of), most(seen[half:], of)
		if after > before+before/5+8 {
			t.Errorf("%s went from %d to %d", name, before, after)
		}
	}
}
