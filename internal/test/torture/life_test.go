package torture_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"

	"github.com/tidemark/tidemark/trust"
)

// life is one session and what its one client was told of it. What was told must hold for ever; where an act ended in an error
// nobody knows what came of it, and both outcomes are right.
type life struct {
	name   string
	dice   *rand.Rand
	faults *faults

	calls   int               // how many it made; they have ids by it
	told    map[string]string // call id to what was answered: allow, confirm, deny, result
	records uint64            // at least so many are in the log
	level   trust.Level       // the most that may still be said of it
	flow    flow              // what is left of what it began

	labels map[string]bool // key to whether it must be there
	grants map[string]bool
	writes map[string]string // id to its status
	people map[string]bool   // name to whether they must have a token
	done   map[string]int    // what it came to the end of
}

func newLife(name string, seed uint64, f *faults) *life {
	return &life{
		name: name, dice: rand.New(rand.NewPCG(seed, 1)), faults: f, told: map[string]string{}, level: trust.System,
		labels: map[string]bool{}, grants: map[string]bool{}, writes: map[string]string{}, done: map[string]int{},
		people: map[string]bool{},
	}
}

// violated notes that something does not hold.
func (l *life) violated(format string, args ...any) {
	l.faults.add("session "+l.name+": "+format, args...)
}

// step does the next thing of what was begun, or begins another. After an error the same is done again.
func (l *life) step(ctx context.Context, s *server) error {
	if len(l.flow) == 0 {
		all := l.acts()
		l.flow = all[l.dice.IntN(len(all))]
	}
	again, err := l.flow[0](ctx, s)
	if err == nil && !again {
		l.flow = l.flow[1:]
	}
	return err
}

type flow = []func(context.Context, *server) (again bool, err error)

// acts are what a session does. Those of several steps are done one after the other, with a crash between any two.
func (l *life) acts() []flow {
	return []flow{
		{l.speak},
		{l.look},
		{l.look},
		{l.atOnce},
		{l.page},
		l.deploy(),
		l.deploy(),
		l.remember(),
		l.leave(),
		l.grant(),
		l.spawn(),
		l.person(),
		{l.model},
		{l.seal, l.speak},
		{l.reset},
		{l.wrong},
	}
}

// heard notes what an answer says of the context.
func (l *life) heard(a *answer) {
	l.records++
	if level, err := trust.ParseLevel(a.Tidemark.Taint); err == nil {
		l.level = min(l.level, level)
	}
}

func (l *life) speak(ctx context.Context, s *server) (bool, error) {
	a, err := s.hook(ctx, l.name, "message_received", fields{"content": "go on, read the page and note what it says"}, nil)
	if err == nil {
		l.heard(&a)
	}
	return false, err
}

func (l *life) id() string {
	l.calls++
	return fmt.Sprintf("%s/%d", l.name, l.calls)
}

// asks makes a call and notes the verdict. more goes into the context.
func (l *life) asks(ctx context.Context, s *server, tool string, params fields) (answer, error) {
	id := l.id()
	a, err := s.hook(ctx, l.name, "before_tool_call", fields{"toolName": tool, "params": params, "toolCallId": id}, nil)
	if err == nil {
		l.heard(&a)
		l.told[id] = a.Tidemark.Verdict
	}
	return a, err
}

// reads tells of a result.
func (l *life) reads(ctx context.Context, s *server, tool string, params fields, result any) error {
	id := l.id()
	a, err := s.hook(ctx, l.name, "after_tool_call", fields{"toolName": tool, "params": params, "toolCallId": id, "result": result}, nil)
	if err == nil {
		l.heard(&a)
		l.told[id] = "result"
	}
	return err
}

func (l *life) look(ctx context.Context, s *server) (bool, error) {
	if _, err := l.asks(ctx, s, "read", fields{"path": "notes.txt"}); err != nil {
		return false, err
	}
	return false, l.reads(ctx, s, "read", fields{"path": "notes.txt"}, fmt.Sprint("line ", l.dice.IntN(1000)))
}

// atOnce makes some calls at the same moment, as agents do. What was answered must hold, whatever came of the others.
func (l *life) atOnce(ctx context.Context, s *server) (bool, error) {
	const some = 6
	var (
		ids     [some]string
		answers [some]answer
		errs    [some]error
		all     sync.WaitGroup
	)
	for i := range ids {
		ids[i] = l.id()
		all.Go(func() {
			call := fields{"toolName": "read", "params": fields{"path": fmt.Sprint("notes", i, ".txt")}, "toolCallId": ids[i]}
			answers[i], errs[i] = s.hook(ctx, l.name, "before_tool_call", call, nil)
		})
	}
	all.Wait()
	for i := range ids {
		if errs[i] == nil {
			l.heard(&answers[i])
			l.told[ids[i]] = answers[i].Tidemark.Verdict
		}
	}
	return false, errors.Join(errs[:]...)
}

func (l *life) page(ctx context.Context, s *server) (bool, error) {
	err := l.reads(ctx, s, "web_fetch", fields{"url": "https://x.example/"}, fmt.Sprint("a page, ", l.dice.IntN(1000)))
	if err == nil {
		l.level = trust.Untrusted
	}
	return false, err
}

func (l *life) seal(ctx context.Context, s *server) (bool, error) {
	a, err := s.hook(ctx, l.name, "before_response_emit", fields{"content": "done"}, nil)
	if refusedBy(err) { // no turn is open: it was sealed, and the answer lost
		return false, nil
	}
	if err == nil {
		l.heard(&a)
	}
	return false, err
}

// model is one call of the model, with definitions of tools.
func (l *life) model(ctx context.Context, s *server) (bool, error) {
	tools := []fields{{"name": "read", "description": fmt.Sprint("reads a file, version ", l.dice.IntN(4)), "parameters": fields{"type": "object"}}}
	before := fields{
		"messages": []fields{{"role": "user", "content": "go on"}}, "model": "m", "iteration": 0, "tools": tools, "sessionKey": l.name,
	}
	a, err := s.hook(ctx, l.name, "before_llm_call", before, nil)
	if err != nil {
		return false, err
	}
	l.heard(&a)
	after := fields{"response": fields{"content": "I will"}, "model": "m", "iteration": 0, "latencyMs": 5, "sessionKey": l.name}
	if a, err = s.hook(ctx, l.name, "after_llm_call", after, nil); err == nil {
		l.heard(&a)
	}
	return false, err
}

// reset is the one thing after which more may be said of a session than before.
func (l *life) reset(ctx context.Context, s *server) (bool, error) {
	l.level = trust.System
	err := s.call(ctx, http.MethodPost, "/v1/sessions/"+url.PathEscape(l.name)+"/reset-trust", fields{}, nil)
	if refusedBy(err) {
		return false, nil // nothing was ever begun here
	}
	if err == nil {
		l.records++
	}
	return false, err
}

// wrong is a code that nobody was given.
func (l *life) wrong(ctx context.Context, s *server) (bool, error) {
	a, err := s.hook(ctx, l.name, "message_received", fields{"content": ".approve exec ABCDEF"}, nil)
	if err == nil {
		l.heard(&a)
	}
	return false, err
}
