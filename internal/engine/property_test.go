package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// life is a monitor that random hosts, models and people use in random order.
type life struct {
	*world
	t     *rapid.T
	marks map[engine.Ref]engine.BranchView // what each context looked like last
	codes []string
}

var (
	lifeSessions = []string{"one", "two"}
	lifeBranches = []string{"", "fork"}
	lifeTools    = []string{"exec", "read", "web_fetch", "cron", "message", "write", "vestige_search"}
	lifeArgs     = []string{`{}`, `{"command":"rm"}`, `{"command":"himalaya list"}`, `{"path":"MEMORY.md","content":"x"}`, `[]`}
)

func (l *life) draw(label string, from []string) string {
	return rapid.SampledFrom(from).Draw(l.t, label)
}

func (l *life) ref() engine.Ref {
	return engine.Ref{Session: l.draw("session", lifeSessions), Branch: l.draw("branch", lifeBranches), Turn: l.draw("turn", []string{"", "", "run"})}
}

func (l *life) call() tool.Call { return call(l.draw("tool", lifeTools), l.draw("args", lifeArgs)) }

// ok lets through the errors that are answers: sealed turns and unknown things.
func (l *life) ok(err error) {
	if err != nil && !errors.Is(err, engine.ErrSealed) && !errors.Is(err, engine.ErrNotFound) && !errors.As(err, new(*engine.AnswerError)) {
		l.t.Fatalf("got %v", err)
	}
}

func (l *life) begins(t *rapid.T) {
	l.t = t
	turn := engine.Turn{Ref: l.ref(), Forked: rapid.Bool().Draw(t, "forked")}
	turn.Sender = rapid.SampledFrom([]trust.Sender{
		owner(), owner(), stranger(), {}, {Provider: "webhook"}, {Provider: "x", SpawnedBy: "two"}, {Provider: "x", IsOwner: true, Group: "g"},
	}).Draw(t, "sender")
	messages := []string{"", "hello", ".reset-trust", ".approve exec 00000000"}
	for _, c := range l.codes[max(0, len(l.codes)-4):] {
		messages = append(messages, ".approve exec "+c, ".approve all "+c, ".approve all "+c+" 5", ".deny "+c)
	}
	if m := l.draw("message", messages); m != "" {
		turn.Message = &m
	}
	_, err := l.Begin(l.Context(), turn)
	l.ok(err)
	l.moved(turn.Ref, turn.Sender.IsOwner && turn.Message != nil && *turn.Message == ".reset-trust", true)
}

func (l *life) asksModel(t *rapid.T) {
	l.t = t
	ref := l.ref()
	layer, err := l.Tools(l.Context(), engine.ModelCall{Ref: ref, Iteration: -1, Tools: lifeTools})
	l.ok(err)
	l.moved(ref, false, false)
	if got := l.branch(ref.Session, ref.Branch).Taint.Level; got != layer.Taint.Level {
		t.Fatalf("the model is told %s, the context is %s", layer.Taint.Level, got)
	}
}

func (l *life) decides(t *rapid.T) {
	l.t = t
	ref, c := l.ref(), l.call()
	v, err := l.Decide(l.Context(), ref, c)
	l.ok(err)
	if v.Allowed() != (v.Effect == policy.Allow) || v.Permit != nil && v.Effect != policy.Allow {
		t.Fatalf("effect %s with permit %v", v.Effect, v.Permit)
	}
	events := l.events(ref.Session)
	d := events[len(events)-1].Decided
	if d == nil || d.Effect != v.Effect.String() || d.Rule != v.Rule || d.Kind != v.Kind || d.Tool != v.Tool || d.Digest != c.Digest() ||
		d.Step != v.Step || d.Level != v.Taint.Level || d.Spent != v.Spent || (d.Write != nil && d.Write.ID != v.Write) {
		t.Fatalf("recorded %+v, returned %+v", d, v)
	}
	if said := v.Reasons[0].Effect; v.Effect != said && (v.Spent == "" || said != policy.Confirm) {
		t.Fatalf("the policy says %s, the verdict is %s, spent %q", said, v.Effect, v.Spent)
	}
	if (v.Effect == policy.Confirm) != (v.Held != nil) {
		t.Fatalf("%s with the question %v", v.Effect, v.Held)
	}
	if v.Held != nil {
		l.codes = append(l.codes, v.Held.Code)
	}
	l.moved(ref, false, false)
}

func (l *life) observes(t *rapid.T) {
	l.t = t
	o := engine.Observation{Ref: l.ref(), Again: rapid.Bool().Draw(t, "again"), From: l.draw("from", []string{"", "", "two", "nobody"})}
	o.Result = tool.Result{Name: l.draw("tool", lifeTools), Content: []byte("content")}
	if rapid.Bool().Draw(t, "with arguments") {
		o.Result.Args = []byte(l.draw("args", lifeArgs))
	}
	label, err := l.Observe(l.Context(), o)
	l.ok(err)
	l.moved(o.Ref, false, false)
	if got := l.branch(o.Ref.Session, o.Ref.Branch).Taint; !got.Covers(trust.Label{Level: label.Level, Sensitivity: label.Sensitivity}) {
		t.Fatalf("a result of %s/%s entered, the context is %s/%s", label.Level, label.Sensitivity, got.Level, got.Sensitivity)
	}
}

