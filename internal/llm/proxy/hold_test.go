package proxy_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/conversation"
	"github.com/tidemark/tidemark/internal/llm/proxy"
	"github.com/tidemark/tidemark/policy"
)

func smallContext(o *proxy.Options) { o.MaxContext = 2048 }

func asError[E error](err error, to *E) bool { return errors.As(err, to) }

// patient waits for the owner and shows signs of life meanwhile.
func patient(o *proxy.Options) {
	o.Wait, o.Limits.KeepAlive = time.Minute, time.Millisecond
}

func TestAHeldCallIsReleasedWhenTheOwnerApprovesWhileTheStreamWaits(t *testing.T) {
	w := open(t, patient)
	talk := w.afterPage()
	events := chatCallEvents("call-note", "send_note", `{"to":"petra@lund.example","body":"it says hi"}`)
	w.provider.then(answerEvents(events...))
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, w.url+"/openai/v1/chat/completions", strings.NewReader(chatRequest(true, talk...)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+clientKey)
	resp, err := w.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	var out strings.Builder
	approved := false
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), ":") { // a sign of life: the question is open, or will be at the next
			if all, err := w.monitor.Questions(t.Context()); !approved && (err != nil || len(all) > 0) {
				approveAll(t, w)
				approved = true
			}
			continue
		}
		out.WriteString(lines.Text() + "\n")
	}
	if !approved {
		t.Error("no keep-alive was seen")
	}
	if got, want := strings.ReplaceAll(out.String(), "\n\n\n", "\n\n"), strings.Join(events, ""); !strings.Contains(got, "call-note") || strings.Count(got, "data:") != strings.Count(want, "data:") {
		t.Errorf("got %s, want the call as it came:\n%s", got, want)
	}
}

func approveAll(t *testing.T, w *world) {
	t.Helper()
	all, err := w.monitor.Questions(context.Background())
	if err != nil || len(all) != 1 {
		t.Fatalf("questions: got %d %v, want one", len(all), err)
	}
	if _, err := w.monitor.Answer(context.Background(), engine.Vote{Session: all[0].Session, IDs: []string{all[0].ID}, Approve: true, By: "test", Via: "test"}); err != nil {
		t.Fatal(err)
	}
}

func TestAClientThatLeavesStopsTheProvider(t *testing.T) {
	w := open(t)
	gone := make(chan struct{})
	w.provider.then(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(rw, chunk(`{"content":"a"}`, "null"))
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
		close(gone)
	})
	ctx, cancel := context.WithCancel(context.Background())
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/openai/v1/chat/completions", strings.NewReader(chatRequest(true, user("Hi"))))
	resp, err := w.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	_ = resp.Body.Close()
	<-gone
}

// broken is a connection that fails when something is written to it.
type broken struct {
	*httptest.ResponseRecorder
	fails func()
}

func (b *broken) Write([]byte) (int, error) {
	b.fails()
	return 0, errors.New("write: broken pipe")
}

func TestAClientThatLeavesIsAQuietLineInTheLog(t *testing.T) {
	for name, left := range map[string]bool{"it left": true, "it did not": false} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			w.provider.then(answerEvents(chunk(`{"content":"a"}`, "null"), chunk(`{}`, `"stop"`), "data: [DONE]\n\n"))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			body := strings.NewReader(chatRequest(true, user("Hi")))
			req := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/openai/v1/chat/completions", body)
			req.Header.Set("Content-Type", "application/json")
			out := &broken{httptest.NewRecorder(), func() {
				if left {
					cancel()
				}
			}}
			func() {
				defer func() { _ = recover() }() // the server's way to cut a connection
				w.handler.ServeHTTP(out, req)
			}()
			log := w.log.String()
			loud := strings.Contains(log, "level=ERROR") || strings.Contains(log, "level=WARN") // by whether the end had come before
			if loud == left || strings.Contains(log, "client hung up") != left {
				t.Errorf("got %d %s, and the log says %s", out.Code, out.Body, log)
			}
		})
	}
}

// stalled is a connection whose request does not come, with the deadline that was set last.
type stalled struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (s *stalled) SetReadDeadline(t time.Time) error {
	s.until = t
	return nil
}

// The server reads what is left of a request before it lets go of the connection: without a deadline it would do so for good.
func TestARequestThatDoesNotComeKeepsItsDeadline(t *testing.T) {
	w := open(t)
	for name, body := range map[string]io.Reader{
		"it stalls":    io.MultiReader(strings.NewReader(`{"model":`), iotest.ErrReader(os.ErrDeadlineExceeded)),
		"it is packed": iotest.ErrReader(os.ErrDeadlineExceeded),
	} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/openai/v1/chat/completions", body)
		req.Header.Set("Content-Type", "application/json")
		if name == "it is packed" {
			req.Header.Set("Content-Encoding", "gzip")
		}
		out := &stalled{ResponseRecorder: httptest.NewRecorder()}
		w.handler.ServeHTTP(out, req)
		if out.Code != http.StatusBadRequest || out.until.IsZero() {
			t.Errorf("%s: got %d %s, and the deadline %v", name, out.Code, out.Body, out.until)
		}
	}
}

