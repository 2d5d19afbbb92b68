package toolinfo

import "github.com/tidemark/tidemark/tool"

// heed lets a model's reading of the definition make a tool graver. It never makes one
// milder: the definition may have been written to be read so. What nothing tells is filled
// in only where that is the careful guess.
func (m *Meaning) heed(read *tool.Reading) {
	var act Act
	if read == nil || act.UnmarshalText([]byte(read.Act)) != nil {
		return
	}
	if rank(act) > rank(m.Act) || m.Act == Unknown && rank(act) == rank(Unknown) && act != Unknown {
		m.Act, m.Verb, m.Known = act, "", true
		m.Why += "; a model reads it as one that can " + act.String()
	}
	for i := range m.Params {
		m.Params[i].heed(read.Params[m.Params[i].Path])
	}
	worst := None
	switch {
	case rank(act) == rank(Unknown):
		worst = High
	case act != Read || read.Leaves:
		worst = Low
	}
	m.Gravity, m.Bare = min(m.Gravity, worst), min(m.Bare, worst) // the gravest is the least
	m.Sink = m.Sink || m.Gravity == High
}

// heed takes over what a model says of a parameter, where that is the graver word.
func (p *Param) heed(says string) {
	was, now := p.Role, p.Role
	switch {
	case says == "object" && (was == Unclear || was == Selector):
		p.Object = true
	case was == Target || was == Command || was == Credential:
	case says == "target":
		now = Target
	case says == "command":
		now = Command
	case says == "credential":
		now = Credential
	}
	if now != was {
		p.Role = now
		p.Why += "; a model reads it as a " + now.String()
	}
}

// rank orders acts by what they can do that cannot be taken back. What is not understood
// is as bad as the worst.
func rank(a Act) int {
	switch a {
	case Read:
		return 0
	case Create, Change:
		return 1
	}
	return 2
}
