package session

import "github.com/tidemark/tidemark/internal/event"

// Settle says whether a claim proves who speaks, and whose the session is from now on; nil: as before.
func (s *State) Settle(c event.Claim) (proven bool, holder *event.Holder) {
	switch has := s.Holder; {
	case has.Nobody() && !c.Offer.Nobody() && s.untouched():
		return true, &c.Offer
	case c.Vouched:
		return true, nil
	case has.Nobody():
		return c.Unheld, nil
	case c.Proves(has):
		return true, nil
	case c.Over == has && !c.Offer.Nobody():
		return true, &c.Offer
	}
	return false, nil
}

// untouched reports whether nothing was said and nothing was done yet, so that nobody can have been led to speak here: a relay that
// cannot hear the user may have opened it.
func (s *State) untouched() bool {
	return len(s.Words) == 0 && s.steps == 0 && !s.Tainted() && s.Turns <= 1
}
