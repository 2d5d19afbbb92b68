package engine

import (
	"strconv"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/policy"
)

// quotation is words of the user without secrets, as the log names an item by them: one item covers many calls.
type quotation struct {
	said, redacted string // as it was, and without them
	by             string // the version of the policy whose secrets were taken out
}

// covering is the item that a call was held against, as the log and the question name it, with the slots that it does not
// hold; nil: nobody looked.
func (s *sessionEntry) covering(set *policy.Set, w *warrant.Warrant, shown []event.Shown) *event.Covering {
	out := question.Item(w, shown)
	if w.Item != nil {
		if q := &s.quoted; q.said != w.Item.Quote || q.by != set.Version() {
			q.said, q.by, q.redacted = w.Item.Quote, set.Version(), set.Redactor().Text(w.Item.Quote)
		}
		out.Quote = s.quoted.redacted
	}
	return out
}

// keepItem adds to what a grant keeps what the mandate says of the call: further ones do the same to the same, or to another
// of the same list, and no more of it.
func (s *sessionEntry) keepItem(k *event.Kept, w *warrant.Warrant) {
	k.Act = w.Deed.String()
	for i := range w.Slots {
		slot := &w.Slots[i]
		if _, fixed := k.Fixed[slot.Path]; !fixed {
			continue // what is no plain argument stays as it is, or is free and looked at
		}
		switch slot.Kind {
		case warrant.Object:
			if set := s.heard.Whence(slot.Value).Set; set.Many > 1 {
				k.Lists = put(k.Lists, slot.Path, set.String())
			}
		case warrant.Measure:
			if n, err := strconv.ParseFloat(slot.Value, 64); err == nil && n >= 0 {
				k.Most = put(k.Most, slot.Path, n)
			}
		}
	}
}
