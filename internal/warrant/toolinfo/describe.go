package toolinfo

import (
	"slices"
	"strings"
	"unicode"
)

// speech is what a description's first sentence says.
type speech struct {
	act      Act // of the verbs in front, the gravest
	first    Act // of the first of them
	verb     string
	thing    string
	of, all  class
	asks     bool     // it sends a question and brings the answer
	alsoActs string   // a strong verb after an "and"
	words    []string // of the sentence
	mentions class    // of every word of the whole description
	later    bool     // it says that nothing is sent yet
}

// describe hears the leading verbs of the first sentence and what they are done to. Praise
// ("safe", "read-only") is not heard.
func describe(text string) *speech {
	toks := sentence(text)
	s := &speech{words: toks}
	said := proseWords(text)
	for i, w := range said {
		s.mentions |= nouns[singular(w)]
		s.later = s.later || w == "not" && slices.ContainsFunc(said[i+1:min(i+3, len(said))], isSending.has)
	}
	i := 0
	for i < len(toks) && isLead.has(toks[i]) && (verbs[toks[i]] == Unknown || i == 0 || toks[i-1] != "to") {
		i++
	}
	if i == len(toks) || i+1 < len(toks) && toks[i] == "read" && toks[i+1] == "only" {
		return s
	}
	last := s.leading(toks, i)
	s.later = s.later || slices.Contains(toks[i:min(i+4, len(toks))], "draft") // "creates a draft of it"
	s.object(toks[last+1:])
	s.also(toks, i)
	return s
}

// leading hears the verbs in front: one, or the gravest of a list of them. It returns the
// place of the last one.
func (s *speech) leading(toks []string, i int) int {
	switch {
	case isBundling.has(toks[i]):
		s.bundled(toks[i+1:])
		return i
	case isDoing.has(toks[i]):
		s.done(toks[i+1:])
		return i
	case toks[i] == "run" || toks[i] == "runs":
		if s.done(toks[i+1:]); s.act == Read { // runs an aggregation
			return i
		}
		s.verb, s.act = "", Unknown
	}
	last := i
	for k := i; k < len(toks); k++ {
		v, a := verbOf(toks[k])
		if a == Unknown {
			break
		}
		switch plain := !isNounToo.has(v) || isStrong.has(v); {
		case k == i:
			s.first, s.verb, s.act = a, v, a
		case plain && gravest(s.act, a) != s.act:
			s.verb, s.act = v, a
		}
		last = k
		joined := false
		for k+1 < len(toks) && (isJoin.has(toks[k+1]) || toks[k+1] == comma) {
			joined, k = true, k+1
		}
		if !joined {
			break
		}
	}
	return last
}

// bundled is for "manages notes: add, change or delete": the gravest of what it can do. What
// names only reads stays open, because managing is more than that.
func (s *speech) bundled(toks []string) {
	for _, w := range toks {
		v, a := verbOf(w)
		base := v == w || strings.HasSuffix(w, "ing") // "updates" are things
		if base && a != Read && !isLead.has(v) && gravest(s.act, a) != s.act {
			s.verb, s.act = v, a
		}
	}
}

// done is for "performs a search": the act is in the noun.
func (s *speech) done(toks []string) {
	for _, w := range toks[:min(len(toks), 6)] {
		if v, ok := nominals[singular(w)]; ok && gravest(s.act, verbs[v]) != s.act {
			s.verb, s.act = v, verbs[v]
		}
	}
}

// also finds a strong verb later in the sentence. "Adds and sends" are two acts, "adds and
// send" is not: the second is a noun. "By id or email" names two things.
func (s *speech) also(toks []string, first int) {
	for j := first + 1; j+1 < len(toks); j++ {
		alike := strings.HasSuffix(toks[j+1], "s") == strings.HasSuffix(toks[first], "s")
		v, a := verbOf(toks[j+1])
		if !alike || !isJoin.has(toks[j]) || !isStrong.has(v) || a == s.act {
			continue
		}
		if isNounToo.has(v) && (j+2 >= len(toks) || !isObjectLead.has(toks[j+2])) {
			continue
		}
		s.alsoActs = v
		return
	}
}

// object is the noun the verb is followed by, up to a relation.
func (s *speech) object(toks []string) {
	open := true
	toks = toks[:min(len(toks), 12)]
	for i, w := range toks {
		n := singular(w)
		if i < 6 && isAsking.has(n) {
			s.asks = true
		}
		if isRelation.has(w) || isJoin.has(w) || w == comma {
			open = open && s.thing == ""
			continue
		}
		s.all |= nouns[n]
		if open && nouns[n] != 0 {
			s.thing, s.of = n, nouns[n]
		}
	}
	if slices.ContainsFunc(toks, isStatement.has) { // an INSERT query is no question
		s.asks = false
	}
}

