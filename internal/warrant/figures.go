package warrant

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/reader"
	"github.com/tidemark/tidemark/internal/warrant/reckon"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// figuresElsewhere takes from the sums, numbers, days and times of a call what speaks for them, where they are none of the clause that
// orders it: that clause has another one, or only clauses that speak of something else have this one.
func (j *judging) figuresElsewhere(o *offer, call *mandate.Call) {
	all, near := call.Values, *call
	near.Values = all[:min(len(all), maxLearnt)] // what a clause names is looked for among the first
	call = &near
	for i := range all {
		v := &all[i]
		if v.Flag || j.bound(v.Path) || v.Role != mandate.Measure && (v.Role != mandate.Object || idNames[arguments.LastWord(v.Path)]) {
			continue
		}
		if v.Role == mandate.Object && len(digitsOf(v.Text)) > maxCount {
			continue // the number of an account or a card, which is none of how much
		}
		why := ""
		if day := mandate.MomentsIn(v.Text); day.Any() && (v.Role == mandate.Measure || !mandate.Figure(v.Text)) {
			why = j.dayElsewhere(o, v, &day, call)
		} else if mandate.Figure(v.Text) {
			why = j.numberElsewhere(o, v, call)
		}
		if why != "" {
			j.unbind(&mandate.Missing{Path: v.Path, Value: v.Text, Role: v.Role, Why: why})
		}
	}
}

// unitsUnsaid takes from the unit of a number that the owner said what speaks for it, where neither they nor the schema say it: 230 may be
// of either.
func (j *judging) unitsUnsaid(call *mandate.Call) {
	near := call.Values[:min(len(call.Values), maxSided)]
	figure := func(v mandate.Value) bool { return mandate.Figure(v.Text) && j.c.saidNow(v.Text) }
	for i := range call.Values {
		v := &call.Values[i]
		if v.Flag || !unitNames[arguments.LastWord(v.Path)] || v.Default != "" &&
			strings.EqualFold(v.Default, v.Text) || j.saysUnit(v.Text) {
			continue
		}
		if len(near) == len(call.Values) && !slices.ContainsFunc(near, figure) { // among more there may be one
			continue
		}
		j.unbind(&mandate.Missing{Path: v.Path, Value: v.Text, Role: mandate.Object, Why: "you said the number, and not of what"})
	}
}

// saysUnit reports whether the messages that count now have a word for a unit.
func (j *judging) saysUnit(unit string) bool {
	low := strings.ToLower(unit)
	canon := cmp.Or(unitWords[low], low)
	return slices.ContainsFunc(j.c.asking, func(text string) bool {
		if mandate.Phrase(text).Chooses(unit) {
			return true
		}
		return slices.ContainsFunc(strings.Fields(strings.ToLower(text)), func(w string) bool {
			w = strings.Trim(w, ".,;:!?()0123456789")
			return w == low || unitWords[w] == canon
		})
	})
}

var unitNames, unitWords = list("unit_names"), lists.ByFirst("unit_words")

// maxCount is how many digits a number has that may say how many.
const maxCount = 6

func digitsOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}

// What is said of a figure that the words have for something else, or that nobody named.
const (
	whyOfOthers = "your words say it of something else"
	whyAnother  = "you named another one"
	whyUnsaid   = "I found no such sum in your words"
)

// numberElsewhere is why a number is none of the clause that orders a call; empty: it may be.
func (j *judging) numberElsewhere(o *offer, v *mandate.Value, call *mandate.Call) string {
	own := o.own(v, call)
	says := func(p *part) bool { return p.says(v.Text) }
	if slices.ContainsFunc(own, says) {
		return ""
	}
	elsewhere := false
	for i := range o.halves {
		p := &o.halves[i]
		if !says(p) {
			continue
		}
		if p.details(v) {
			return ""
		}
		elsewhere = elsewhere || v.Text != "1" || figuresIn.MatchString(p.Words) // "one" may be a pronoun
	}
	reckons := !elsewhere && o.reckons(v.Text)
	other := !reckons && slices.ContainsFunc(own, func(p *part) bool {
		return slices.ContainsFunc(p.figures(v.Sum), func(f string) bool { return !o.used(f, v, call) })
	})
	if other && (elsewhere || call.Grave || j.c.inText(v.Text)) {
		return whyAnother
	}
	return j.unheard(o, own, v, call, elsewhere, reckons)
}

