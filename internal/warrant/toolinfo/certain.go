package toolinfo

import "slices"

// maker is the verb that says nothing without its object: who makes a payment pays.
const maker = "make"

// Certain is the verb of a tool's name, where the name says an act and what it is done to, and nothing else: every word of it is known, one
// alone is a verb of that act, and what it is done to is such that one does that to it. Empty: a sentence about a call of the tool says no
// more than its name. To create a customer gives access, as judgement has it, and no sentence may say so.
func Certain(name string, act Act) string {
	if len(name) > maxName {
		return ""
	}
	r := readName(name)
	last, _ := segments(name)
	_, toks := programs(words(last))
	verb := r.verb
	if made := verbs[nominals[r.thing]]; r.verb == maker && made != Unknown {
		verb, r.act = nominals[r.thing], made
	}
	single := act == Execute && len(toks) == 1 && toks[0] == r.verb // bash; an order may be a thing
	unknown := func(w string) bool { return w != r.verb && nouns[singular(w)] == 0 && !isSkipped.has(w) }
	switch fits := takenBy[act]; {
	case act == Unknown, !r.sure && !single, r.act != act, len(r.others) > 0, r.could != Unknown && r.could != act:
		return ""
	case slices.ContainsFunc(toks, unknown), fits != 0 && r.of != 0 && !r.of.any(fits):
		return ""
	}
	return verb
}
