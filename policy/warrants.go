package policy

import (
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/warrant"
)

// cellNeed is the least evidence that one act needs for one slot, and who says so. The zero
// value needs nothing.
type cellNeed struct {
	least  warrant.Evidence
	always bool   // no evidence is enough: a person is asked
	reason Reason // as it appears in a decision when the slot lacks it
}

// table is the least evidence per act and slot.
type table [warrant.NumDeeds][warrant.NumKinds]cellNeed

// ask is the word of a table for "whatever the evidence".
const ask = "ask"

// readWarrants reads a table over another: a cell that the file does not name stays as it is.
// Rules are named after the act and the slot, with a prefix.
func (r *reader) readWarrants(n *configfile.Node, base *table, prefix string) *table {
	out := &table{}
	if base != nil {
		*out = *base
	}
	acts := map[string]func(*configfile.Node){}
	for _, d := range warrant.Deeds() {
		acts[d.String()] = func(row *configfile.Node) { r.readNeeds(row, &out[d], prefix+d.String()+".") }
	}
	r.Fields(n, acts)
	return out
}

func (r *reader) readNeeds(n *configfile.Node, row *[warrant.NumKinds]cellNeed, prefix string) {
	names := append(warrant.EvidenceNames(), ask)
	slots := map[string]func(*configfile.Node){}
	for _, k := range warrant.Kinds() {
		slots[k.String()] = func(v *configfile.Node) {
			i, ok := r.Choice(v, names...)
			if !ok {
				return
			}
			need := cellNeed{always: names[i] == ask, least: warrant.Said}
			if !need.always {
				need.least = warrant.Evidence(i)
			}
			need.reason = Reason{Rule: prefix + k.String(), Effect: Confirm, Text: lackText[k], Pos: v.Pos.String()}
			if strings.HasPrefix(need.reason.Pos, presetFile) {
				need.reason.Pos = "" // of what is shipped
			}
			row[k] = need
		}
	}
	r.Fields(n, slots)
}

// Unfound is what a decision says of a kind of slot without enough evidence, where nothing more is known of it.
func Unfound(slot string) string {
	k, ok := warrant.KindNamed(slot)
	if !ok {
		return ""
	}
	return lackText[k]
}

// lackText says what a slot without enough evidence means.
var lackText = [warrant.NumKinds]string{
	warrant.Act:     "I could not find this in your words",
	warrant.Aim:     "I could not find in your words who or where it goes to",
	warrant.Object:  "I could not find in your words what it is done to, or how",
	warrant.Measure: "I could not find in your words how much, or what it decides",
	warrant.Key:     "I could not tell that the secret in it may be given here",
	warrant.Order:   "I could not find in your words what it would run",
	warrant.Cargo:   "it would carry something out, and I could not find in your words that it may",
	warrant.Place:   "where it would put this decides what happens later, and I could not find that in your words",
}

// stricter is the stricter of two tables, cell by cell; nil is one that needs nothing.
func (t *table) stricter(other *table) *table {
	if t == nil || other == nil {
		if t == nil {
			return other
		}
		return t
	}
	out := *t
	for d := range out {
		for k := range out[d] {
			if o := &other[d][k]; o.always && !out[d][k].always || o.least > out[d][k].least {
				out[d][k] = *o
			}
		}
	}
	return &out
}

// lacks adds what the slots of a call lack.
func (t *table) lacks(a *activation, s *answers) {
	row := &t[a.deed()]
	for k := range row {
		need := &row[k]
		if need.least == warrant.Nothing && !need.always {
			continue
		}
		if a.evidence(warrant.Kind(k), need) {
			continue
		}
		rank := rankTaint
		if warrant.Kind(k) == warrant.Order && a.fact(warrant.FactDanger) {
			rank = rankDanger
		}
		reason := a.because(need.reason, warrant.Kind(k))
		reason.Lacks = (rank == rankTaint || a.contained()) && !need.always // whoever wrote "ask" wants to be asked
		s.parts, s.only = append(s.parts, part{Reason: reason, rank: rank, shows: true}), -1
	}
}

// interference is the rule of an answer that would have hung on what nobody named: a fault of ours, with a rule of its own so that it
// can be found.
const interference = "judgement.interference"

// contained reports whether all the danger of a call is in files that it runs and that nobody has read.
func (a *activation) contained() bool {
	return a.in.Facts != nil && a.in.Facts.Is(warrant.FactContained)
}

// because is a reason with what speaks against the slot, where that is known: there are many things that
// must not be run, and a person is told which.
func (a *activation) because(r Reason, k warrant.Kind) Reason {
	if a.in.Facts == nil {
		return r
	}
	if why := a.in.Facts.Fault(k); why != "" {
		r.Text = why
	}
	if k == warrant.Act && a.in.Facts.Is(warrant.FactInterferes) {
		r.Rule, r.Pos = interference, ""
	}
	return r
}

// evidence reports whether the slots of a kind have what is needed.
func (a *activation) evidence(slot warrant.Kind, need *cellNeed) bool {
	if a.in.Facts == nil {
		return false
	}
	has, found := a.in.Facts.Evidence(Slot{Kind: slot})
	return !found || !need.always && has >= need.least
}

// reasons are those that a table may have to ask about an act.
func (t *table) reasons(d warrant.Deed) []Reason {
	if t == nil {
		return nil
	}
	var out []Reason
	for k := range t[d] {
		if n := &t[d][k]; n.always || n.least > warrant.Nothing {
			out = append(out, n.reason)
		}
	}
	return out
}

// Needs is the least evidence that an act needs for a slot, by their names in files; "none"
// where it needs nothing, "ask" where no evidence is enough.
func (s *Set) Needs(act, slot string) string {
	k, ok := warrant.KindNamed(slot)
	if s.needs == nil || !ok {
		return warrant.Nothing.String()
	}
	n := &s.needs[warrant.DeedNamed(act)][k]
	if n.always {
		return ask
	}
	return n.least.String()
}