func (l *life) answers(t *rapid.T) {
	l.t = t
	session := l.draw("session", lifeSessions)
	v, err := l.View(l.Context(), session)
	if err != nil || len(v.Questions) == 0 {
		t.Skip("nothing to answer")
	}
	vote := engine.Vote{Session: session, By: "desk", Via: "http", Approve: rapid.Bool().Draw(t, "approve"), For: rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "for")}
	for _, q := range v.Questions {
		if len(vote.IDs) == 0 || rapid.Bool().Draw(t, "too") {
			vote.IDs = append(vote.IDs, q.ID)
		}
	}
	_, err = l.Answer(l.Context(), vote)
	l.ok(err)
}

func (l *life) reviews(t *rapid.T) {
	l.t = t
	session := l.draw("session", lifeSessions)
	v, err := l.View(l.Context(), session)
	if err != nil || len(v.Writes)+len(v.Grants) == 0 {
		t.Skip("nothing to look at")
	}
	if len(v.Grants) > 0 {
		l.ok(l.Revoke(l.Context(), session, v.Grants[0].ID, "desk", "http"))
	}
	if len(v.Writes) > 0 {
		_, err = l.Review(l.Context(), session, v.Writes[0].ID, rapid.Bool().Draw(t, "release"), "desk", "http")
		l.ok(err)
	}
}

func (l *life) ends(t *rapid.T) {
	l.t = t
	ref := l.ref()
	_, err := l.End(l.Context(), engine.Ending{Ref: ref, Content: []byte("done")})
	l.ok(err)
	l.moved(ref, false, false)
}

func (l *life) resets(t *rapid.T) {
	l.t = t
	ref := l.ref()
	l.ok(l.Reset(l.Context(), ref, "admin", "http"))
	l.moved(ref, true, false)
}

// lifePolicies judge by levels. The shipped preset also looks at values that it remembers
// beside the log, and asks where they are gone; a life compares a monitor with one that has
// read the log alone.
func lifePolicies() []string {
	var out []string
	for _, file := range testPolicies {
		if !strings.HasPrefix(file, "preset:") {
			file = byLevels + file
		}
		out = append(out, file)
	}
	return out
}

func (l *life) reloads(t *rapid.T) {
	l.SetPolicy(parse(l.TB, rapid.SampledFrom(lifePolicies()).Draw(t, "policy")))
}
func (l *life) waits(t *rapid.T) {
	l.clock.advance(time.Duration(rapid.IntRange(1, 400).Draw(t, "seconds")) * time.Second)
}

// restarts goes on with a monitor that knows only the log.
func (l *life) restarts(t *rapid.T) {
	l.t = t
	l.sameAsTheLog()
	l.Monitor = l.again().Monitor
}

// moved compares a context with what it was. Trust comes back only by a reset, or with
// a turn where the policy starts over with each.
func (l *life) moved(ref engine.Ref, reset, began bool) {
	v, err := l.View(l.Context(), ref.Session)
	if err != nil {
		return
	}
	for _, b := range v.Branches {
		key := engine.Ref{Session: ref.Session, Branch: b.Branch}
		old, known := l.marks[key]
		l.marks[key] = b
		may := b.Branch == ref.Branch && (reset || began && l.Policy().Settings().TaintScope == "turn")
		if !known || may {
			continue
		}
		if !b.Taint.Covers(old.Taint) || old.Tainted && !b.Tainted || old.Sensitive && !b.Sensitive {
			l.t.Fatalf("%v looks better than before: %+v, then %+v", key, old, b)
		}
	}
}

func (l *life) sameAsTheLog() {
	for _, s := range lifeSessions {
		got, err := l.View(l.Context(), s)
		if err != nil {
			continue
		}
		if want := l.again().view(s); asJSON(l.TB, got) != asJSON(l.TB, want) {
			l.t.Fatalf("the state is not the fold of the log:\n%s\nwant\n%s", asJSON(l.TB, got), asJSON(l.TB, want))
		}
	}
}

// PRV-07 PRV-18 SEQ-09 SEQ-10
func TestLife(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := &life{t: rt, marks: map[engine.Ref]engine.BranchView{}}
		l.world = newWorld(t, rapid.SampledFrom(lifePolicies()).Draw(rt, "policy"))
		rt.Repeat(map[string]func(*rapid.T){
			"begin": l.begins, "model": l.asksModel, "decide": l.decides, "decide more": l.decides, "observe": l.observes,
			"answer": l.answers, "review": l.reviews, "end": l.ends, "reset": l.resets, "reload": l.reloads, "wait": l.waits, "restart": l.restarts,
		})
		l.t = rt
		l.sameAsTheLog()
		for _, s := range lifeSessions {
			verified(t, l.store, s)
			auditLog(rt, l.events(s))
		}
		l.sameVerdicts()
	})
}

