// Package quorum says which people a question is put to, whose approval counts, and how many of
// them it takes. It is pure: the clock is handed in, and nothing is remembered.
//
// Invariants:
//   - without rules everybody who may answer decides alone, unless a rule of the policy wants several (Case.People);
//   - the first rule that fits a question decides; one that names people lets nobody else approve;
//   - several people are several names, whichever accounts they use; where a rule wants them apart, at most one of them is
//     known by a token that an administrator here could have made;
//   - denying is never put to it.
package quorum

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/glob"
	"github.com/tidemark/tidemark/internal/engine"
)

// Person is somebody who answers.
type Person struct {
	Name     string
	Accounts []string // as answers are recorded: slack:U1, telegram:7, approver
	Agents   []string // their own agents, by id
	Quiet    Hours    // when no message is sent to them
	Sees     []string // whose sessions they may look into, by patterns of agents
}

// Hours are a span of the day, in minutes since midnight; the zero Hours are never. One whose
// end is before its begin goes over midnight.
type Hours struct {
	From, To int
	Zone     *time.Location
}

// Hold reports whether a time lies within, and until when.
func (h Hours) Hold(now time.Time) (until time.Time, ok bool) {
	if h.From == h.To || h.Zone == nil {
		return time.Time{}, false
	}
	local := now.In(h.Zone)
	at := local.Hour()*60 + local.Minute()
	if !h.holds(at) {
		return time.Time{}, false
	}
	left := h.To - at
	if left <= 0 {
		left += 24 * 60
	}
	return now.Truncate(time.Minute).Add(time.Duration(left) * time.Minute), true
}

// holds reports whether a minute of the day lies within.
func (h Hours) holds(at int) bool {
	if h.From > h.To {
		return at >= h.From || at < h.To
	}
	return at >= h.From && at < h.To
}

// Rule says of some questions whom they are put to. Empty lists fit everything.
type Rule struct {
	Agents, Tools, Acts, Kinds []string // patterns of agents and tools; names of acts and kinds
	Ask                        []string // names of people; empty: everybody
	Then                       []Step   // who is asked besides, later
	People                     int      // how many must approve; 0 and 1: one
	NotOwn                     bool     // nobody approves for an agent of their own
	Apart                      bool     // of several people at most one is known by a token of this server alone
}

// Step asks further people when nobody has answered for a while.
type Step struct {
	After time.Duration
	Ask   []string
}

// Rules are all of them.
type Rules struct {
	People []Person
	List   []Rule
}

var _ engine.ApproverRules = (*Rules)(nil)

// fits reports whether the rule is about a question.
func (r *Rule) fits(c engine.QuestionInfo) bool {
	named := func(list []string, value string) bool { return len(list) == 0 || slices.Contains(list, value) }
	like := func(list []string, value string) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(p string) bool { return glob.Match(p, value) })
	}
	return like(r.Agents, c.Agent) && like(r.Tools, c.Tool) && named(r.Acts, c.Act) && named(r.Kinds, c.Kind)
}

// rule is the first that fits; the zero Rule asks everybody for one approval.
func (r *Rules) rule(c engine.QuestionInfo) Rule {
	for i := range r.List {
		if r.List[i].fits(c) {
			rule := r.List[i]
			rule.People = max(rule.People, c.People)
			return rule
		}
	}
	return Rule{People: c.People}
}

// asked are those a question is put to by now, and when that changes. Nobody means everybody.
func (r *Rule) asked(c engine.QuestionInfo) (names []string, next time.Time) {
	if len(r.Ask) == 0 {
		return nil, time.Time{}
	}
	names = slices.Clone(r.Ask)
	for _, s := range r.Then {
		switch at := c.Asked.Add(s.After); {
		case !c.Now.Before(at):
			names = append(names, s.Ask...)
		case next.IsZero() || at.Before(next):
			next = at
		}
	}
	return names, next
}

// person is whose account it is; nil: nobody's that the file names. A token of somebody's own
// (approver:ada) is that of the person of this name.
func (r *Rules) person(account string) *Person {
	role, name, _ := strings.Cut(account, ":")
	named := role == "approver" || role == "admin"
	for i := range r.People {
		if slices.Contains(r.People[i].Accounts, account) || named && r.People[i].Name == name {
			return &r.People[i]
		}
	}
	return nil
}

// nameOf is a person's name, or the account of somebody the file does not name.
func (r *Rules) nameOf(account string) string {
	if p := r.person(account); p != nil {
		return p.Name
	}
	return account
}

// owns reports whether an agent is a person's own, by names that may be patterns.
func (p *Person) owns(agent string) bool {
	return slices.ContainsFunc(p.Agents, func(a string) bool { return glob.Stars(strings.ToLower(a), strings.ToLower(agent)) })
}

