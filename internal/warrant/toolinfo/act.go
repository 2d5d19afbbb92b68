package toolinfo

import (
	"slices"

	"github.com/tidemark/tidemark/tool"
)

// combine settles the act from name, description and the server's hint.
func (r *reading) combine(said *speech, d tool.Definition) {
	r.fromDescription(said, d)
	if r.act == Unknown {
		r.fromThings(d)
	} else if !r.sure && r.asks && (said.act == Read || said.act == Unknown && (!isStrong.has(r.verb) || isTrue(d.ReadOnly))) {
		r.become(Read, "it names a figure, `"+r.thing+"`")
	}
	r.shift()
	r.hear(said, d)
	if r.act != Read {
		return
	}
	if w := handles(d.Description); w != "" {
		r.become(Change, "but its description says `"+w+"`")
	}
}

// hear lets the server's hint settle a verb of two readings: who says that it writes does
// not only look, who says that it only reads makes no more than an answer.
func (r *reading) hear(said *speech, d tool.Definition) {
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
func (r *reading) fromDescription(said *speech, d tool.Definition) {
	r.about, r.later = said.all, said.later
	if r.of == 0 && said.thing != "" {
		r.of, r.all = said.of, r.all|said.all
		if r.thing == "" {
			r.thing = said.thing
		}
	}
	switch {
	case said.act == r.act:
		r.sure = r.sure || r.act != Unknown
	case said.first == r.act && r.act != Unknown && r.act != Read: // "set or remove it"
		r.sure = true
		if said.alsoActs == "" && isStrong.has(said.verb) {
			said.alsoActs = said.verb
		}
	case said.act == Unknown, said.act == Read && !r.asks && said.says(r.verb): // "searches for a song and plays it"
	case r.act == Unknown, !r.sure && r.open(said, d):
		r.act, r.verb, r.sure = said.act, said.verb, true
		r.why = "its description says `" + said.verb + "`"
	case r.outdone(said):
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

// open reports whether a name that could be read in two ways leaves the word to the
// description.
func (r *reading) open(said *speech, d tool.Definition) bool {
	return r.asks || r.told || isTrue(d.ReadOnly) || !said.act.mild() || r.act.mild()
}

// outdone reports whether the description tells of something graver than the name.
func (r *reading) outdone(said *speech) bool {
	if !r.act.mild() {
		return false
	}
	grave := isStrong.has(said.verb) && !said.asks
	return grave || r.act == Read && said.first == Read && said.act != Grant // "gets or sets it"
}

// mild acts are not grave by themselves.
func (a Act) mild() bool { return a == Read || a == Create || a == Change }

// fromThings is for names without a verb.
func (r *reading) fromThings(d tool.Definition) {
	switch {
	case r.listed && (d.ReadOnly == nil || *d.ReadOnly) && !isTrue(d.Destructive):
		r.become(Read, "it names things, `"+r.thing+"`")
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
