//go:build !race

package proxy_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/internal/llm/proxy"
)

// Both measure memory, of which the race detector takes its own.

func TestALargeContextIsServedWithinTheBoundAndRefusedBeyondIt(t *testing.T) {
	big := user(strings.Repeat("lorem ipsum ", 50<<20/12))
	w := open(t)
	if g := w.post("/openai/v1/chat/completions", chatRequest(false, big)); g.status != http.StatusRequestEntityTooLarge || !strings.Contains(g.body, "request_too_large") {
		t.Errorf("beyond: got %d %.200s, want 413", g.status, g.body)
	}
	w = open(t, func(o *proxy.Options) { o.MaxContext = 64 << 20 })
	w.provider.then(answerJSON(chatText("ok")))
	if g := w.post("/openai/v1/chat/completions", chatRequest(false, big)); g.status != http.StatusOK {
		t.Errorf("within: got %d %.200s, want 200", g.status, g.body)
	}
}

// What a stream takes does not follow how much has come through it, but for its text. The
// clients and the provider are in the same process, so the figures are more than the proxy's.
func TestStreamsThatAreHeldTakeNoMoreWithTime(t *testing.T) {
	d := newDrip(t)
	w := open(t, func(o *proxy.Options) {
		o.Upstreams = []proxy.Upstream{{Name: "openai", API: "openai", BaseURL: d.server.URL}}
		o.MaxConcurrent = heldStreams
	})
	idle := inUse()
	var few, many, all sync.WaitGroup
	few.Add(heldStreams)
	many.Add(heldStreams)
	for i := range heldStreams {
		all.Go(func() {
			if err := follow(w, i, &few, &many); err != nil {
				t.Error(err)
			}
		})
	}
	few.Wait()
	early := inUse()
	close(d.on)
	many.Wait()
	late := inUse()
	close(d.end)
	all.Wait()
	t.Logf("%d streams: %d bytes each after %d deltas, %d after %d", heldStreams, (early-idle)/heldStreams, fewDeltas, (late-idle)/heldStreams, manyDeltas)
	if grown := (late - early) / heldStreams; grown > flatBound {
		t.Errorf("each stream took %d bytes more after %d deltas than after %d, want at most %d", grown, manyDeltas, fewDeltas, flatBound)
	}
}
