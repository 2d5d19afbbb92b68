package mandate

import "strings"

// own is why a value is not the owner's.
func (p *pass) own(v *Value, s *Source) string {
	words := s.words()
	if p.calledOwn(v, words) {
		return ""
	}
	stands := p.stand(v, s, words)
	if stands == equals {
		stands = max(stands, onlySingle(p.stand(v, s, p.withFigures(words))))
	}
	if p.ownRecord(v, stands, len(words) == 0) {
		return ""
	}
	return "I could not tell that it is yours"
}

// calledOwn reports whether a value is what interfaces, our own acts or the owner call theirs.
func (p *pass) calledOwn(v *Value, words []string) bool {
	switch {
	case p.made(v), v.Role != Aim && !p.call.Grave && p.world.Own(v.Text):
		return true // what an act was given is ours to go on with, and not to end
	case myself[strings.ToLower(v.Text)], v.Role == Measure && v.Text == "1", p.records.login(v.Text):
		return true
	}
	return len(words) > 0 && holdsAll(words, wordsOf(v.Text))
}

// ownRecord reports whether the record of a value is the owner's: among records of a list anybody's address would do.
func (p *pass) ownRecord(v *Value, stands standing, wordless bool) bool {
	signed := p.records.written(v.Text)
	if v.Role == Aim {
		return (stands == single || stands == alone && !p.call.Grave) && !signed
	}
	switch stands {
	case single, alone:
		return true
	case listed, searched, equals, beside:
		if !signed && (!p.call.Grave || p.call.Deed == "pay" && wordless) {
			return true
		}
	}
	return p.quoted(v.Text)
}
