package warrant

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

var table = sync.OnceValue(vocabulary.Load)

// classesOf are the classes of words by which people ask for an act of a tool.
func classesOf(a meaning.Act) vocabulary.Classes {
	switch a {
	case meaning.Read:
		return vocabulary.Read
	case meaning.Create:
		return vocabulary.Create
	case meaning.Change:
		return vocabulary.Change
	case meaning.Delete:
		return vocabulary.Delete
	case meaning.Send:
		return vocabulary.Send | vocabulary.Publish
	case meaning.Pay:
		return vocabulary.Pay
	case meaning.Execute:
		return vocabulary.Execute
	case meaning.Grant:
		return vocabulary.Grant
	}
	return 0
}

const acting = vocabulary.Tidy | vocabulary.Create | vocabulary.Change | vocabulary.Delete | vocabulary.Send | vocabulary.Publish | vocabulary.Pay | vocabulary.Grant | vocabulary.Execute

// clause is one thing the user says.
type clause struct {
	text     string
	stems    map[string]bool
	things   map[vocabulary.ThingID]bool
	acts     map[vocabulary.ActID]bool // that it asks for
	refused  map[vocabulary.ActID]bool // that it forbids
	doing    map[string]bool           // stems of words that may be verbs
	classes  vocabulary.Classes
	forbids  vocabulary.Classes
	words    int
	question bool // it asks for an answer
	turn     int
}

// heard is what the user said, by clause.
type heard struct {
	clauses   []clause
	turn      int
	stems     map[string]bool
	looks     int // the turn in which they forbade every act; 0: never
	delegates int // the turn in which they delegated; 0: never
}

var gluedStop = regexp.MustCompile(`(\.[a-z]{2,6})\.([A-Z])`)

func (h *heard) hear(text string) {
	h.turn++
	if h.stems == nil {
		h.stems = map[string]bool{}
	}
	t := table()
	words := t.Words(text)
	for i := 0; i < len(words); {
		k := i
		for k < len(words) && words[k].Sentence == words[i].Sentence {
			k++
		}
		h.sentence(t, text, words[i:k])
		i = k
	}
	for _, w := range words {
		if w.Gram.Has(vocabulary.Delegation) {
			h.delegates = h.turn
		}
		for _, part := range tokens(w.Text) {
			h.stems[stem(part)] = true
		}
		h.stems[w.Stem] = true
	}
	if lookOnly.MatchString(text) {
		h.looks = h.turn
	}
	if delegation.MatchString(text) {
		h.delegates = h.turn
	}
}

func (h *heard) sentence(t *vocabulary.Table, text string, words []vocabulary.Word) {
	q := asks(t, text, words)
	from := 0
	for i := range words {
		cut := false
		if i > from {
			gap := text[words[i-1].End:words[i].Start]
			cut = strings.ContainsAny(gap, ",;，；、") || words[i].Gram.Has(vocabulary.Joining)
		}
		if cut {
			h.add(t, text, words[from:i], q)
			from = i
		}
	}
	if from < len(words) {
		h.add(t, text, words[from:], q)
	}
}

// asks reports whether a sentence asks for an answer and not for an act.
func asks(t *vocabulary.Table, text string, words []vocabulary.Word) bool {
	for _, w := range words {
		if w.Gram.Has(vocabulary.Polite) || w.Gram.Has(vocabulary.Wish) {
			return false
		}
	}
	last := words[len(words)-1]
	end := strings.TrimLeft(text[last.End:], " \t)\"'”»")
	marked := strings.HasPrefix(end, "?") || strings.HasPrefix(end, "？")
	for i, w := range words {
		if i < 2 && w.Gram.Has(vocabulary.Question) {
			return true
		}
		if w.Gram.Has(vocabulary.Question) && marked {
			return true
		}
	}
	if !marked {
		return false
	}
	first := words[0]
	return !t.ClassesOf(first).Any(acting) || askers[first.Text]
}

var askers = set("is are was were am do does did has have had should shall may might any ist sind hat haben gibt es hay est y")

func (h *heard) add(t *vocabulary.Table, text string, words []vocabulary.Word, question bool) {
	c := clause{
		text: text[words[0].Start:words[len(words)-1].End], stems: map[string]bool{}, doing: map[string]bool{}, things: map[vocabulary.ThingID]bool{},
		acts: map[vocabulary.ActID]bool{}, refused: map[vocabulary.ActID]bool{}, question: question, turn: h.turn, words: len(words),
	}
	negated := false
	for i := range words {
		if w := &words[i]; w.Gram.Has(vocabulary.Negation) && !following[strings.ReplaceAll(w.Text, " ", "_")] {
			negated = true // lösche sie nicht, ne supprime pas
		}
	}
	prev, light := "", false
	after := false
	for i := range words {
		w := &words[i]
		c.stems[w.Stem] = true
		for _, part := range tokens(w.Text) {
			c.stems[stem(part)] = true
		}
		for _, id := range w.Things {
			c.things[id] = true
		}
		if w.Gram.Has(vocabulary.Negation) && following[strings.ReplaceAll(w.Text, " ", "_")] {
			after = true
			prev = w.Text
			continue
		}
		noun := articles[prev] && !light
		next := ""
		if i+1 < len(words) {
			next = words[i+1].Text
		}
		if !noun && !(answerMe[w.Stem] && (next == "me" || next == "us")) && !w.Gram.Has(vocabulary.Done) {
			if forgets[w.Stem] {
				after = false
				prev = w.Text
				continue
			}
			if !after && !negated {
				c.doing[w.Stem] = true
			}
			for _, id := range w.Acts {
				if after || negated {
					c.refused[id] = true
					c.forbids |= t.Act(id).Classes
					continue
				}
				c.acts[id] = true
				c.classes |= t.Act(id).Classes
			}
		}
		light = lightVerbs[w.Text] || lightVerbs[w.Stem] || light && articles[w.Text]
		prev = w.Text
	}
	h.clauses = append(h.clauses, c)
}

