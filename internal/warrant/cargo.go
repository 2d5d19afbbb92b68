package warrant

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/reader"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

var (
	copies   = list("copies")
	bareHost = regexp.MustCompile(`(?:^|[^:\w/])//((?:[a-z0-9-]+\.)+[a-z0-9]+)|\b((?:\d{1,3}\.){3}\d{1,3}[:/]\w+)`)
	stopSign = strings.NewReplacer("。", ".", "．", ".", "｡", ".")
)

// A text that stands so in what somebody wrote is theirs from some words on: a few of which the user speaks of one are the user's
// matter. What is longer is looked at in runs of words, by what an item names.
const (
	quotedFew    = 3
	quotedWords  = 5
	quotedLength = 400
)

// carries judges the texts that stand so in what the user named. They may go where the words want something to go, and nowhere
// else: a yes for an act says nothing of what it carries.
func (j *judging) carries() {
	if e, _ := j.w.Least(Act); e >= Said {
		return
	}
	for _, l := range j.copied {
		j.w.add(Cargo, l.Path, l.Text, Nothing, "it stands so in what was read, and I could not find in your words that it may go")
	}
}

// quotes reports whether a text is what somebody wrote: in a result that the user named too, unless those are passed over.
func (c *Context) quotes(text string, named bool) bool {
	words := tokens(text)
	mine := func(w string) bool { return distinctive(w) && c.user.stems[stem(w)] }
	if len(words) < quotedFew || len(words) < quotedWords && slices.ContainsFunc(words, mine) {
		return false
	}
	return len(text) < quotedLength && !c.index.Said(text) && c.isWritten(text, named)
}

// cargo judges a text that leaves with a call: whether it is what others wrote,
// and the addresses in it.
func (j *judging) cargo(l *arguments.Leaf) {
	if !l.Quoted || j.w.Deed == Read {
		return
	}
	c := j.c
	j.composes = j.composes || wordy(l.Text) && !wordIn(l.Path, fileNames) && !c.index.Said(l.Text)
	j.disclosed(l)
	switch {
	case j.sums(l):
	case c.quotes(l.Text, false):
		j.textual = true
		j.w.add(Cargo, l.Path, l.Text, Nothing, "it stands so in what somebody wrote, and I could not find that in your words")
	case c.quotes(l.Text, true):
		j.copied = append(j.copied, l)
	}
	text := stopSign.Replace(l.Text)
	for _, h := range bareHosts(text) {
		if e, why := c.carried(h[1] + h[2]); e < Followed {
			j.w.add(Cargo, l.Path, h[1]+h[2], e, why)
		}
	}
	for _, p := range valueindex.Targets(text) {
		switch p.Kind {
		case valueindex.URL, valueindex.Host:
			if p.Kind == valueindex.URL || knownTLD(p.Text) {
				e, why := c.carried(p.Text)
				j.w.add(Cargo, l.Path, p.Text, e, why)
			}
		case valueindex.Email, valueindex.IBAN, valueindex.Phone:
			e, why := j.evidence(p.Text, false)
			if f := c.index.Of(p.Text); e == Nothing && c.says(copies) && (f.Named || f.Class == valueindex.Field) && c.looked(p.Text) {
				e, why = Followed, "of what you want passed on"
			}
			j.w.add(Cargo, l.Path, p.Text, e, why)
		}
	}
}

// bareHosts are the addresses of a text that have no scheme. Most texts hold nothing that could be one.
func bareHosts(text string) [][]string {
	numbers := strings.IndexFunc(text, func(r rune) bool { return r >= '0' && r <= '9' })
	if !strings.Contains(text, "//") && (numbers < 0 || strings.IndexByte(text[numbers:], '.') < 0) {
		return nil
	}
	return bareHost.FindAllStringSubmatch(text, -1)
}

// afterScheme is an address without how it is reached: ftp leads outside as well.
func afterScheme(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		return rest
	}
	return address
}

// carried is the evidence for an address that a text carries away.
func (c *Context) carried(address string) (Evidence, string) {
	e, why := c.address(address)
	if f := c.index.Of(address); e == Followed && f.Class == valueindex.Text && !f.Named {
		e, why = Nothing, c.where(address, &f) // to open it is one thing, to pass it on another
	}
	switch {
	case e < Followed && private(address) && private(afterScheme(address)):
		return Followed, "an address that leads nowhere outside"
	case e > Nothing:
	case c.says(copies) && c.index.Of(address).Named && c.looked(address):
		return Followed, "of what you want passed on"
	case c.isOwn(address):
		return Own, "an earlier act returned it"
	}
	return e, why
}

// looked reports whether every place in which a value stands was looked at: of what only a
// trace is left, nobody knows whether the user pointed at it.
func (c *Context) looked(v string) bool {
	return c.index.Mentions(v, func(valueindex.Mention) bool { return true }) && !c.lost
}

