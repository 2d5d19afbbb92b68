package approval_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

const unspent = 1000

// question and grant are the plain words of the requirement, kept beside the Book.
type question struct {
	held     approval.Held
	code     string
	expires  int64
	tries    int
	outcomes []string // approved, denied, dead, expired: never two
	until    int64
	spent    bool // the one call it lets through has gone, or its turn ended
}

type grant struct {
	approval.Grant
	over bool
}

type bookMachine struct {
	book      approval.Book
	now       int64
	order     []string
	questions map[string]*question
	grants    map[string]*grant
}

func (q *question) open(now int64) bool { return len(q.outcomes) == 0 && now < q.expires }

func (m *bookMachine) held(t *rapid.T) approval.Held {
	return approval.Held{
		Branch: rapid.SampledFrom([]string{"", "child"}).Draw(t, "branch"),
		Tool:   rapid.SampledFrom([]string{"exec", "message"}).Draw(t, "tool"),
		Digest: tool.DigestOf([]byte(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "args"))),
		Policy: rapid.SampledFrom([]string{"p1", "p2"}).Draw(t, "policy"),
		Level:  rapid.SampledFrom([]trust.Level{trust.Untrusted, trust.External, trust.Shared}).Draw(t, "level"),
		Args:   new(tool.Args),
	}
}

func (m *bookMachine) ask(t *rapid.T) {
	id := fmt.Sprintf("q%d", len(m.order))
	q := &question{held: m.held(t), code: fmt.Sprintf("%08x", len(m.order)), expires: m.now + 120}
	m.order, m.questions[id] = append(m.order, id), q
	m.book.Ask(approval.Request{
		ID: id, Branch: q.held.Branch, Tool: q.held.Tool, Digest: q.held.Digest, Policy: q.held.Policy, Level: q.held.Level,
		CodeHash: hash(q.code), Asked: m.now, Expires: q.expires,
	}, "")
}

// answer uses the code of some question, right or wrong tool, live or not.
func (m *bookMachine) answer(t *rapid.T) {
	if len(m.order) == 0 {
		t.Skip("nothing was asked")
	}
	id := rapid.SampledFrom(m.order).Draw(t, "question")
	q := m.questions[id]
	name := rapid.SampledFrom([]string{"exec", "message", "all"}).Draw(t, "named")
	ids, err := m.book.Match(name, hash(q.code), m.now)
	if fits := name == "all" || name == q.held.Tool; (err == nil) != (q.open(m.now) && fits) {
		t.Fatalf("code of %s for %s: got %v; open %v, fits %v", id, name, err, q.open(m.now), fits)
	}
	if err != nil {
		m.wrong(t)
		return
	}
	if ids[len(ids)-1] != id || name != "all" && len(ids) != 1 {
		t.Fatalf("code of %s for %s: got %v", id, name, ids)
	}
	for _, id := range ids {
		if o := m.questions[id]; !o.open(m.now) || o.held.Branch != q.held.Branch {
			t.Fatalf("%s is answered by the code of another question, but is not open beside it", id)
		}
	}
	m.resolve(t, ids)
}

func (m *bookMachine) resolve(t *rapid.T, ids []string) {
	outcome := rapid.SampledFrom([]string{"approved", "denied", "granted"}).Draw(t, "outcome")
	worst, tools := m.book.Worst(ids)
	for _, id := range ids {
		m.questions[id].outcomes = append(m.questions[id].outcomes, outcome)
		m.questions[id].until = m.now + unspent
	}
	switch outcome {
	case "approved":
		m.book.Approve(ids, "owner", m.now+unspent)
	case "denied":
		m.book.Close(approval.Denied, "owner", "", m.now, ids...)
	case "granted":
		g := approval.Grant{ID: fmt.Sprintf("g%d", len(m.grants)), Branch: worst.Branch, Tools: tools, Ceiling: worst.Level, Policy: worst.Policy}
		for _, name := range tools {
			g.Keeps = append(g.Keeps, approval.Keep(name, "q", &tool.Args{}, func(string, string) bool { return false }))
		}
		if g.Turn = rapid.Bool().Draw(t, "for the turn"); !g.Turn {
			g.Until = m.now + 600
		}
		m.book.Close(approval.Denied, "owner", "", m.now, ids...)
		m.book.Grant(g)
		m.grants[g.ID] = &grant{Grant: g}
	}
}

