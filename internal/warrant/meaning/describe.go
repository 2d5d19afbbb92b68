package meaning

import (
	"slices"
	"strings"
	"unicode"
)

// speech is what a description's first sentence says.
type speech struct {
	act      Act
	verb     string
	thing    string
	of, all  class
	asks     bool   // it sends a question and brings the answer
	alsoActs string // a strong verb after an "and"
	mentions class  // of every word of the whole description
}

// describe hears the leading verb of the first sentence and what it is done to. Praise
// ("safe", "read-only") is not heard.
func describe(text string) *speech {
	s := &speech{}
	toks := sentence(text)
	for _, w := range proseWords(text) {
		s.mentions |= nouns[singular(w)]
	}
	i := 0
	for i < len(toks) && isLead.has(toks[i]) && (verbs[toks[i]] == Unknown || i == 0 || toks[i-1] != "to") {
		i++
	}
	if i == len(toks) || i+1 < len(toks) && toks[i] == "read" && toks[i+1] == "only" {
		return s
	}
	s.verb, s.act = verbOf(toks[i])
	if s.act == Unknown {
		s.verb = ""
	}
	s.object(toks[i+1:])
	for j := i + 1; j+1 < len(toks); j++ {
		// "adds and sends" are two acts, "adds and send" is not: the second is a noun
		alike := strings.HasSuffix(toks[j+1], "s") == strings.HasSuffix(toks[i], "s")
		if v, a := verbOf(toks[j+1]); alike && isJoin.has(toks[j]) && isStrong.has(v) && a != s.act {
			s.alsoActs = v
			break
		}
	}
	return s
}

// object is the noun the verb is followed by, up to a relation.
func (s *speech) object(toks []string) {
	open := true
	for i, w := range toks[:min(len(toks), 12)] {
		n := singular(w)
		if i < 6 && slices.Contains([]string{"request", "query", "question", "get"}, n) {
			s.asks = true
		}
		if isRelation.has(w) || isJoin.has(w) {
			open = open && s.thing == ""
			continue
		}
		s.all |= nouns[n]
		if open && nouns[n] != 0 {
			s.thing, s.of = n, nouns[n]
		}
	}
}

// sentence is the first one, in words; bounded, because nobody says later what a tool does.
func sentence(text string) []string {
	text = strings.TrimSpace(text)
	for i, r := range text {
		if r == '\n' && i > 0 && strings.HasPrefix(text[i+1:], "\n") || (r == '.' || r == '!' || r == ';') && endsSentence(text[i+1:]) {
			text = text[:i]
			break
		}
	}
	w := proseWords(text)
	return join(w[:min(len(w), 60)])
}

func endsSentence(rest string) bool { return rest == "" || unicode.IsSpace(rune(rest[0])) }

func proseWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