// handles is a word by which a description says that more is done than looked: a verb of hands in front where no look follows soon, an act
// joined to what is done before, and what is gone by it. Empty: there is none.
func handles(text string) string {
	toks := sentence(text)
	for i, w := range toks {
		first := i == 0 && (inFront(toks) || ledTo(toks))
		if first || i > 0 && (joined(toks, i) || means(toks, i) || isSpent.has(w) && isBecoming.has(toks[i-1])) {
			return w
		}
	}
	return ""
}

// inFront reports whether the first word of a description is an act, and no look follows that it only leads to.
func inFront(toks []string) bool {
	w := toks[0]
	v, a := verbOf(w)
	if !isHand.has(v) && !isHand.has(w) {
		if a == Unknown || a == Read || isNounToo.has(v) || isLead.has(w) || strings.HasSuffix(w, "ed") {
			return false
		}
	}
	return !slices.ContainsFunc(toks[1:min(len(toks), soon)], func(w string) bool {
		v, a := verbOf(w)
		return a == Read && !isHand.has(v) || isLooking.has(w)
	})
}

// ledTo reports whether a description begins with a word that nobody knows, joined to a look: whatever that is, it is done first.
func ledTo(toks []string) bool {
	if len(toks) < 3 || !isJoin.has(toks[1]) || isLead.has(toks[0]) || isLooking.has(toks[0]) || strings.HasSuffix(toks[0], "ly") {
		return false
	}
	_, first := verbOf(toks[0])
	v, a := verbOf(toks[2])
	return first == Unknown && a == Read && (v == toks[2] || v+"s" == toks[2])
}

// means reports whether a word is what is done to the very thing that is looked at: "by restoring it".
func means(toks []string, i int) bool {
	v, a := verbOf(toks[i])
	acts := a != Unknown && a != Read && !isWorking.has(v) && strings.HasSuffix(toks[i], "ing")
	return acts && toks[i-1] == "by" && i+1 < len(toks) && isPronoun.has(toks[i+1])
}

// joined reports whether a word is an act that is done to something, behind what joins it to another.
func joined(toks []string, i int) bool {
	v, a := verbOf(toks[i])
	acts := isHand.has(v) || isHand.has(toks[i]) || a != Unknown && a != Read
	if !acts || isWorking.has(v) || i+1 >= len(toks) || !isObjectLead.has(toks[i+1]) && !isPronoun.has(toks[i+1]) {
		return false
	}
	switch before := toks[i-1]; before {
	case "or":
		return false
	case "then":
		return true
	case comma:
		return !isNounToo.has(v)
	default:
		return isJoin.has(before)
	}
}

var (
	isHand     = wordSet("hands")
	isLooking  = wordSet("looking")
	isPronoun  = wordSet("objects")
	isSpent    = wordSet("spent")
	isBecoming = wordSet("becoming")
	isWorking  = wordSet("working")
)

// soon is how many words behind the first one a look stands that it only leads to.
const soon = 9

// says reports whether a verb stands after an "and" in the sentence, in any form.
func (s *speech) says(verb string) bool {
	for i := 1; i < len(s.words); i++ {
		if v, a := verbOf(s.words[i]); a != Unknown && v == verb && isJoin.has(s.words[i-1]) {
			return true
		}
	}
	return false
}

// comma stands for what parts the members of a list.
const comma = ","

// sentence is the first one, in words and commas; bounded, because nobody says later what a
// tool does.
func sentence(text string) []string {
	text = unlabelled(strings.TrimSpace(text))
	for i, r := range text {
		if r == '\n' && i > 0 && strings.HasPrefix(text[i+1:], "\n") || (r == '.' || r == '!' || r == ';') && endsSentence(text[i+1:]) {
			text = text[:i]
			break
		}
	}
	w := listWords(text)
	return join(w[:min(len(w), 60)])
}

// unlabelled leaves out a heading such as "Purpose:" or "Calendar |".
func unlabelled(text string) string {
	i := strings.IndexAny(text, ":|")
	if i < 0 || i > 24 || len(text) == i+1 {
		return text
	}
	label := proseWords(text[:i])
	verb := slices.ContainsFunc(label, func(w string) bool { _, a := verbOf(w); return a != Unknown })
	if len(label) == 0 || len(label) > 2 || verb {
		return text
	}
	return strings.TrimLeft(text[i+1:], "* \t\n")
}

func endsSentence(rest string) bool { return rest == "" || unicode.IsSpace(rune(rest[0])) }

// listWords are the words of a text, with the commas between them.
func listWords(text string) []string {
	var out []string
	for piece := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '/' }) {
		if len(out) > 0 {
			out = append(out, comma)
		}
		out = append(out, proseWords(piece)...)
	}
	return out
}

// proseWords are the words of a text in lower case.
func proseWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}
