package toolinfo

import (
	"slices"
	"strings"
)

// shift looks at what the act is done to: to create a payment is to pay. Of several verbs the one counts that is
// the gravest then.
func (r *reading) shift() {
	r.done()
	for _, verb := range r.others {
		other := *r
		other.verb, other.act = verb, actOf(verb)
		if other.done(); severity[other.act] > severity[r.act] && r.act != Unknown {
			r.verb = verb
			r.become(other.act, "and `"+verb+"` in its name")
		}
	}
}

// done is what one verb does to the things of the name.
func (r *reading) done() {
	to := r.act
	switch r.act {
	case Create, Change:
		to = r.shiftWrite()
	case Send:
		to = r.shiftSend()
	case Pay:
		to = r.shiftPay()
	case Execute:
		to = r.shiftExecute()
	case Grant:
		to = r.shiftGrant()
	case Delete:
		if r.verb == "leave" && r.of.any(ofSpeech) {
			to = Send
		}
	case Read:
		to = r.shiftRead()
	}
	if to != r.act {
		r.become(to, "done to `"+r.thing+"`")
	}
}

// shiftRead knows what only looks like reading: goods are returned, money is collected, an
// option is selected, a card is watched, and an issue, an account or a door is opened.
func (r *reading) shiftRead() Act {
	if isGathering.has(r.verb) {
		return r.shiftFetch()
	}
	switch r.verb {
	case "return":
		if r.all.any(ofMoney) {
			return Pay
		}
	case "query":
		if r.all.any(ofInfra | ofRuns) {
			return Execute
		}
	case "select":
		if isChosen.has(r.thing) {
			return Change
		}
	case "watch":
		if isWatched.has(r.thing) {
			return Change
		}
	case "open":
		return r.shiftOpen()
	}
	return Read
}

// shiftFetch: what is fetched of money is paid, and what is pulled replaces what was there.
func (r *reading) shiftFetch() Act {
	switch {
	case r.all.any(ofMoney), r.verb == "load" && (r.thing == "balance" || r.thing == "wallet"):
		return Pay
	case r.verb == "pull" && slices.ContainsFunc(r.nouns, isPulled.has):
		return Change
	}
	return Read
}

func (r *reading) shiftOpen() Act {
	switch {
	case r.of.any(ofWeb), r.listed && (r.of.any(ofMoney) || isFiled.has(r.thing)): // the orders that are open
		return Read
	case r.of.any(ofAccess | ofPeople | ofMoney):
		return Grant
	case isFiled.has(r.thing):
		return Send
	case r.of.any(ofOwn | ofOthers), r.about.any(ofOwn|ofOthers) && !r.about.any(ofAccess|ofPeople|ofMoney):
		return Read
	}
	return Unknown
}

func (r *reading) shiftWrite() Act {
	switch {
	case r.names(ofAccess) && !isTidy.has(r.verb):
		return Grant
	case r.keeps():
		return r.act
	case r.verb == "write" && r.of.any(ofSpeech) && !r.of.any(ofOwn):
		return Send
	case r.of.any(ofMoney) && !r.of.any(ofOwn), r.of == 0 && r.all.any(ofMoney):
		return Pay
	case r.of.any(ofAccess):
		return Grant
	case r.of.any(ofPeople) && (r.act == Create || r.verb == "set"):
		return Grant
	case r.act != Create:
		return r.act
	case r.of.any(ofSpeech) && !r.of.any(ofOwn) && !r.later:
		return Send
	case r.of.any(ofRuns) && (r.verb == "schedule" || !r.of.any(ofOwn|ofInfra|ofSettings)):
		return Execute
	}
	return r.act
}

// keeps reports whether a write stays what it is, whatever it is done to.
func (r *reading) keeps() bool {
	switch {
	case isTidy.has(r.verb), hasNoun(r.nouns, "draft"), r.verb == "draft":
		return true
	case isClaim.has(r.thing): // an invoice asks for money and moves none
		return true
	}
	return r.thing == "reaction" || r.thing == "subscription" && r.all.any(ofSpeech|ofOwn) // to news, not to goods
}

// names reports whether any thing of the name is of some class, the one acted on or another.
func (r *reading) names(of class) bool {
	return slices.ContainsFunc(r.nouns, func(n string) bool { return nouns[n].any(of) })
}

func (r *reading) shiftGrant() Act {
	switch {
	case r.of.any(ofAccess | ofPeople), r.names(ofAccess | ofPeople):
		return Grant
	case r.of.any(ofMoney):
		return Pay
	case r.verb == "give":
		return Send
	case strings.HasSuffix(r.verb, "connect") && !r.all.any(ofSettings|ofAccess|ofPeople):
		return Change
	}
	return Grant
}

func (r *reading) shiftSend() Act {
	switch {
	case r.of.any(ofMoney) && !r.of.any(ofSpeech) && r.verb != "upload":
		return Pay
	case hasNoun(r.nouns, "invitation"), hasNoun(r.nouns, "invite"):
		return Grant
	case r.verb == "call" && r.of.any(ofRuns|ofInfra|ofWeb), r.verb == "call" && r.thing == "":
		return Execute
	}
	return Send
}

// shiftPay knows that calls and files are transferred too, and that a meeting is booked.
func (r *reading) shiftPay() Act {
	switch {
	case r.of.any(ofMoney):
		return Pay
	case r.verb == "transfer" && r.of.any(ofAccess):
		return Grant
	case r.verb == "transfer" && r.of.any(ofSpeech|ofOwn|ofInfra|ofPeople|ofRuns) && r.thing != "account":
		return Send
	case (r.verb == "book" || r.verb == "reserve") && (r.thing == "meeting" || r.thing == "appointment" || r.thing == "event"):
		return Create
	case r.verb == "subscribe" && r.of.any(ofSpeech|ofOwn|ofWeb|ofInfra|ofOthers):
		return Create
	}
	return Pay
}

// shiftExecute knows that a report is run without running anything of the caller's.
func (r *reading) shiftExecute() Act {
	switch {
	case r.verb == "process" && r.of.any(ofMoney):
		return Pay
	case r.verb == "run" && r.of.any(ofInfo) && !r.all.any(ofRuns|ofInfra):
		return Read
	case (r.verb == "start" || r.verb == "stop" || r.verb == "resume") && r.thing != "" && !r.all.any(ofInfra|ofRuns):
		return Change
	case r.verb == "activate" && r.of.any(ofAccess|ofPeople):
		return Grant
	}
	return Execute
}
