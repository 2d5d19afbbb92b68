package policies

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/people/quorum"
)

// looserSections are the places beside the policy where a file asks less of people, or has fewer look on, than this
// server was started with. What nobody knows how to compare counts wherever it differs.
func looserSections(before, after *config.Config) []string {
	out := []string{}
	names := slices.Collect(maps.Keys(before.Sections))
	for name := range after.Sections {
		if _, both := before.Sections[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		was, had := before.Sections[name]
		is, has := after.Sections[name]
		switch {
		case had && has && was == is, name == "channels.push": // nothing is answered by a notice
		case name == "approvals":
			out = append(out, looserApprovals(&before.Approvals, &after.Approvals)...)
		case name == "hooks":
			out = append(out, looserHooks(before.Hooks, after.Hooks)...)
		case strings.HasPrefix(name, "plugins.") && !had: // what a plugin does cannot widen
		case strings.HasPrefix(name, "plugins.") && !has:
			out = append(out, name+": it would be switched off")
		case (strings.HasPrefix(name, "channels.") || name == "telegram") && !has: // one place fewer to answer in
		case strings.HasPrefix(name, "channels.") || name == "telegram":
			out = append(out, name+": people could answer there, or in another way than since this server started")
		default:
			out = append(out, name+": it has changed since this server started, and nothing says that it is stricter")
		}
	}
	return out
}

// looserApprovals compares what an approval needs.
func looserApprovals(before, after *config.Approvals) []string {
	var out []string
	rank := []approvalproof.Want{approvalproof.None, approvalproof.Typed, approvalproof.Passkey}
	word := func(w approvalproof.Want) string {
		if w == approvalproof.None {
			return "none"
		}
		return string(w)
	}
	if slices.Index(rank, after.Proof) < slices.Index(rank, before.Proof) {
		out = append(out, fmt.Sprintf("approvals.proof: was %s and would be %s", word(before.Proof), word(after.Proof)))
	}
	for _, name := range after.Also {
		if !slices.Contains(before.Also, name) {
			out = append(out, "approvals.also: an answer in "+name+" would count as a proof")
		}
	}
	return append(out, quorum.Looser(&before.Who, &after.Who)...)
}

// looserHooks compares who is asked at hooks. One more can only stop more.
func looserHooks(before, after []config.Plugin) []string {
	var out []string
	for _, was := range before {
		i := slices.IndexFunc(after, func(p config.Plugin) bool { return p.Name == was.Name })
		switch {
		case i < 0:
			out = append(out, "hooks: "+was.Name+" would not be asked any more")
		case !slices.Equal(was.Hooks, after[i].Hooks), was.URL != after[i].URL, was.FailOpen != after[i].FailOpen,
			was.Limit != after[i].Limit, was.Priority != after[i].Priority, was.Secret != after[i].Secret:
			out = append(out, "hooks: "+was.Name+" would be asked in another way than since this server started")
		}
	}
	return out
}
