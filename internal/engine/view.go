package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// View is a session as people see it.
type View struct {
	Session   string       `json:"sessionKey"`
	Agent     string       `json:"agentId,omitzero"`
	Taint     trust.Label  `json:"taint"` // over all branches
	Branches  []BranchView `json:"branches"`
	Records   uint64       `json:"records"`
	Steps     int64        `json:"steps"`
	Denied    int64        `json:"denied"`
	Turns     uint64       `json:"turns"`
	First     time.Time    `json:"first"`
	Last      time.Time    `json:"last"`
	Questions []Question   `json:"questions"`
	Grants    []GrantView  `json:"grants"`
	Writes    []WriteView  `json:"writes"`
	Task      *TaskView    `json:"task,omitzero"`
}

// TaskView is the constraints of the task at hand (SEQ-11).
type TaskView struct {
	Words  int               `json:"words"` // how many of the user's messages they cover
	Rules  []policy.TaskRule `json:"rules"`
	Failed string            `json:"failed,omitzero"` // why there are none
}

// BranchView is one context of a session.
type BranchView struct {
	Branch    string      `json:"branch,omitzero"`
	Taint     trust.Label `json:"taint"`
	Tainted   bool        `json:"tainted"`
	Sensitive bool        `json:"sensitive"`
	Turn      string      `json:"turnId,omitzero"`
	Open      bool        `json:"open"`
	Iteration int         `json:"iteration"`
}

// WriteView is a quarantined write.
type WriteView struct {
	ID     string    `json:"id"`
	Tool   string    `json:"tool"`
	Path   string    `json:"path"`
	Status string    `json:"status"`
	Time   time.Time `json:"time"`
	Digest string    `json:"digest"`
}

// View reads a session. It is ErrNotFound where nothing was ever recorded.
func (m *Monitor) View(ctx context.Context, name string) (View, error) {
	var v View
	err := m.with(ctx, Ref{Session: name}, func(s *sessionEntry) error {
		if s.State.Version == 0 || strings.HasPrefix(name, reserved) {
			return ErrNotFound
		}
		v = m.view(s)
		return nil
	})
	if err != nil {
		return View{}, fmt.Errorf("view session %q: %w", name, err)
	}
	return v, nil
}

func (m *Monitor) view(s *sessionEntry) View {
	st, now := s.State, m.table.At(s.Entry)
	v := View{
		Session: s.Name, Agent: st.Agent, Taint: st.Mark(), Records: st.Version, Steps: st.Steps(), Denied: st.Denied(),
		Turns: st.Turns, First: time.Unix(0, st.First).UTC(), Last: time.Unix(0, st.Last).UTC(),
		Branches: []BranchView{}, Questions: []Question{}, Grants: []GrantView{}, Writes: []WriteView{},
	}
	for _, name := range st.Branches() {
		v.Branches = append(v.Branches, branchView(name, st.Branch(name)))
	}
	for _, r := range st.Book.Requests() {
		q := s.question(r, now)
		q.Abandoned = m.questions.Abandoned(&q)
		v.Questions = append(v.Questions, q)
	}
	for _, g := range st.Book.Grants(now) {
		gv := GrantView{
			ID: g.ID, Branch: g.Branch, Tools: g.Tools, Ceiling: g.Ceiling, Turn: g.Turn, Where: g.Where, Calls: g.Calls, Task: g.Task,
			Opens: g.String(), By: g.By,
		}
		gv.Counted(g.Times, g.Used)
		if g.Until > 0 {
			gv.Until = time.Unix(0, g.Until).UTC()
		}
		v.Grants = append(v.Grants, gv)
	}
	for _, w := range st.Writes() {
		v.Writes = append(v.Writes, WriteView{
			ID: w.ID, Tool: w.Tool, Path: w.Path, Status: string(w.Status), Time: time.Unix(0, w.Time).UTC(), Digest: w.Digest.String(),
		})
	}
	if t := st.Task; t.Words > 0 {
		v.Task = &TaskView{Words: t.Words, Failed: t.Failed, Rules: []policy.TaskRule{}}
		if t.Rules != nil {
			v.Task.Rules = t.Rules.Rules()
		}
	}
	return v
}

func branchView(name string, b *session.Taint) BranchView {
	return BranchView{
		Branch: name, Taint: b.Mark, Tainted: b.Tainted, Sensitive: b.Sensitive,
		Turn: b.Turn.ID, Open: b.Turn.Open, Iteration: b.Turn.Iteration,
	}
}

// Open reports whether a turn is open at ref.
func (m *Monitor) Open(ctx context.Context, ref Ref) (bool, error) {
	var open bool
	err := m.with(ctx, ref, func(s *sessionEntry) error {
		t := s.State.Branch(ref.Branch).Turn
		open = t.Has(ref.Turn)
		return nil
	})
	return open, err
}

// Standing is how a context stands. The zero Standing is that of one nobody has begun.
type Standing struct {
	Agent        string       // which agent's session it is; "": nobody said
	Holder       event.Holder // whose it is; zero: nobody's
	Taint        trust.Label
	Begun        bool     // a turn was begun there
	Open         bool     // the turn that was asked about is
	Turn         string   // the latest
	HostTools    []string // those that are the host's own
	ControlTools []string // those by which the host's framework steers itself
	WordsUnknown bool     // a door that cannot hear the user began the session, and no message of theirs is known
}

// Standing says how a context stands.
func (m *Monitor) Standing(ctx context.Context, ref Ref) (Standing, error) {
	var out Standing
	err := m.with(ctx, ref, func(s *sessionEntry) error {
		b := s.State.Branch(ref.Branch)
		out = Standing{
			Agent: s.State.Agent, Holder: s.State.Holder, Taint: b.Mark, Begun: b.Begun(),
			Open: b.Turn.Has(ref.Turn), WordsUnknown: s.State.WordsUnknown(),
			Turn: b.Turn.ID, HostTools: slices.Clone(s.State.HostTools), ControlTools: slices.Clone(s.State.ControlTools),
		}
		return nil
	})
	return out, err
}

// Taint is what a context holds by now; of one nobody began, the worst.
func (m *Monitor) Taint(ctx context.Context, ref Ref) (trust.Label, error) {
	var l trust.Label
	err := m.with(ctx, ref, func(s *sessionEntry) error {
		l = s.State.Branch(ref.Branch).Mark
		return nil
	})
	return l, err
}

// Sessions is how many sessions are in memory.
func (m *Monitor) Sessions() int {
	return m.table.Len()
}

// Held is about how many bytes of memory sessions take.
func (m *Monitor) Held() int64 { return m.table.Held() }

// Returns is how often a conversation that was not in memory came back: from its checkpoint, and from the log, which costs more.
func (m *Monitor) Returns() (resumed, rebuilt uint64) { return m.resumes.Load(), m.rebuilds.Load() }