// sameVerdicts copies the log to another store and asks both monitors the same.
func (l *life) sameVerdicts() {
	twin := &world{TB: l.TB, store: memory.New(), clock: l.clock, dice: l.dice}
	for _, s := range lifeSessions {
		for i, e := range l.events(s) {
			if err := twin.store.Append(l.Context(), s, uint64(i), []*event.Event{&e}); err != nil {
				l.t.Fatal(err)
			}
		}
	}
	twin.Monitor = newMonitor(l.TB, engine.Options{Policy: l.Policy(), Store: twin.store, Now: l.clock.Now, Rand: l.dice})
	for _, s := range lifeSessions {
		for _, b := range lifeBranches {
			for _, name := range lifeTools {
				ref, c := inBranch(s, b), call(name, l.draw("args", lifeArgs))
				got, want := l.decide(ref, c), twin.decide(ref, c)
				if g, w := verdictText(got), verdictText(want); g != w {
					l.t.Fatalf("%s in %v: got %s, a monitor that knows only the log says %s", name, ref, g, w)
				}
			}
		}
	}
}

func verdictText(v engine.Verdict) string {
	return fmt.Sprintf("%s %s %s step %d spent %q taint %+v reasons %+v held %v", v.Effect, v.Kind, v.Rule, v.Step, v.Spent, v.Taint, v.Reasons, v.Held != nil)
}

// auditor reads a log as a stranger would: every call that was let through against the
// policy's wish stands on an answer nobody used before.
type auditor struct {
	t       *rapid.T
	asked   map[string]*event.Decided // by question or write
	branch  map[string]string         // by question, write or grant
	answers map[string]event.Event    // by what they made spendable
	ends    map[string]int            // how many ends of a turn that has seen
	used    map[string]bool
}

func auditLog(t *rapid.T, events []event.Event) {
	a := &auditor{t, map[string]*event.Decided{}, map[string]string{}, map[string]event.Event{}, map[string]int{}, map[string]bool{}}
	for i, e := range events {
		switch e.Kind {
		case event.TurnSealed:
			a.turnEnds(e.Branch)
		case event.TurnBegan:
			if !e.Began.Command && lastTurnIsOpen(events[:i], e.Branch) {
				a.turnEnds(e.Branch)
			}
		case event.Answered, event.WriteReviewed:
			for _, id := range approved(e.Answer) {
				if e.Answer.Grant != nil {
					a.branch[id] = e.Branch
				}
				a.answers[id] = e
			}
		case event.CallDecided:
			if e.Decided.Ask != nil {
				a.asked[e.Decided.Ask.ID], a.branch[e.Decided.Ask.ID] = e.Decided, e.Branch
			}
			if e.Decided.Write != nil {
				a.asked[e.Decided.Write.ID], a.branch[e.Decided.Write.ID] = e.Decided, e.Branch
			}
			if e.Decided.Spent != "" {
				a.spends(i+1, e, e.Decided)
			}
		}
	}
}

func (a *auditor) turnEnds(branch string) {
	for id := range a.answers {
		if a.branch[id] == branch {
			a.ends[id]++
		}
	}
}

func (a *auditor) spends(record int, e event.Event, d *event.Decided) {
	answer, known := a.answers[d.Spent]
	if d.Effect != "allow" || !known || a.ends[d.Spent] > turnsOf(answer) || a.branch[d.Spent] != e.Branch {
		a.t.Fatalf("record %d: %s spends %q: answered %v, %d turns ended, of branch %q", record, d.Tool, d.Spent, known, a.ends[d.Spent], a.branch[d.Spent])
	}
	if g := answer.Answer.Grant; g != nil {
		if !slices.Contains(g.Tools, d.Tool) || d.Level < g.Ceiling || !g.Turn && e.Time >= g.Until || d.Policy != g.Policy {
			a.t.Fatalf("record %d: %s at %s is not covered by the grant %+v", record, d.Tool, d.Level, g)
		}
		return
	}
	q := a.asked[d.Spent]
	worse := answer.Kind == event.Answered && (d.Level < q.Level || d.Policy != q.Policy)
	if a.used[d.Spent] || q.Digest != d.Digest || e.Time >= answer.Answer.Until || worse {
		a.t.Fatalf("record %d: %s spends the approval of another call, or a second time: %+v", record, d.Tool, q)
	}
	a.used[d.Spent] = true
}

// turnsOf is how many ends of a turn what the answer gave survives.
func turnsOf(e event.Event) int {
	if g := e.Answer.Grant; g != nil && g.Turn {
		return 0
	}
	return 1 << 30 // its time alone ends it
}

// approved are the ids an answer makes spendable.
func approved(a *event.Answer) []string {
	switch {
	case a.Grant != nil:
		return []string{a.Grant.ID}
	case a.Verdict == "approve" || a.Verdict == "release":
		return a.IDs
	}
	return nil
}

func lastTurnIsOpen(events []event.Event, branch string) bool {
	for _, e := range slices.Backward(events) {
		if e.Branch == branch && strings.HasPrefix(string(e.Kind), "turn.") {
			return e.Kind == event.TurnBegan
		}
	}
	return false
}
