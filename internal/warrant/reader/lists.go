package reader

import (
	_ "embed" // the words are part of the program
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/internal/warrant/wordlist"
)

var (
	//go:embed reader.txt
	readerText string
	//go:embed acts.txt
	actsText string

	readerLists, actsLists = wordlist.Read(readerText), wordlist.Read(actsText)

	wishes   = byLanguage("wishes")
	leads    = byLanguage("leads")
	contents = byLanguage("content")
	wished   = byLanguage("clause")
	toWords  = byLanguage("to")
	ofWords  = byLanguage("from")
	states   = byLanguage("states")
	ends     = byLanguage("orders")
	speaks   = byLanguage("speaks")
	clitics  = byLanguage("clitics")
	subjects = byLanguage("subjects")
	without  = byLanguage("without")
	excepts  = byLanguage("exceptive")
	elses    = byLanguage("else")
	tellings = byLanguage("telling")
	purposes = byLanguage("purpose")
	sets     = byLanguage("set")
	instead  = byLanguage("instead")
	looks    = byLanguage("look")
	stops    = byLanguage("stop")
	eachs    = byLanguage("each")
	answered = byLanguage("answered")
	earlier  = byLanguage("beforehand")
	hanging  = byLanguage("hanging")
	forgets  = byLanguage("forget")
	buts     = byLanguage("but")
	relative = byLanguage("relative")
	tellsNot = byLanguage("tells_not")
	ors      = byLanguage("or")
	needing  = byLanguage("needing")
	needers  = byLanguage("needer")
	articles = byLanguage("article")
	persons  = byLanguage("persons")
	sames    = byLanguage("same_one")
	ones     = byLanguage("one_thing")
	kinds    = byLanguage("kinds")

	sparing   = byLanguage("sparing")
	leaving   = byLanguage("leaving")
	resting   = byLanguage("resting")
	keeping   = byLanguage("keeping")
	remaining = byLanguage("remaining")
	afterAll  = byLanguage("after_all")

	titles   = every(byLanguage("titles"))
	withouts = every(without)

	speaking    = every(byLanguage("speaking"))
	infinitives = every(byLanguage("infinitive"))
	partitive   = every(byLanguage("partitive"))

	toSlots   = every(byLanguage("toward"))
	fromSlots = every(byLanguage("away"))

	goesFrom    = every(byLanguage("goes_from"))
	goesTo      = every(byLanguage("goes_to"))
	goesOut     = every(byLanguage("goes_out"))
	comesIn     = every(byLanguage("comes_in"))
	formWords   = every(byLanguage("form_words"))
	secondWords = byLanguage("second")
	withWords   = byLanguage("with")
	asWords     = byLanguage("as")
	overWords   = slices.Sorted(maps.Keys(every(byLanguage("over"))))
	replacing   = every(byLanguage("replacing"))

	final   = every(byLanguage("final"))   // languages whose verb stands last
	closing = every(byLanguage("closing")) // whose verb may
	behind  = every(byLanguage("behind"))  // whose verb stands behind what is acted on
	after   = every(byLanguage("after"))   // that negate behind the verb

	holders    = every(byLanguage("holders"))
	held       = every(byLanguage("held"))
	ofThings   = every(byLanguage("attributes"))
	followings = every(byLanguage("following"))

	moneyed = actsLists.Set("moneyed")
	generic = actsLists.Set("generic")
	defers  = actsLists.Set("defers")
	worded  = actsLists.Set("worded")
	passing = actsLists.Set("passing")
	wanting = actsLists.Set("wanting")
	light   = actsLists.Set("light")
	paying  = actsLists.Set("paying")

	reaching = actsLists.Set("reaching")
	setting  = actsLists.Set("setting")
	lifting  = actsLists.Set("lifting")

	same  = groups("same")
	names = groups("names")
	akin  = groups("akin")
)

// words is a list for each language.
type words map[string]map[string]bool

func byLanguage(name string) words {
	out := words{}
	for _, l := range readerLists.Lines(name) {
		set := map[string]bool{}
		for _, w := range l[1:] {
			set[vocabulary.Spelling(w)] = true
		}
		if name == "final" || name == "closing" || name == "behind" || name == "after" { // a list of languages
			for _, w := range l {
				out[w] = map[string]bool{w: true}
			}
			continue
		}
		out[l[0]] = set
	}
	return out
}

// every is a list without its languages.
func every(w words) map[string]bool {
	out := map[string]bool{}
	for _, set := range w {
		for k := range set {
			out[k] = true
		}
	}
	return out
}

// groups are the lines of a block of acts.txt by their first words: each word of "same" and "akin" stands for the
// others of its line.
func groups(name string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	link := func(a, b string) {
		if out[a] == nil {
			out[a] = map[string]bool{}
		}
		out[a][b] = true
	}
	for _, l := range actsLists.Lines(name) {
		for _, w := range l[1:] {
			link(l[0], w)
		}
		for _, a := range l {
			for _, b := range l {
				if a != b && name != "names" {
					link(a, b)
				}
			}
		}
	}
	return out
}

// has reports whether a word is of a list, in a language.
func (l words) has(lang, word string) bool { return l[lang][word] }

// languageOf is the language that most words of a text were read in.
func languageOf(list []vocabulary.Word) string {
	count := map[string]int{}
	best := "en"
	for i := range list {
		codes := strings.Fields(list[i].Langs.String())
		for _, c := range codes {
			if count[c] += 6 / len(codes); count[c] > count[best] {
				best = c
			}
		}
	}
	return best
}

// VerbLast reports whether words are of a language whose verb stands last.
func VerbLast(list []vocabulary.Word) bool { return final[languageOf(list)] }

// VerbLate reports whether words are of a language whose verb may stand behind what is acted on.
func VerbLate(list []vocabulary.Word) bool {
	lang := languageOf(list)
	return final[lang] || behind[lang] || closing[lang]
}
