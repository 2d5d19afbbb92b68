package policy

import (
	"fmt"

	"cel.dev/cel-go/common/types"

	"github.com/tidemark/tidemark/internal/base/configfile"
)

// below is the answer for a turn that may go on.
func (s *Set) below() Decision {
	text := fmt.Sprintf("the turn is below the cap of %d iterations", s.scope.maxIterations)
	if s.scope.maxIterations == 0 {
		text = "turns have no cap on iterations"
	}
	reason := Reason{Rule: "maxIterations", Effect: Allow, Text: text, Pos: s.scope.capPos.String()}
	return Decision{Effect: Allow, Rule: reason.Rule, Reasons: []Reason{reason}}
}

// Turn decides whether the model may be called once more: below the cap on
// iterations (counted from 0), and no policy blocks the turn. It answers for
// in.Agent. The decision also says what evidence is asked for.
func (s *Set) Turn(in *Input) (blocked bool, d Decision) {
	if len(s.agents) > 0 {
		s = s.For(in.Agent)
	}
	at := momentOf(in)
	d = s.going
	var stops, notes []Reason
	if most := s.scope.maxIterations; most > 0 && at.iteration >= most && (!in.Loose || s.scope.capPos != configfile.Pos{}) {
		text := fmt.Sprintf("the turn reached iteration %d and maxIterations is %d", at.iteration, s.scope.maxIterations)
		stops = append(stops, Reason{Rule: "maxIterations", Effect: Deny, Text: text, Pos: s.scope.capPos.String()})
	}
	for _, p := range s.turn {
		holds, err := s.holds(p, in, at)
		if !holds {
			continue
		}
		d.LogContext, d.PersistGraph = d.LogContext || p.log, d.PersistGraph || p.persist
		reason := p.reason
		if err != nil {
			reason.Text, reason.Error = errorText(err), true
		}
		if p.turn {
			stops = append(stops, reason)
			continue
		}
		reason.Effect = Allow
		notes = append(notes, reason)
	}
	if len(stops) > 0 {
		d.Effect, d.Rule, d.Reasons = Deny, stops[0].Rule, append(stops, notes...)
	} else if len(notes) > 0 {
		d.Reasons = append(d.Reasons[:1:1], notes...)
	}
	return d.Effect == Deny, d
}

// holds reports whether a policy applies to the turn as a whole. One that cannot
// be evaluated applies.
func (s *Set) holds(p *declared, in *Input, at moment) (bool, error) {
	if !p.holds(at.mask, at.iteration) {
		return false, nil
	}
	if p.when == nil {
		return true, nil
	}
	if p.when.args || p.when.tool {
		return false, nil // about a call: Judge asks
	}
	a := s.activate()
	defer s.release(a)
	a.in, a.name = *in, types.String("")
	a.in.Taint = at.level
	ok, err := p.when.holds(a)
	return ok || err != nil, err
}
