// Package cost is a plugin that keeps model calls within a budget: tokens and money, for a
// turn, a session and a day. A call that would go beyond one is blocked in before_llm_call.
//
// It reads the clock it is given and appends to one file a day; it starts no goroutine.
//
// Invariants:
//   - what a call takes is set aside before it is made, so that calls that run at once
//     cannot pass the limit together;
//   - a call of which nobody says what it used counts by its length;
//   - a model without a price counts as the dearest one that has a price;
//   - a restart forgets nothing that was spent.
package cost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/dailyjsonl"
)

// Budget is the most that may be spent; 0 is without end.
type Budget struct {
	Tokens int64
	Money  float64 // in whatever money the prices are in
}

// Price is what a million tokens cost.
type Price struct {
	Model         string // as requests name it; * stands for any text
	Input, Output float64
}

// Options configure a Guard.
type Options struct {
	Turn, Session, Day Budget
	Prices             []Price // the first that fits counts
	AlertAt            int     // percent of a budget at which a warning is logged; 0: never
	Folder             string  // where it is written down what was spent; "": nowhere
	Now                func() time.Time
	Logger             *slog.Logger
}

// Guard keeps the books. It is safe for concurrent use.
type Guard struct {
	o Options

	mu       sync.Mutex
	day      string              // guarded by mu, like all below
	today    sum                 // spent on it
	sessions map[string]*account // by name
	aside    sum                 // set aside for calls that have not come back, all sessions
	alerted  map[string]bool     // budgets that were warned of
	book     dailyjsonl.Book
}

// sum is what was spent.
type sum struct {
	tokens int64
	money  float64
}

func (s *sum) add(t sum) { s.tokens, s.money = s.tokens+t.tokens, s.money+t.money }

func (s *sum) sub(t sum) { s.tokens, s.money = s.tokens-t.tokens, s.money-t.money }

func (s sum) plus(t sum) sum { return sum{s.tokens + t.tokens, s.money + t.money} }

// account is one session's.
type account struct {
	spent sum
	turns map[string]*turn // by branch: branches run at once
	aside sum
	last  time.Time
}

// turn is the one a branch is in, and its call that has not come back.
type turn struct {
	id    string
	spent sum
	call  *call
	used  time.Time
}

// call is one that was let through.
type call struct {
	model string
	input int64 // estimated
	aside sum
}

// Open makes a guard, and reads what was spent before.
func Open(o Options) (*Guard, error) {
	if o.Now == nil || o.Logger == nil {
		return nil, errors.New("open cost guard: no clock or no logger")
	}
	g := &Guard{o: o, sessions: map[string]*account{}, alerted: map[string]bool{}, book: dailyjsonl.Book{Folder: o.Folder}}
	now := o.Now()
	g.day = dailyjsonl.Day(now)
	for e, err := range Entries(o.Folder, dailyjsonl.Day(now.Add(-remembered))) {
		if err != nil {
			return nil, fmt.Errorf("open cost guard: %w", err)
		}
		s := sum{e.Input + e.Output, e.Money}
		a := g.account(e.Session)
		a.spent.add(s)
		a.last = e.Time
		t, err := g.turn(e.Session, a, e.Branch, e.Time)
		if err != nil {
			return nil, fmt.Errorf("open cost guard: %w", err)
		}
		if t.id != e.Turn {
			*t = turn{id: e.Turn, used: e.Time}
		}
		t.spent.add(s)
		if dailyjsonl.Day(e.Time) == g.day {
			g.today.add(s)
		}
	}
	return g, nil
}

// Close writes down what was set aside and never came back, and closes the file.
func (g *Guard) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	var errs []error
	for name, a := range g.sessions {
		for branch, t := range a.turns {
			if t.call != nil {
				errs = append(errs, g.settle(name, branch, a, t, 0, 0))
			}
		}
	}
	return errors.Join(append(errs, g.book.Close())...)
}

// Handler is the guard as a plugin. It fails closed.
func (g *Guard) Handler() hook.Handler {
	return hook.Handler{
		Name:     "cost",
		Priority: -1000, // last: who blocks before it spares the budget, and it sees the context that is sent
		On:       hook.Handlers{BeforeLLMCall: g.before, AfterLLMCall: g.after},
	}
}