// run is how many words in a row are a quotation, and most how many runs of a text are looked for.
const (
	run  = 5
	most = 4000
)

// madeUp finds a number as long as those of cards and accounts that stands in no source: it is nobody's to make up.
func (c *Context) madeUp(text string, of func(uint64) bool) string {
	for _, v := range longNumber.FindAllString(text, -1) {
		if !c.index.Said(v) && !c.isOwn(v) && !c.index.Stands(v, of) && !c.index.Stands(strings.ReplaceAll(v, " ", ""), of) {
			return v
		}
	}
	return ""
}

// longNumber is a number as long as those of cards and accounts, however it is spaced.
var longNumber = regexp.MustCompile(`[0-9](?:[ -]?[0-9]){11,}`)

// Stray finds what a text holds of results that no source names: addresses, figures and runs of words.
func (w world) Stray(text string, sources []string) (part, why string) {
	key := text + "\x00" + strings.Join(slices.Sorted(slices.Values(sources)), "\x00")
	found, known := w.strays[key]
	if !known {
		found = w.stray(text, sources)
		w.strays[key] = found
	}
	if found != "" {
		return found, "it holds what was read elsewhere"
	}
	return "", w.blind(text, sources)
}

// names reports whether a phrase of the owner's names the result of a step as something to pass on. Whom the call is for does not: who
// writes a letter chooses whom they name in it. To its only author it may go back.
func (w world) names(step uint64, phrase string) bool {
	all := w.c.records.All()
	if !all.Names(step, phrase) || w.given && !w.tellsOf(step) {
		return false
	}
	if rest := w.withoutReaders(phrase); rest == strings.ToLower(phrase) || all.Names(step, rest) {
		return true
	}
	author, _ := mandate.AuthorOf(all.Author("", step))
	return len(w.to.People) == 1 && strings.EqualFold(string(author), w.to.People[0])
}

// tellsOf reports whether a clause that orders more than a look names the result of a step, beside whom the call is for: where the owner
// gives what is told, what they only want looked at is no source for it.
func (w world) tellsOf(step uint64) bool {
	return slices.ContainsFunc(w.c.user.scope(), func(cl *clause) bool {
		tells := !cl.denies && (cl.classes == 0 || cl.classes.Any(acting))
		return tells && w.c.records.All().Names(step, w.withoutReaders(cl.text))
	})
}

// givesAll reports whether the owner says what a call with some values is to tell, and leaves nothing of it to what was read: "that the
// shop opens at 11", and neither "what it says" nor "that it is done".
func (c *Context) givesAll(values []string) bool {
	contents := reader.Told(strings.Join(c.asking, "\n"), values, c.vocabulary)
	return len(contents) > 0 && !slices.ContainsFunc(contents, func(text string) bool {
		words := c.vocabulary.Words(text)
		if len(words) > 0 && words[0].Gram&(vocabulary.Pronoun|vocabulary.Function) != 0 {
			words = words[1:] // that
		}
		return len(words) == 0 || slices.ContainsFunc(words, func(w vocabulary.Word) bool {
			return w.Gram&(vocabulary.Question|vocabulary.Pronoun|vocabulary.Report) != 0
		})
	})
}

func (w world) stray(text string, sources []string) string {
	c, of := w.c, w.passes(sources)
	if len(sources) == 0 {
		w.quoted, w.told = false, true
	}
	if !w.quoted {
		if v := c.strayValue(text, of); v != "" {
			return v
		}
	} else if v := w.private(text, of); v != "" {
		return v
	}
	if v := c.strayRun(text, of); v != "" {
		return v
	}
	if !w.told { // where the agent words it, only what they may not read counts
		of = w.open(of)
	}
	if w.given {
		if v := c.retold(text, w.open(of), 1); v != "" {
			return v
		}
	}
	return c.retold(text, of, fewRetold)
}

// strays reports whether a value was read, and not in what may be passed on.
func (c *Context) strays(v string, of func(uint64) bool) bool {
	return !c.index.Said(v) && c.index.Of(v).Class > valueindex.Unseen && !c.isOwn(v) && !c.index.Stands(v, of)
}

// strayValue finds an address or a figure that is of no source.
func (c *Context) strayValue(text string, of func(uint64) bool) string {
	found := ""
	valueindex.EachTarget([]byte(text), func(p valueindex.Part) bool {
		if c.index.Said(p.Text) || c.isOwn(p.Text) || c.index.Stands(p.Text, of) {
			return true
		}
		found = p.Text // one that stands nowhere is no better than one that does
		return false
	})
	if found != "" {
		return found
	}
	if v := c.madeUp(text, of); v != "" {
		return v
	}
	for _, word := range strings.Fields(text) {
		v := strings.Trim(word, ".,;:!?()[]\"'")
		if len(v) < 4 || !strings.ContainsAny(v, "0123456789") {
			continue
		}
		if c.strays(v, of) || isCode(v) && !c.index.Said(v) && !c.isOwn(v) && !c.index.Stands(v, of) {
			return v
		}
	}
	return ""
}

