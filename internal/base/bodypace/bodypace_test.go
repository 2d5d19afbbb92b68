package bodypace_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/bodypace"
)

// A connection whose body does not come is cut, whether or not anybody reads it; one whose body has come may wait for its answer as
// long as it takes.
func TestABodyThatDoesNotComeIsCut(t *testing.T) {
	limit := 200 * time.Millisecond
	left := make(chan bool, 1)
	server := httptest.NewServer(bodypace.Paced(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/unread":
			w.WriteHeader(http.StatusUnauthorized)
		case "/read":
			_, err := io.ReadAll(r.Body)
			left <- err != nil
		case "/wait":
			_, _ = io.ReadAll(r.Body)
			select {
			case <-r.Context().Done():
			case <-time.After(3 * limit):
			}
			left <- r.Context().Err() != nil
		}
	}), limit, 8))
	defer server.Close()
	open := func(path string, body string, length int) *bufio.Reader {
		t.Helper()
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", path, length, body); err != nil {
			t.Fatal(err)
		}
		return bufio.NewReader(conn)
	}
	for _, path := range []string{"/unread", "/read"} {
		if _, err := io.ReadAll(open(path, "x", 200_000)); err != nil { // until the server closes it
			t.Errorf("%s: %v", path, err)
		}
	}
	if !<-left {
		t.Error("a body that did not come was taken for a whole one")
	}
	answered := open("/wait", "xy", 2)
	if line, err := answered.ReadString('\n'); err != nil || <-left {
		t.Errorf("a call that waits for its answer was cut: %q, %v", line, err)
	}
}

// A client that sends its body only when it is told to is answered at once where nobody wants the body, and told to send where
// somebody does.
func TestAClientThatAsksBeforeItSendsIsAnswered(t *testing.T) {
	server := httptest.NewServer(bodypace.Paced(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/unread" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = io.ReadAll(r.Body)
	}), time.Minute, 3))
	defer server.Close()
	for path, want := range map[string]string{"/unread": "HTTP/1.1 403 Forbidden\r\n", "/read": "HTTP/1.1 100 Continue\r\n"} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n", path); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if got, err := bufio.NewReader(conn).ReadString('\n'); got != want {
			t.Errorf("%s: got %q, %v, want %q", path, got, err, want)
		}
		_ = conn.Close()
	}
}

// Somebody who opens connection after connection and sends nothing holds a few of them; whoever sends is served beside them.
func TestOnePeerHoldsFewBodies(t *testing.T) {
	const most = 3
	const limit = time.Minute // none of them is cut for its own sake
	var reading atomic.Int32
	server := httptest.NewServer(bodypace.Paced(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		reading.Add(1)
		defer reading.Add(-1)
		_, _ = io.ReadAll(r.Body)
	}), limit, most))
	defer server.Close()
	var conns []net.Conn
	for range 10 {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\nx"); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	ended := make(chan struct{}, len(conns))
	for _, c := range conns {
		go func() {
			_, _ = io.ReadAll(c)
			ended <- struct{}{}
		}()
	}
	for range 10 - most { // those that are one too many end; which they are is not said
		<-ended
	}
	if n := reading.Load(); n > most {
		t.Errorf("%d bodies are waited for, want %d", n, most)
	}
	resp, err := http.Post(server.URL, "text/plain", strings.NewReader("here it is"))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("a body that comes: got %v", err)
	}
}
