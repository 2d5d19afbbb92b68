package tidemark

import (
	"context"
	"slices"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// narrow holds the call against the constraints of the task at hand (SEQ-11). They are
// drawn up when the user has said something new, before the first call that follows;
// while there are none, every call is outside the task.
func (m *Monitor) narrow(ctx context.Context, s *live, in *policy.Input, d policy.Decision, set *policy.Set, ref Ref, c *counsel) (policy.Decision, error) {
	st := s.state
	words := len(st.words)
	if st.parent != "" {
		words = max(words, 1) // what it works for was said to its parent
	}
	if words == 0 {
		return d, nil // nobody has set a task
	}
	if st.task.words != words {
		if c == nil {
			return d, errCounsel
		}
		if c.task == nil || c.task.Words != words {
			tools := slices.Clone(s.tools)
			c.want = func(ctx context.Context) { c.task = m.plan(ctx, s.name, words, tools, in.Tool) }
			return d, errCounsel
		}
		b := st.branch(ref.Branch)
		err := m.append(ctx, s, &event.Event{
			Kind: event.TaskPlanned, Time: m.now().UnixNano(), Branch: ref.Branch, Turn: b.Turn.ID, Iteration: b.Turn.Iteration, Task: c.task,
		})
		if err != nil {
			return d, err
		}
	}
	effect := set.Settings().OnOutside
	if st.task.rules == nil {
		return d.Narrow(policy.Reason{Rule: "task.unplanned", Effect: effect, Text: "no constraints could be drawn up for this task: " + st.task.failed}, policy.KindEscalate), nil
	}
	if r, outside := st.task.rules.Judge(in, effect); outside {
		r.Text = set.Redactor().Preview([]byte(r.Text), 300) // it repeats an argument
		d = d.Narrow(r, policy.KindEscalate)
	}
	return d, nil
}

// plan has constraints drawn up from the user's words and the tools' definitions.
func (m *Monitor) plan(ctx context.Context, session string, words int, tools []tool.Definition, proposed string) *event.Task {
	t := &event.Task{Words: words, Prompt: intent.Version}
	said, err := m.userWords(ctx, session, 0)
	if err != nil {
		t.Failed = "the user's words could not be read"
		return t
	}
	if !slices.ContainsFunc(tools, func(d tool.Definition) bool { return d.Name == proposed }) {
		tools = append(tools, tool.Definition{Name: proposed})
	}
	rules, model, err := m.auditor.Plan(ctx, session, intent.Task{Words: said, Tools: described(tools)})
	if t.Model = model; err != nil {
		t.Failed = m.clean(err.Error(), 200)
		return t
	}
	if _, err := policy.ParseTask([]byte(rules)); err != nil {
		t.Failed = m.clean("the proposal cannot be read: "+err.Error(), 200)
		return t
	}
	t.Rules = rules
	return t
}

// described is definitions as a planner sees them.
func described(tools []tool.Definition) []intent.Definition {
	out := make([]intent.Definition, len(tools))
	for i, d := range tools {
		out[i] = intent.Definition{Name: d.Name, Description: cutText(d.Description, 500)}
		for _, p := range meaning.Of(d).Params {
			if len(out[i].Params) < 32 {
				out[i].Params = append(out[i].Params, cutText(p.Path, 64))
			}
		}
	}
	return out
}
