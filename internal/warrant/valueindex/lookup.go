package valueindex

import (
	"bytes"
	"strings"
	"unicode/utf8"

	words "github.com/tidemark/tidemark/internal/base/text"
)

// Of is the best answer to where a value came from. Numbers, dates and other scalars
// come as text. A value without any letter or digit is Unseen. A day with its time that
// stands nowhere as such is as good as the worse of both.
func (x *Index) Of(value string) Finding {
	f := x.one(value)
	if f.Class >= System || !x.moment() {
		return f
	}
	parts := [2]string{string(x.q.text(0)), string(x.q.text(1))}
	day, hour := x.one(parts[0]), x.one(parts[1])
	if day.Class > hour.Class {
		day = hour
	}
	if day.Class > f.Class {
		return day
	}
	return f
}

// moment reports whether the value looked up last is a day and a time.
func (x *Index) moment() bool {
	q := &x.q
	return len(q.toks) == 2 && q.toks[0].kind == Date && q.toks[1].kind == Time
}

// look takes a value apart. Whoever judges asks about the same one several times over.
func (x *Index) look(value string) bool {
	if value != x.value {
		if !x.allowed.takes(len(value)) {
			x.value, x.found = "", false
			return false
		}
		x.raw = append(x.raw[:0], value...)
		x.value, x.found = value, x.q.read(&x.lex, x.seed, x.raw)
	}
	return x.found
}

// allowance bounds how many bytes of values are looked up for one decision: whoever chooses an argument must not choose how
// often its parts are looked for.
type allowance struct {
	bounded bool
	left    int
	asked   int
	spent   bool
	gone    <-chan struct{} // closed when nobody waits for the answer any more; nil: never
}

// perValue is what a value counts for beside its bytes.
const perValue = 16

func (r *allowance) takes(size int) bool {
	size += perValue
	if r.asked += size; !r.bounded {
		return true
	}
	r.left -= size
	r.spent = r.spent || r.left < 0 || r.abandoned()
	return !r.spent
}

func (r *allowance) abandoned() bool {
	select {
	case <-r.gone:
		return true
	default:
		return false
	}
}

// Bound lets values of at most so many bytes together be looked up until Release, and while gone is open. After that nothing is
// found, and Spent says so: then no answer counts.
func (x *Index) Bound(bytes int, gone <-chan struct{}) {
	x.allowed = allowance{bounded: true, left: bytes, gone: gone}
}

// Spent reports whether more was asked than there was room for.
func (x *Index) Spent() bool { return x.allowed.spent || x.allowed.bounded && x.allowed.abandoned() }

// Asked is how many bytes of values were looked up since Bound.
func (x *Index) Asked() int { return x.allowed.asked }

// Release lets go of the value that was asked about last: what is asked about next is another,
// and it may be long.
func (x *Index) Release() {
	x.allowed.bounded, x.allowed.gone = false, nil
	if x.value, x.found = "", false; cap(x.raw) > maxScalar {
		x.raw, x.q.arena, x.q.toks = nil, nil, nil
	}
}

func (x *Index) one(value string) Finding {
	if !x.look(value) {
		return Finding{}
	}
	if f, ok := x.words(); ok {
		return f
	}
	f := x.search(&x.q)
	if x.kept != nil {
		return x.recalled(f)
	}
	return f
}

// search looks in results.
func (x *Index) search(q *query) Finding {
	x.steps = stepLimit
	best := candidate{authored: true, beside: true, named: true}
	for i := len(x.shards) - 1; i >= 0 && best.Class < Anchored; i-- {
		x.fields(x.shards[i], q, &best)
	}
	for i := len(x.shards) - 1; i >= 0 && best.Class < Field && best.tries < hitLimit; i-- {
		x.texts(x.shards[i], q, &best)
	}
	x.finish(&best)
	return best.Finding
}

// candidate is the best finding so far and where it stands.
type candidate struct {
	Finding
	in    *corpus
	at    hit
	tries int // places of text looked at

	authored, beside, named bool // as far as it was looked at
}

func (x *Index) finish(best *candidate) {
	switch best.Class {
	case Field:
		best.Authored, best.Beside = best.authored, best.beside
	case Text:
		best.Named = best.named
	}
	if best.in != nil && x.lex.units {
		best.Anchor = ""
	} else if best.in != nil {
		best.Path, best.Excerpt = x.path(best.in, best.at.seg), best.in.excerpt(best.at)
	} else if x.old.has(x.seed, &x.q) {
		best.Class = Text
	}
}

// Stands reports whether the result of one of some steps holds the value, whatever else does. Where
// too many results hold it for each to be looked at, or content that was let go may hold it, it is taken to.
func (x *Index) Stands(value string, of func(step uint64) bool) bool {
	if !x.look(value) {
		return false
	}
	x.steps = stepLimit
	found := false
	for i := len(x.shards) - 1; i >= 0 && !found; i-- {
		c := x.shards[i]
		visit := func(h hit) bool {
			found = of(c.docOf(h.seg).step)
			return !found
		}
		all := c.eachWhole(&x.lex, &x.q, standTries, visit) && (found || c.eachWithin(&x.lex, &x.q, standWalk, standTries, visit))
		found = found || !all
	}
	return found || x.old.has(x.seed, &x.q)
}

// EachResult visits the results that are known, each with its step and its tool.
func (x *Index) EachResult(visit func(step uint64, tool string)) {
	for _, c := range x.shards {
		for i := range c.docs {
			visit(c.docs[i].step, c.docs[i].tool)
		}
	}
}

// Said reports whether the user's words hold the value.
func (x *Index) Said(value string) bool {
	if !x.look(value) {
		return false
	}
	class, _, _ := x.spokenBy()
	return class == User
}

