package toolinfo

import (
	"slices"
	"strings"
)

// actOf is the act of a verb as a name has it. Verbs with "un" and "re" in front that no
// list has mean the opposite and the same of what they are made of. What is only read
// cannot be undone: "unread" is no verb.
func actOf(w string) Act {
	if a := verbs[w]; a != Unknown {
		return a
	}
	if len(w) < 5 || nouns[singular(w)] != 0 || isSkipped.has(w) || isWhole.has(w) {
		return Unknown
	}
	if stem, ok := strings.CutPrefix(w, "un"); ok {
		switch verbs[stem] {
		case Change, Grant:
			return Change
		case Create, Send, Pay, Execute:
			return Delete
		}
	}
	if stem, ok := strings.CutPrefix(w, "re"); ok && verbs[stem] != Read {
		return verbs[stem]
	}
	return Unknown
}

// graver acts are asked about more. The order is that of the deeds that calls are judged by, so that what is the
// gravest here is the gravest there.
var severity = [...]int{Unknown: 0, Read: 1, Create: 2, Change: 3, Send: 4, Delete: 5, Execute: 6, Pay: 7, Grant: 8}

// gravest is the worse of two acts; what is not known loses to what is.
func gravest(a, b Act) Act {
	if severity[b] > severity[a] {
		return b
	}
	return a
}

// outspoken is where the gravest plain verb of a name stands, if that is graver than the one at a place: a name says
// all that its words say, so that no word in front of "delete", behind it or between makes a look of it.
func outspoken(toks []string, at place) place {
	act := Unknown
	if at.i >= 0 {
		act = actOf(toks[at.i])
	}
	for i, w := range toks {
		if a := actOf(w); severity[a] > severity[act] && plainAct(w) {
			act, at = a, place{i, true}
		}
	}
	return at
}

// Outspoken is the gravest act that a name says by words which can only be verbs; Unknown where it has none.
func Outspoken(name string) Act {
	act := Unknown
	for _, w := range plainVerbs(words(bounded(name, maxName)), -1) {
		act = gravest(act, actOf(w))
	}
	return act
}

// could is the gravest act that words of a name mean which may be verbs or things: "post" and a message behind it are
// one, wherever they stand. What the call is given tells which.
func could(toks []string) Act {
	act := Unknown
	for i, w := range toks {
		takes := takenBy[actOf(w)]
		if takes == 0 || !isNounToo.has(w) {
			continue
		}
		if slices.ContainsFunc(toks[i+1:], func(n string) bool { return nouns[n].any(takes) }) {
			act = gravest(act, actOf(w))
		}
	}
	return act
}

// takenBy are the things that acts are done to, where their verbs may be things too.
var takenBy = [Grant + 1]class{Send: ofSpeech, Pay: ofMoney, Grant: ofAccess | ofPeople, Execute: ofRuns}

// plainVerbs are the words of a name that can only be verbs of acts, but for the one at a place.
func plainVerbs(toks []string, at int) []string {
	var out []string
	for i, w := range toks {
		if i != at && plainAct(w) {
			out = append(out, w)
		}
	}
	return out
}

// plainAct reports whether a word of a name can only be the verb of an act.
func plainAct(w string) bool {
	return !isNounToo.has(w) && !isSkipped.has(w) && severity[actOf(w)] > severity[Read]
}

// place is where the verb of a name stands; -1 for nowhere.
type place struct {
	i    int
	sure bool
}

// findVerb looks first, last, then between: create_note, note_create, notes_create_copy.
func findVerb(toks []string) place {
	var first, plain = -1, -1 // any verb, one that is no noun
	for i, w := range toks {
		if actOf(w) == Unknown {
			continue
		}
		if first < 0 {
			first = i
		}
		if plain < 0 && !isNounToo.has(w) {
			plain = i
		}
	}
	switch {
	case first < 0:
		return place{i: -1}
	case first == 0 && plain == 0:
		return place{graver(toks, 0), true}
	case first == 0 && leadsObject(toks):
		return place{graver(toks, 0), actOf(toks[0]) == Read || isStrong.has(toks[0])}
	case plain >= 0:
		return place{graver(toks, plain), true}
	case first > 0 && first < len(toks)-1 && !endsAsInfo(toks):
		return place{graver(toks, first), false}
	}
	return place{first, false}
}

// leadsObject tells "list files" and "post message" from "book search" and "order status": a
// word that may be a noun is the verb where a thing, and no other verb, follows.
func leadsObject(toks []string) bool {
	if len(toks) < 2 || endsAsInfo(toks) {
		return false
	}
	return !slices.ContainsFunc(toks[1:], func(w string) bool { return actOf(w) != Unknown && !isNounToo.has(w) })
}

func endsAsInfo(toks []string) bool {
	last := len(toks) - 1 // a status is posted, a price is not
	return last > 0 && nouns[singular(toks[last])].any(ofFigures) && (toks[last] != "status" || toks[0] != "post")
}

// graver follows "and" to a graver verb, and hears a strong one at the end. One that may be
// a noun does not hide another before it: get_send_transfer sends.
func graver(toks []string, at int) int {
	act := actOf(toks[at])
	if !act.mild() {
		return at
	}
	end := len(toks) - 1
	for end > at && isStrong.has(toks[end]) && isNounToo.has(toks[end]) {
		end--
	}
	for i := at + 1; i < len(toks); i++ {
		joined := isJoin.has(toks[i-1]) && actOf(toks[i]) > act
		if joined || i == end && isStrong.has(toks[i]) {
			return graver(toks, i)
		}
	}
	return at
}

// programs parts the names of programs in front from the name proper: the verb after them is
// the act. An interpreter steps back only for a plain verb, because what it is given runs.
func programs(toks []string) (context, rest []string) {
	if len(toks) < 2 {
		return nil, toks
	}
	verb := func(w string) bool { return actOf(w) != Unknown && !isNounToo.has(w) && !isInterpreter.has(w) }
	switch {
	case isClient.has(toks[0]), isInterpreter.has(toks[0]) && slices.ContainsFunc(toks[1:], verb):
		return toks[:1], toks[1:]
	}
	return nil, toks
}

// httpVerbs are what interfaces made from a web service's paths put in front.
var httpVerbs = map[string]Act{"get": Read, "head": Read, "post": Create, "put": Change, "patch": Change, "delete": Delete}

// webVerb is the act of a name such as api-post-entry; what is posted there may be a question,
// so the description has a say.
func webVerb(toks []string) (Act, bool) {
	if len(toks) < 3 || toks[0] != "api" && toks[0] != "rest" {
		return Unknown, false
	}
	a, ok := httpVerbs[toks[1]]
	return a, ok
}