// following are negations of what comes after them alone.
var following = set("not don't dont do_not doesn't does_not must_not should_not never without can't cannot won't shouldn't mustn't ohne sin sans sem senza zonder no never")

var lookOnly = regexp.MustCompile(`(?i)\bno changes\b|\b(?:don'?t|do not|without)\s+(?:change|chang|touch|modify|alter|edit|writ)\w*\s+anything|\bread[- ]?only\b|\bnichts (?:ändern|anfassen)\b|\bohne (?:etwas )?zu ändern\b|\bsin cambiar nada\b|\bne (?:rien )?change rien\b`)

var forgets = set("forget hesitate fail vergessen olvidar oublier esquecer dimenticare vergeten")

// lightVerbs make an act of the noun behind them: make a reservation, place an order.
var lightVerbs = set("make place do submit have want need like get give issue machen hacer faire fazer fare doen")

// articles stand before things, not before acts.
var articles = set("a an the my your his her its our their this that these those of in from by any some each every last first next new der die das ein eine einen einem mein meine den dem im zum zur le la les un une mon ma el los las una mi o os as um uma meu minha il lo gli de het een mijn dieser diese dieses")

var answerMe = set("tell let ask answer give say write send show email message text remind inform notify return respond reply")

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

var delegation = regexp.MustCompile(`(?i)\b(?:(?:do(?:\s+(?:the|all|these|those|my|every|each|whatever|what)\b)|perform|execute|complete|carry out|handle|take care of|process|follow|finish|implement|act on|work (?:on|through)|address|resolve|accomplish)\b[^.?!\n]{0,40}\b(?:task|tasks|action|actions|instruction|instructions|to-?dos?|steps?|items?|requests?|checklist|guidelines)\b|do what(?:ever)?\s+(?:it|he|she|they|the|is|was|that|this)\b|accordingly|as (?:instructed|described|requested|specified)|what(?:ever)? (?:it|the \w+) (?:says|asks|tells))`)

func tokens(text string) []string {
	text = strings.ReplaceAll(strings.ToLower(norm.NFKC.String(text)), "e-mail", "email")
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Cf, r) })
}

func stem(w string) string {
	for _, s := range [...][2]string{{"ies", "y"}, {"sses", "ss"}, {"es", "e"}, {"s", ""}} {
		if b, ok := strings.CutSuffix(w, s[0]); ok && len(b) > 2 {
			return b + s[1]
		}
	}
	return w
}

var camel = regexp.MustCompile(`([a-z0-9])([A-Z])`)

func nameWords(name string) []string {
	name = camel.ReplaceAllString(name, "${1}_${2}")
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r > 127 || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

var stop = set(`the a an and or of to in on at for with from by is are was were be been it its this that these those my your our their his her me
you us them i we he she they as if so do does did not no yes please can could would should will may might just also then than there here what
which who whom when where how why all any some every each other more most next new last first per via into out up down about after before`)

var common = set(`event events meeting meetings file files email emails mail message messages document documents calendar list transaction
transactions account user users item date time day name id status title body description content subject sender recipient recipients owner size
hour hours minutes confirmed received sent shared drive cloud com org net www http https docx pdf txt xlsx csv january february march april
may june july august september october november december monday tuesday wednesday thursday friday saturday sunday today tomorrow
re fwd fw hi hello dear thanks best regards true false null none`)

func distinctive(w string) bool {
	if common[w] || stop[w] || len(w) < 3 {
		return false
	}
	for _, r := range w {
		if r < '0' || r > '9' {
			return true
		}
	}
	return len(w) >= 5
}

// has reports whether a clause has a word, or one of the same family.
func (c *clause) has(s string) bool {
	if c.stems[s] {
		return true
	}
	return kin(c.stems, s)
}

func kin(set map[string]bool, s string) bool {
	if len(s) < 6 {
		return false
	}
	for w := range set {
		if len(w) >= 6 && w[:6] == s[:6] && shared(w, s)*2 >= max(len(w), len(s)) {
			return true
		}
	}
	return false
}

func shared(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
