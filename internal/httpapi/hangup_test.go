package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Clients that hang up while their calls wait for the session end the work for them: nothing of it is judged or written, whoever of them
// would have been next. A client that stays is answered.
func TestWhoHangsUpIsNotDecidedAbout(t *testing.T) {
	const many = 5
	w := open(t, "preset: classic\n")
	w.say("s", "read my notes")
	before := w.store.appends.Load()
	stuck := &slow{make(chan struct{}), make(chan struct{})}
	w.store.slow.Store(stuck)
	var first, began, ended, served sync.WaitGroup
	first.Go(func() { w.before("s", "read", `{"path":"first"}`) })
	<-stuck.began

	began.Add(many)
	ended.Add(many)
	served.Add(many)
	h := w.api.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		defer served.Done()
		context.AfterFunc(r.Context(), ended.Done)
		began.Done()
		h.ServeHTTP(out, r)
	}))
	defer server.Close()
	ctx, hangUp := context.WithCancel(t.Context())
	for i := range many {
		body := fmt.Sprintf(`{"event":{"toolName":"read","params":{"path":"other %d"}},"ctx":%s}`, i, owner("s"))
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/hooks/before_tool_call", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+agentToken)
		r.Header.Set("Content-Type", "application/json")
		go func() { _, _ = http.DefaultClient.Do(r) }() // it ends in an error
	}
	began.Wait()
	hangUp()
	ended.Wait()
	close(stuck.goOn)
	served.Wait()
	first.Wait()
	w.before("s", "read", `{"path":"last"}`)

	if n := w.store.appends.Load() - before; n != 2 {
		t.Errorf("%d calls came to be written, want those of who stayed: 2", n)
	}
}

// A client that leaves is no fault of ours, and nobody need be called for it.
func TestAHangUpIsAQuietLineAndABrokenLogIsNot(t *testing.T) {
	for name, c := range map[string]struct {
		left bool
		want string
	}{"the client left": {true, "level=INFO msg=\"client hung up\""}, "the log broke": {false, "level=ERROR msg=\"request not served\""}} {
		t.Run(name, func(t *testing.T) {
			w := open(t, "preset: classic\n")
			w.say("s", "read my notes")
			stuck := &slow{make(chan struct{}), make(chan struct{})}
			w.store.slow.Store(stuck)
			w.store.failing.Store(100)
			ctx, hangUp := context.WithCancel(t.Context())
			defer hangUp()
			body := fmt.Sprintf(`{"event":{"toolName":"read","params":{"path":"first"}},"ctx":%s}`, owner("s"))
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/v1/hooks/before_tool_call", strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+agentToken)
			r.Header.Set("Content-Type", "application/json")
			out := httptest.NewRecorder()
			var served sync.WaitGroup
			served.Go(func() { w.api.Handler().ServeHTTP(out, r) })
			<-stuck.began
			if c.left {
				hangUp()
			}
			close(stuck.goOn)
			served.Wait()
			if log := w.log.String(); !strings.Contains(log, c.want) || strings.Contains(log, "level=ERROR") == c.left {
				t.Errorf("the log says %s", log)
			}
			if out.Code != http.StatusServiceUnavailable || !strings.Contains(out.Body.String(), `"block":true`) {
				t.Errorf("answered %d %s", out.Code, out.Body)
			}
		})
	}
}
