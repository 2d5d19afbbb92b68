package approval

import (
	"cmp"
	"slices"

	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Book holds a session's open questions, unspent approvals and grants, and the latest
// outcomes, so that whoever waits can be told. The log keeps the rest. The zero Book is
// empty.
type Book struct {
	requests []*Request // in the order they were asked
	grants   []Grant
	closed   []Closed // the latest, oldest first
}

// maxClosed bounds how many outcomes are remembered.
const maxClosed = 256

// Empty reports whether nothing is open and nothing in force.
func (b *Book) Empty() bool { return len(b.requests) == 0 && len(b.grants) == 0 }

// Live is how many questions wait for an answer.
func (b *Book) Live(now int64) int {
	n := 0
	for _, r := range b.requests {
		if r.live(now) {
			n++
		}
	}
	return n
}

// Outcome finds a question that is closed.
func (b *Book) Outcome(id string) (Closed, bool) {
	for i := range b.closed {
		if b.closed[i].ID == id {
			return b.closed[i], true
		}
	}
	return Closed{}, false
}

// Refused finds the denial of this exact call in this turn: a person who said no is not
// asked again until somebody begins another turn.
func (b *Book) Refused(c Held) (Closed, bool) {
	for i := range b.closed {
		o := &b.closed[i]
		if o.State == Denied && !o.over && o.Branch == c.Branch && o.Tool == c.Tool && o.Digest == c.Digest && o.Policy == c.Policy {
			return *o, true
		}
	}
	return Closed{}, false
}

// Requests lists open questions and unspent approvals, oldest first.
func (b *Book) Requests() []Request {
	out := make([]Request, len(b.requests))
	for i, r := range b.requests {
		out[i] = *r
	}
	return out
}

// Grants lists the grants that are in force.
func (b *Book) Grants(now int64) []Grant {
	return slices.DeleteFunc(slices.Clone(b.grants), func(g Grant) bool { return g.over(now) })
}

// Request finds an open question or unspent approval.
func (b *Book) Request(id string) (Request, bool) {
	for _, r := range b.requests {
		if r.ID == id {
			return *r, true
		}
	}
	return Request{}, false
}

// Covers says which approval or grant lets the call through, if any. An approval of
// this exact call comes first, so that it is not left lying about.
func (b *Book) Covers(c Held, now int64) (id string, ok bool) {
	if len(b.requests) == 0 && len(b.grants) == 0 {
		return "", false
	}
	for _, r := range b.requests {
		if r.State == Approved && now < r.Until && r.Branch == c.Branch && r.Tool == c.Tool &&
			r.Digest == c.Digest && r.Policy == c.Policy && c.Level >= r.Level {
			return r.ID, true
		}
	}
	for i := range b.grants {
		if b.grants[i].covers(c, now) {
			return b.grants[i].ID, true
		}
	}
	return "", false
}

// Pending finds the live question about this exact call.
func (b *Book) Pending(c Held, now int64) (Request, bool) {
	for _, r := range b.requests {
		if r.live(now) && r.Branch == c.Branch && r.Tool == c.Tool && r.Digest == c.Digest && r.Policy == c.Policy && r.Level <= c.Level {
			return *r, true
		}
	}
	return Request{}, false
}

// Outdated reports whether one of the questions was asked under another policy than this one: a yes to it lets nothing through,
// since the policy in force has not been asked about the call.
func (b *Book) Outdated(ids []string, policy string) bool {
	return slices.ContainsFunc(b.requests, func(r *Request) bool { return r.Policy != policy && slices.Contains(ids, r.ID) })
}

// Lapsed reports whether this exact call was approved under another policy, and has not run.
func (b *Book) Lapsed(c Held, now int64) bool {
	return slices.ContainsFunc(b.requests, func(r *Request) bool {
		return r.State == Approved && now < r.Until && r.Branch == c.Branch && r.Tool == c.Tool &&
			r.Digest == c.Digest && r.Policy != c.Policy
	})
}

// Match finds the questions a chat command answers. The code must be that of a live
// question of the named tool; "all" takes every live question asked before it too. The
// question the code belongs to comes last.
func (b *Book) Match(toolName string, code tool.Digest, now int64) ([]string, error) {
	var hit *Request
	for _, r := range b.requests {
		if sameCode(r.CodeHash, code) {
			hit = r
		}
	}
	switch {
	case hit == nil:
		return nil, ErrNoMatch
	case hit.State == Dead:
		return nil, ErrDead
	case hit.State == Approved:
		return nil, ErrGone
	case now >= hit.CodeLives():
		return nil, ErrExpired
	case toolName != "all" && toolName != hit.Tool:
		return nil, ErrTool
	case toolName != "all":
		return []string{hit.ID}, nil
	}
	var ids []string
	for _, r := range b.requests { // by order, not by clock: clocks repeat and go back
		if r.live(now) && r.Branch == hit.Branch {
			ids = append(ids, r.ID)
		}
		if r == hit {
			break
		}
	}
	return ids, nil
}

// Open checks that all ids are live questions.
func (b *Book) Open(ids []string, now int64) error {
	for _, id := range ids {
		r, ok := b.Request(id)
		switch {
		case !ok:
			return ErrGone
		case r.State == Dead:
			return ErrDead
		case r.State == Approved:
			return ErrGone
		case now >= r.Expires:
			return ErrExpired
		}
	}
	return nil
}

// Ask adds a question; replaces names the one it stands in for, if any. An agent that
// asks without end pushes its own oldest questions out.
func (b *Book) Ask(r Request, replaces string) {
	b.requests = slices.DeleteFunc(b.requests, func(o *Request) bool {
		if o.ID == replaces && o.ID == r.ID {
			r.Agreed = o.Agreed // only its code is new
		}
		return o.ID == replaces || lapsed(o, r.Asked)
	})
	if len(b.requests) >= MaxOpen {
		if i := slices.IndexFunc(b.requests, func(o *Request) bool { return o.State != Approved }); i >= 0 {
			b.Close(Lost, "", "", r.Asked, b.requests[i].ID)
		}
	}
	b.requests = append(b.requests, &r)
}

// Close gives questions their outcome.
func (b *Book) Close(state State, by, reason string, now int64, ids ...string) {
	b.close(state, by, reason, now, func(r *Request) bool { return slices.Contains(ids, r.ID) })
}

func (b *Book) close(state State, by, reason string, now int64, which func(*Request) bool) {
	b.requests = slices.DeleteFunc(b.requests, func(r *Request) bool {
		if !which(r) {
			return false
		}
		c := Closed{Request: *r, Reason: reason, At: now}
		c.State, c.By = state, cmp.Or(by, r.By)
		b.closed = append(b.closed, c)
		return true
	})
	if n := len(b.closed) - maxClosed; n > 0 {
		b.closed = slices.Delete(b.closed, 0, n)
	}
}

// keepExpired is how long an expired question is remembered, so that a late answer is
// told "expired" and not "unknown".
const keepExpired = int64(10 * 60 * 1e9)

func lapsed(r *Request, now int64) bool {
	if r.State == Approved {
		return now >= r.Until
	}
	return now >= r.Expires+keepExpired
}

// Hand notes that a host's own dialog asks about an open question.
func (b *Book) Hand(branch string, digest tool.Digest, host string) {
	for _, r := range b.requests {
		if r.State == Pending && r.Branch == branch && r.Digest == digest {
			r.Dialog = host
		}
	}
}

// Release adds an approval for one exact call that a person has looked at in full: it
// holds whatever the context's level.
func (b *Book) Release(r Request) {
	r.State, r.Level = Approved, trust.Untrusted
	b.requests = append(b.requests, &r)
}

// Approve marks pending questions approved until the given time: each is for one exact call,
// once, and whether the owner or the agent says something in between changes nothing.
func (b *Book) Approve(ids []string, by string, until int64) {
	for _, r := range b.requests {
		if r.State == Pending && slices.Contains(ids, r.ID) {
			r.State, r.By, r.Until = Approved, by, until
		}
	}
}

// Agree notes an approval that needs another person's.
func (b *Book) Agree(ids []string, by string) {
	for _, r := range b.requests {
		if r.State == Pending && slices.Contains(ids, r.ID) {
			r.Agreed = append(slices.Clip(r.Agreed), by)
		}
	}
}

// Settle closes every question and approval about this exact call: it was let through,
// or its content was reviewed.
func (b *Book) Settle(branch string, digest tool.Digest, now int64) {
	b.close(Moot, "", "", now, func(r *Request) bool { return r.Branch == branch && r.Digest == digest })
}

// Fail counts a wrong try against every live question.
func (b *Book) Fail(now int64) {
	for _, r := range b.requests {
		if !r.live(now) {
			continue
		}
		if r.Tries++; r.Tries >= MaxTries {
			r.State = Dead
		}
	}
}

// Grant adds a grant.
func (b *Book) Grant(g Grant) { b.grants = append(b.grants, g) }

// Use counts a call that a grant let through; with its last one the grant is over. Whatever else the id names stays as it is.
func (b *Book) Use(id string, now int64) {
	b.grants = slices.DeleteFunc(b.grants, func(g Grant) bool { return g.ID == id && g.Calls == 1 })
	for i := range b.grants {
		g := &b.grants[i]
		if g.ID != id {
			continue
		}
		g.Times, g.Used = g.Times+1, now
		if g.Calls > 1 {
			g.Calls--
		}
	}
}

// Passed counts a call that was decided against the grants of tasks, whatever let it through.
func (b *Book) Passed(now int64) {
	for i := range b.grants {
		if g := &b.grants[i]; g.Task && !g.over(now) { // one that is over stays so
			g.Last, g.Seen = now, g.Seen+1
		}
	}
}

// EndTask drops what was granted for the task.
func (b *Book) EndTask() {
	b.grants = slices.DeleteFunc(b.grants, func(g Grant) bool { return g.Task })
}

// Revoke ends a grant; it reports whether there was one.
func (b *Book) Revoke(id string) bool {
	n := len(b.grants)
	b.grants = slices.DeleteFunc(b.grants, func(g Grant) bool { return g.ID == id })
	return len(b.grants) < n
}

// EndTurn drops what was granted for the turn only.
func (b *Book) EndTurn(branch string, now int64) {
	for i := range b.closed {
		if b.closed[i].Branch == branch {
			b.closed[i].over = true
		}
	}
	if len(b.grants) > 0 {
		b.grants = slices.DeleteFunc(b.grants, func(g Grant) bool {
			return g.Branch == branch && g.Turn || g.over(now)
		})
	}
}

// Worst is the least trusted level among the questions: the ceiling of a grant made from them.
func (b *Book) Worst(ids []string) (r Request, tools []string) {
	found := slices.DeleteFunc(b.Requests(), func(r Request) bool { return !slices.Contains(ids, r.ID) })
	for _, f := range found {
		if !slices.Contains(tools, f.Tool) {
			tools = append(tools, f.Tool)
		}
	}
	if len(found) == 0 {
		return Request{}, nil
	}
	return slices.MinFunc(found, func(a, b Request) int { return cmp.Compare(a.Level, b.Level) }), tools
}
