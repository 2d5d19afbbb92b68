package session_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/trust"
)

func began(level trust.Level, carry bool) event.Event {
	l := trust.Label{Level: level, Sensitivity: trust.Internal}
	return event.Event{Kind: event.TurnBegan, Turn: "t", Began: &event.Began{Level: level, Label: l, Carry: carry}}
}

func allowedCall(tool string, step uint64, expect trust.Level) event.Event {
	return event.Event{Kind: event.CallDecided, Turn: "t", Decided: &event.Decided{
		Tool: tool, Step: step, Effect: "allow", Expect: expect, ExpectS: trust.Internal, Source: expect <= trust.External,
	}}
}

func resultOf(tool string, level trust.Level) event.Event {
	return event.Event{Kind: event.ResultSeen, Turn: "t", Seen: &event.Seen{
		Tool: tool, Label: trust.Label{Level: level, Sensitivity: trust.Internal}, Source: level <= trust.External,
	}}
}

func modelCalled(iteration int) event.Event {
	return event.Event{Kind: event.ModelCalled, Turn: "t", Iteration: iteration, Model: &event.Model{}}
}

func sealedTurn() event.Event {
	return event.Event{Kind: event.TurnSealed, Turn: "t", Seen: &event.Seen{}}
}

func resetTo(level trust.Level) event.Event {
	return event.Event{Kind: event.TrustReset, Turn: "t", Answer: &event.Answer{By: "owner", Level: level}}
}

func foldAll(events ...event.Event) *session.Taint {
	t := &session.Taint{}
	for i := range events {
		t.Apply(&events[i])
	}
	return t
}

// PRV-07
func TestTheMarkFollowsTheSeedsTrace(t *testing.T) {
	trace := []struct {
		event event.Event
		want  trust.Level
	}{
		{began(trust.Owner, true), trust.Owner},
		{modelCalled(0), trust.Owner},
		{allowedCall("read", 1, trust.Local), trust.Owner},
		{resultOf("read", trust.Local), trust.Local},
		{modelCalled(1), trust.Local},
		{allowedCall("web_fetch", 2, trust.Untrusted), trust.Local},
		{resultOf("web_fetch", trust.Untrusted), trust.Untrusted},
		{modelCalled(2), trust.Untrusted},
		{allowedCall("read", 3, trust.Local), trust.Untrusted},
		{resultOf("read", trust.Local), trust.Untrusted},
		{sealedTurn(), trust.Untrusted},
	}
	taint := &session.Taint{}
	for i, step := range trace {
		taint.Apply(&step.event)
		if got := taint.Mark.Level; got != step.want {
			t.Errorf("after step %d (%s): got %s, want %s", i, step.event.Kind, got, step.want)
		}
	}
	if want := uint8(1<<trust.Owner | 1<<trust.Local | 1<<trust.Untrusted); taint.Levels != want {
		t.Errorf("levels that entered: got %08b, want %08b", taint.Levels, want)
	}
}

// PRV-01
func TestAContextNobodyBeganIsTheWorst(t *testing.T) {
	var taint session.Taint
	if taint.Begun() || taint.Mark.Level != trust.Untrusted || taint.Settled().Level != trust.Untrusted || taint.Turn.Has("") || taint.Sealed("") {
		t.Errorf("got %+v, want untrusted, not begun, no turn", taint)
	}
}

// PRV-08
func TestAResultNobodyReportsCountsAtTheNextModelCall(t *testing.T) {
	tests := []struct {
		name   string
		closes event.Event
	}{
		{"when the model is asked again", modelCalled(1)},
		{"when the turn is sealed", sealedTurn()},
		{"when the next turn begins", began(trust.Owner, true)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			taint := foldAll(began(trust.Owner, true), modelCalled(0), allowedCall("web_fetch", 1, trust.Untrusted), allowedCall("read", 2, trust.Local))
			if taint.Mark.Level != trust.Owner || taint.Tainted {
				t.Fatalf("before: got %s, tainted %v; want owner, clean: calls of one response share the mark", taint.Mark.Level, taint.Tainted)
			}
			if got := taint.Settled().Level; got != trust.Untrusted {
				t.Errorf("with what is owed: got %s, want untrusted", got)
			}
			taint.Apply(&tt.closes)
			want := []trust.Source{{Level: trust.Untrusted, Step: 1, Kind: "tool_result", Tool: "web_fetch"}}
			if taint.Mark.Level != trust.Untrusted || !taint.Tainted || !cmp.Equal(taint.Mark.Sources, want) {
				t.Errorf("after: got %+v, tainted %v; want untrusted because of %v", taint.Mark, taint.Tainted, want)
			}
		})
	}
}

