package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// The shape of the streams that are held. An event is far larger than its text: whoever kept
// events would be seen.
const (
	heldStreams = 500
	fewDeltas   = 5
	manyDeltas  = 10 * fewDeltas
	padding     = 2 << 10
	// flatBound is what a stream may take more after many deltas than after few. Kept events
	// would be ten times that.
	flatBound = 8 << 10
)

// drip is a provider whose streams stand still after few deltas, and again after many.
type drip struct {
	server *httptest.Server
	on     chan struct{} // closed when the streams go on
	end    chan struct{} // closed when they end
}

func newDrip(t *testing.T) *drip {
	d := &drip{on: make(chan struct{}), end: make(chan struct{})}
	d.server = httptest.NewServer(http.HandlerFunc(d.serve))
	t.Cleanup(d.server.Close)
	return d
}

func (d *drip) serve(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	event := fmt.Sprintf("data: {\"id\":\"c3\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"},\"finish_reason\":null}],\"obfuscation\":%q}\n\n", strings.Repeat("x", padding))
	for i := range manyDeltas {
		if i == fewDeltas {
			wait(r, d.on)
		}
		_, _ = io.WriteString(w, event)
		_ = http.NewResponseController(w).Flush()
	}
	wait(r, d.end)
	_, _ = io.WriteString(w, chunk(`{}`, `"stop"`)+"data: [DONE]\n\n")
}

func wait(r *http.Request, c chan struct{}) {
	select {
	case <-c:
	case <-r.Context().Done():
	}
}

// follow reads one stream and tells of the few and of the many; it reports whether the end
// came.
func follow(w *world, n int, few, many *sync.WaitGroup) error {
	count, done := 0, false
	defer func() { // nobody waits for a stream that broke off
		if count < fewDeltas {
			few.Done()
		}
		if count < manyDeltas {
			many.Done()
		}
	}()
	body := chatRequest(true, user(fmt.Sprintf("Tell me story %d", n)))
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, w.url+"/openai/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+clientKey)
	resp, err := w.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"word `) {
			if count++; count == fewDeltas {
				few.Done()
			} else if count == manyDeltas {
				many.Done()
			}
		}
		done = done || lines.Text() == "data: [DONE]"
	}
	if !done {
		return fmt.Errorf("stream %d broke off after %d deltas: %w", n, count, lines.Err())
	}
	return nil
}

// inUse is what the process holds, garbage aside.
func inUse() int64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