// isCode reports whether a word is one of those that people do not make up as they write: letters and figures that change several times.
// What is read in another spelling, or as one that only looks like it, stands nowhere, and is no better for that.
func isCode(v string) bool {
	const letter, figure = 1, 2
	last, changes, size := 0, 0, 0
	for _, r := range v {
		is := 0
		switch {
		case unicode.IsLetter(r):
			is = letter
		case unicode.IsDigit(r):
			is = figure
		case r != '-' && r != '_':
			return false // a time, an amount, an address: those are looked at by themselves
		}
		if is == 0 {
			continue
		}
		if size++; last != 0 && is != last {
			changes++
		}
		last = is
	}
	return size >= 6 && changes >= 2
}

// strayRun finds words in a row that are of no source.
func (c *Context) strayRun(text string, of func(uint64) bool) string {
	words := strings.Fields(text)
	for i := 0; i+run <= len(words) && i < most; i++ {
		if v := strings.Trim(strings.Join(words[i:i+run], " "), ".,;:!?"); c.strays(v, of) {
			return v
		}
	}
	return ""
}

// fewRetold is how many words of one result, which the owner did not say, tell what it says in other words.
const fewRetold = 3

// retold finds what a text that the owner gave says beside that of one result that may not be passed on, in whatever order.
func (c *Context) retold(text string, of func(uint64) bool, few int) string {
	in, seen := map[uint64][]string{}, map[string]bool{}
	for _, w := range c.vocabulary.Words(text[:min(len(text), maxRetold)]) {
		if few == 1 && w.Kind != vocabulary.Plain { // addresses and figures are judged by what they are
			continue
		}
		if seen[w.Stem] || len(w.Text) < 4 || w.Gram != 0 || c.user.stems[w.Stem] || c.index.Said(w.Text) || c.index.Stands(w.Text, of) {
			continue
		}
		seen[w.Stem] = true
		c.index.Stands(w.Text, func(step uint64) bool {
			if list := in[step]; len(list) == 0 || list[len(list)-1] != w.Text {
				in[step] = append(list, w.Text)
			}
			return false
		})
	}
	best := ""
	for _, list := range in { // the order of a map is none: the one that reads first
		if s := strings.Join(list, " "); len(list) >= few && (best == "" || s < best) {
			best = s
		}
	}
	return best
}

// maxRetold bounds how much of a text is looked through word by word.
const maxRetold = 4000

// leavesOut is a figure of what the owner gave to pass on, where a call passes on none of them: then it says something else. Which
// words say the same nobody knows, but a figure is said or not.
func (c *Context) leavesOut(contents []string, values []arguments.Leaf) string {
	if !strings.ContainsAny(strings.Join(contents, " "), "0123456789") {
		return ""
	}
	var texts strings.Builder
	for i := range values {
		texts.WriteString(values[i].Text + " ")
	}
	said := mandate.Counts(texts.String())
	for _, f := range digitRuns.FindAllString(texts.String(), -1) {
		said[strings.TrimLeft(f, "0")] = true
	}
	first := ""
	for _, f := range digitRuns.FindAllString(strings.Join(contents, " "), -1) {
		n, err := strconv.Atoi(f)
		if err != nil || said[strconv.Itoa(n)] || said[strconv.Itoa(n+12)] || said[strconv.Itoa(n-12)] { // 8 pm is 20:00
			return ""
		}
		first = cmp.Or(first, f)
	}
	return first
}

// bears asks about a text that says nothing of what the owner gave to pass on, or more than that.
func (j *judging) bears(quote string, values []arguments.Leaf) {
	if !j.w.Deed.graverThan(Tidy) {
		return
	}
	contents := reader.Told(quote, texts(values), j.c.vocabulary)
	if f := j.c.leavesOut(contents, values); f != "" && len(contents) == 1 && j.w.Deed == Send {
		j.w.add(Cargo, "", f, Nothing, "you said what it is to say, and it does not say that")
		return
	}
	if e, _ := j.w.Least(Act); e == Assented {
		return // what was proposed was read
	}
	if path, part, why := j.differs(quote, values); why != "" {
		kind := missingKind(mandate.Text, j.w.Deed)
		j.w.Slots = append(j.w.Slots, Slot{Kind: kind, Path: path, Value: part, Has: Nothing, Why: why, Part: part})
	}
}

var digitRuns = regexp.MustCompile(`[0-9]+`)

// tells reports whether the owner's latest messages give a text to pass on.
func (c *Context) tells() bool {
	if c.telling == nil {
		tells := slices.ContainsFunc(c.asking, func(text string) bool { return reader.Tells(text, c.vocabulary) })
		c.telling = &tells
	}
	return *c.telling
}
