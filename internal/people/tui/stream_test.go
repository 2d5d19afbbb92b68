package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/internal/base/backoff"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/test/watchtest"
)

// refused is an answer that is not 2xx.
type refused struct {
	status int
	detail string
}

func (r *refused) Error() string { return fmt.Sprintf("%s (%d)", r.detail, r.status) }
func (r *refused) Final() bool {
	return r.status == http.StatusForbidden || r.status == http.StatusNotFound
}

// plainLink opens streams without the care that the program takes.
func plainLink(base, token string) Link {
	return Link{Open: func(ctx context.Context, path string) (io.ReadCloser, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, err
		}
		if res.StatusCode != http.StatusOK {
			return nil, errors.Join(&refused{res.StatusCode, "no"}, res.Body.Close())
		}
		return res.Body, nil
	}}
}

func start(t *testing.T, data string) *watchtest.Server {
	t.Helper()
	return watchtest.Start(t, data, accounts.Tokens{Agent: "agent", Reader: "reader", Approver: "approver"})
}

// announced finds the server by what it wrote into its folder, as the program does.
func announced(data string) func(context.Context) (Link, error) {
	return func(context.Context) (Link, error) {
		raw, err := os.ReadFile(filepath.Join(data, "server.json"))
		if err != nil {
			return Link{}, err
		}
		var at struct {
			URL string `json:"url"`
			PID int    `json:"pid"`
		}
		err = strictjson.Unmarshal(raw, &at)
		return plainLink(at.URL, "reader"), err
	}
}

// follow runs a stream against a server and hands out what it tells.
func follow(t *testing.T, s *watchtest.Server, change func(*stream)) (told <-chan any, ended <-chan error, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	all, done := make(chan any, 64), make(chan error, 1)
	pause := &backoff.Growing{First: time.Millisecond, Most: 5 * time.Millisecond}
	st := &stream{find: announced(s.Data), pause: pause, silence: watchtest.Limit, tell: func(msg any) error { all <- msg; return nil }}
	if change != nil {
		change(st)
	}
	go func() { done <- st.run(ctx) }()
	t.Cleanup(cancel)
	return all, done, cancel
}

// next waits for the next message that is not about the connection.
func next(t *testing.T, told <-chan any) any {
	t.Helper()
	for {
		select {
		case msg := <-told:
			if _, lost := msg.(lostMsg); !lost {
				return msg
			}
		case <-time.After(watchtest.Limit):
			t.Fatal("the stream told nothing")
		}
	}
}

func wait(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(watchtest.Limit):
		t.Fatal("it does not end")
	}
	return nil
}

// BEY-10: a lost connection, twice in a row, is made anew, and a server that moved is found.
func TestTheStreamSurvivesTheServer(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	data := t.TempDir()
	s := start(t, data)
	told, ended, stop := follow(t, s, nil)
	for range 2 {
		s.Snapshot <- watchtest.Held(t, "ask-1", watchtest.Noon, nil)
		if got := next(t, told).(snapshotMsg); len(got.asks) != 1 || got.asks[0].ID != "ask-1" {
			t.Fatalf("snapshot: got %+v", got)
		}
		s.Question(watchtest.Held(t, "ask-2", watchtest.Noon, nil))
		if got := next(t, told).(askMsg); got.ask.ID != "ask-2" || got.ask.whole.Opinion.Answer != "consistent" || got.ask.whole.Words[1].Turn != 2 {
			t.Fatalf("question: got %+v", got.ask)
		}
		s.Lose()
	}
	s.Stop()
	moved := start(t, data)
	moved.Snapshot <- ""
	if got := next(t, told).(snapshotMsg); len(got.asks) != 0 {
		t.Fatalf("snapshot of the server that moved: got %+v", got)
	}
	stop()
	if err := wait(t, ended); err != nil {
		t.Errorf("told to stop: %v, want nil", err)
	}
	moved.Stop()
	http.DefaultClient.CloseIdleConnections()
}

// What cannot be read is not shown: the connection is made anew, each time.
func TestAStreamThatCannotBeRead(t *testing.T) {
	s := start(t, t.TempDir())
	told, _, _ := follow(t, s, nil)
	for _, bad := range []string{`{"id":""}`, `{"id":"a","id":"b"}`, `{"id":7}`, `[]`, `{`} {
		s.Snapshot <- ""
		next(t, told)
		s.Question(bad)
		if msg, ok := (<-told).(lostMsg); !ok || msg.err == nil {
			t.Errorf("%s: got %+v, want a lost connection", bad, msg)
		}
	}
	s.Snapshot <- `{"id":""}`
	if msg, ok := (<-told).(lostMsg); !ok || !strings.Contains(msg.err.Error(), "no id") {
		t.Errorf("a snapshot with a nameless question: got %+v", msg)
	}
}

// A server that says nothing at all is a lost one.
func TestASilentServerIsLost(t *testing.T) {
	s := start(t, t.TempDir())
	told, _, _ := follow(t, s, func(st *stream) { st.silence = 30 * time.Millisecond })
	for range 2 {
		select {
		case msg := <-told:
			if lost, ok := msg.(lostMsg); !ok || !errors.Is(lost.err, errSilent) {
				t.Errorf("got %+v, want the silence noticed", msg)
			}
		case <-time.After(watchtest.Limit):
			t.Fatal("the silence was not noticed")
		}
	}
}

// Where another try cannot help, the watch ends and says why.
func TestTheStreamGivesUp(t *testing.T) {
	answers := map[string]struct {
		status int
		body   string
		final  bool
	}{
		"a token that may not":       {http.StatusForbidden, `{"status":403,"title":"Forbidden","detail":"not with this token"}`, true},
		"a server without the route": {http.StatusNotFound, `nothing here`, true},
		"a server that starts":       {http.StatusServiceUnavailable, `{}`, false},
		"a server with too much":     {http.StatusTooManyRequests, `{}`, false},
		"an answer that is no feed":  {http.StatusOK, `{}`, false},
	}
	for name, tt := range answers {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer srv.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			lost := 0
			st := &stream{
				find: func(context.Context) (Link, error) { return plainLink(srv.URL, "x"), nil }, silence: watchtest.Limit,
				pause: &backoff.Growing{First: time.Microsecond, Most: time.Microsecond},
				tell: func(any) error {
					if lost++; lost == 2 {
						cancel()
					}
					return nil
				},
			}
			if err := st.run(ctx); (err != nil) != tt.final {
				t.Errorf("run: %v after %d losses, want it final: %v", err, lost, tt.final)
			}
		})
	}
}
