package line_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/tidemark/tidemark/contrib/channels/line"
)

// lineTo is a line to a service that does something with its side of it.
func lineTo(t *testing.T, service func(ctx context.Context, c *websocket.Conn)) *line.Line {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = c.CloseNow() }() // it is over
		service(r.Context(), c)
	}))
	t.Cleanup(srv.Close)
	conn, err := line.Dial(t.Context(), http.DefaultClient, "ws"+strings.TrimPrefix(srv.URL, "http"))
	if err != nil {
		t.Fatal(err)
	}
	return &line.Line{Conn: conn, Name: "the line", Limit: 100}
}

type word struct {
	Word string `json:"word"`
}

// What comes over a line is heard until somebody ends it, and how it ended is known.
func TestALineIsReadToItsEnd(t *testing.T) {
	says := func(messages ...string) func(context.Context, *websocket.Conn) {
		return func(ctx context.Context, c *websocket.Conn) {
			for _, m := range messages {
				_ = c.Write(ctx, websocket.MessageText, []byte(m)) // who reads may have ended
			}
			_, _, _ = c.Read(ctx) // until the other side ends
		}
	}
	for name, tt := range map[string]struct {
		service func(context.Context, *websocket.Conn)
		heard   string
		want    string // of the error; "": none
		code    websocket.StatusCode
	}{
		"whoever listens has heard enough": {says(`{"word":"a"}`, `{"word":"over"}`, `{"word":"b"}`), "a over", "", 0},
		"a message that is no JSON":        {says(`{"word":"a"}`, `{"word"`), "a", "the line: a message cannot be read", 0},
		"a message that is too long":       {says(`{"word":"` + strings.Repeat("x", 200) + `"}`), "", "the line: the connection ended", -1},
		"the service closes it": {
			func(_ context.Context, c *websocket.Conn) { _ = c.Close(4004, "no") }, "", "the line: the connection ended", 4004,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var heard []string
			err := line.Hold(t.Context(), lineTo(t, tt.service), nil, func(_ context.Context, w *word) (bool, error) {
				heard = append(heard, w.Word)
				return w.Word == "over", nil
			})
			if got := strings.Join(heard, " "); got != tt.heard {
				t.Errorf("heard %q, want %q", got, tt.heard)
			}
			if (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			var ended *line.Ended
			if errors.As(err, &ended) && ended.Code != tt.code || ended == nil && tt.code != 0 {
				t.Errorf("it ended as %+v, want code %d", ended, tt.code)
			}
		})
	}
}

// A line that does not answer is given up, and says why.
func TestASilentLineIsGivenUp(t *testing.T) {
	l := lineTo(t, func(ctx context.Context, c *websocket.Conn) { _, _, _ = c.Read(ctx) })
	begin := func(ctx context.Context) {
		l.Every(ctx, time.Millisecond, func() error { return errors.New("nobody is there") })
	}
	err := line.Hold(t.Context(), l, begin, func(context.Context, *word) (bool, error) { return false, nil })
	if err == nil || !strings.Contains(err.Error(), "nobody is there") || !strings.HasPrefix(err.Error(), "the line: ") {
		t.Errorf("got %v", err)
	}
}
