package quorum

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/people/sight"
)

// Sees is what somebody may look into. As long as the file says of nobody what they see, everybody who may read sees everything; from
// then on those alone see something of whom it says so.
func (r *Rules) Sees(by string) sight.Sight {
	if !r.limits() {
		return sight.Everything()
	}
	for i := range r.People {
		if p := &r.People[i]; slices.Contains(p.Accounts, by) {
			return sight.Of(p.Sees)
		}
	}
	return sight.Sight{}
}

// admin begins the accounts of administrators, who see everything.
const admin = "admin:"

// readBy is what everybody sees who has an account at a channel: what is sent there, all of them read. Where the file says nobody's
// name, nobody is known to see anything.
func (r *Rules) readBy(channel string) sight.Sight {
	if !r.limits() {
		return sight.Everything()
	}
	var all []sight.Sight
	for i := range r.People {
		p := &r.People[i]
		if slices.ContainsFunc(p.Accounts, func(a string) bool { return strings.HasPrefix(a, channel+":") }) {
			all = append(all, sight.Of(p.Sees))
		}
	}
	return sight.Shared(all)
}

func (r *Rules) limits() bool {
	return slices.ContainsFunc(r.People, func(p Person) bool { return len(p.Sees) > 0 })
}

// looserSees are people who would see more than before.
func looserSees(before, after *Rules) []string {
	switch {
	case !before.limits():
		return nil
	case !after.limits():
		return []string{"approvals.people: everybody who may read would see every session"}
	}
	var out []string
	for i := range after.People {
		is := &after.People[i]
		for _, account := range is.Accounts {
			was := before.peopleOf(account)
			for _, agent := range is.Sees {
				if was == nil || !slices.Contains(was.Sees, agent) {
					out = append(out, fmt.Sprintf("approvals.people: %s would see the sessions of %s", account, agent))
				}
			}
		}
	}
	return out
}

// peopleOf is whose an account is; nil: nobody's.
func (r *Rules) peopleOf(account string) *Person {
	for i := range r.People {
		if slices.Contains(r.People[i].Accounts, account) {
			return &r.People[i]
		}
	}
	return nil
}
