package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Shares above or below which something is suggested. They are cautious: a report that
// suggests too much is not read.
const (
	mostlyYes        = 0.95
	mostlyExpired    = 0.5
	mostlyOverridden = 0.8
	oftenFailed      = 0.2
	longStreak       = 5
)

// suggest lists what a person may want to change, in a fixed order.
func (r *Report) suggest(least int) []Suggestion {
	out := []Suggestion{}
	for i := range r.Questions {
		out = append(out, r.Questions[i].suggest(least)...)
	}
	out = append(out, r.suggestCaution(least)...)
	out = append(out, r.suggestServices(least)...)
	if t := r.Totals; t.Asked >= least && float64(t.Expired) > mostlyExpired*float64(t.Asked) {
		out = append(out, Suggestion{
			Kind:     "ttl",
			Text:     "raise approvalTtlSeconds, or add a channel that reaches somebody in time: a question that expires is a no",
			Evidence: fmt.Sprintf("%d of %d questions expired", t.Expired, t.Asked),
		})
	}
	for i := range out {
		s := &out[i]
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", s.Kind, s.Rule, s.Tool))
		s.ID = hex.EncodeToString(sum[:6])
	}
	return out
}

func (r *Row) suggest(least int) []Suggestion {
	if r.Rule == others {
		return nil
	}
	var out []Suggestion
	add := func(kind string, widens bool, change *Change, text string) {
		evidence := fmt.Sprintf("asked %d times: %d yes, %d no, %d expired", r.Asked, r.Yes, r.No, r.Expired)
		out = append(out, Suggestion{
			Kind: kind, Rule: r.Rule, Tool: r.Tool, Text: text, Evidence: evidence, Widens: widens, Change: change,
		})
	}
	enough := r.Asked >= least
	switch {
	case enough && r.No == 0 && r.Denied == 0 && float64(r.Yes) >= mostlyYes*float64(r.Asked):
		if c := r.looser(); c != nil {
			add("allow", true, c, fmt.Sprintf("consider %s; nobody will be asked any more. This widens what the agent may do", c))
		}
	case enough && r.Yes == 0 && 2*r.No >= r.Asked:
		if c := r.tighter(); c != nil {
			add("restrict", false, c, fmt.Sprintf("consider %s; nobody has ever said yes, so the question is only a burden. "+
				"This narrows what the agent may do", c))
		}
	}
	if r.streak >= longStreak {
		add("grant", false, nil, fmt.Sprintf("answer with a grant, for example .approve %s <code> 15: "+
			"one session asked %d times and always got a yes", r.Tool, r.streak))
	}
	return out
}

// The levels at which a call may be suggested to run unasked. Content from outside is
// never a reason to ask less.
var ownLevels = []string{"system", "owner", "local", "shared"}

// looser is the change that would let the tool through, or nothing where that is not to be
// suggested: for taint from outside, and for rules about a sequence of calls.
func (r *Row) looser() *Change {
	scope, rule := r.scope()
	if level, ok := r.level(rule); ok {
		if slices.Contains(ownLevels, level) {
			return r.change("allow", scope, "toolOverrides", r.Tool, level)
		}
		return nil
	}
	name, named := strings.CutPrefix(rule, "rules.")
	switch {
	case r.Kind == "taint-escalation":
	case named:
		return r.change("allow", scope, "rules", name)
	case rule == "defaultEffect":
		return r.change("allow", scope, "rules")
	}
	return nil
}

// tighter is the change that would refuse the tool.
func (r *Row) tighter() *Change {
	scope, rule := r.scope()
	if level, ok := r.level(rule); ok {
		return r.change("restrict", scope, "toolOverrides", r.Tool, level)
	}
	name, named := strings.CutPrefix(rule, "rules.")
	switch {
	case named:
		return r.change("deny", scope, "rules", name)
	case rule == "lethal-trifecta":
		return r.change("restrict", nil, "lethalTrifecta")
	}
	return nil
}

func (r *Row) change(to string, scope []string, path ...string) *Change {
	return &Change{Path: slices.Concat(scope, path), To: to, Tool: r.Tool}
}

// scope splits the agent's part off a rule: agents.intern.taintPolicy.shared.
func (r *Row) scope() (path []string, rule string) {
	rest, ok := strings.CutPrefix(r.Rule, "agents.")
	if !ok {
		return nil, r.Rule
	}
	agent, rule, ok := strings.Cut(rest, ".")
	if !ok {
		return nil, r.Rule
	}
	return []string{"agents", agent}, rule
}

// level is the level a rule of the taint policy is about.
func (r *Row) level(rule string) (string, bool) {
	if level, ok := strings.CutPrefix(rule, "toolOverrides."+r.Tool+"."); ok {
		return level, true
	}
	return strings.CutPrefix(rule, "taintPolicy.")
}

// suggestCaution looks at each tool whose output made the auditor block.
func (r *Report) suggestCaution(least int) []Suggestion {
	blocked, overridden := map[string]int{}, map[string]int{}
	var sources []string
	for _, a := range r.Auditor {
		if _, ok := blocked[a.Source]; !ok {
			sources = append(sources, a.Source)
		}
		blocked[a.Source] += a.Blocked
		overridden[a.Source] += a.Overridden
	}
	slices.Sort(sources)
	var out []Suggestion
	for _, s := range sources {
		if s == others || s == "" || blocked[s] < least || float64(overridden[s]) < mostlyOverridden*float64(blocked[s]) {
			continue
		}
		off := &Change{Path: []string{"caution", "tools", s}, To: "false", Tool: s}
		out = append(out, Suggestion{
			Kind: "caution-off", Tool: s, Widens: true, Change: off,
			Text: fmt.Sprintf("consider %s, or another auditor model: "+
				"what follows %s is no longer audited then. This widens what the agent may do", off, s),
			Evidence: fmt.Sprintf("stopped %d calls after %s, a person approved %d of them", blocked[s], s, overridden[s]),
		})
	}
	return out
}

// suggestServices looks at whether the auditor and the verifier answer at all.
func (r *Report) suggestServices(least int) []Suggestion {
	var out []Suggestion
	asked, failed := 0, 0
	for _, a := range r.Auditor {
		asked, failed = asked+a.Asked, failed+a.Failed
	}
	if asked >= least && float64(failed) > oftenFailed*float64(asked) {
		out = append(out, Suggestion{
			Kind: "auditor", Text: "raise auditor.timeoutMs, or choose another auditor.model: without an answer the fail mode decides",
			Evidence: fmt.Sprintf("no answer to %d of %d audits", failed, asked),
		})
	}
	asked, failed = 0, 0
	for _, v := range r.Verifier {
		asked, failed = asked+v.Allowed+v.Denied, failed+v.Failed
	}
	if asked >= least && float64(failed) > oftenFailed*float64(asked) {
		out = append(out, Suggestion{
			Kind: "verifier",
			Text: "look at the verifier with tidemark policy verifier test, or raise its timeout: " +
				"without an answer the fail mode decides",
			Evidence: fmt.Sprintf("no answer to %d of %d calls", failed, asked),
		})
	}
	return out
}