// SEQ-03
func TestASourceNobodyReportsTaintsWhateverItsLevel(t *testing.T) {
	notes := allowedCall("notes", 1, trust.Local)
	notes.Decided.Source, notes.Decided.Private, notes.Decided.ExpectS = true, true, trust.Secret
	taint := foldAll(began(trust.Owner, true), allowedCall("read", 1, trust.Local), notes, allowedCall("read", 2, trust.Local), modelCalled(1))
	if !taint.Tainted || !taint.Sensitive || taint.Mark.Level != trust.Local || taint.Mark.Sensitivity != trust.Secret {
		t.Errorf("got %+v, tainted %v, sensitive %v; want local and secret, tainted, sensitive", taint.Mark, taint.Tainted, taint.Sensitive)
	}
}

func TestADeniedCallOwesNothing(t *testing.T) {
	denied := allowedCall("web_fetch", 1, trust.Untrusted)
	denied.Decided.Effect = "confirm"
	taint := foldAll(began(trust.Owner, true), denied, modelCalled(1))
	if taint.Mark.Level != trust.Owner || taint.Tainted {
		t.Errorf("got %s, tainted %v; want the context as clean as before", taint.Mark.Level, taint.Tainted)
	}
}

func TestAReportedResultIsNotListedTwice(t *testing.T) {
	seen := resultOf("web_fetch", trust.Untrusted)
	seen.Seen.Label.Sources = []trust.Source{{Step: 1, Kind: "tool_result", Tool: "web_fetch", Excerpt: "hello"}}
	taint := foldAll(began(trust.Owner, true), allowedCall("web_fetch", 1, trust.Untrusted), seen, modelCalled(1))
	if len(taint.Mark.Sources) != 1 || taint.Mark.Sources[0].Excerpt != "hello" {
		t.Errorf("got %v, want the source once, with its excerpt", taint.Mark.Sources)
	}
}

// SEQ-03
func TestTheMarkIsCarriedUnlessTheScopeIsTheTurn(t *testing.T) {
	dirty := []event.Event{began(trust.Owner, true), resultOf("web_fetch", trust.Untrusted), sealedTurn()}
	if got := foldAll(append(dirty, began(trust.Owner, true))...); got.Mark.Level != trust.Untrusted || !got.Tainted {
		t.Errorf("carried: got %s, tainted %v; want untrusted, tainted", got.Mark.Level, got.Tainted)
	}
	got := foldAll(append(dirty, began(trust.Owner, false))...)
	if got.Mark.Level != trust.Owner || got.Levels != 1<<trust.Owner {
		t.Errorf("turn scope: got %s %08b, want owner alone", got.Mark.Level, got.Levels)
	}
	if !got.Tainted {
		t.Error("turn scope: session taint is gone; it is permanent")
	}
}

// BEY-07
func TestResetClearsTrustButNotSecrets(t *testing.T) {
	secret := resultOf("read", trust.Untrusted)
	secret.Seen.Label.Sensitivity, secret.Seen.Sensitive = trust.Secret, true
	taint := foldAll(began(trust.Owner, true), allowedCall("read", 1, trust.Untrusted), secret, resetTo(trust.Owner), modelCalled(1))
	if taint.Mark.Level != trust.Owner || taint.Tainted || len(taint.Mark.Sources) != 0 || taint.Levels != 1<<trust.Owner {
		t.Errorf("got %+v, tainted %v; want owner, clean, without sources", taint.Mark, taint.Tainted)
	}
	if taint.Mark.Sensitivity != trust.Secret || !taint.Sensitive {
		t.Errorf("got %s, sensitive %v; want secret, sensitive: trust says nothing about secrets", taint.Mark.Sensitivity, taint.Sensitive)
	}
	if got := foldAll(began(trust.External, true), resetTo(trust.External)); !got.Tainted {
		t.Error("a reset to external leaves a context that is not tainted")
	}
}

