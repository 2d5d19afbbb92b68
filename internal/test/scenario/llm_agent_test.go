package scenario_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/tidemark/tidemark/internal/test/scenario"
	"github.com/tidemark/tidemark/tool"
)

// agent is what stands on both sides of the proxy: a client that keeps its conversations,
// and a model that says what the story wants. Both outlive a restart of the proxy.
type agent struct {
	format format
	steps  []scenario.Step              // of the story
	tools  map[string][]tool.Definition // by session: what the client offers
	talks  map[place]*thread
	client *http.Client

	mu       sync.Mutex
	requests map[string]*request // guarded by mu; by the number in their header
}

// place is a context of the story.
type place struct{ session, branch string }

// storyHeader numbers requests, so that both ends know which one they see.
const storyHeader = "X-Story-Request"

func newAgent(s *scenario.Scenario, f format) *agent {
	a := &agent{
		format: f, steps: s.Steps, tools: map[string][]tool.Definition{}, talks: map[place]*thread{}, requests: map[string]*request{},
	}
	for _, st := range s.Steps {
		if st.Verb == scenario.VerbModel {
			a.offer(st.Ref.Session, st.Model.Definitions)
		}
	}
	return a
}

// offer adds tools to those of a session. Clients offer the same ones all the time.
func (a *agent) offer(session string, more []tool.Definition) {
	list := a.tools[session]
next:
	for _, d := range more {
		for i := range list {
			if list[i].Name == d.Name {
				if d.Description != "" && list[i].Description == "" {
					list[i] = d
				}
				continue next
			}
		}
		list = append(list, d)
	}
	a.tools[session] = list
}

// thread is one context as the client keeps it.
type thread struct {
	place   place
	branch  string // as the monitor calls it
	agent   string
	parent  string // the session it works for
	owner   bool   // the owner speaks in it
	lost    bool   // something happened in it that nobody can tell the proxy
	sealed  bool   // its last answer was the end of a turn
	seen    uint64 // records of its session that were read
	history []entry

	open   *request // the answer that is being written
	got    []block  // what came of it
	looked bool     // a step has looked at what the model was shown
	again  bool     // the model was asked once more than the story says

	early map[string]ruled // calls of steps to come that were in the same answer, by id
}

// released reports whether the client got a call in the answer at hand.
func (c *thread) released() bool {
	for _, b := range c.got {
		if b.kind == "call" {
			return true
		}
	}
	return false
}

// keep moves what came of an answer to the history.
func (c *thread) keep() {
	if len(c.got) > 0 {
		c.history = append(c.history, entry{"assistant", c.got})
	}
	c.open, c.got, c.looked = nil, nil, false
}

// request is one request on its way through the proxy.
type request struct {
	cancel  context.CancelFunc
	asked   chan []byte   // what the model got
	script  chan string   // what the model says; closed at its end
	arrived chan response // what the client got
	done    chan struct{} // the proxy has finished with it

	shown received
	reads *bufio.Reader // the answer; nil before its header
	wrote []block       // by the model
	told  string        // the proxy's own answer: the model was never asked
}

type response struct {
	*http.Response
	err error
}

// answer is the model: it says what the story's steps make it say.
func (a *agent) answer(w http.ResponseWriter, r *http.Request) {
	q := a.find(r)
	body, err := io.ReadAll(r.Body)
	if q == nil || err != nil {
		http.Error(w, `{"error":{"message":"not in the story"}}`, http.StatusTeapot)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	q.asked <- body // before the client can hear of it
	control := http.NewResponseController(w)
	_ = control.Flush() // a client that is gone is noticed below
	for {
		select {
		case <-r.Context().Done():
			return
		case text, more := <-q.script:
			if !more {
				return
			}
			_, _ = io.WriteString(w, text)
			_ = control.Flush()
		}
	}
}

func (a *agent) find(r *http.Request) *request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests[r.Header.Get(storyHeader)]
}

// watch tells when the proxy has finished with a request.
func (a *agent) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if q := a.find(r); q != nil {
			defer close(q.done)
		}
		next.ServeHTTP(w, r)
	})
}

