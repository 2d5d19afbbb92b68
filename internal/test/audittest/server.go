// Package audittest is a model endpoint for tests: it speaks the OpenAI and the
// Anthropic protocol over a real socket, misbehaves as a script says, and keeps every
// byte it was sent. Only tests import it.
package audittest

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Request is one request as it arrived.
type Request struct {
	Path   string
	Raw    []byte // the whole of it: request line, headers and body
	Body   []byte
	System string // the instructions
	User   string // the question
	Model  string
	Header http.Header
	Fields map[string]any // the body as it was parsed; nil if it is none
}

// Server is an endpoint with a script.
type Server struct {
	URL string

	quit chan struct{} // closed when the test ends

	mu       sync.Mutex
	steps    []Step    // guarded by mu; the last one repeats
	models   Step      // guarded by mu
	key      string    // guarded by mu
	requests []Request // guarded by mu; those for answers, not for the list of models
	busy     int       // guarded by mu
	busiest  int       // guarded by mu
}

// New starts an endpoint that ends with the test. The steps are taken in order, one per
// request for an answer; the last one repeats.
func New(tb testing.TB, steps ...Step) *Server {
	tb.Helper()
	s := &Server{steps: steps, models: Models("test-model"), quit: make(chan struct{})}
	server := httptest.NewServer(s)
	s.URL = server.URL
	tb.Cleanup(func() {
		close(s.quit)
		server.Close()
	})
	return s
}

// Unstarted is an endpoint without a socket: an http.Handler for tests that stop the
// clock, which no socket takes part in.
func Unstarted(steps ...Step) *Server {
	return &Server{steps: steps, models: Models("test-model"), quit: make(chan struct{})}
}

// Dead is an address nobody listens at.
func Dead(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("listen: %v", err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

// OpenAI is the base URL for a client of that protocol.
func (s *Server) OpenAI() string { return s.URL + "/v1" }

// Anthropic is the base URL for a client of that protocol.
func (s *Server) Anthropic() string { return s.URL }

// Script replaces the steps that are still to come.
func (s *Server) Script(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = steps
}

// ScriptModels replaces what a request for the list of models gets.
func (s *Server) ScriptModels(step Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = step
}

// RequireKey refuses every request without this key, with a body that repeats what it
// was given instead.
func (s *Server) RequireKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// Requests are the requests for an answer so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Sent reports whether any byte sequence like this arrived in a request for an answer,
// in its headers or its body, as it is or as JSON escapes it.
func (s *Server) Sent(canary string) bool {
	escaped, err := strictjson.Marshal(canary)
	if err != nil {
		return false
	}
	for _, r := range s.Requests() {
		raw := string(r.Raw)
		if strings.Contains(raw, canary) || strings.Contains(raw, strings.Trim(string(escaped), `"`)) {
			return true
		}
	}
	return false
}

// Busiest is how many requests for an answer were there at once, at most.
func (s *Server) Busiest() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busiest
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head, _ := httputil.DumpRequest(r, false)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	c := &call{s: s, w: w, r: r, req: Request{Path: r.URL.Path, Raw: append(head, body...), Body: body, Header: r.Header}}
	c.req.read()
	step, done := s.begin(c)
	defer done()
	step(c)
}

// begin counts a request and finds its step.
func (s *Server) begin(c *call) (Step, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	given := strings.TrimPrefix(c.r.Header.Get("Authorization"), "Bearer ") + c.r.Header.Get("X-Api-Key")
	switch {
	case s.key != "" && given != s.key:
		return Fail(http.StatusUnauthorized, "incorrect key provided: "+given), func() {}
	case c.r.Method == http.MethodGet && c.req.Path == "/v1/models":
		return s.models, func() {}
	case c.r.Method != http.MethodPost || c.req.Path != pathOpenAI && c.req.Path != pathAnthropic || len(s.steps) == 0:
		return Fail(http.StatusNotFound, "no such path"), func() {}
	}
	step := s.steps[0]
	if len(s.steps) > 1 {
		s.steps = s.steps[1:]
	}
	s.requests = append(s.requests, c.req)
	s.busy++
	s.busiest = max(s.busiest, s.busy)
	return step, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.busy--
	}
}
