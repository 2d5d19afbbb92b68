package meaning

import (
	"slices"
	"strings"
)

// combine settles the act from name, description and the server's hint.
func (r *reading) combine(said *speech, d Definition) {
	r.fromDescription(said, d)
	if r.act == Unknown {
		r.fromThings(d)
	} else if !r.sure && r.asks && (said.act == Read || said.act == Unknown && (!isStrong.has(r.verb) || isTrue(d.ReadOnly))) {
		r.become(Read, "it names a figure, `"+r.thing+"`")
	}
	r.shift()
	r.hear(said, d)
}

// hear lets the server's hint settle a verb of two readings: who says that it writes does
// not only look, who says that it only reads makes no more than an answer.
func (r *reading) hear(said *speech, d Definition) {
	switch {
	case d.ReadOnly == nil:
	case !*d.ReadOnly && r.act == Read && isDoubtful.has(r.verb):
		r.become(Change, "its server says that it changes something")
	case *d.ReadOnly && r.act == Create && isMaking.has(r.verb) && (said.act.mild() || said.act == Unknown) && said.alsoActs == "":
		if !r.all.any(ofMoney | ofAccess | ofPeople | ofInfra | ofRuns | ofTouchy) {
			r.become(Read, "its server says that it only reads")
		}
	}
}

// fromDescription lets the description speak where the name says nothing or could be read
// in two ways, and where it tells of something graver.
func (r *reading) fromDescription(said *speech, d Definition) {
	if r.of == 0 && said.thing != "" {
		r.of, r.all = said.of, r.all|said.all
		if r.thing == "" {
			r.thing = said.thing
		}
	}
	grave := isStrong.has(said.verb) && !said.asks
	open := r.asks || r.told || isTrue(d.ReadOnly) || !said.act.mild() || r.act.mild()
	switch {
	case said.act == r.act:
		r.sure = r.sure || r.act != Unknown
	case said.first == r.act && r.act != Unknown && r.act != Read: // "set or remove it"
		r.sure = true
		if said.alsoActs == "" && isStrong.has(said.verb) {
			said.alsoActs = said.verb
		}
	case said.act == Unknown, said.act == Read && !r.asks && said.says(r.verb): // "searches for a song and plays it"
	case r.act == Unknown, !r.sure && open:
		r.act, r.verb, r.sure = said.act, said.verb, true
		r.why = "its description says `" + said.verb + "`"
	case r.act.mild() && (grave || r.act == Read && said.first == Read && said.act != Grant): // "gets or sets it"
		r.verb = said.verb
		r.become(said.act, "but its description says `"+said.verb+"`")
		if said.of != 0 {
			r.thing, r.of = said.thing, said.of
		}
	}
	if said.alsoActs != "" && r.act == Read {
		r.verb = said.alsoActs
		r.become(verbs[said.alsoActs], "but its description also says `"+said.alsoActs+"`")
	}
}

// mild acts are not grave by themselves.
func (a Act) mild() bool { return a == Read || a == Create || a == Change }

// fromThings is for names without a verb.
func (r *reading) fromThings(d Definition) {
	switch {
	case r.of.any(ofMoney) && !r.of.any(ofFigures):
		r.become(Pay, "it names a payment, `"+r.thing+"`")
	case len(r.nouns) > 0 && r.of.any(ofFigures|ofPlain):
		r.become(Read, "it names a figure, `"+r.thing+"`")
	case len(r.nouns) > 0 && r.of.any(ofInfo) && isTrue(d.ReadOnly):
		r.become(Read, "it names a figure, `"+r.thing+"`, and its server says that it only reads")
	default:
		r.why = "nothing in its name or description says what it does"
	}
}

func hasNoun(list []string, w string) bool {
	return slices.Contains(list, w)
}

// shift looks at what the act is done to: to create a payment is to pay.
func (r *reading) shift() {
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
	switch r.verb {
	case "return":
		if r.all.any(ofMoney) {
			return Pay
		}
	case "query":
		if r.all.any(ofInfra | ofRuns) {
			return Execute
		}
	case "capture", "collect", "pull", "load":
		return r.shiftFetch()
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
	case r.of.any(ofWeb):
		return Read
	case r.of.any(ofAccess | ofPeople | ofMoney):
		return Grant
	case isFiled.has(r.thing):
		return Send
	case r.of.any(ofOwn | ofOthers):
		return Read
	}
	return Unknown
}