// BEY-07
func TestResetDoesNotCoverCallsThatStillRun(t *testing.T) {
	taint := foldAll(began(trust.Owner, true), allowedCall("read", 1, trust.Shared), resultOf("read", trust.Shared),
		allowedCall("web_fetch", 2, trust.Untrusted), resetTo(trust.Owner))
	if taint.Mark.Level != trust.Owner {
		t.Fatalf("after the reset: got %s, want owner", taint.Mark.Level)
	}
	next := modelCalled(1)
	taint.Apply(&next)
	if taint.Mark.Level != trust.Untrusted || len(taint.Mark.Sources) != 1 || taint.Mark.Sources[0].Tool != "web_fetch" {
		t.Errorf("at the next model call: got %+v, want untrusted because of web_fetch alone", taint.Mark)
	}
}

func TestATurnHasTheNamesThatBelongToIt(t *testing.T) {
	named, auto := began(trust.Owner, true), began(trust.Owner, true)
	auto.Began.Auto = true
	tests := []struct {
		name   string
		taint  *session.Taint
		turn   string
		has    bool
		sealed bool
	}{
		{"no turn at all", foldAll(), "t", false, false},
		{"an open turn by its name", foldAll(named), "t", true, false},
		{"an open turn by no name", foldAll(named), "", true, false},
		{"an open turn by another name", foldAll(named), "x", false, false},
		{"an unnamed turn by any name", foldAll(auto), "x", true, false},
		{"a sealed turn by its name", foldAll(named, sealedTurn()), "t", false, true},
		{"a sealed turn by no name", foldAll(named, sealedTurn()), "", false, true},
		{"a sealed turn by another name", foldAll(named, sealedTurn()), "x", false, false},
		{"a turn sealed before the open one", foldAll(renamed("old", named), renamed("old", sealedTurn()), named), "old", false, true},
		{"a sealed name that was used again", foldAll(named, sealedTurn(), named), "t", true, false},
		{"a sealed name that was used again and replaced", foldAll(named, sealedTurn(), named, renamed("x", named)), "t", false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.taint.Turn.Has(tt.turn); got != tt.has {
				t.Errorf("Has(%q): got %v, want %v", tt.turn, got, tt.has)
			}
			if got := tt.taint.Sealed(tt.turn); got != tt.sealed {
				t.Errorf("Sealed(%q): got %v, want %v", tt.turn, got, tt.sealed)
			}
		})
	}
}

func renamed(turn string, e event.Event) event.Event {
	e.Turn = turn
	return e
}

func TestATurnIsFreshUntilSomethingOfItsOwnHappens(t *testing.T) {
	message := event.Event{Kind: event.ContextSeen, Seen: &event.Seen{Content: &event.Content{}}}
	late := resultOf("read", trust.Local)
	late.Late = true
	lateCall := allowedCall("exec", 1, trust.Local)
	lateCall.Decided.Effect, lateCall.Late = "deny", true
	blocked := modelCalled(3)
	blocked.Model.Blocked = true
	taint := foldAll(began(trust.Owner, true), late, lateCall)
	if !taint.Turn.Fresh || taint.Turn.Said {
		t.Errorf("got fresh %v, said %v; what belongs to an earlier turn is not of this one", taint.Turn.Fresh, taint.Turn.Said)
	}
	taint.Apply(&message)
	if !taint.Turn.Fresh || !taint.Turn.Said {
		t.Errorf("after a later hook brought the message: got fresh %v, said %v; want both", taint.Turn.Fresh, taint.Turn.Said)
	}
	taint.Apply(&blocked)
	if taint.Turn.Fresh || !taint.Turn.Blocked || taint.Turn.Iteration != 3 || taint.Turn.Models != 1 {
		t.Errorf("after a blocked model call: got %+v", taint.Turn)
	}
}

