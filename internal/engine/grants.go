package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/internal/standing"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// GrantView is a grant in force.
type GrantView struct {
	ID      string      `json:"id"`
	Branch  string      `json:"branch,omitzero"`
	Tools   []string    `json:"tools"`
	Ceiling trust.Level `json:"ceiling"`
	Until   time.Time   `json:"until,omitzero"`
	Turn    bool        `json:"turn,omitzero"`
	Calls   int         `json:"calls,omitzero"` // how many it lets through yet; 0: as many as come
	// Where are constraints on the arguments: path to pattern.
	Where map[string]string `json:"where,omitzero"`
	Task  bool              `json:"task,omitzero"` // ends with the task
	Opens string            `json:"opens"`         // what it lets through, in words
	By    string            `json:"by,omitzero"`   // who gave it

	Always bool      `json:"always,omitzero"` // it holds in every session of the agent
	Reads  bool      `json:"reads,omitzero"`  // it says that the tool only reads
	Pin    string    `json:"pin,omitzero"`    // the hash of the definition that it was said of
	Pair   bool      `json:"pair,omitzero"`   // it says which value a name of the user's words stands for
	File   string    `json:"file,omitzero"`   // where the policy gives it; it ends with that
	Agent  string    `json:"agentId,omitzero"`
	Given  time.Time `json:"given,omitzero"` // of what holds in every session
	Used   time.Time `json:"used,omitzero"`  // when it last let a call through; of what holds in every session, to a day
	Times  *int      `json:"times,omitzero"` // how many calls it let through; nil: nobody counted
}

// Counted notes how many calls a grant let through, and when it last did, in Unix nanoseconds; 0: never.
func (g *GrantView) Counted(times int, last int64) {
	if g.Times = &times; last > 0 && time.Unix(0, last).After(g.Used) {
		g.Used = time.Unix(0, last).UTC()
	}
}

// told is what the person is told whose vote it was.
func (m *Monitor) told(s *sessionEntry, v *Vote, a *event.Answer, worst *approval.Request, tools []string) string {
	switch {
	case a.Lasting != "":
		return "Approved: this call, and always " + opensLasting(v, worst) + "."
	case v.Approve && a.Grant == nil && s.State.Book.Outdated(v.IDs, m.policy.Load().For(s.State.Agent).Version()):
		const text = "Noted, but nothing runs by it: the policy has changed since %s was asked about. " +
			"When the agent tries the call again it is judged anew, and asked about again where the policy still wants that."
		return fmt.Sprintf(text, strings.Join(tools, ", "))
	}
	return v.notice(tools, a.Grant, m.questions.Awaited(v.IDs))
}

// grant is what a vote opens beyond the calls that were asked about: calls that differ from
// them only where it does not matter, or where the person said so. Of what is dangerous by
// itself nothing further is opened; nil if nothing is left.
func (m *Monitor) grant(s *sessionEntry, v Vote, version string, ceiling trust.Level, now int64) (*event.Grant, error) {
	if err := s.oneBranch(v.IDs); err != nil {
		return nil, err
	}
	id, err := m.newID("grant")
	if err != nil {
		return nil, err
	}
	g := &event.Grant{ID: id, Ceiling: ceiling, Policy: version, Turn: v.For == 0 && !v.Task, Where: v.Where, Calls: v.Calls, Task: v.Task}
	switch {
	case v.Task:
		g.Until = now + int64(approval.TaskLife)
	case v.For > 0:
		g.Until = now + int64(v.For)
	}
	for _, id := range v.IDs {
		r, _ := s.State.Book.Request(id)
		if r.Kind == policy.KindDanger || r.Keeps.Grave() {
			continue
		}
		if v.Task {
			if r.Keeps.Act == "" || r.Keeps.Salt == "" {
				continue // nobody could say what is like it
			}
			g.Calls = question.TaskCalls(&r.Keeps)
		}
		g.Keeps = append(g.Keeps, event.Kept(r.Keeps))
		if !slices.Contains(g.Tools, r.Tool) {
			g.Tools = append(g.Tools, r.Tool)
		}
	}
	if len(g.Keeps) == 0 {
		return nil, nil
	}
	return g, nil
}

