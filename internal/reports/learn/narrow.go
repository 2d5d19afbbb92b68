package learn

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Grid is where two policies are compared: every tool and agent here, and one of each
// that nobody knows, at every level, with nothing and with much behind them.
type Grid struct {
	Tools  []string
	Agents []string
}

// LooserError is a place where a policy would allow more than before.
type LooserError struct {
	Agent, Tool   string
	Level         trust.Level
	Before, After policy.Effect
}

func (e *LooserError) Error() string {
	who, tool := fmt.Sprintf("agent %q", e.Agent), e.Tool
	if e.Agent == stranger || e.Agent == "" {
		who = "every agent that has no section of its own"
	}
	if tool == stranger {
		tool = "a tool that nothing names"
	}
	if tool == "" {
		return fmt.Sprintf("the result would be looser: turns of %s at %s", who, e.Level)
	}
	return fmt.Sprintf("the result would be looser: %s of %s at %s is %s, and would be %s", tool, who, e.Level, e.Before.Mode(),
		e.After.Mode())
}

// stranger is a name that no policy has.
const stranger = "a_tool_that_nobody_knows"

// Compare counts the places where after is stricter than before. An error is the first
// place where it is looser.
func (g Grid) Compare(before, after *policy.Set) (stricter int, err error) {
	was, now := before.Settings(), after.Settings()
	if most(now) > most(was) {
		return 0, fmt.Errorf("the result would be looser: maxIterations is %d, and would be %d", was.MaxIterations, now.MaxIterations)
	}
	if now.MaxIterations = was.MaxIterations; now != was {
		return 0, errors.New("the result would change settings that no rule may change")
	}
	tools := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(g.Tools), stranger))))
	agents := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(g.Agents), stranger))))
	if err := compareReaders(before, after); err != nil {
		return 0, err
	}
	for _, agent := range agents {
		n, err := compareTurns(before, after, agent)
		if stricter += n; err != nil {
			return stricter, err
		}
		for _, name := range tools {
			n, err := compareTool(before, after, agent, name)
			if stricter += n; err != nil {
				return stricter, err
			}
		}
	}
	if more := Standing(before, after); len(more) > 0 {
		return stricter, errors.New(more[0])
	}
	return stricter, nil
}

// moments are how far a session may have come: at its start, and with more behind it
// than any limit.
var moments = []struct {
	iteration int
	history   policy.History
}{{0, nil}, {1_000_000, much{}}}

// contexts are the ways in which a call of the tool may be judged. What is known of a
// call counts only where one of the policies asks.
func contexts(agent, name string, facts bool) iter.Seq[policy.Input] {
	none := tool.NewArgs([]byte("{}"))
	known := outlooks[:1]
	if facts {
		known = outlooks
	}
	return func(yield func(policy.Input) bool) {
		in := policy.Input{Tool: name, Agent: agent}
		for _, level := range trust.Levels() {
			in.Taint, in.Levels = level, 1<<level
			for _, m := range moments {
				in.Iteration, in.History, in.Sensitive = m.iteration, m.history, m.history != nil
				for i := range 2 * (len(known) + 1) {
					in.Tainted = i%2 == 1
					in.Args, in.Facts = nil, nil // only the tool is asked about
					if i >= 2 {
						in.Args, in.Facts = &none, known[i/2-1]
					}
					if !yield(in) {
						return
					}
				}
			}
		}
	}
}

func compareTool(before, after *policy.Set, agent, name string) (stricter int, err error) {
	for in := range contexts(agent, name, before.For(agent).Facts() || after.For(agent).Facts()) {
		other := in
		was, now := before.Judge(&in), after.Judge(&other)
		fewer := now.Effect == policy.Confirm && was.Effect == policy.Confirm && now.People() < was.People()
		if now.Effect > was.Effect || was.Hidden && !now.Hidden || fewer {
			return stricter, &LooserError{agent, name, in.Taint, was.Effect, now.Effect}
		}
		if now.Effect < was.Effect {
			stricter++
		}
	}
	return stricter, nil
}