// Allows implements engine.ApproverRules.
func (r *Rules) Allows(c engine.QuestionInfo, by string, agreed []string) (enough bool, err error) {
	rule, who := r.rule(c), r.person(by)
	names, _ := rule.asked(c)
	switch {
	case len(names) > 0 && (who == nil || !slices.Contains(names, who.Name)):
		asked := strings.Join(names, ", ")
		return false, fmt.Errorf("%w: %s is not one of those who are asked: %s", engine.ErrApprover, r.nameOf(by), asked)
	case rule.NotOwn && who == nil:
		return false, fmt.Errorf("%w: approvals.people has no entry for %s", engine.ErrApprover, by)
	case rule.NotOwn && c.Agent == "":
		return false, fmt.Errorf("%w: approvals.people does not say whose agent this is, and %s may not approve for their own",
			engine.ErrApprover, who.Name)
	case rule.NotOwn && who.owns(c.Agent):
		return false, fmt.Errorf("%w: %s is the agent of %s, and another person must approve", engine.ErrApprover, c.Agent, who.Name)
	case rule.People > 1 && who == nil:
		return false, fmt.Errorf("%w: it takes %d people, and approvals.people has no entry for %s", engine.ErrApprover, rule.People, by)
	}
	if rule.People <= 1 {
		return true, nil
	}
	before, here := r.agreed(c, &rule, agreed)
	switch {
	case slices.Contains(before, who.Name):
		return false, fmt.Errorf("%w: %s has approved already; another person must approve too", engine.ErrApprover, who.Name)
	case rule.Apart && here != "" && !Vouched(by):
		return false, fmt.Errorf("%w: %s and %s both use tokens of this server, which one administrator could have made; "+
			"one approval must come from a chat or a sign-in provider", engine.ErrApprover, here, who.Name)
	}
	return len(before)+1 >= rule.People, nil
}

// agreed are the people whose approval of before still counts, by the rules of now: who was asked then may be no longer.
// here is the one of them who is known by a token of this server alone; where the rule wants people apart there is at
// most one.
func (r *Rules) agreed(c engine.QuestionInfo, rule *Rule, accounts []string) (names []string, here string) {
	asked, _ := rule.asked(c)
	for _, a := range accounts {
		p := r.person(a)
		if p == nil || slices.Contains(names, p.Name) || len(asked) > 0 && !slices.Contains(asked, p.Name) ||
			rule.NotOwn && p.owns(c.Agent) {
			continue
		}
		if !Vouched(a) {
			if rule.Apart && here != "" {
				continue
			}
			here = p.Name
		}
		names = append(names, p.Name)
	}
	return names, here
}

// Vouched reports whether somebody else than this server says whose account it is: a chat, or a provider that names people
// by their address. A token made here has no @ in its name.
func Vouched(account string) bool {
	kind, name, named := strings.Cut(account, ":")
	switch kind {
	case "slack", "discord", "telegram":
		return named && name != ""
	case "approver", "admin":
		return strings.Contains(name, "@")
	}
	return false
}

// Reaches is Pushed for one account: whether whoever has it is asked, and not in their quiet hours.
func (r *Rules) Reaches(c engine.QuestionInfo, account string) (now bool, next time.Time) {
	if !r.Sees(account).Agent(c.Agent) && !strings.HasPrefix(account, admin) {
		return false, time.Time{}
	}
	rule, who := r.rule(c), r.person(account)
	names, next := rule.asked(c)
	if len(names) > 0 && (who == nil || !slices.Contains(names, who.Name)) {
		return false, next
	}
	if who == nil {
		return true, time.Time{}
	}
	until, quiet := who.Quiet.Hold(c.Now)
	return !quiet, until
}

// Pushed reports whether a question is sent to a channel now: whether somebody is asked who
// has an account there, and whose hours are not quiet. next is when to look again; zero: never. What somebody who reads the channel
// may not see is not sent there.
func (r *Rules) Pushed(c engine.QuestionInfo, channel string) (now bool, next time.Time) {
	if !r.readBy(channel).Agent(c.Agent) {
		return false, time.Time{}
	}
	rule := r.rule(c)
	names, next := rule.asked(c)
	known := false // the file says who reads the channel
	for i := range r.People {
		p := &r.People[i]
		here := slices.ContainsFunc(p.Accounts, func(a string) bool { return strings.HasPrefix(a, channel+":") })
		if !here {
			continue
		}
		known = true
		if len(names) > 0 && !slices.Contains(names, p.Name) {
			continue
		}
		until, quiet := p.Quiet.Hold(c.Now)
		switch {
		case !quiet:
			return true, next
		case next.IsZero() || until.Before(next):
			next = until
		}
	}
	return !known && len(names) == 0, next
}
