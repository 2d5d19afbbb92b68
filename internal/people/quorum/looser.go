package quorum

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Looser are the places where rules let people approve who could not before, or fewer of them, or send them less. What
// is not seen to be as strict counts.
func Looser(before, after *Rules) []string {
	out := append(looserQuiet(before, after), looserSees(before, after)...)
	if len(before.List) == 0 {
		return out // everybody decided alone: no rule takes less
	}
	out = append(out, looserPeople(before, after)...)
	for i := range before.List {
		was, name := &before.List[i], fmt.Sprintf("approvals.rules: rule %d", i+1)
		if i >= len(after.List) {
			out = append(out, name+" would be gone")
			continue
		}
		is := &after.List[i]
		if !was.sameCases(is) {
			out = append(out, name+" would apply to other questions")
			continue
		}
		for _, what := range was.looser(is) {
			out = append(out, name+": "+what)
		}
	}
	return out // further rules are about what everybody decided alone
}

// sameCases reports whether two rules are about the same questions.
func (r *Rule) sameCases(o *Rule) bool {
	return slices.Equal(r.Agents, o.Agents) && slices.Equal(r.Tools, o.Tools) &&
		slices.Equal(r.Acts, o.Acts) && slices.Equal(r.Kinds, o.Kinds)
}

// looser is what another rule about the same questions asks less.
func (r *Rule) looser(next *Rule) []string {
	var out []string
	if max(next.People, 1) < max(r.People, 1) {
		out = append(out, fmt.Sprintf("took %d people and would take %d", max(r.People, 1), max(next.People, 1)))
	}
	if r.NotOwn && !next.NotOwn {
		out = append(out, "people could approve for agents of their own")
	}
	if r.Apart && !next.Apart {
		out = append(out, "all approvals could come from tokens that one administrator made")
	}
	if len(r.Ask) == 0 {
		return out
	}
	if len(next.Ask) == 0 {
		return append(out, "everybody could approve")
	}
	before, now := r.when(), next.when()
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if at, asked := before[name]; !asked {
			out = append(out, name+" could approve too")
		} else if now[name] < at {
			out = append(out, name+" could approve earlier")
		}
	}
	return out
}

// when is after how long each person is asked.
func (r *Rule) when() map[string]time.Duration {
	out := map[string]time.Duration{}
	for _, s := range r.Then {
		for _, name := range s.Ask {
			if at, asked := out[name]; !asked || s.After < at {
				out[name] = s.After
			}
		}
	}
	for _, name := range r.Ask {
		out[name] = 0
	}
	return out
}

// looserPeople compares who counts as whom.
func looserPeople(before, after *Rules) []string {
	var out []string
	for i := range after.People {
		is := &after.People[i]
		j := slices.IndexFunc(before.People, func(p Person) bool { return p.Name == is.Name })
		if j < 0 {
			out = append(out, "approvals.people: "+is.Name+" would be added")
			continue
		}
		was := &before.People[j]
		for _, a := range is.Accounts {
			if !slices.Contains(was.Accounts, a) {
				out = append(out, fmt.Sprintf("approvals.people: %s could approve as %s", a, is.Name))
			}
		}
		for _, a := range was.Agents {
			if !slices.Contains(is.Agents, a) {
				out = append(out, fmt.Sprintf("approvals.people: %s would no longer be an agent of %s", a, is.Name))
			}
		}
	}
	return out
}

// looserQuiet are people who would be sent less.
func looserQuiet(before, after *Rules) []string {
	var out []string
	for i := range after.People {
		is := &after.People[i]
		j := slices.IndexFunc(before.People, func(p Person) bool { return p.Name == is.Name })
		if j >= 0 && !is.Quiet.within(before.People[j].Quiet) {
			out = append(out, fmt.Sprintf("approvals.people: %s would get no messages at other hours than before", is.Name))
		}
	}
	return out
}

// within reports whether every quiet minute is one of other hours too.
func (h Hours) within(o Hours) bool {
	if h.From == h.To || h.Zone == nil {
		return true
	}
	if o.Zone == nil || o.Zone.String() != h.Zone.String() {
		return false
	}
	for at := h.From; at != h.To; at = (at + 1) % (24 * 60) {
		if !o.holds(at) {
			return false
		}
	}
	return true
}