func TestAProviderThatBreaksOffInACallReleasesNothingOfIt(t *testing.T) {
	w := open(t)
	for range 2 {
		events := chatCallEvents("call-broken", "add", `{"a":1}`)
		w.provider.then(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/event-stream")
			for _, e := range events[:3] {
				_, _ = io.WriteString(rw, e)
				_ = http.NewResponseController(rw).Flush()
			}
			panic(http.ErrAbortHandler)
		})
		g := w.post("/openai/v1/chat/completions", chatRequest(true, user("Hi")))
		if strings.Contains(g.body, "call-broken") || !strings.Contains(g.body, "Let me see.") || !strings.Contains(g.body, "error") {
			t.Errorf("got %s, want the text before the call and an error", g.body)
		}
	}
}

func TestAnUpstreamThatStandsStillIsGivenUp(t *testing.T) {
	w := open(t, func(o *proxy.Options) { o.Limits.Idle = 20 * time.Millisecond })
	w.provider.then(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(rw, chunk(`{"content":"a"}`, "null"))
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
	})
	if g := w.post("/openai/v1/chat/completions", chatRequest(true, user("Hi"))); strings.Contains(g.body, "[DONE]") {
		t.Errorf("got %s, want no proper end", g.body)
	}
}

func TestTooManyAtOnceAreToldToComeBack(t *testing.T) {
	w := open(t, func(o *proxy.Options) { o.MaxConcurrent = 1 })
	entered, leave := make(chan struct{}), make(chan struct{})
	w.provider.then(func(rw http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-leave
		answerJSON(chatText("ok"))(rw, nil)
	})
	done := make(chan got)
	go func() { done <- w.post("/openai/v1/chat/completions", chatRequest(false, user("Hi"))) }()
	<-entered
	if g := w.post("/openai/v1/chat/completions", chatRequest(false, user("Hi"))); g.status != http.StatusServiceUnavailable || g.header.Get("Retry-After") == "" {
		t.Errorf("got %d %v, want 503 with Retry-After", g.status, g.header)
	}
	close(leave)
	if g := <-done; g.status != http.StatusOK {
		t.Errorf("the first: got %d, want 200", g.status)
	}
}

// A harness has names of its own for tools; policy is asked in ours, and the client gets
// the call as the model wrote it.
func TestAHarnessesOwnNamesAreJudgedAsOurs(t *testing.T) {
	w := open(t, func(o *proxy.Options) {
		o.Follower = conversation.New(o.Monitor, conversation.Options{Names: func(_, name string, args []byte) (string, []byte) {
			if ours, ok := map[string]string{"Plus": "add", "Erase": "wipe"}[name]; ok {
				return ours, append([]byte(nil), args...)
			}
			return name, args
		}})
	})
	tools := `[{"type":"function","function":{"name":"Plus"}},{"type":"function","function":{"name":"Erase"}}]`
	body := `{"model":"m","messages":[` + user("Hi") + `],"tools":` + tools + `}`
	answer := chatCall("call-plus", "Plus", `{"a":1}`)
	w.provider.then(answerJSON(answer), answerJSON(chatCall("call-erase", "Erase", `{}`)))
	if g := w.post("/openai/v1/chat/completions", body); g.body != answer {
		t.Errorf("an allowed one: got %s, want %s", g.body, answer)
	}
	if sent := w.provider.last().body; strings.Contains(sent, "Erase") || !strings.Contains(sent, "Plus") {
		t.Errorf("tools sent: got %s, want all but Erase", sent)
	}
	if g := w.post("/openai/v1/chat/completions", body); strings.Contains(g.body, "call-erase") {
		t.Errorf("a restricted one: got %s, want no call", g.body)
	}
}

func TestWhereNoCommandsCountNoCodeIsShown(t *testing.T) {
	w := open(t, func(o *proxy.Options) {
		o.Commands, o.Follower = false, conversation.New(o.Monitor, conversation.Options{})
	})
	history := w.afterPage()
	w.provider.then(answerJSON(chatCall("note", "send_note", `{"to":"x"}`)))
	g := w.post("/openai/v1/chat/completions", chatRequest(false, history...))
	v, err := w.monitor.Questions(t.Context())
	if err != nil || len(v) != 1 {
		t.Fatalf("got questions %v, %v", v, err)
	}
	if !strings.Contains(g.body, "tidemark approvals watch") || strings.Contains(g.body, ".approve") || strings.Contains(g.body, "Approval code") {
		t.Errorf("got %s, want words without a code", g.body)
	}
}

// What a model writes may be long. While nothing distrusted was read, the shipped policy lets
// it be written, whole and streamed.
func TestALongArgumentIsNoReasonToRefuse(t *testing.T) {
	w := open(t, func(o *proxy.Options) {
		shipped, err := engine.New(engine.Options{Policy: policy.Default(), Store: o.Feed, Now: time.Now, Rand: rand.Reader})
		if err != nil {
			t.Fatal(err)
		}
		o.Monitor, o.Follower = shipped, conversation.New(shipped, conversation.Options{})
	})
	for _, size := range []int{257 << 10, 1 << 20} {
		args := fmt.Sprintf(`{"path":"notes.txt","content":%q}`, strings.Repeat("a line of a long text\n", size/22+1))
		for _, stream := range []bool{false, true} {
			w.provider.only(answerJSON(chatCall("call-w", "write", args)))
			if stream {
				w.provider.only(answerEvents(chatCallEvents("call-w", "write", args)...))
			}
			g := w.post("/openai/v1/chat/completions", chatRequest(stream, user(fmt.Sprint("Write the long text into notes.txt, ", size, stream))))
			if g.status != http.StatusOK || !strings.Contains(g.body, "call-w") || len(g.body) < len(args) {
				t.Errorf("%d bytes, stream %v: got %d, %d bytes, %.300s, want the call", size, stream, g.status, len(g.body), g.body)
			}
		}
	}
}
