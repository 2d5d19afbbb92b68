package judge

import (
	"context"
	_ "embed" // the words are part of the program
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/tool"
)

// Waiting for a person outlives clients: theirs is a clock of a minute, or of seconds, and the question stands for a quarter of
// an hour. A wait that a clock ended leaves the question open, and the same call, made again, finds the answer. A wait that a
// person ended withdraws it.

//go:embed clocks.txt
var clocksText string

var clocks = func() []string {
	var out []string
	for line := range strings.Lines(clocksText) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			out = append(out, line)
		}
	}
	return out
}()

// byClock reports whether the reason of a cancellation is a clock of the client's.
func byClock(reason string) bool {
	reason = strings.ToLower(reason)
	for _, c := range clocks {
		if strings.Contains(reason, c) {
			return true
		}
	}
	return false
}

// GivenUp is a call whose client waits no longer, because its clock has run out.
type GivenUp struct {
	Place  Place
	Call   tool.Call
	Client string        // who waited; "": nobody said
	After  time.Duration // how long
}

// errClock ends a wait whose question stays open.
var errClock = errors.New("nobody waits for the answer any more")

// waits are the calls that wait for a person, and what is known of how long clients let them. It is safe for concurrent use.
type waits struct {
	mu     sync.Mutex
	open   map[string]*held         // guarded by mu; by place and call
	limits map[string]time.Duration // guarded by mu; by the client's name: after how long it gave up
}

type held struct{ end context.CancelCauseFunc }

// The bounds of what clients are known to wait.
const (
	shortestLimit = 2 * time.Second
	maxClients    = 256
)

func waitKey(p Place, call tool.Call) string {
	digest := call.Digest()
	return p.Session + "\x00" + p.Branch + "\x00" + string(digest[:])
}

// begin notes that a call waits. One that waited for the same answer does so no longer: whoever asks again has given it up, or is told that
// the other waits. done ends it.
func (w *waits) begin(ctx context.Context, key string) (_ context.Context, done func()) {
	ctx, end := context.WithCancelCause(ctx)
	h := &held{end}
	w.mu.Lock()
	if w.open == nil {
		w.open = map[string]*held{}
	}
	before := w.open[key]
	w.open[key] = h
	w.mu.Unlock()
	if before != nil {
		before.end(errClock)
	}
	return ctx, func() {
		end(nil)
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.open[key] == h {
			delete(w.open, key)
		}
	}
}

// end ends the wait of a call whose client's clock has run out, and remembers when that was.
func (w *waits) end(g GivenUp) {
	w.mu.Lock()
	h := w.open[waitKey(g.Place, g.Call)]
	if g.Client != "" && g.After > 0 {
		if w.limits == nil || len(w.limits) >= maxClients {
			w.limits = map[string]time.Duration{} // what is forgotten is learned again
		}
		if known, ok := w.limits[g.Client]; !ok || g.After < known {
			w.limits[g.Client] = max(g.After, shortestLimit)
		}
	}
	w.mu.Unlock()
	if h != nil {
		h.end(errClock)
	}
}

// patience is how long a call of a client may wait: a while less than it was seen to.
func (w *waits) patience(client string, asked time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if limit, ok := w.limits[client]; ok {
		return min(asked, limit*4/5)
	}
	return asked
}

// GiveUp implements Port.
func (e *Engine) GiveUp(_ context.Context, g GivenUp) error {
	e.waits.end(g)
	return nil
}
