package policy

// Narrow is the decision with one more reason, which comes first where it is stricter.
// It never makes a decision looser.
func (d Decision) Narrow(r Reason, kind string) Decision {
	reasons := make([]Reason, 0, len(d.Reasons)+1)
	if r.Effect >= d.Effect {
		d.Reasons = append(append(reasons, d.Reasons...), r)
		return d
	}
	d.Reasons = append(append(reasons, r), d.Reasons...)
	d.Effect, d.Rule, d.Kind = r.Effect, r.Rule, ""
	if d.Effect == Confirm {
		d.Kind = kind
	}
	return d
}
