package adversary_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/reports/replay"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// do is a step with its arguments as JSON, and what comes back.
func do(name, args string, gives ...any) step {
	c := step{tool: name, args: object{}}
	if err := json.Unmarshal([]byte(args), &c.args); err != nil {
		panic(name + " " + args + ": " + err.Error())
	}
	if len(gives) > 0 {
		c.gives = gives[0]
	}
	return c
}

// tale is a story with one harm and one thing that was wanted.
func tale(family, name string, tools []replay.Definition, said string, reads []step, harm, want step) story {
	return story{family: family, name: name, tools: tools, said: []string{said}, reads: reads, harms: []step{harm}, wants: []step{want}}
}

// markedTools are definitions as marked does it with results.
func markedTools(list []replay.Definition, cut bool) []replay.Definition {
	out := slices.Clone(list)
	for i := range out {
		out[i].Description, _ = unmark(out[i].Description, cut).(string)
	}
	return out
}

func outsider() trust.Sender { return trust.Sender{Provider: "chat", ID: "77", Group: "harbour"} }

// turns are what is said between the reads and the acts.
func (s *story) turns(kind string) []replay.Event {
	var out []replay.Event
	if s.stranger != "" && kind != "clean" {
		out = append(out, replay.Event{Said: &replay.Said{Text: &s.stranger, Sender: outsider()}})
	}
	if s.again != "" && kind != "attack" {
		out = append(out, replay.Event{Said: &replay.Said{Text: &s.again, Sender: owner()}})
	}
	return out
}

// playedOn plays a run on a monitor of its own: after another session over the same log, with
// a restart before the acts, or with tools that change by then.
func (s *story) playedOn(t *testing.T, set *policy.Set, run *replay.Run) []replay.Decision {
	t.Helper()
	p := newPair(t, set, run.Tools)
	if s.earlier != nil {
		p.ref.Session = "earlier"
		p.say("Keep a copy of what you find.", owner())
		for _, c := range s.earlier {
			p.call(&replay.Call{Tool: c.tool, Args: encoded(t, c.args), Answer: replay.Yes}, content(t, c.gives))
		}
	}
	p.ref, p.out = engine.Ref{Session: "later"}, nil
	for i, e := range run.Events {
		switch {
		case e.Said != nil:
			p.contract = e.Said.Contract
			p.say(*e.Said.Text, e.Said.Sender)
		case e.Call != nil:
			if len(p.out) == len(s.reads) {
				s.turnTo(p)
			}
			p.call(e.Call, run.Events[i+1].Result.Content)
		}
	}
	return p.out
}

// turnTo does what happens between the reads and the acts.
func (s *story) turnTo(p *pair) {
	if s.restart {
		p.restart()
	}
	if s.later != nil {
		p.tools = s.later
		p.offer()
	}
}

// pair are two sessions on one monitor.
type pair struct {
	*testing.T
	m       *engine.Monitor
	options engine.Options
	tools   []replay.Definition
	ref     engine.Ref
	out     []replay.Decision

	contract *intent.Contract // of what is said next
}

func newPair(t *testing.T, set *policy.Set, tools []replay.Definition) *pair {
	t.Helper()
	now := time.Unix(1_700_000_000, 0)
	p := &pair{T: t, tools: tools, ref: engine.Ref{Session: "later"}, options: engine.Options{
		Policy: set, Store: memory.New(), Rand: rand.NewChaCha8([32]byte{7}), Key: []byte("0123456789abcdef0123456789abcdef"),
		Now: func() time.Time { now = now.Add(time.Millisecond); return now },
	}}
	p.restart()
	return p
}

// restart goes on with a monitor that has the log and nothing else.
func (p *pair) restart() {
	p.Helper()
	var err error
	if p.m, err = engine.New(p.options); err != nil {
		p.Fatal(err)
	}
}

func (p *pair) say(text string, by trust.Sender) {
	p.Helper()
	names := make([]string, len(p.tools))
	for i, d := range p.tools {
		names[i] = d.Name
	}
	turn := engine.Turn{Ref: p.ref, Sender: by, Message: &text, HostTools: tool.Usual(names), Contract: p.contract}
	if _, err := p.m.Begin(p.Context(), turn); err != nil {
		p.Fatal(err)
	}
	p.contract = nil
	p.offer()
}

func (p *pair) offer() {
	p.Helper()
	model := engine.ModelCall{Ref: p.ref, Iteration: -1}
	for _, d := range p.tools {
		model.Tools = append(model.Tools, d.Name)
		model.Definitions = append(model.Definitions, tool.Definition{Name: d.Name, Description: d.Description, Schema: d.Schema})
	}
	if _, err := p.m.Tools(p.Context(), model); err != nil {
		p.Fatal(err)
	}
}

// call decides, answers and, where the call ran, observes.
func (p *pair) call(c *replay.Call, gives []byte) {
	p.Helper()
	exact := tool.Call{ID: fmt.Sprintf("%s-%d", p.ref.Session, len(p.out)), Name: c.Tool, Args: c.Args}
	v, err := p.m.Decide(p.Context(), p.ref, exact)
	if err != nil {
		p.Fatal(err)
	}
	d := replay.Decision{Step: len(p.out), Decision: replay.Allow, Rule: v.Rule, Tool: v.Tool, Args: c.Args}
	if v.Held != nil {
		d.Decision, d.Shown = replay.Ask, replay.Show(v.Held)
		vote := engine.Vote{Session: p.ref.Session, IDs: []string{v.Held.ID}, Approve: c.Answer == replay.Yes, By: "owner", Via: "test"}
		if _, err := p.m.Answer(p.Context(), vote); err != nil {
			p.Fatal(err)
		}
		if vote.Approve {
			if v, err = p.m.Decide(p.Context(), p.ref, exact); err != nil {
				p.Fatal(err)
			}
		}
	} else if !v.Allowed() {
		d.Decision = replay.Deny
	}
	p.out = append(p.out, d)
	if !v.Allowed() {
		return
	}
	seen := tool.Result{CallID: exact.ID, Name: c.Tool, Args: c.Args, Content: gives}
	if _, err := p.m.Observe(p.Context(), engine.Observation{Ref: p.ref, Result: seen}); err != nil {
		p.Fatal(err)
	}
}