// unheard is why a number that the clauses of a call leave open is none of theirs; empty: it may be.
func (j *judging) unheard(o *offer, own []*part, v *mandate.Value, call *mandate.Call, elsewhere, reckons bool) string {
	switch {
	case len(own) > 0 && elsewhere && (v.Sum || call.Grave) && !o.goesOn(own, v, call):
		return whyOfOthers
	case v.Sum && !elsewhere && !reckons && !j.c.saidNow(v.Text) && j.madeUp(v):
		return whyUnsaid
	}
	return ""
}

// madeUp reports whether a sum is the agent's own. One of something is not, unless the owner spoke of how much.
func (j *judging) madeUp(v *mandate.Value) bool {
	return slices.ContainsFunc(j.w.Slots, func(s Slot) bool {
		one := v.Text == "1" && s.Has == Said && j.spokenOf(v.Path)
		return s.Path == v.Path && s.Value == v.Text && s.Kind == Measure && (s.Has == Agent || one)
	})
}

// dayElsewhere is why a day or a time is none of the clause that orders a call; empty: it may be.
func (j *judging) dayElsewhere(o *offer, v *mandate.Value, day *mandate.Moments, call *mandate.Call) string {
	own := o.own(v, call)
	if why := o.dayOff(own, v, day, call); why != "" {
		return why
	}
	for _, p := range own {
		if says, known := p.days.Say(day, p.Words); known && says {
			return ""
		}
	}
	other, elsewhere := false, false
	for i := range o.halves {
		p := &o.halves[i]
		says, known := p.days.Say(day, p.Words)
		if known && says && p.details(v) {
			return ""
		}
		elsewhere = elsewhere || known && says
		other = other || known && !says && slices.Contains(own, p) && !o.dated(p, v, call)
	}
	if other && (elsewhere || call.Grave || j.c.inText(v.Text)) {
		return whyAnother
	}
	return ""
}

// dayOff is why a day or a time is another one than the clauses of a call say, or than its other days; empty: it may be theirs.
func (o *offer) dayOff(own []*part, v *mandate.Value, day *mandate.Moments, call *mandate.Call) string {
	ordering := slices.ContainsFunc(o.halves, func(p part) bool { return p.Orders && p.now })
	for _, p := range own {
		if (p.Orders || !ordering) && p.days.Clash(day, v.Text, p.Words) && !o.timed(p, v, call) {
			return whyAnother
		}
	}
	if farFrom(v, call) && !slices.ContainsFunc(o.halves, func(p part) bool { return strings.Contains(p.Words, yearOf(v.Text)) }) {
		return "another date of this call is of another year, and I found neither in your words"
	}
	return ""
}

// farFrom reports whether another date of a call lies more than a year off.
func farFrom(v *mandate.Value, call *mandate.Call) bool {
	year, err := strconv.Atoi(yearOf(v.Text))
	return err == nil && slices.ContainsFunc(call.Values, func(u mandate.Value) bool {
		other, err := strconv.Atoi(yearOf(u.Text))
		return err == nil && u.Role != mandate.Text && u.Path != v.Path && (other > year+1 || other < year-1)
	})
}

// yearOf is the year of a date as interfaces write it; empty: it is none.
func yearOf(value string) string {
	if !isoDate.MatchString(value) {
		return ""
	}
	return value[:4]
}

var isoDate = regexp.MustCompile(`^\d{4}-\d\d-\d\d(?:$|[T ])`)

// details reports whether a clause says more of a parameter: it has a word of its name, or is of a message that goes on with what was
// ordered before it.
func (p *part) details(v *mandate.Value) bool {
	return !p.Denied && !p.Apart && (p.later || slices.Contains(p.Params, v.Path))
}

// dated reports whether another parameter of a call has the day or the time that a clause says.
func (o *offer) dated(p *part, v *mandate.Value, call *mandate.Call) bool {
	return slices.ContainsFunc(call.Values, func(u mandate.Value) bool {
		if u.Path == v.Path || u.Role != mandate.Measure || !declares(call, u.Path) {
			return false
		}
		day := mandate.MomentsIn(u.Text)
		says, known := p.days.Say(&day, p.Words)
		return known && says
	})
}

