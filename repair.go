package tidemark

import (
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/policy"
)

// A text that was asked for, to whom it was asked for, may hold something that was read elsewhere: a link, a number, a
// sentence. Nobody need be asked about that: the agent is told what to take out, and calls again. Who tries it too often
// asks a person after all, so that it is no way to find out what passes.

// maxRepairs is how often an agent is told so for one message of the owner's.
const maxRepairs = 2

// repair turns a question about nothing but a part of a text into a refusal that says what to take out.
func (x *step) repair(v *Verdict) {
	if v.Effect != policy.Confirm || asking(v) != 1 || !strings.HasSuffix(v.Rule, "."+warrant.Cargo.String()) {
		return
	}
	s := x.live
	if s.input.Facts == nil || s.facts.found == nil || s.state.Repairs >= maxRepairs {
		return
	}
	path, part := s.facts.found.Repair()
	if part == "" {
		return
	}
	text := fmt.Sprintf("`%s` holds %q, which is neither of the owner's words nor of what they named as a source: take it out and call again", path, part)
	v.Effect, v.Kind, v.Rule = policy.Deny, "", policy.RuleRepair
	v.Reasons = []policy.Reason{{Rule: policy.RuleRepair, Text: x.set.Redactor().Text(text)}}
}

// asking is how many rules do not let a call run.
func asking(v *Verdict) int {
	n := 0
	for i := range v.Reasons {
		if v.Reasons[i].Effect != policy.Allow {
			n++
		}
	}
	return n
}
