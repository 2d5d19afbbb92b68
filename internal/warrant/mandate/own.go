package mandate

import "strings"

// own is why a value is not the owner's.
func (p *pass) own(v *Value, s *Source) string {
	low := strings.ToLower(v.Text)
	if p.world.Own(v.Text) && v.Role != Aim || myself[low] || v.Role == Measure && v.Text == "1" || p.records.login(v.Text) {
		return ""
	}
	words := s.words()
	if len(words) > 0 && holdsAll(words, wordsOf(v.Text)) {
		return "" // what they call it themselves
	}
	stands := p.stand(v, s, words)
	if stands == equals {
		stands = max(stands, onlySingle(p.stand(v, s, append(p.figuresSaid(), words...))))
	}
	if v.Role == Aim { // among records of a list anybody's address would do
		if (stands == single || stands == alone && !p.call.Grave) && !p.records.written(v.Text) {
			return ""
		}
		return "I could not tell that it is yours"
	}
	switch stands {
	case single, alone:
		return ""
	case listed, searched, equals, beside:
		mine := !p.call.Grave || p.call.Deed == "pay" && len(words) == 0
		if mine && !p.records.written(v.Text) {
			return ""
		}
	}
	if p.quoted(v.Text) {
		return ""
	}
	return "I could not tell that it is yours"
}
