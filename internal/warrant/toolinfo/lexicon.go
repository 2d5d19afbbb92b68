package toolinfo

import (
	_ "embed" // the words are part of the program
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/wordlist"
)

//go:embed words.txt
var wordsText string

var lists = wordlist.Read(wordsText)

// set is a list of words.
type set map[string]bool

func wordSet(names ...string) set { return lists.Set(names...) }

func (s set) has(w string) bool { return s[w] }

// class is what a noun makes of an act; a noun can have several.
type class uint16

const (
	ofMoney class = 1 << iota
	ofSpeech
	ofAccess
	ofPeople
	ofSettings
	ofInfra
	ofRuns
	ofOwn
	ofInfo
	ofFigures
	ofPlain
	ofSecret
	ofOthers
	ofWeb
	ofTouchy
)

func (c class) any(of class) bool { return c&of != 0 }

var (
	verbs = verbTable()
	nouns = nounTable()
	twins = pairs("phrases")

	isNounToo    = wordSet("nouns_too")
	isStrong     = wordSet("strong_verbs")
	isTidy       = wordSet("tidy_verbs")
	isUnclear    = wordSet("unclear_acts")
	isComputing  = wordSet("verbs_compute")
	isJoin       = wordSet("join_words")
	isRelation   = wordSet("relation_words")
	isSkipped    = wordSet("skipped_words")
	isWhich      = wordSet("which_words")
	isLead       = wordSet("lead_words")
	isWhole      = wordSet("whole_words")
	isBundling   = wordSet("bundling_words")
	isDoing      = wordSet("doing_words")
	isStatement  = wordSet("statement_words")
	isObjectLead = wordSet("object_leads")
	nominals     = pairs("nominal_forms")
	isDoubtful   = wordSet("doubtful_reads")
	isSeeming    = wordSet("seeming_reads")
	isMaking     = wordSet("making_verbs")
	isChosen     = wordSet("chosen_things")
	isWatched    = wordSet("watched_things")
	isPulled     = wordSet("pulled_things")
	isFiled      = wordSet("filed_things")
	isClaim      = wordSet("claim_things")
	isSending    = wordSet("sending")
	isReaching   = wordSet("reaching")
	commandWords = wordSet("command_names")
	audiences    = wordSet("audiences")
	isRecordKey  = wordSet("record_keys")
	isNumbering  = wordSet("numbering")
	isAsking     = wordSet("asking_nouns")
	isGathering  = wordSet("gathering_verbs")

	// isClient are programs that are told what to do, isInterpreter such as run what they are given.
	isClient      = wordSet("client")
	isInterpreter = wordSet("interpreter")
)

func verbTable() map[string]Act {
	t := map[string]Act{}
	add := func(a Act, lists ...string) {
		for w := range wordSet(lists...) {
			t[w] = a
		}
	}
	add(Read, "verbs_read", "verbs_compute")
	add(Create, "verbs_create")
	add(Change, "verbs_change")
	add(Delete, "verbs_delete")
	add(Send, "verbs_send")
	add(Pay, "verbs_pay")
	add(Execute, "verbs_execute")
	add(Grant, "verbs_grant")
	return t
}

func nounTable() map[string]class {
	t := map[string]class{}
	for c, list := range map[class]string{
		ofMoney: "nouns_money", ofSpeech: "nouns_speech", ofAccess: "nouns_access", ofPeople: "nouns_people", ofSettings: "nouns_settings",
		ofInfra: "nouns_infra", ofRuns: "nouns_runs", ofOwn: "nouns_own", ofInfo: "nouns_info", ofFigures: "nouns_figures",
		ofPlain: "nouns_plain", ofSecret: "nouns_secret", ofOthers: "nouns_others", ofWeb: "nouns_web",
		ofTouchy: "nouns_touchy",
	} {
		for w := range lists.Set(list) {
			t[w] |= c
		}
	}
	return t
}

// pairs reads a list of from=to.
func pairs(list string) map[string]string {
	t := map[string]string{}
	for p := range lists.Set(list) {
		from, to, _ := strings.Cut(p, "=")
		t[from] = to
	}
	return t
}

// Verb is the act a word of ordinary speech asks for, in any of its regular forms ("sending",
// "shared"); Unknown for every other word.
func Verb(w string) Act {
	_, a := verbOf(strings.ToLower(w))
	return a
}

// verbOf undoes the endings of a verb.
func verbOf(w string) (string, Act) {
	try := func(stem string) bool { return len(stem) > 1 && verbs[stem] != Unknown }
	if try(w) {
		return w, verbs[w]
	}
	for _, e := range []struct{ end, with string }{
		{"ies", "y"}, {"ing", ""}, {"ing", "e"}, {"es", ""}, {"s", ""}, {"ed", ""}, {"ed", "e"}, {"ied", "y"},
	} {
		stem, ok := strings.CutSuffix(w, e.end)
		if !ok {
			continue
		}
		if try(stem + e.with) {
			return stem + e.with, verbs[stem+e.with]
		}
		if n := len(stem); n > 2 && e.with == "" && stem[n-1] == stem[n-2] && try(stem[:n-1]) {
			return stem[:n-1], verbs[stem[:n-1]] // running, cancelled
		}
	}
	return w, Unknown
}

// singular is the one form of a noun that the lists have.
func singular(w string) string {
	if nouns[w] != 0 || len(w) < 3 || strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "us") {
		return w
	}
	if s, ok := strings.CutSuffix(w, "ies"); ok {
		return s + "y"
	}
	for _, end := range []string{"ches", "shes", "sses", "xes"} {
		if strings.HasSuffix(w, end) {
			return strings.TrimSuffix(w, "es")
		}
	}
	return strings.TrimSuffix(w, "s")
}

// words splits a name in any spelling (snake, kebab, camel) into lower-case words, with
// phrases joined and run-together words parted.
func words(name string) []string {
	var out []string
	runes := []rune(name)
	start := 0
	flush := func(end int) {
		if end > start {
			out = append(out, part(strings.ToLower(string(runes[start:end])))...)
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
			start = i + 1
		case i > start && unicode.IsUpper(r) && border(runes, i):
			flush(i)
		}
	}
	flush(len(runes))
	return join(out)
}

// border reports whether a capital letter starts a word: getURL, URLFetch, but not URLs.
func border(runes []rune, i int) bool {
	if !unicode.IsUpper(runes[i-1]) {
		return true
	}
	if i+1 >= len(runes) || !unicode.IsLower(runes[i+1]) {
		return false
	}
	plural := runes[i+1] == 's' && (i+2 == len(runes) || !unicode.IsLower(runes[i+2]))
	return !plural
}

// part splits a word such as "sendmessage"; others stay whole.
func part(w string) []string {
	if len(w) < 6 || verbs[w] != Unknown || nouns[singular(w)] != 0 || isWhole.has(w) {
		return []string{w}
	}
	for i := 3; i <= len(w)-3; i++ {
		if verbs[w[:i]] != Unknown && (nouns[singular(w[i:])] != 0 || isWhole.has(w[i:])) {
			return []string{w[:i], w[i:]}
		}
	}
	return []string{w}
}

// join makes one word of the phrases that are one.
func join(list []string) []string {
	out := list[:0]
	for i := 0; i < len(list); i++ {
		if i+1 < len(list) {
			if one, ok := twins[list[i]+"_"+list[i+1]]; ok {
				out = append(out, one)
				i++
				continue
			}
		}
		out = append(out, list[i])
	}
	return out
}
