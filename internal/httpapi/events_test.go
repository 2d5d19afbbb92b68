package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// listener is a client of the event stream.
type listener struct {
	t      *testing.T
	lines  *bufio.Scanner
	cancel context.CancelFunc
	res    *http.Response
}

func (w *world) listen(t *testing.T, query, lastID string) *listener {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/v1/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+approverToken)
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || got != "text/event-stream" {
		t.Fatalf("got %d %s, want an event stream", res.StatusCode, got)
	}
	l := &listener{t: t, lines: bufio.NewScanner(res.Body), cancel: cancel, res: res}
	t.Cleanup(l.close)
	return l
}

func (l *listener) close() {
	l.cancel()
	_ = l.res.Body.Close()
}

// event is one event of the stream.
type sent struct {
	id, name string
	data     map[string]any
}

// next reads up to the next event; comments are skipped.
func (l *listener) next() sent {
	l.t.Helper()
	var e sent
	for l.lines.Scan() {
		field, value, _ := strings.Cut(l.lines.Text(), ": ")
		switch field {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			if err := strictjson.Unmarshal([]byte(value), &e.data); err != nil {
				l.t.Fatalf("data %q: %v", value, err)
			}
		case "":
			if e.id != "" {
				return e
			}
		}
	}
	l.t.Fatalf("the stream ended: %v", l.lines.Err())
	return e
}

// HOOK-17
func TestEventsArriveAsTheyAreCommitted(t *testing.T) {
	w := open(t, "")
	w.say("before", "Nobody listens yet.")
	l := w.listen(t, "", "")
	for i, kind := range []string{"turn.began", "call.decided", "result.seen", "call.decided"} {
		switch i {
		case 0:
			w.say("s", "Hello.")
		case 1:
			w.fetch("s")
		case 3:
			w.before("s", "exec", "{\n \"command\":\t\"ls\" }")
		}
		e := l.next()
		if e.name != "record" || e.data["kind"] != kind || e.data["session"] != "s" || e.id != fmt.Sprint(int64(e.data["id"].(float64))) {
			t.Errorf("event %d: got %+v, want %s of s", i, e, kind)
		}
	}
}

// HOOK-17
func TestEventsGoOnAfterTheLastOneSeen(t *testing.T) {
	w := open(t, "")
	for i := range 200 { // more than the stream reads at once
		w.say(fmt.Sprintf("s-%d", i), "Hello.")
	}
	l := w.listen(t, "?after=0", "")
	for i := 1; i <= 150; i++ {
		if e := l.next(); e.id != strconv.Itoa(i) {
			t.Fatalf("got event %s, want %d", e.id, i)
		}
	}
	l.close()
	w.say("s-200", "Hello.")
	l = w.listen(t, "", "150")
	for i := 151; i <= 201; i++ {
		if e := l.next(); e.id != strconv.Itoa(i) {
			t.Fatalf("after resuming: got event %s, want %d", e.id, i)
		}
	}
}

func TestEventsOfOneSessionOrKind(t *testing.T) {
	w := open(t, "")
	one := w.listen(t, "?session=a%2Fb", "")
	calls := w.listen(t, "?kind=call.decided", "")
	w.say("other", "Hello.")
	w.say("a/b", "Hello.")
	w.fetch("other")
	if e := one.next(); e.data["session"] != "a/b" {
		t.Errorf("got an event of %v, want a/b", e.data["session"])
	}
	if e := calls.next(); e.data["kind"] != "call.decided" {
		t.Errorf("got %v, want a decision", e.data["kind"])
	}
}

func TestIdleStreamShowsASignOfLife(t *testing.T) {
	w := open(t, "")
	w.api.KeepAlive(time.Millisecond)
	l := w.listen(t, "", "")
	for l.lines.Scan() {
		if l.lines.Text() == ": keep-alive" {
			return
		}
	}
	t.Errorf("the stream ended without one: %v", l.lines.Err())
}

// A client that does not read costs nobody else anything.
func TestClientThatDoesNotReadHoldsNobodyUp(t *testing.T) {
	w := open(t, "")
	for range 8 {
		w.listen(t, "?after=0", "")
	}
	text := strings.Repeat("x", 16<<10)
	for i := range 300 {
		w.say(fmt.Sprintf("s-%d", i%10), text)
	}
	if got := w.get("/v1/audit/head").at("records"); got != 300.0 {
		t.Errorf("got %v records, want 300", got)
	}
}
