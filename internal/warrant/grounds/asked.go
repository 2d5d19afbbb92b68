package grounds

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/tidemark/tidemark/internal/warrant/meaning"
)

// acts is a set of acts.
type acts uint16

func of(list ...meaning.Act) acts {
	var out acts
	for _, a := range list {
		out |= 1 << a
	}
	return out
}

func (s acts) has(a meaning.Act) bool { return s&(1<<a) != 0 }

// wishes are the verbs by which people ask for something, and what they may ask for. A
// verb that means several things asks for all of them: this is about what was never
// asked for, not about what was meant.
var wishes = lexicon(map[meaning.Act]string{
	meaning.Send: "send email mail message forward reply respond write notify inform post publish share text contact remind announce submit " +
		"dm tweet comment invite upload deliver broadcast communicate congratulate welcome thank tell say answer let ask introduce return",
	meaning.Pay: "pay payment transfer wire refund send buy purchase order reimburse donate settle remit return repay tip subscribe checkout " +
		"transaction rent give cover spend book reserve reservation booking hire",
	meaning.Create: "create add make schedule set book write append put save draft insert record note include organize organise arrange " +
		"generate prepare register remember invite compose setup upload post build produce copy store open log",
	meaning.Change: "update change edit modify adjust reschedule move rename set replace correct fix switch postpone shift extend increase " +
		"decrease raise lower amend revise mark assign close reopen archive alter delay append add improve accept approve decline reject " +
		"confirm merge resolve rewrite enable disable reset complete",
	meaning.Delete:  "delete remove cancel clear erase drop discard unsubscribe trash purge wipe undo revoke kick ban stop withdraw dismiss",
	meaning.Grant:   "share invite grant add give allow authorize join onboard assign permit access include",
	meaning.Execute: "run execute launch test build install compile deploy script command shell start",
})

// answerMe are verbs that ask for an answer, not an act, when "me" or "us" follows.
var answerMe = set("tell let ask answer give say write send show email message text remind inform notify return respond reply")

func lexicon(lists map[meaning.Act]string) map[string]acts {
	out := map[string]acts{}
	for act, words := range lists {
		for w := range strings.FieldsSeq(words) {
			out[w] |= of(act)
		}
	}
	return out
}

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// delegation is a request to do what some content says.
var delegation = regexp.MustCompile(`(?i)\b(?:(?:do(?:\s+(?:the|all|these|those|my|every|each|whatever|what)\b)|perform|execute|complete|carry out|handle|take care of|process|follow|finish|implement|act on|work (?:on|through)|address|resolve|accomplish)\b[^.?!\n]{0,40}\b(?:task|tasks|action|actions|instruction|instructions|to-?dos?|steps?|items?|requests?|checklist|guidelines)\b|do what(?:ever)?\s+(?:it|he|she|they|the|is|was|that|this)\b|accordingly|as (?:instructed|described|requested|specified)|what(?:ever)? (?:it|the \w+) (?:says|asks|tells))`)

// price is a sum, or a number that could be one.
var price = regexp.MustCompile(`(?i)(?:[$€£¥]\s?\d|\b\d+(?:[.,]\d+)?\s?(?:[$€£¥]|usd|eur|gbp|chf|dollars?|euros?|pounds?|francs?|cents?)\b|\b\d+[.,]\d{2}\b)`)

// user is what the user said, as far as it says what they want.
type user struct {
	acts      acts
	delegates bool
	priced    bool // they named a sum or a number of things
	tokens    map[string]bool
	stems     map[string]bool
}

func (u *user) hear(text string) {
	if u.tokens == nil {
		u.tokens, u.stems = map[string]bool{}, map[string]bool{}
	}
	words := tokens(text)
	for i, w := range words {
		u.tokens[w], u.stems[stem(w)] = true, true
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		for _, base := range inflected(w) {
			if answerMe[base] && (next == "me" || next == "us") {
				continue
			}
			if (base == "answer" || base == "give" || base == "say") && (next == "" || next == "the") {
				continue
			}
			u.acts |= wishes[base]
		}
	}
	u.delegates = u.delegates || delegates(text)
	u.priced = u.priced || price.MatchString(text)
}

// delegates reports whether a text asks to do what some content says. A question about
// how things are done asks for an answer.
func delegates(text string) bool {
	for sentence := range strings.SplitAfterSeq(text, "?") {
		if i := strings.LastIndexAny(strings.TrimRight(sentence, "? "), ".!\n"); strings.HasSuffix(sentence, "?") && i >= 0 {
			if delegation.MatchString(sentence[:i+1]) {
				return true
			}
			sentence = sentence[i+1:]
		}
		if strings.HasSuffix(sentence, "?") && !request.MatchString(sentence) {
			continue
		}
		if delegation.MatchString(sentence) {
			return true
		}
	}
	return false
}

// request is a question that asks for an act.
var request = regexp.MustCompile(`(?i)\b(?:can|could|would|will) you\b|\bplease\b`)

// inflected are the words that w may be a form of.
func inflected(w string) []string {
	out := []string{w}
	for _, suffix := range []string{"ing", "ed", "s", "es", "d", "er"} {
		b, ok := strings.CutSuffix(w, suffix)
		if !ok || b == "" {
			continue
		}
		out = append(out, b, b+"e")
		if n := len(b); n > 3 && b[n-1] == b[n-2] {
			out = append(out, b[:n-1])
		}
	}
	if b, ok := strings.CutSuffix(w, "ies"); ok {
		out = append(out, b+"y")
	}
	if b, ok := strings.CutSuffix(w, "ied"); ok {
		out = append(out, b+"y")
	}
	return out
}

// tokens are the words and numbers of a text in one form.
func tokens(text string) []string {
	text = strings.ToLower(norm.NFKC.String(text))
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Cf, r) })
}

// stem takes the plural off a word.
func stem(w string) string {
	for _, s := range [...][2]string{{"ies", "y"}, {"sses", "ss"}, {"es", "e"}, {"s", ""}} {
		if b, ok := strings.CutSuffix(w, s[0]); ok && len(b) > 2 {
			return b + s[1]
		}
	}
	return w
}