func TestACloneCanBeFoldedFurther(t *testing.T) {
	taint := foldAll(began(trust.Owner, true), allowedCall("web_fetch", 1, trust.Untrusted))
	before := *taint.Clone()
	c := taint.Clone()
	for _, e := range []event.Event{modelCalled(1), allowedCall("x", 2, trust.Local), sealedTurn(), began(trust.External, true), sealedTurn()} {
		c.Apply(&e)
	}
	if d := cmp.Diff(before, *taint, cmp.Exporter(exportAll)); d != "" {
		t.Errorf("folding the clone changed the original (-before +after):\n%s", d)
	}
	if call, ok := taint.Call("", "web_fetch"); !ok || call.Seen {
		t.Errorf("got %+v, %v; want the call still unanswered in the original", call, ok)
	}
}

func drawFoldEvent(t *rapid.T) event.Event {
	levels := trust.Levels()
	level := rapid.SampledFrom(levels[:]).Draw(t, "level")
	tool := rapid.SampledFrom([]string{"read", "web_fetch", "exec"}).Draw(t, "tool")
	switch rapid.IntRange(0, 6).Draw(t, "event") {
	case 0:
		return began(level, true)
	case 1:
		return allowedCall(tool, uint64(rapid.IntRange(1, 50).Draw(t, "step")), level)
	case 2:
		return resultOf(tool, level)
	case 3:
		return modelCalled(rapid.IntRange(0, 5).Draw(t, "iteration"))
	case 4:
		return sealedTurn()
	case 5:
		return event.Event{Kind: event.ContextSeen, Seen: &event.Seen{Label: trust.Label{Level: level}}}
	}
	e := resultOf(tool, level)
	e.Late = true
	return e
}

// PRV-07 SEQ-10
func TestTheMarkNeverRisesWithoutAReset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := began(trust.System, true)
		taint := foldAll(first)
		entered, owed := trust.System, trust.System
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			e := drawFoldEvent(t)
			before := taint.Clone()
			taint.Apply(&e)
			if !taint.Mark.Covers(before.Mark) || taint.Levels&before.Levels != before.Levels || before.Tainted && !taint.Tainted || before.Sensitive && !taint.Sensitive {
				t.Fatalf("%s made the context look better: %+v, then %+v", e.Kind, before.Mark, taint.Mark)
			}
			switch e.Kind {
			case event.TurnBegan:
				entered = entered.Join(e.Began.Label.Level)
			case event.CallDecided:
				owed = owed.Join(e.Decided.Expect)
			case event.ResultSeen, event.ContextSeen:
				entered = entered.Join(e.Seen.Label.Level)
			}
			if settles := e.Kind == event.ModelCalled || e.Kind == event.TurnSealed || e.Kind == event.TurnBegan; settles {
				entered = entered.Join(owed)
			}
			if taint.Mark.Level != entered {
				t.Fatalf("after %s: got %s, want %s, the join of all that entered", e.Kind, taint.Mark.Level, entered)
			}
			if got, want := taint.Settled().Level, entered.Join(owed); got != want {
				t.Fatalf("with what is owed: got %s, want %s", got, want)
			}
		}
	})
}

func TestFoldingDoesNotGrowWithTheSession(t *testing.T) {
	taint := foldAll(began(trust.Owner, true))
	events := []event.Event{
		modelCalled(1), allowedCall("web_fetch", 1, trust.Untrusted), resultOf("web_fetch", trust.Untrusted), sealedTurn(), began(trust.Owner, true),
	}
	step := func() {
		for i := range events {
			taint.Apply(&events[i])
		}
	}
	early := testing.AllocsPerRun(50, step)
	for range 20_000 {
		step()
	}
	if late := testing.AllocsPerRun(50, step); late > early {
		t.Errorf("allocations of a turn: got %v after 100,000 events, %v at the start", late, early)
	}
}
