package conversation_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/conversation"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/trust"
)

// tale is a client with what the test itself knows about each message of its history.
type tale struct {
	*chat
	levels []trust.Level // of the history, the instructions counted
}

func (a *tale) level() trust.Level { return slices.Min(a.levels) }

func (a *tale) say(l trust.Level, m ...message) {
	a.history = append(a.history, m...)
	for range m {
		a.levels = append(a.levels, l)
	}
}

// BEY-03
func TestABranchHoldsExactlyWhatItsContextHolds(t *testing.T) { holdsItsContext(t, false) }

// What waited to be written and was lost in a crash never makes a branch better than what it
// holds.
func TestABranchHoldsItsContextWhenACrashTakesWhatWaits(t *testing.T) { holdsItsContext(t, true) }

func holdsItsContext(t *testing.T, later bool) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.later = later
		var tales []*tale
		n, restarted := 0, false
		text := func(what string) string { n++; return fmt.Sprintf("%s number %d", what, n) }
		begin := func() *tale {
			a := &tale{chat: w.chat("a"), levels: []trust.Level{trust.System}}
			a.say(trust.Owner, user(text("wish")))
			tales = append(tales, a)
			return a
		}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			a := begin
			if len(tales) > 0 && rapid.IntRange(0, 9).Draw(rt, "who") > 0 {
				one := rapid.SampledFrom(tales).Draw(rt, "tale")
				a = func() *tale { return one }
			}
			c := a()
			c.enter(nil)
			switch rapid.SampledFrom([]string{"answer", "read", "fetch", "retry", "fork", "stranger", "restart"}).Draw(rt, "step") {
			case "answer":
				words := text("answer")
				c.left(format.Part{Kind: format.Text, Text: words})
				c.say(c.level(), assistant(words))
				c.say(trust.Owner, user(text("wish")))
			case "read":
				c.tool(text("call"), "read", text("notes"), trust.Local)
			case "fetch":
				c.tool(text("call"), "web_fetch", text("page"), trust.Untrusted)
			case "fork":
				at := rapid.IntRange(2, len(c.history)).Draw(rt, "at")
				f := &tale{chat: c.fork(at - 1), levels: slices.Clone(c.levels[:at])}
				f.say(trust.Owner, user(text("other wish")))
				tales = append(tales, f)
				c = f
			case "stranger":
				c.say(trust.Untrusted, assistant(text("strange")))
				c.say(trust.Owner, user(text("wish")))
			case "restart":
				w.restart()
				restarted = true
			}
			c.enter(nil)
			mark, err := w.monitor.Taint(t.Context(), c.visit.Ref)
			if err != nil {
				rt.Fatal(err)
			}
			if mark.Level > c.level() || !restarted && mark.Level != c.level() {
				rt.Fatalf("the branch %v is %+v, its context is %s (restarted: %t)", c.visit.Ref, mark, c.level(), restarted)
			}
		}
	})
}

// tool runs a tool that brings something of a level, where the monitor lets it.
func (a *tale) tool(id, name, back string, level trust.Level) {
	args := `{"path":"x"}`
	v := a.decide(id, name, args)
	if !v.Allowed() {
		return
	}
	part := format.Part{Kind: format.Call, CallID: id, Name: name, Args: []byte(args)}
	if err := a.visit.Answered(a.Context(), conversation.Reply{}, []format.Part{part}); err != nil {
		a.Fatal(err)
	}
	if _, err := a.monitor.Replied(a.Context(), engine.ModelReply{Ref: a.visit.Ref, Calls: []string{name}}); err != nil {
		a.Fatal(err)
	}
	a.say(a.level(), asks(id, name, args))
	a.say(level, result(id, back))
}
