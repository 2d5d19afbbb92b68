package relay_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/memlimit"
	"github.com/tidemark/tidemark/internal/mcp/relay"
	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// largeText is a text of so many bytes as JSON spells it, of words that hardly repeat, in lines and with quotes.
func largeText(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `The minutes of meeting %d say that \"harbour office %x\" moves to street %d, as %x wrote to desk%d@kontor.example.\n`,
			i, i*7919, i%977, i*104729, i%4099)
	}
	return b.String()
}

// ways are how an upstream may send a result.
func ways(result string) map[string]func(w http.ResponseWriter) {
	return map[string]func(w http.ResponseWriter){
		"of a length that is said": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(result)))
			_, _ = io.WriteString(w, result)
		},
		"in pieces": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, result)
		},
		"in an event": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			for _, part := range []string{"event: message\ndata: ", result, "\n\n"} {
				_, _ = io.WriteString(w, part)
			}
		},
	}
}

// largeUp is a gateway before an upstream that answers the first call with little, so that what is made once is made, and
// every other in some way.
func largeUp(t *testing.T, policy string, send func(w http.ResponseWriter)) *gateway {
	t.Helper()
	begun := false
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		if begun {
			send(w)
			return
		}
		begun = true
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, fmt.Sprintf(resultOf, "small"))
	})
	g := newGateway(t, policy, map[string]string{"up": u.URL}, func(o *relay.Options) { o.MaxMessage = 32 << 20 })
	g.fetch(t)
	return g
}

const resultOf = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"%s"}]}}`

// On its way a result is put together once and read once: two copies where its length is said, and three where it is not.
// MCP-39
func TestALargeResultIsCopiedFewTimes(t *testing.T) {
	large := fmt.Sprintf(resultOf, largeText(2<<20))
	for name, send := range ways(large) {
		t.Run(name, func(t *testing.T) {
			g := largeUp(t, "preset: classic\n"+ownUp, send)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n := g.fetch(t)
			runtime.ReadMemStats(&after)
			if n < len(large) {
				t.Errorf("got %d bytes, want %d", n, len(large))
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 4*uint64(len(large)) {
				t.Errorf("a result of %d bytes took %d", len(large), took)
			}
		})
	}
}

// A large result comes whole, and what it takes in memory meanwhile is bounded, garbage included: three times its size,
// however the upstream sends it, where the collector runs as it does in the server. What is too large to be remembered word
// by word counts as if anything stood in it. It needs a heap of its own.
// MCP-39
func TestALargeResultIsBounded(t *testing.T) {
	if os.Getenv("MCP_REAL") == "" {
		t.Skip("MCP_REAL is not set: make mcp sets it")
	}
	asServed(t)
	large := fmt.Sprintf(resultOf, largeText(10<<20))
	for name, send := range ways(large) {
		t.Run(name, func(t *testing.T) {
			g := largeUp(t, ownUp, send)
			for _, which := range []string{"the first", "another"} {
				before := inUse()
				most := watched(func() {
					if n := g.fetch(t); n < len(large) {
						t.Errorf("got %d bytes, want %d", n, len(large))
					}
				})
				grew := most - before
				if t.Logf("%s result of %d bytes took %d more", which, len(large), grew); grew > 3*int64(len(large)) {
					t.Errorf("%s result of %d bytes took %d, want at most three times as much", which, len(large), grew)
				}
				if kept := inUse() - before; kept > 6<<20 { // of its words
					t.Errorf("%d bytes are left of %s", kept, which)
				}
			}
		})
	}
}

// asServed lets the heap grow as the server does.
func asServed(t *testing.T) {
	t.Helper()
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	memlimit.Keep(ctx)
}

// fetch makes one call and reads what comes, without keeping it.
func (g *gateway) fetch(t *testing.T) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.url+"/mcp/up", strings.NewReader(look))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{
		"Authorization": {"Bearer " + mcptest.Token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	n, err := io.Copy(io.Discard, res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// watched does something, and is the most bytes that were in use meanwhile.
func watched(do func()) int64 {
	most := uint64(0)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		now := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			select {
			case <-done:
				return
			default:
			}
			metrics.Read(now)
			most = max(most, now[0].Value.Uint64())
			time.Sleep(100 * time.Microsecond) // it has to run meanwhile
		}
	}()
	do()
	close(done)
	<-ended
	return int64(most)
}