// timed reports whether another parameter of a call has the time and the year that a clause says.
func (o *offer) timed(p *part, v *mandate.Value, call *mandate.Call) bool {
	return slices.ContainsFunc(call.Values, func(u mandate.Value) bool {
		if u.Path == v.Path || u.Role != mandate.Measure || !declares(call, u.Path) {
			return false
		}
		day := mandate.MomentsIn(u.Text)
		return day.Any() && !p.days.Clash(&day, u.Text, p.Words)
	})
}

// declares reports whether a tool declares a parameter, or nobody told what it declares.
func declares(call *mandate.Call, path string) bool {
	return len(call.Takes) == 0 || slices.Contains(call.Takes, path) || slices.Contains(call.Takes, arguments.Root(path))
}

// own are the clauses that order a call: those that name something of it, or the parameter at hand, before those that only name it, and
// these before those that only order.
func (o *offer) own(v *mandate.Value, call *mandate.Call) []*part {
	var ranks [3][]*part
	for i := range o.halves {
		p := &o.halves[i]
		if p.Denied || p.Apart || !p.now {
			continue
		}
		names := slices.Contains(p.Params, v.Path) || p.names(v, call)
		switch {
		case names && p.Orders:
			ranks[0] = append(ranks[0], p)
		case names:
			ranks[1] = append(ranks[1], p)
		case p.Orders:
			ranks[2] = append(ranks[2], p)
		}
	}
	for _, list := range ranks {
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

// names reports whether a clause names somebody or something of a call, beside the value at hand.
func (p *part) names(v *mandate.Value, call *mandate.Call) bool {
	return slices.ContainsFunc(call.Values, func(u mandate.Value) bool {
		bare := u.Role == mandate.Text || u.Flag || len(u.Text) > maxNamed || mandate.Figure(u.Text)
		return u.Path != v.Path && !bare && declares(call, u.Path) && p.words.Chooses(u.Text)
	})
}

// says reports whether a clause has a number.
func (p *part) says(value string) bool {
	n := plainSum(figuresIn.FindString(value))
	return slices.ContainsFunc(p.all, func(f string) bool { return plainSum(f) == n })
}

// figures are the numbers of a clause that say how much, or how many.
func (p *part) figures(sum bool) []string {
	if sum {
		return p.sums
	}
	return p.counts
}

// used reports whether a number of a clause is that of another parameter.
func (o *offer) used(figure string, v *mandate.Value, call *mandate.Call) bool {
	n := plainSum(figure)
	return slices.ContainsFunc(call.Values, func(u mandate.Value) bool {
		if u.Path == v.Path || u.Role == mandate.Text || u.Sum && !v.Sum || v.Sum || !declares(call, u.Path) {
			return false
		}
		return slices.ContainsFunc(figuresIn.FindAllString(u.Text, -1), func(f string) bool {
			return strings.TrimLeft(plainSum(f), "0") == n
		})
	})
}

// goesOn reports whether a clause with a number goes on with what the clauses of a call order: it refers to it, names something of it or
// of the call, or nothing at all; or they refer to what it tells right before them.
func (o *offer) goesOn(own []*part, v *mandate.Value, call *mandate.Call) bool {
	for i := range o.halves {
		p := &o.halves[i]
		if !p.says(v.Text) || p.Denied || p.Apart {
			continue
		}
		before := func(q *part) bool { return q.Refers && i+1 < len(o.halves) && q == &o.halves[i+1] }
		akin := func(q *part) bool {
			return slices.ContainsFunc(p.content, func(w string) bool { return slices.Contains(q.content, w) })
		}
		switch {
		case p.names(v, call), len(p.content) == 0, !p.Orders && (p.Refers || slices.ContainsFunc(own, before)),
			slices.ContainsFunc(own, akin):
			return true
		}
	}
	return false
}

// partOf is a clause with the numbers, days and words that calls are held against.
func (c *Context) partOf(p reader.Part, now, later bool) part {
	out := part{Part: p, words: mandate.Phrase(p.Words), now: now, later: later, sums: c.sums(p.Words), days: mandate.MomentsIn(p.Words)}
	counted := mandate.Counts(p.Words)
	delete(counted, "1")
	words := slices.Sorted(maps.Keys(counted))
	out.counts = append(c.counts(p.Words), words...)
	out.all = append(ownFigures(p.Words), slices.Sorted(maps.Keys(mandate.Counts(p.Words)))...)
	for _, w := range c.vocabulary.Words(p.Words) {
		if w.Kind == vocabulary.Plain && w.Gram == 0 && len(w.Text) > 2 && !mandate.Currency(w.Text) && len(mandate.Counts(w.Text)) == 0 {
			out.content = append(out.content, w.Stem)
		}
	}
	return out
}

// ownFigures are the numbers of a text that are none of a name: the 1 of q1 counts nothing.
func ownFigures(text string) []string {
	var out []string
	for _, at := range figuresIn.FindAllStringIndex(text, -1) {
		before, size := utf8.DecodeLastRuneInString(text[:at[0]])
		if before == '-' || before == '_' {
			before, _ = utf8.DecodeLastRuneInString(text[:at[0]-size])
		}
		if !unicode.IsLetter(before) || unicode.In(before, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) {
			out = append(out, text[at[0]:at[1]])
		}
	}
	return out
}

var figuresIn = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

// saysGrouped reports whether the messages that count now have a number in groups, or with cents, that may mean a value.
func (c *Context) saysGrouped(value string) bool {
	return slices.ContainsFunc(c.asking, func(text string) bool {
		return slices.ContainsFunc(figuresIn.FindAllString(text, -1), func(f string) bool {
			return strings.ContainsAny(f, ".,") && reckon.Same(f, value)
		})
	})
}

// plainSum is a number without what groups it, and without cents that are none: 1,200.00 is 1200.
func plainSum(text string) string {
	text = strings.ReplaceAll(text, ",", ".")
	if at := strings.LastIndexByte(text, '.'); at >= 0 && len(text)-at <= len(".00") {
		whole, cents := strings.ReplaceAll(text[:at], ".", ""), strings.TrimRight(text[at+1:], "0")
		if cents == "" {
			return whole
		}
		return whole + "." + cents
	}
	return strings.ReplaceAll(text, ".", "")
}

// counts are the numbers of a text that say how much or how many: of whatever it is, but for days, times and
// what is called by its number.
func (c *Context) counts(text string) []string {
	var out []string
	words := c.vocabulary.Words(text)
	for _, at := range saidFigure.FindAllStringIndex(text, -1) {
		number := strings.TrimRight(text[at[0]:at[1]], ".,")
		if at[0] > 0 && !strings.ContainsAny(text[at[0]-1:at[0]], " \n\t(") || len(number) > 6 {
			continue
		}
		end := at[0] + len(number)
		k := slices.IndexFunc(words, func(w vocabulary.Word) bool { return w.Start >= end })
		if k < 0 {
			k = len(words)
		} else if mandate.Month(words[k].Text) || mandate.Clocked(text[end:]) {
			continue
		}
		before := slices.DeleteFunc(slices.Clone(words[:k]), func(w vocabulary.Word) bool { return w.End > at[0] })
		led := !slices.ContainsFunc(before[:max(0, len(before)-1)], func(w vocabulary.Word) bool { return w.Gram == 0 })
		if led && len(before) > 0 && len(before[len(before)-1].Acts) > 0 {
			before = nil // "order 3" is a verb where it begins
		}
		if c.isSum(text[:end], at[0], end, before) {
			out = append(out, number)
		}
	}
	return out
}

// pieceOf reports whether a number stands in the owner's words only as a piece of others: 50 of 12.50, 999 of 1,999.
func (c *Context) pieceOf(v string) bool {
	if !plainFigure.MatchString(v) {
		return false
	}
	piece := false
	for _, said := range c.said {
		if !strings.Contains(said, v) {
			continue
		}
		for _, f := range figuresIn.FindAllString(said, -1) {
			if reckon.Same(f, v) {
				return false
			}
			parts := strings.FieldsFunc(f, func(r rune) bool { return r == '.' || r == ',' })
			piece = piece || reckon.Number(f) && slices.Contains(parts, v)
		}
	}
	return piece
}

var plainFigure = regexp.MustCompile(`^\d+$`)

// partOfTime reports whether the parameter at hand takes a part of a day or a time, which people write as parts of one number: 12.30.
func (j *judging) partOfTime() bool { return wordIn(j.param, timeParts) }

var timeParts = list("time_parts")

// reckons reports whether a number is what the clauses that count work out.
func (o *offer) reckons(value string) bool {
	if o.results == nil {
		var r reckon.Words
		for i := range o.halves {
			if p := &o.halves[i]; p.now && !p.Denied && !p.Apart {
				r.Add(p.Words, tokens(p.Words), p.sums, p.counts)
			}
		}
		o.results = r.Results(o.hundredths)
	}
	return o.results.Have(value)
}