func (m *bookMachine) wrong(*rapid.T) {
	for _, q := range m.questions {
		if q.open(m.now) {
			if q.tries++; q.tries == approval.MaxTries {
				q.outcomes = append(q.outcomes, "dead")
			}
		}
	}
	m.book.Fail(m.now)
}

// lets are the ids that may let the call through, by the plain words.
func (m *bookMachine) lets(h approval.Held) (approvals, grants []string) {
	for id, q := range m.questions {
		same := q.held.Branch == h.Branch && q.held.Tool == h.Tool && q.held.Digest == h.Digest && q.held.Policy == h.Policy
		if slices.Contains(q.outcomes, "approved") && !q.spent && m.now < q.until && same && h.Level >= q.held.Level {
			approvals = append(approvals, id)
		}
	}
	for id, g := range m.grants {
		if !g.over && (g.Turn || m.now < g.Until) && g.Branch == h.Branch && g.Policy == h.Policy && h.Level >= g.Ceiling && slices.Contains(g.Tools, h.Tool) {
			grants = append(grants, id)
		}
	}
	return approvals, grants
}

func (m *bookMachine) call(t *rapid.T) {
	h := m.held(t)
	approvals, grants := m.lets(h)
	id, ok := m.book.Covers(h, m.now)
	switch {
	case ok != (len(approvals)+len(grants) > 0):
		t.Fatalf("covered %v by %q, want one of %v or %v", ok, id, approvals, grants)
	case len(approvals) > 0 && !slices.Contains(approvals, id):
		t.Fatalf("covered by %q, want an approval of this call first: %v", id, approvals)
	case ok && len(approvals) == 0 && !slices.Contains(grants, id):
		t.Fatalf("covered by %q, want one of %v", id, grants)
	}
	if p, ok := m.book.Pending(h, m.now); ok && !m.questions[p.ID].open(m.now) {
		t.Fatalf("%s is shown again, but is not open", p.ID)
	}
	if len(approvals) > 0 {
		m.questions[id].spent = true
	}
	if ok {
		m.book.Close(approval.Spent, "", "", m.now, id) // what the log does with a spent approval; it leaves grants alone
	}
}

func (m *bookMachine) endTurn(t *rapid.T) {
	branch := rapid.SampledFrom([]string{"", "child"}).Draw(t, "branch")
	for _, g := range m.grants {
		g.over = g.over || g.Turn && g.Branch == branch
	}
	m.book.EndTurn(branch, m.now)
}

func (m *bookMachine) revoke(t *rapid.T) {
	id := fmt.Sprintf("g%d", rapid.IntRange(0, len(m.grants)).Draw(t, "grant"))
	g := m.grants[id]
	if g != nil {
		g.over = true
	}
	if m.book.Revoke(id) && g == nil {
		t.Fatalf("revoked %s, which nobody gave", id)
	}
}

func (m *bookMachine) check(t *rapid.T) {
	for id, q := range m.questions {
		if len(q.outcomes) == 0 && m.now >= q.expires {
			q.outcomes = append(q.outcomes, "expired")
		}
		if len(q.outcomes) > 1 {
			t.Fatalf("%s has the outcomes %v", id, q.outcomes)
		}
	}
	for _, r := range m.book.Requests() {
		q := m.questions[r.ID]
		if r.State == approval.Approved != slices.Contains(q.outcomes, "approved") || r.State == approval.Approved && q.spent {
			t.Fatalf("%s is in state %v, but its outcomes are %v", r.ID, r.State, q.outcomes)
		}
	}
	for _, g := range m.book.Grants(m.now) {
		if k := m.grants[g.ID]; k.over || !k.Turn && m.now >= k.Until {
			t.Fatalf("grant %s is listed after its end", g.ID)
		}
	}
}

// PRV-18 PRV-19
func TestTheBookIsAStateMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &bookMachine{now: 1, questions: map[string]*question{}, grants: map[string]*grant{}}
		t.Repeat(map[string]func(*rapid.T){
			"ask":     m.ask,
			"answer":  m.answer,
			"wrong":   m.wrong,
			"call":    m.call,
			"endTurn": m.endTurn,
			"revoke":  m.revoke,
			"wait":    func(t *rapid.T) { m.now += int64(rapid.IntRange(1, 200).Draw(t, "time")) },
			"":        m.check,
		})
	})
}
