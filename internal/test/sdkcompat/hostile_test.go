package sdkcompat_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// hostile is an upstream that writes raw bytes: it does what no provider should.
type hostile struct {
	url     string
	acts    map[string]act
	listen  net.Listener
	running sync.WaitGroup
	busy    atomic.Int64 // requests that are being answered

	lock sync.Mutex
	open map[net.Conn]bool
}

// act is how one request is answered.
type act func(a *answer)

// answer is a request on a raw connection.
type answer struct {
	io.Writer
	conn net.Conn
	from *bufio.Reader
	path string
	base string // the upstream itself
	kind string
	tool string
	args string

	again      bool // the conversation went on after a call
	wholeAsked bool // no stream is wanted
}

// again is what every client sends back for a call.
var again = regexp.MustCompile(`"(tool_call_id|tool_use_id|function_call_output|functionResponse)"`)

// asked finds in a prompt which act is wanted, and with which tool.
var asked = regexp.MustCompile(`hostile:([a-z-]+):(look|wire)`)

func newHostile(t *testing.T, acts map[string]act) *hostile {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &hostile{url: "http://" + l.Addr().String(), acts: acts, listen: l, open: map[net.Conn]bool{}}
	h.running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			h.keep(c, true)
			h.running.Go(func() { h.serve(c) })
		}
	})
	t.Cleanup(h.close)
	return h
}

func (h *hostile) keep(c net.Conn, open bool) {
	h.lock.Lock()
	defer h.lock.Unlock()
	if open {
		h.open[c] = true
	} else {
		delete(h.open, c)
	}
}

func (h *hostile) close() {
	_ = h.listen.Close()
	h.lock.Lock()
	for c := range h.open {
		_ = c.Close()
	}
	h.lock.Unlock()
	h.running.Wait()
}

// serve answers one request and closes the connection.
func (h *hostile) serve(c net.Conn) {
	defer h.keep(c, false)
	defer c.Close()
	from := bufio.NewReader(c)
	r, err := http.ReadRequest(from)
	if err != nil {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	h.busy.Add(1)
	defer h.busy.Add(-1)
	a := &answer{Writer: c, conn: c, from: from, path: r.URL.RequestURI(), base: h.url, kind: kindOf(r.URL.Path)}
	a.again = again.Match(body)
	a.wholeAsked = !bytes.Contains(body, []byte(`"stream":true`)) && !strings.Contains(a.path, "streamGenerate")
	found := asked.FindSubmatch(body)
	if found == nil {
		a.stream(a.script().begin().text("nothing was asked").end().String())
		return
	}
	a.tool = string(found[2])
	a.args = fmt.Sprintf(`{"v":"%s-%s"}`, found[1], a.tool)
	h.acts[string(found[1])](a)
}

// idle fails the test where the upstream is still waited for although the client is gone.
func (h *hostile) idle(t *testing.T) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); h.busy.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Errorf("%d requests upstream go on although their clients are gone", h.busy.Load())
			return
		}
	}
}

func kindOf(path string) string {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return "chat"
	case strings.HasSuffix(path, "/responses"):
		return "responses"
	case strings.HasSuffix(path, "/messages"):
		return "messages"
	default:
		return "gemini"
	}
}

func (a *answer) script() *script { return &script{kind: a.kind} }

// write sends bytes; a client that is gone ends the act at its next read.
func (a *answer) write(s string) bool {
	_, err := io.WriteString(a.Writer, s)
	return err == nil
}

// head begins an answer whose body ends with the connection.
func (a *answer) head(status int, headers ...string) {
	a.write(fmt.Sprintf("HTTP/1.1 %d %s\r\n%s\r\nConnection: close\r\n\r\n", status, http.StatusText(status), strings.Join(headers, "\r\n")))
}

const (
	asStream = "Content-Type: text/event-stream"
	asJSON   = "Content-Type: application/json"
)

// stream is a whole stream with a proper end.
func (a *answer) stream(body string) {
	a.head(http.StatusOK, asStream)
	a.write(body)
}

// chunked is a stream that says how long each piece is. Without its last, empty piece it
// has been cut.
func (a *answer) chunked(whole bool, pieces ...string) {
	a.head(http.StatusOK, asStream, "Transfer-Encoding: chunked")
	for _, p := range pieces {
		a.write(fmt.Sprintf("%x\r\n%s\r\n", len(p), p))
	}
	if whole {
		a.write("0\r\n\r\n")
	}
}

// untilLeft waits for the other side to go.
func (a *answer) untilLeft() { _, _ = io.Copy(io.Discard, a.from) }

// usual is an answer with a text, a call and an end.
func (a *answer) usual() *script {
	return a.script().begin().text("some ", "text").call(a.tool, a.args).end()
}

// withoutEnd are the events of the usual answer up to the middle of the call.
func (a *answer) withoutEnd() string {
	s := a.script().begin().text("some ", "text")
	before := len(s.events)
	s.call(a.tool, a.args)
	if a.kind == "gemini" { // a call is one event there
		all := s.String()
		return all[:len(all)-len(a.args)/2]
	}
	s.events = s.events[:before+2]
	return s.String()
}

func gzipped(s string) string {
	return squeezed(s, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
}

// squeezed is a text as something packs it.
func squeezed(s string, packer func(io.Writer) io.WriteCloser) string {
	var b bytes.Buffer
	w := packer(&b)
	_, _ = io.WriteString(w, s) // into memory
	_ = w.Close()
	return b.String()
}