// send asks the model to go on with the conversation.
func (a *agent) send(ctx context.Context, base string, c *thread) error {
	body := encode(a.format.request(c.history, a.tools[c.place.session]))
	ctx, cancel := context.WithCancel(ctx)
	q := &request{
		cancel: cancel, asked: make(chan []byte, 1), script: make(chan string), arrived: make(chan response, 1), done: make(chan struct{}),
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+a.format.path(), strings.NewReader(body))
	if err != nil {
		cancel()
		return err
	}
	a.mu.Lock()
	number := fmt.Sprint(len(a.requests))
	a.requests[number] = q
	a.mu.Unlock()
	for name, v := range map[string]string{
		"Content-Type": "application/json", storyHeader: number, "X-Tidemark-Token": llmToken,
		"X-Tidemark-Session": c.place.session, "X-Tidemark-Agent": c.agent, "X-Parent-Session-Id": c.parent,
	} {
		if v != "" {
			req.Header.Set(name, v)
		}
	}
	go func() {
		resp, err := a.client.Do(req)
		q.arrived <- response{resp, err}
	}()
	c.open, c.got, c.looked, c.sealed = q, nil, false, false
	return a.wait(q)
}

// wait returns when the model was asked, or the proxy has answered in its place.
func (a *agent) wait(q *request) error {
	var body []byte
	select {
	case body = <-q.asked:
	case r := <-q.arrived:
		q.arrived <- r
		select {
		case body = <-q.asked:
		default:
			return a.refused(q)
		}
	}
	var err error
	if q.shown, err = a.format.received(body); err != nil {
		return err
	}
	return q.say(a.format.begin())
}

// refused reads an answer that is the proxy's own.
func (a *agent) refused(q *request) error {
	if err := q.header(); err != nil {
		return err
	}
	got, err := a.format.read(q.reads)
	if err != nil {
		return fmt.Errorf("read the proxy's own answer: %w", err)
	}
	q.told = got[0].text
	q.drop()
	return nil
}

// header waits for the beginning of the answer.
func (q *request) header() error {
	if q.reads != nil {
		return nil
	}
	r := <-q.arrived
	q.arrived <- r // whoever comes later finds it too
	if r.err != nil {
		return r.err
	}
	if r.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(r.Body) // for the message alone
		return errors.Join(fmt.Errorf("status %d: %s", r.StatusCode, text), r.Body.Close())
	}
	q.reads = bufio.NewReader(r.Body)
	return nil
}

// say makes the model go on. The proxy may have given up on it.
func (q *request) say(text string) error {
	select {
	case q.script <- text:
		return nil
	case <-q.done:
		return errors.New("the proxy has left the model's answer")
	}
}

// drop is a client that goes away in the middle of an answer.
func (q *request) drop() {
	q.cancel()
	r := <-q.arrived
	q.arrived <- r
	if r.err == nil {
		_ = r.Body.Close() // it was given up
	}
	<-q.done
}

// finish lets the model end its answer, and the client read it to its end.
func (a *agent) finish(q *request, calls bool) ([]block, error) {
	if err := q.say(a.format.end(q.wrote, calls)); err != nil {
		return nil, err
	}
	close(q.script)
	if err := q.header(); err != nil {
		return nil, err
	}
	var rest []block
	for {
		b, err := a.format.read(q.reads)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		rest = append(rest, b...)
	}
	q.drop()
	return rest, nil
}

// leave ends the answer at hand: with its calls if the client got any, else in its middle,
// as somebody does who says something else. What came of it is kept.
func (a *agent) leave(c *thread) error {
	q := c.open
	if q == nil {
		return nil
	}
	defer c.keep()
	switch {
	case q.told != "":
	case c.released():
		_, err := a.finish(q, true)
		return err
	default:
		q.drop()
	}
	return nil
}

// close ends everything. Conversations can go on with another proxy.
func (a *agent) close() {
	for _, c := range a.talks {
		if c.open != nil && c.open.told == "" {
			c.open.drop()
		}
		c.keep()
	}
}