func (g *Guard) before(_ context.Context, e *hook.BeforeLLMCall, c *hook.Context) (*hook.BeforeLLMCallResult, error) {
	input := estimate(e)
	need := sum{input, g.o.money(e.Model, input, 0)}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turnPage()
	a := g.account(c.SessionKey)
	t, err := g.turn(c.SessionKey, a, c.Branch, g.o.Now())
	if err != nil {
		return nil, err
	}
	if t.call != nil { // nobody said what became of it
		if err := g.settle(c.SessionKey, c.Branch, a, t, 0, 0); err != nil {
			return nil, err
		}
	}
	if t.id != c.RunID || c.RunID == "" && e.Iteration == 0 {
		*t = turn{id: c.RunID, used: t.used}
		delete(g.alerted, "turn "+c.SessionKey+" "+c.Branch)
	}
	for _, b := range []struct {
		name, key string
		most      Budget
		spent     sum
	}{
		{"turn", "turn " + c.SessionKey + " " + c.Branch, g.o.Turn, t.spent},
		{"session", "session " + c.SessionKey, g.o.Session, a.spent.plus(a.aside)},
		{"day", "day", g.o.Day, g.today.plus(g.aside)},
	} {
		if why := b.most.passed(b.name, b.spent, need); why != "" {
			g.o.Logger.Warn("a model call was blocked by its budget", "budget", b.name, "session", c.SessionKey, "reason", why)
			return &hook.BeforeLLMCallResult{Block: true, BlockReason: why}, nil
		}
		g.alert(b.name, b.key, c.SessionKey, b.most, b.spent.plus(need))
	}
	if input > 0 {
		t.call = &call{model: e.Model, input: input, aside: need}
		a.aside.add(need)
		g.aside.add(need)
	}
	return nil, nil
}

func (g *Guard) after(_ context.Context, e *hook.AfterLLMCall, c *hook.Context) (*hook.AfterLLMCallResult, error) {
	var input, output int64
	if u := e.TokenUsage; u != nil {
		input, output = max(0, u.Input), max(0, u.Output)
	}
	if output == 0 {
		output = tokens(len(e.Response))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turnPage()
	a := g.account(c.SessionKey)
	t, err := g.turn(c.SessionKey, a, c.Branch, g.o.Now())
	if err != nil {
		return nil, err
	}
	if t.call == nil { // it was not announced, and counts all the same
		t.call = &call{input: tokens(length(e.Messages))}
	}
	t.call.model = e.Model
	return nil, g.settle(c.SessionKey, c.Branch, a, t, input, output)
}

// settle turns what was set aside into what was spent; no input is what was estimated.
func (g *Guard) settle(session, branch string, a *account, t *turn, input, output int64) error {
	e := Entry{
		Time: g.o.Now().UTC(), Session: session, Branch: branch, Turn: t.id, Model: t.call.model, Input: input, Output: output,
	}
	if input == 0 {
		e.Input, e.Estimated = t.call.input, true
	}
	e.Money = g.o.money(e.Model, e.Input, e.Output)
	a.aside.sub(t.call.aside)
	g.aside.sub(t.call.aside)
	t.call = nil
	s := sum{e.Input + e.Output, e.Money}
	t.spent.add(s)
	a.spent.add(s)
	a.last = e.Time
	g.today.add(s)
	return g.write(&e)
}

// remembered is how long a session's spending counts after its last call.
const remembered = 31 * 24 * time.Hour

// turnPage begins a new day, and forgets sessions that have long been silent.
func (g *Guard) turnPage() {
	now := g.o.Now()
	today := dailyjsonl.Day(now)
	if today == g.day {
		return
	}
	g.day, g.today = today, sum{}
	g.alerted = map[string]bool{}
	maps.DeleteFunc(g.sessions, func(_ string, a *account) bool { return a.aside.tokens == 0 && now.Sub(a.last) > remembered })
}

// alert warns once of a budget that is nearly spent.
func (g *Guard) alert(name, key, session string, b Budget, spent sum) {
	part := float64(g.o.AlertAt) / 100
	near := b.Tokens > 0 && float64(spent.tokens) >= part*float64(b.Tokens) || b.Money > 0 && spent.money >= part*b.Money
	if g.o.AlertAt <= 0 || !near || g.alerted[key] {
		return
	}
	g.alerted[key] = true
	g.o.Logger.Warn("a budget is nearly spent", "budget", name, "session", session, "tokens", spent.tokens, "money", spent.money)
}

func (g *Guard) account(session string) *account {
	a := g.sessions[session]
	if a == nil {
		a = &account{turns: map[string]*turn{}}
		g.sessions[session] = a
	}
	return a
}

// branches is how many branches of a session are known at a time. One that is forgotten and comes back is like a new one: it has
// a turn's budget of its own, and what it spends counts for the session and the day all the same.
const branches = 256

// turn is the one a branch is in. The branch that was silent for longest makes room for a new one.
func (g *Guard) turn(session string, a *account, branch string, now time.Time) (*turn, error) {
	if t := a.turns[branch]; t != nil {
		t.used = now
		return t, nil
	}
	if len(a.turns) >= branches {
		oldest, first := "", (*turn)(nil)
		for b, t := range a.turns {
			if first == nil || t.used.Before(first.used) {
				oldest, first = b, t
			}
		}
		if first.call != nil {
			if err := g.settle(session, oldest, a, first, 0, 0); err != nil {
				return nil, err
			}
		}
		delete(a.turns, oldest)
		delete(g.alerted, "turn "+session+" "+oldest)
	}
	t := &turn{used: now}
	a.turns[branch] = t
	return t, nil
}