// compareReaders looks for people who might read what they could not before.
func compareReaders(before, after *policy.Set) error {
	now := after.Readers()
	for name, may := range before.Readers() {
		is, kept := now[name]
		if !kept {
			return fmt.Errorf("the result would be looser: trustRules.%s would no longer say who may read what came in", name)
		}
		for _, who := range is {
			if !slices.Contains(may, who) {
				return fmt.Errorf("the result would be looser: %s could be told what came in by trustRules.%s", who, name)
			}
		}
	}
	return nil
}

// Standing are the mandates that would let calls run for good and do not. One that is not the same to the letter is another one.
func Standing(before, after *policy.Set) []string {
	var out []string
	was := before.Standing()
	for _, m := range after.Standing() {
		same := func(o policy.Standing) bool {
			return o.Rule == m.Rule && o.Text == m.Text && slices.Equal(o.Definitions, m.Definitions)
		}
		if !slices.ContainsFunc(was, same) {
			out = append(out, fmt.Sprintf("the result would be looser: %s lets run unasked: %s", m.Rule, m.Text))
		}
	}
	return out
}

// maxTurns is how far turns are compared: a cap beyond is one that nobody reaches.
const maxTurns = 1_000

// most is how many model calls a turn may have.
func most(s policy.Settings) int {
	if s.MaxIterations == 0 {
		return math.MaxInt - 1 // without end
	}
	return s.MaxIterations
}

func compareTurns(before, after *policy.Set, agent string) (stricter int, err error) {
	for _, level := range trust.Levels() {
		for i := range min(max(most(before.For(agent).Settings()), most(after.For(agent).Settings()))+1, maxTurns) {
			in := policy.Input{Taint: level, Levels: 1 << level, Iteration: i, Agent: agent}
			was, _ := before.Turn(&in)
			now, _ := after.Turn(&in)
			if was && !now {
				return stricter, &LooserError{Agent: agent, Level: level}
			}
			if now && !was {
				stricter++
			}
		}
	}
	return stricter, nil
}

// much is a history longer than any limit.
type much struct{}

// Calls is how often any tool ran.
func (much) Calls(string) int64 { return 1_000_000 }

// Results is how often any tool answered.
func (much) Results(string) int64 { return 1_000_000 }

// Done is how often any tool answered well.
func (much) Done(string) int64 { return 1_000_000 }

// Approved is how often people let any tool run.
func (much) Approved(string) int64 { return 1_000_000 }

// Marked is how often anything ran that a rule remembers.
func (much) Marked(string) int64 { return 1_000_000 }

// Bounds are none: who may read what is compared by itself.
func (much) Bounds() []string { return nil }

// Denied is how many calls were refused.
func (much) Denied() int64 { return 1_000_000 }

// Steps is how many calls were judged.
func (much) Steps() int64 { return 1_000_000 }

// outlooks are what may be known of a call: nothing, the best, and acts of the user's
// own and of somebody else's.
var outlooks = []policy.Facts{
	nil,
	outlook{warrant.Read, nil, []policy.Fact{warrant.FactSpoken, warrant.FactWorkspace}},
	outlook{warrant.Send, new(warrant.Said), []policy.Fact{warrant.FactActs, warrant.FactSpoken, warrant.FactArgued, warrant.FactOutside}},
	outlook{warrant.Pay, new(warrant.Nothing), []policy.Fact{
		warrant.FactActs, warrant.FactArgued, warrant.FactOutside, warrant.FactDanger,
	}},
}

// outlook is one set of facts about a call.
type outlook struct {
	deed policy.Deed
	has  *policy.Evidence // of every slot; nil: it has none
	true []policy.Fact
}

// Deed is what the call does.
func (o outlook) Deed() policy.Deed { return o.deed }

// Is answers a question.
func (o outlook) Is(f policy.Fact) bool { return slices.Contains(o.true, f) }

// Values are none.
func (o outlook) Values(policy.SlotKind) []string { return nil }

// Evidence is what stands behind every value.
func (o outlook) Evidence(policy.Slot) (policy.Evidence, bool) {
	if o.has == nil {
		return warrant.Nothing, false
	}
	return *o.has, true
}

// Fault is none.
func (o outlook) Fault(policy.SlotKind) string { return "" }
