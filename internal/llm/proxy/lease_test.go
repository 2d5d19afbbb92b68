package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A provider that answers before it has read the request must still get that request, and
// not the next client's.
func TestABufferIsNotLentAgainWhileTheProviderStillReadsIt(t *testing.T) {
	w := open(t)
	var mixed atomic.Int32
	w.provider.server.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(rw).EnableFullDuplex()
		answerJSON(chatText("early"))(rw, r)
		_ = http.NewResponseController(rw).Flush()
		body, _ := io.ReadAll(r.Body) // may break off; what came must be of one kind
		kinds := 0
		for _, letter := range []string{"AAAA", "BBBB", "CCCC", "DDDD"} {
			if strings.Contains(string(body), letter) {
				kinds++
			}
		}
		if kinds > 1 {
			mixed.Add(1)
		}
	})
	var all sync.WaitGroup
	for _, letter := range []string{"A", "B", "C", "D"} {
		all.Go(func() {
			for range 20 {
				w.post("/openai/v1/chat/completions", chatRequest(false, user(strings.Repeat(letter, 1<<20))))
			}
		})
	}
	all.Wait()
	if n := mixed.Load(); n > 0 {
		t.Errorf("%d requests held bytes of another", n)
	}
}
