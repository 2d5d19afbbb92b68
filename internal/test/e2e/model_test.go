//go:build e2e

package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// step is one answer of the scripted model: a call of a tool, or words that end the turn.
type step struct {
	say    string
	tool   string
	space  string // in which the tool stands, where the format has that
	args   map[string]any
	text   string // what a tool takes that takes a text, in place of args
	before func() // runs when the answer is asked for
}

// model plays a language model that does what its script says, over the wire formats the
// agents speak. It answers only requests that offer the agent's shell: the agents also ask
// for titles and summaries.
type model struct {
	url   string
	shell string

	mu     sync.Mutex
	steps  []step
	last   *step
	issued int // calls asked for so far
	owed   int // results there must be before the next step
	bodies []string
	reads  func(prompt string) obj // what it makes of a prompt for a reader; nil: it is asked for none
	heard  []string                // such prompts, whole
	shown  []string                // keys, one for each request for an answer
	mark   string                  // begins the conversation of a sub-agent; "": there is none
	sub    []step                  // what the model does there, one step for each request
}

// circles is what Gemini CLI asks its model for in a long turn: without a number there it waits, and asks again, for minutes.
const circles = "unproductive_state_confidence"

// asked is what a request means to the script.
type asked struct {
	offers  []string // tools
	results int      // of tools, in the whole conversation
	stream  bool
}

// wire is one model provider's format.
type wire struct {
	serves func(path string) bool
	read   func(body []byte, path string) (asked, error)
	write  func(w io.Writer, s step, n int, stream bool) error
}

func startModel(t *testing.T, shell string) *model {
	t.Helper()
	m := &model{shell: shell}
	srv := httptest.NewServer(m)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	m.url = srv.URL
	return m
}

// script sets what the model does next.
func (m *model) script(steps ...step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps, m.last = steps, nil
}

// errand sets what the model does in the conversation of a sub-agent, which begins with a mark.
func (m *model) errand(mark string, steps ...step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mark, m.sub = mark, steps
}

// saw is everything the agent told the model so far.
func (m *model) saw() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.bodies, "\n")
}

// latest is the last request: the whole conversation as the agent has it.
func (m *model) latest() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.bodies) == 0 {
		return ""
	}
	return m.bodies[len(m.bodies)-1]
}

// heardBy are the prompts that a reader was asked with.
func (m *model) heardBy() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.heard)
}

// keys are those that requests for an answer came with.
func (m *model) keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.shown)
}

// asks is how often the agent asked, retries too.
func (m *model) asks() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.bodies)
}

// tried reports whether all calls of the script were asked for; words may be left.
func (m *model) tried() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !slices.ContainsFunc(m.steps, func(s step) bool { return s.tool != "" })
}

// done reports whether the whole script was played.
func (m *model) done() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.steps) == 0
}

// ServeHTTP answers as the provider whose path it is.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	i := slices.IndexFunc(wires, func(x wire) bool { return x.serves(r.URL.Path) })
	if r.Method != http.MethodPost || i < 0 {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[],"models":[],"input_tokens":10,"totalTokens":5}`)
		return
	}
	a, err := wires[i].read(body, r.URL.Path)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	m.shown = append(m.shown, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+r.Header.Get("X-Api-Key")+r.Header.Get("X-Goog-Api-Key")+r.URL.Query().Get("key"))
	m.mu.Unlock()
	s, n := m.next(a, string(body))
	if s.before != nil {
		s.before()
	}
	w.Header().Set("Content-Type", "application/json")
	if a.stream {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	if err := wires[i].write(w, s, n, a.stream); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// next takes the next step of the script, or repeats one whose answer was lost.
func (m *model) next(a asked, body string) (step, int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reads != nil && strings.Contains(body, readersPrompt) {
		m.heard = append(m.heard, body)
		if answer := (step{args: m.reads(body)}); !slices.Contains(a.offers, formed) {
			return step{say: answer.arguments()}, 0
		}
		return step{tool: formed, args: m.reads(body)}, len(m.heard)
	}
	if !slices.Contains(a.offers, m.shell) {
		if strings.Contains(body, circles) {
			return step{say: `{"unproductive_state_analysis":"It goes on.","` + circles + `":0}`}, 0
		}
		if _, page, ok := strings.Cut(body, "Web page content"); ok { // Claude Code has a model read pages
			return step{say: "The page says" + page[:min(len(page), 2000)]}, 0
		}
		return step{say: "A short title"}, 0
	}
	if first, _, _ := strings.Cut(body, `"assistant"`); m.mark != "" && strings.Contains(first, m.mark) && len(m.sub) > 0 {
		s := m.sub[0]
		m.sub = m.sub[1:]
		m.issued++
		return s, m.issued
	}
	m.bodies = append(m.bodies, body)
	if m.last != nil && m.last.tool != "" && a.results < m.owed {
		again := *m.last
		again.before = nil
		return again, m.issued
	}
	if len(m.steps) == 0 {
		return step{say: "nothing left to do"}, 0
	}
	s := m.steps[0]
	if m.last == nil { // calls that were stopped on their way have no results
		m.owed = a.results
	}
	m.steps, m.last = m.steps[1:], &s
	if s.tool != "" {
		m.issued++
		m.owed++
	}
	return s, m.issued
}

// arguments are args as the text some formats want.
func (s step) arguments() string {
	raw, err := strictjson.Marshal(s.args)
	if err != nil {
		panic(err) // a script's own values
	}
	return string(raw)
}

// event writes one server-sent event.
func event(w io.Writer, name string, data any) error {
	raw, err := strictjson.Marshal(data)
	if err != nil {
		return err
	}
	if name != "" {
		name = "event: " + name + "\n"
	}
	if _, err = fmt.Fprintf(w, "%sdata: %s\n\n", name, raw); err != nil {
		return err
	}
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	return nil
}