func (r *reading) shiftWrite() Act {
	switch {
	case isTidy.has(r.verb), hasNoun(r.nouns, "draft"), r.verb == "draft":
		return r.act
	case isClaim.has(r.thing), r.thing == "reaction", r.thing == "subscription" && r.all.any(ofSpeech|ofOwn): // an invoice asks for money and moves none
		return r.act
	case r.verb == "write" && r.of.any(ofSpeech) && !r.of.any(ofOwn):
		return Send
	case r.of.any(ofMoney) && !r.of.any(ofOwn), r.of == 0 && r.all.any(ofMoney):
		return Pay
	case r.of.any(ofAccess):
		return Grant
	case r.of.any(ofPeople) && (r.act == Create || r.verb == "set"):
		return Grant
	case r.act == Create && r.of.any(ofSpeech) && !r.of.any(ofOwn):
		return Send
	case r.act == Create && r.of.any(ofRuns) && (r.verb == "schedule" || !r.of.any(ofOwn|ofInfra|ofSettings)):
		return Execute
	case r.act == Change && isUnclear.has(r.verb):
		return Change
	}
	return r.act
}

func (r *reading) shiftGrant() Act {
	switch {
	case r.of.any(ofAccess | ofPeople):
		return Grant
	case r.of.any(ofMoney):
		return Pay
	case r.verb == "give":
		return Send
	case strings.HasSuffix(r.verb, "connect") && r.thing != "" && !r.of.any(ofSettings):
		return Change
	}
	return Grant
}

func (r *reading) shiftSend() Act {
	switch {
	case r.of.any(ofMoney) && !r.of.any(ofSpeech) && r.verb != "upload":
		return Pay
	case r.verb == "ask" && (r.thing == "user" || r.thing == "human"):
		return Read // of the very person the agent works for
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
	case (r.verb == "start" || r.verb == "stop" || r.verb == "resume") && r.of.any(ofOwn) && !r.of.any(ofInfra|ofRuns):
		return Change
	case r.verb == "activate" && r.of.any(ofAccess|ofPeople):
		return Grant
	}
	return Execute
}

// gravity is that of the act done to this thing, parameters apart.
func (r *reading) gravity() Gravity {
	switch r.act {
	case Read:
		return None
	case Create, Change:
	default:
		return High
	}
	grave := r.of.any(ofSettings|ofInfra|ofAccess|ofMoney) || r.of.any(ofPeople)
	switch {
	case hasNoun(r.nouns, "draft") || r.verb == "draft":
		return Low
	case r.all.any(ofTouchy):
		r.add("it touches what guards the rest")
		return High
	case isUnclear.has(r.verb):
		r.add("what it sets off is not known")
		return High
	case isTidy.has(r.verb) && !grave:
		return Low
	case r.of.any(ofOwn):
		return Low
	case r.of.any(ofSpeech):
		r.add("others see `" + r.thing + "`")
		return High
	case r.of.any(ofInfra):
		r.add("others depend on `" + r.thing + "`")
		return High
	case grave:
		r.add("`" + r.thing + "` is an account or a setting")
		return High
	case r.thing == "" && (r.verb == "write" || r.verb == "edit" || r.verb == "append" || r.verb == "patch" || r.verb == "replace"):
		return Low
	}
	r.add("nothing says that what it touches is only the user's own")
	return High
}

// reaches is asked of a tool whose parameters are not known.
func (r *reading) reaches() bool {
	http := hasNoun(r.nouns, "http") || hasNoun(r.nouns, "url") || hasNoun(r.nouns, "webpage")
	return r.act == Read && (isReaching.has(r.verb) || r.of.any(ofWeb) && r.verb != "search") || r.act == Send && http
}

// source reports whether the response brings words of others. A read does, unless all it
// names are figures; so does changing or removing what others wrote, because such tools
// hand back what they touched.
func (r *reading) source(act Act, reaches bool, said *speech) bool {
	switch act {
	case Unknown, Execute:
		return true
	case Read:
		if isComputing.has(r.verb) && !said.mentions.any(ofOthers|ofWeb) {
			return false
		}
		if r.all.any(ofOthers|ofWeb) || said.mentions.any(ofWeb|ofOthers) || reaches {
			return true
		}
		for _, n := range r.nouns {
			if !nouns[n].any(ofPlain) {
				return true
			}
		}
		return len(r.nouns) == 0
	case Change, Delete, Grant:
		return r.all.any(ofOthers)
	case Send:
		return reaches
	}
	return false
}

// sensitive reports whether the response holds what should not be told on.
func (r *reading) sensitive(act Act) bool {
	return (act == Read || act == Unknown) && r.all.any(ofSecret)
}