// kept is what a grant made from a question about the call would keep; where only what is worded is free, a word by itself
// is a choice and stays as it is.
func (s *sessionEntry) kept(id, name string, args *tool.Args, worded bool) *event.Kept {
	def := tool.Definition{Name: name}
	for _, d := range s.tools {
		if tool.Name(d.Name) == name {
			def = d
		}
	}
	m := toolinfo.Of(def)
	k := event.Kept(approval.Keep(name, id, args, func(path, text string) bool {
		return m.Resolve(path, text).Role == toolinfo.Content && (!worded || mandate.IsWorded(path, text))
	}))
	return &k
}

// Lasting lists what people allowed for good, and which values the names of their words stand for.
func (m *Monitor) Lasting(ctx context.Context) ([]GrantView, error) {
	now := m.now().UnixNano()
	list, err := m.lasting.InForce(ctx, now)
	out := []GrantView{}
	for i := range list {
		g := &list[i]
		v := GrantView{
			ID: g.ID, Tools: []string{g.Tool}, Ceiling: g.Ceiling, Opens: g.String(), By: g.By, Always: true, Reads: g.Reads,
			Pin: g.Pin, Agent: g.Agent, Given: time.Unix(0, g.Given).UTC(),
		}
		if g.Used > 0 {
			v.Used = time.Unix(0, g.Used).UTC()
		}
		if end := g.Until(); end > 0 {
			v.Until = time.Unix(0, end).UTC()
		}
		out = append(out, v)
	}
	for _, g := range m.policy.Load().Standing() {
		out = append(out, GrantView{ID: g.Rule, Tools: g.Tools, Opens: g.Text, By: "policy", Always: true, File: g.Pos,
			Agent: strings.Join(g.Agents, ", ")})
	}
	pairs, failed := m.pairs.All(ctx, now)
	for i := range pairs {
		p := &pairs[i]
		p.By = cmp.Or(p.By, "your words")
		out = append(out, GrantView{
			ID: p.ID, Tools: []string{}, Opens: p.String(), By: p.By, Always: true, Pair: true, Given: time.Unix(0, p.Given).UTC(),
			Until: time.Unix(0, p.Until()).UTC(),
		})
	}
	return out, unavailableIf(errors.Join(err, failed))
}

// Revoke ends a grant before its time. What was allowed for good belongs to no session: then there is none to name.
func (m *Monitor) Revoke(ctx context.Context, sessionName, grant, by, via string) error {
	if sessionName == "" {
		for _, g := range m.policy.Load().Standing() {
			if g.Rule == grant {
				err := fmt.Errorf("%w: %s stands in the policy, at %s: take its lines out there", approval.ErrUsage, grant, g.Pos)
				return &AnswerError{Err: err, TriesLeft: -1}
			}
		}
		end := m.lasting.End
		if strings.HasPrefix(grant, pairID+"-") {
			end = m.pairs.End
		}
		err := end(ctx, m.now().UnixNano(), grant, &event.Answer{By: by, Via: via, IDs: []string{grant}})
		switch {
		case errors.Is(err, standing.ErrNone):
			return fmt.Errorf("revoke grant: %w", ErrNotFound)
		case err != nil:
			return fmt.Errorf("revoke grant: %w", unavailableIf(err))
		}
		return nil
	}
	err := m.with(ctx, Ref{Session: sessionName}, func(s *sessionEntry) error {
		now := m.table.At(s.Entry)
		if !slices.ContainsFunc(s.State.Book.Grants(now), func(g approval.Grant) bool { return g.ID == grant }) {
			return ErrNotFound
		}
		return m.table.Append(ctx, s.Entry, &event.Event{
			Kind: event.GrantRevoked, Time: now, Answer: &event.Answer{By: by, Via: via, IDs: []string{grant}},
		})
	})
	if err != nil {
		return fmt.Errorf("revoke grant: %w", err)
	}
	return nil
}
