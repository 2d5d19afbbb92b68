package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/engine"
)

// reply is one scripted answer of the auditor or the verifier.
type reply struct {
	pos      configfile.Pos
	kind     string   // of the question: caution, consistency, plan, verify
	tool     string   // normalised; "" fits every tool
	contains []string // parts of what is asked
	lacks    []string // must not be part of it
	answer   string   // allow, block, consistent, inconsistent, unsure, deny, error
	reason   string
	rules    string // of plan
	under    string // the only preset that asks for it; "" for all
}

func (r *reply) fits(kind, tool, text string) bool {
	part := func(s string) bool { return strings.Contains(text, s) }
	return r.kind == kind && (r.tool == "" || r.tool == tool) &&
		!slices.ContainsFunc(r.contains, func(s string) bool { return !part(s) }) && !slices.ContainsFunc(r.lacks, part)
}

// advisers are everybody a scenario's monitor asks. It survives a restart, as they would.
type advisers struct {
	replies []reply

	mu    sync.Mutex
	asked []string // guarded by mu; "caution message", "verify exec"
	used  []bool   // guarded by mu; by reply
}

func newAdvisers(all []reply, preset string) *advisers {
	replies := slices.DeleteFunc(slices.Clone(all), func(r reply) bool { return r.under != "" && r.under != preset })
	return &advisers{replies: replies, used: make([]bool, len(replies))}
}

var errUnscripted = errors.New("the scenario has no answer to this")

// find notes a question and looks its answer up: the first that fits.
func (c *advisers) find(kind, tool, text string) (reply, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, strings.TrimSpace(kind+" "+tool))
	i := slices.IndexFunc(c.replies, func(r reply) bool { return r.fits(kind, tool, text) })
	if i < 0 {
		return reply{}, errUnscripted
	}
	c.used[i] = true
	r := c.replies[i]
	if r.answer == "error" {
		return r, errors.New(r.reason)
	}
	return r, nil
}

func (c *advisers) questions() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.asked)
}

// idle are the places of answers that nobody asked for.
func (c *advisers) idle() []configfile.Pos {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []configfile.Pos
	for i, used := range c.used {
		if !used {
			out = append(out, c.replies[i].pos)
		}
	}
	return out
}

// auditor is the scripted auditor. It looks answers up by the very words a model would
// be sent.
type auditor struct{ *advisers }

var _ engine.Auditor = auditor{}

// Audit implements engine.Auditor.
func (a auditor) Audit(_ context.Context, _ string, q intent.Question) (intent.Opinion, error) {
	_, user := q.Prompt()
	r, err := a.find(q.Kind.String(), q.Tool, user)
	if err != nil {
		return intent.Opinion{}, err
	}
	o, err := intent.Parse(q.Kind, r.answer+": "+r.reason)
	o.Model = "scripted"
	return o, err
}

// Plan implements engine.Auditor.
func (a auditor) Plan(_ context.Context, _ string, t intent.Task) (rules, model string, err error) {
	_, user := t.Prompt()
	r, err := a.find("plan", "", user)
	return r.rules, "scripted", err
}

// authority is the scripted verifier. Its answers stand for a webhook's.
type authority struct{ *advisers }

var _ engine.Verifier = authority{}

// Covers implements engine.Verifier: every tool that an answer is scripted for.
func (v authority) Covers(_, tool string) bool {
	return slices.ContainsFunc(v.replies, func(r reply) bool { return r.kind == "verify" && (r.tool == "" || r.tool == tool) })
}

// Verify implements engine.Verifier. Without an answer it denies, as failMode does
// unless it is told otherwise.
func (v authority) Verify(_ context.Context, c engine.Check) engine.Ruling {
	r, err := v.find("verify", c.Tool, string(c.Params))
	if err != nil {
		return engine.Ruling{By: "failMode", Reason: err.Error(), Failed: true}
	}
	return engine.Ruling{Allow: r.answer == "allow", By: "webhook", Reason: r.reason}
}

// checkCounsel reports answers that nobody asked for: the story does not go where its
// author thinks. A door that does not see every step need not get there.
func (r *run) checkCounsel() {
	if len(r.report.Unseen) > 0 {
		return
	}
	for _, pos := range r.world.advisers.idle() {
		got := fmt.Sprintf("nobody asks for this answer; asked was %v", r.world.advisers.questions())
		r.miss(Mismatch{Pos: pos, Step: "script", Got: got})
	}
}
