package question

import (
	"cmp"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/policy"
)

// The bounds of the values that a question shows. One that decides is shown whole: an address, a sum, a command.
const (
	maxValuesShown = 12
	maxValueShown  = 500
)

// Lacks reports whether a slot has less behind it than the policy wants.
func Lacks(d warrant.Deed, s *warrant.Slot, set *policy.Set) bool {
	need := set.Needs(d.String(), s.Kind.String())
	return need == "ask" || s.Has < warrant.EvidenceNamed(need)
}

// Redacted stands for a secret.
const Redacted = "[REDACTED]"

// Values are what a question shows of the slots of a call: those that lack evidence
// first, then the others. Those the user or the operator never said are nobody's secret: they
// are shown as they are, in memory only.
func Values(w *warrant.Warrant, set *policy.Set, redact func(path, value string) string) (live, kept []event.Shown) {
	if w == nil {
		return nil, nil
	}
	for _, lacking := range []bool{true, false} {
		for i := range w.Slots {
			s := &w.Slots[i]
			if Lacks(w.Deed, s, set) != lacking || len(live) == maxValuesShown {
				continue
			}
			v := event.Shown{
				Path: text.Cover(redact("", s.Path), 100), Slot: s.Kind.String(), Value: text.Cover(s.Value, maxValueShown),
				Has: s.Has.String(), Why: redact("", s.Why), Lacks: lacking,
				Secret: s.Secret || s.Kind == warrant.Key,
			}
			k := v
			if k.Value = redact(s.Path, v.Value); v.Secret {
				k.Value = Redacted
			}
			if s.Has >= warrant.Own {
				v = k
			}
			live, kept = append(live, v), append(kept, k)
		}
	}
	return live, kept
}

// Item is the item that a call was held against, with the slots that it does not hold.
func Item(w *warrant.Warrant, shown []event.Shown) *event.Covering {
	out := &event.Covering{}
	if w != nil && w.Item != nil {
		out.ID, out.Giver, out.Quote = w.Item.ID, w.Item.Giver, w.Item.Quote
	}
	for i := range shown {
		if v := &shown[i]; v.Lacks {
			out.Missing = append(out.Missing, cmp.Or(v.Path, v.Slot))
		}
	}
	return out
}

// Lasting are what a yes for good to a question would open: for the aim, and that the tool only reads. Empty: nothing.
func Lasting(r *approval.Request, act string, defined bool) (always, reads string) {
	if r.Kind != policy.KindTaintEscalation || len(r.Agreed) > 0 || !defined {
		return "", ""
	}
	if r.Keeps.Lasts() {
		always = r.Keeps.OpensAlways()
	}
	if act != warrant.Read.String() && act != warrant.Unknown.String() {
		return always, "" // a tool that says of itself what it does is told otherwise in the policy, not in passing
	}
	return always, OnlyReads(r.Tool)
}

// OnlyReads says for people what it opens to say that a tool only reads.
func OnlyReads(name string) string {
	return (&approval.Standing{Tool: name, Reads: true}).String() + "; what its calls carry is still looked at"
}
