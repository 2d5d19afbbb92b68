package torture_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	dice "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/store/retention"
	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/policy"
)

// clocked is a server in this process whose clock somebody moves: monitor, log and HTTP door are the real ones.
type clocked struct {
	*server
	path    string
	now     atomic.Int64
	log     *sqlite.Store
	monitor *engine.Monitor
	door    *httptest.Server
	key     []byte
}

func newClocked(t testing.TB) *clocked {
	t.Helper()
	c := &clocked{path: filepath.Join(t.TempDir(), "tidemark.db"), key: make([]byte, 32)}
	_, _ = rand.Read(c.key) // it never fails
	c.now.Store(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	c.server = &server{house: &house{tokens: accounts.Tokens{
		Agent: "agent-token-0123456789", Approver: "approver-token-0123456789", Admin: "admin-token-0123456789",
	}}, http: http.DefaultClient}
	c.open(t)
	t.Cleanup(func() { c.close(t) })
	return c
}

func (c *clocked) time() time.Time { return time.Unix(0, c.now.Load()).UTC() }

func (c *clocked) open(t testing.TB) {
	t.Helper()
	set, faults := policy.Parse("tidemark.yaml", nil)
	if set == nil {
		t.Fatal(faults)
	}
	var err error
	if c.log, err = sqlite.Open(context.WithoutCancel(t.Context()), c.path, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	feed := notify.New(c.log)
	if c.monitor, err = engine.New(engine.Options{Policy: set, Store: feed, Now: c.time, Rand: rand.Reader, Key: c.key}); err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	api, err := httpapi.New(httpapi.Options{
		Monitor: c.monitor, Log: c.log, Feed: feed, Bus: hook.New(hook.Options{Logger: quiet}), Logger: quiet, Now: c.time, Unheld: true,
		Tokens: httpapi.Tokens{Agent: c.house.tokens.Agent, Approver: c.house.tokens.Approver, Admin: c.house.tokens.Admin},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.door = httptest.NewServer(api.Handler())
	c.url = c.door.URL
}

func (c *clocked) close(t testing.TB) {
	t.Helper()
	c.door.Close()
	if err := c.log.Close(); err != nil {
		t.Error(err)
	}
}

// jumps are what happens to clocks: a second of NTP, a night's sleep, a wrong zone, a battery that is empty.
var jumps = []time.Duration{
	-time.Second, time.Second, -time.Hour, time.Hour, 9 * time.Hour, -26 * time.Hour, 31 * 24 * time.Hour, -400 * 24 * time.Hour, 400 * 24 * time.Hour,
}

// SEQ-09: whatever the clock does, times in the log of a session never go back, what has ended does not come back, and every chain holds; also
// after a start in another time.
func TestClockJumps(t *testing.T) {
	rounds := many("TORTURE_JUMPS", 12, 300)
	c, f, r := newClocked(t), &faults{}, dice.New(dice.NewPCG(dice.Uint64(), 3))
	began := time.Now()
	starts, held := 0, 0
	for round := range rounds {
		name := fmt.Sprint("clock-", round)
		c.lends(t, f, name)
		for range 3 {
			jump := jumps[r.IntN(len(jumps))]
			c.now.Add(int64(jump))
			if r.IntN(4) == 0 {
				c.close(t)
				c.open(t)
				starts++
			}
			for _, session := range []string{name, fmt.Sprint("clock-", r.IntN(round+1))} {
				a, err := c.hook(t.Context(), session, "before_tool_call", rollout, nil)
				if err != nil {
					t.Fatal(err)
				}
				if held++; !a.Block {
					f.add("session %s, after a jump of %s: what ended before counts again", session, jump)
				}
			}
		}
	}
	for round := range rounds {
		c.inOrder(t, f, fmt.Sprint("clock-", round))
	}
	report, err := c.log.Verify(t.Context(), nil)
	if err != nil || len(report.Breaks) > 0 {
		t.Errorf("the log: %+v, %v", report, err)
	}
	table(t, "clock jumps, "+time.Since(began).Round(time.Second).String(), []string{"sessions", "jumps", "starts", "held as before", "violations"},
		[][]string{{strconv.Itoa(rounds), strconv.Itoa(3 * rounds), strconv.Itoa(starts), strconv.Itoa(held), strconv.Itoa(f.count())}})
	f.none(t)
}

var rollout = fields{"toolName": "exec", "params": fields{"command": "rollout all"}}

// lends has somebody allow a call for ten minutes in a session that read a page, and lets twelve pass.
func (c *clocked) lends(t testing.TB, f *faults, name string) {
	t.Helper()
	begin(t, c.server, name)
	page := fields{"toolName": "web_fetch", "params": fields{"url": "https://x.example/"}, "result": "page"}
	if _, err := c.hook(t.Context(), name, "after_tool_call", page, nil); err != nil {
		t.Fatal(err)
	}
	first, err := c.hook(t.Context(), name, "before_tool_call", rollout, nil)
	if err != nil || first.asked() == "" {
		t.Fatalf("%s: %+v, %v", name, first, err)
	}
	answer := fields{"decision": "approve", "minutes": 10, "where": fields{"command": "rollout *"}}
	if err := c.call(t.Context(), http.MethodPost, "/v1/approvals/"+first.asked(), answer, nil); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if a, err := c.hook(t.Context(), name, "before_tool_call", rollout, nil); err != nil || a.Block {
		f.add("session %s: what was allowed for ten minutes does not run at once: %+v, %v", name, a, err)
	}
	c.now.Add(int64(12 * time.Minute))
	if a, err := c.hook(t.Context(), name, "before_tool_call", rollout, nil); err != nil || !a.Block {
		f.add("session %s: what was allowed for ten minutes runs after twelve: %+v, %v", name, a, err)
	}
}

// inOrder looks at the times of a session's records.
func (c *clocked) inOrder(t testing.TB, f *faults, name string) {
	t.Helper()
	last := int64(0)
	for rec, err := range c.log.Load(t.Context(), name, 0) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			t.Fatal(err)
		}
		if e.Time < last {
			f.add("session %s: a record of %d follows one of %d", name, e.Time, last)
		}
		last = e.Time
	}
	if last == 0 {
		f.add("session %s: it is gone", name)
	}
}

// SEQ-09: a day of many agents in minutes: the clock goes on with the calls, questions end, and every hour what is old is taken out of the log. The last
// hours take no more memory than the first did, and the log is whole.
func TestADay(t *testing.T) {
	calls := many("TORTURE_DAY", 480, 48_000)
	c, r := newClocked(t), dice.New(dice.NewPCG(7, 3))
	began, hour := time.Now(), calls/24
	var rows [][]string
	var heaps []uint64
	pruned := 0
	for i := range calls {
		c.now.Add(int64(24*time.Hour) / int64(calls))
		if err := visit(t.Context(), c.server, r, max(40, calls/200)); err != nil {
			t.Fatal(err)
		}
		if (i+1)%hour != 0 {
			continue
		}
		out, err := retention.Prune(t.Context(), c.log, retention.Request{
			Limits: retention.Limits{event.PruneContent: {Age: 6 * time.Hour}}, Now: c.time(), By: "test", Why: "a day",
		})
		if err != nil {
			t.Fatal(err)
		}
		pruned += int(out.Records)
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		heaps = append(heaps, m.HeapAlloc)
		stats, err := os.Stat(c.path)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, []string{
			strconv.Itoa((i + 1) / hour), strconv.Itoa(i + 1), strconv.FormatUint(m.HeapAlloc>>20, 10), strconv.Itoa(pruned),
			strconv.FormatInt(stats.Size()>>20, 10), strconv.Itoa(runtime.NumGoroutine()),
		})
		say("%v", rows[len(rows)-1])
	}
	report, err := c.log.Verify(t.Context(), nil)
	if err != nil || len(report.Breaks) > 0 {
		t.Errorf("the log: %+v, %v", report, err)
	}
	table(t, fmt.Sprintf("a day in %s", time.Since(began).Round(time.Second)), []string{"hour", "visits", "heap MB", "pruned", "log MB", "goroutines"}, rows)
	if early, late := slices.Max(heaps[6:12]), slices.Max(heaps[18:]); long() && late > early+early/4+8<<20 {
		t.Errorf("the heap went from %d MB in the morning to %d MB in the evening", early>>20, late>>20)
	}
}