// SaidSealed reports whether only a hash says that the user said a value: their words are known without it.
func (x *Index) SaidSealed(value string) bool {
	if len(x.sealed.sums) == 0 || !x.look(value) {
		return false
	}
	class, in, _ := x.spokenBy()
	return class == User && in == nil
}

// words looks in the user's words and the operator's.
func (x *Index) words() (Finding, bool) {
	class, in, h := x.spokenBy()
	switch {
	case class == Unseen:
		return Finding{}, false
	case in == nil:
		return Finding{Class: class, Excerpt: "[REDACTED]"}, true
	}
	return Finding{Class: class, Excerpt: in.excerpt(h)}, true
}

// spokenBy is whose words hold the value, and where; nowhere that can be shown where only its
// hash is known.
func (x *Index) spokenBy() (Class, *corpus, hit) {
	class, in, h := x.said(&x.q)
	if class == Unseen && x.sub.yearless(&x.q, x.seed) {
		return x.said(&x.sub)
	}
	return class, in, h
}

func (x *Index) said(q *query) (Class, *corpus, hit) {
	if h, ok := x.user.has(&x.lex, q); ok {
		return User, x.user, h
	}
	if x.sealed.has(q) {
		return User, nil, hit{}
	}
	if h, ok := x.system.has(&x.lex, q); ok {
		return System, x.system, h
	}
	return Unseen, nil, hit{}
}

// fields looks for structured fields that are the value as a whole.
func (x *Index) fields(c *corpus, q *query, best *candidate) {
	c.eachWhole(&x.lex, q, fieldLimit, func(h hit) bool {
		x.place(c, h, best)
		return best.Class < Anchored
	})
}

// texts looks everywhere else: in free text, and for typed parts of a field.
func (x *Index) texts(c *corpus, q *query, best *candidate) {
	all := c.each(&x.lex, q, func(h hit) bool {
		if !c.segs[h.seg].free && x.typed(c, q, h) {
			x.place(c, h, best)
		} else {
			d := c.docOf(h.seg)
			best.named = best.named && d.key.named
			best.take(Finding{Class: Text, Tool: d.tool, Step: d.step}, c, h)
		}
		best.tries++
		return best.tries < hitLimit && best.Class < Anchored
	})
	best.named = best.named && all && best.tries < hitLimit
}

// place weighs a field that is the value.
func (x *Index) place(c *corpus, h hit, best *candidate) {
	d := c.docOf(h.seg)
	rec := c.segs[h.seg].rec
	f := Finding{Class: Field, Field: true, Tool: d.tool, Step: d.step}
	anchor, near := x.anchor(c, d, h)
	if anchor != "" && !x.rivals(c, h, anchor) {
		f.Class, f.Anchor = Anchored, anchor
	}
	f.Near = near || best.Near
	best.authored = best.authored && c.recs[rec].authored
	best.beside = best.beside && d.records > 1 && d.beside(rec)
	best.take(f, c, h)
	best.Near = f.Near
}

// take keeps the better finding.
func (b *candidate) take(f Finding, c *corpus, h hit) {
	if f.Class > b.Class {
		b.Finding, b.in, b.at = f, c, h
	}
}

// typed reports whether a part of a field stands for itself: everything in the field is
// a figure or a target, or it is the address behind a name, "Bob Smith <bob@host>".
func (x *Index) typed(c *corpus, q *query, h hit) bool {
	text := c.segText(h.seg)
	if len(q.toks) == 1 && q.toks[0].kind == Email && x.behind(text, h.lo, h.hi) {
		return true
	}
	l := &x.lex
	l.src, l.pos = text, 0
	for l.next() {
		if l.tok.kind == Word || l.tok.kind == Number {
			return false
		}
	}
	return true
}

// behind reports whether what stands in a text is the address behind a name.
func (x *Index) behind(text []byte, lo, hi int) bool {
	if x.lex.units {
		return readUnit(text[lo:]).marks&angled != 0
	}
	return behindName(text, lo, hi)
}

func behindName(text []byte, lo, hi int) bool {
	return lo > 0 && text[lo-1] == '<' && string(bytes.TrimSpace(text[hi:])) == ">" && bytes.Count(text, []byte("@")) == 1
}

// addressed reports whether a text has the mark of an address in it.
func (x *Index) addressed(text []byte) bool {
	if x.lex.units {
		return len(text) >= unitSize && readUnit(text).marks&written != 0
	}
	return bytes.IndexByte(text, '@') >= 0
}

const (
	excerptBefore = 40
	excerptAfter  = 60
)

// excerpt is the text around a hit on one line, from word to word, with an ellipsis where there is more of it.
func (c *corpus) excerpt(h hit) string {
	text := c.segText(h.seg)
	lo, hi := max(0, h.lo-excerptBefore), min(len(text), h.hi, h.lo+maxScalar)
	if i := bytes.IndexAny(text[lo:h.lo], blanks); lo > 0 && i >= 0 {
		lo += i
	}
	end := hi
	hi = min(len(text), hi+excerptAfter)
	if i := bytes.LastIndexAny(text[end:hi], blanks); hi < len(text) && i >= 0 {
		hi = end + i
	}
	for lo > 0 && !utf8.RuneStart(text[lo]) {
		lo--
	}
	for hi < len(text) && !utf8.RuneStart(text[hi]) {
		hi++
	}
	out := strings.Join(strings.Fields(strings.ToValidUTF8(string(text[lo:hi]), "")), " ")
	if len(bytes.TrimSpace(text[:lo])) > 0 {
		out = words.Ellipsis + out
	}
	if len(bytes.TrimSpace(text[hi:])) > 0 {
		out += words.Ellipsis
	}
	return out
}

// blanks are what words stand between.
const blanks = " \t\r\n"
