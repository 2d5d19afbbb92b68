package origin

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/trust"
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
	if day.better(hour) {
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

func (x *Index) one(value string) Finding {
	q := &x.q
	if !q.read(&x.lex, x.seed, []byte(value)) {
		return Finding{}
	}
	if f, ok := x.words(); ok {
		return f
	}
	var best candidate
	for i := len(x.shards) - 1; i >= 0 && best.Class < Anchored; i-- {
		x.fields(x.shards[i], q, &best)
	}
	if best.Class < Field {
		for i := len(x.shards) - 1; i >= 0 && best.tries < hitLimit; i-- {
			x.texts(x.shards[i], q, &best)
		}
	}
	if best.in != nil {
		best.Path, best.Excerpt = x.path(best.in, best.at.seg), best.in.excerpt(best.at)
	} else if x.old.has(x.seed, q) {
		best.Class = Text
	}
	x.byHost(q, &best.Finding)
	return best.Finding
}

// candidate is the best finding so far and where it stands.
type candidate struct {
	Finding
	in    *corpus
	at    hit
	tries int // places of free text looked at
}

// words looks in the user's words and the operator's.
func (x *Index) words() (Finding, bool) {
	if f, ok := x.said(&x.q); ok {
		return f, true
	}
	if !x.sub.yearless(&x.q, x.seed) {
		return Finding{}, false
	}
	return x.said(&x.sub)
}

func (x *Index) said(q *query) (Finding, bool) {
	if h, ok := x.user.has(&x.lex, q); ok {
		return Finding{Class: User, Level: trust.Owner, Excerpt: x.user.excerpt(h)}, true
	}
	if h, ok := x.system.has(&x.lex, q); ok {
		return Finding{Class: System, Level: trust.System, Excerpt: x.system.excerpt(h)}, true
	}
	return Finding{}, false
}

// fields looks for structured fields that are the value as a whole.
func (x *Index) fields(c *corpus, q *query, best *candidate) {
	c.eachWhole(&x.lex, q, fieldLimit, func(h hit) bool {
		x.weigh(c, q, h, Field, best)
		return best.Class < Anchored
	})
}

// texts looks everywhere else: in free text, and for typed parts of a field.
func (x *Index) texts(c *corpus, q *query, best *candidate) {
	c.each(&x.lex, q, func(h hit) bool {
		class := Text
		if !c.segs[h.seg].free && x.typed(c, q, h) {
			class = Field
		}
		x.weigh(c, q, h, class, best)
		best.tries++
		return best.tries < hitLimit && best.Class < Anchored
	})
}

// weigh makes a finding of a hit and keeps the better one.
func (x *Index) weigh(c *corpus, q *query, h hit, class Class, best *candidate) {
	d := c.docOf(h.seg)
	f := Finding{Class: class, Level: d.level, Tool: d.tool, Step: d.step, Field: class == Field}
	if class == Field {
		x.hang(c, q, h, &f)
	}
	if f.better(best.Finding) {
		best.Finding, best.in, best.at = f, c, h
	}
}

// hang makes a field anchored if the user named what it belongs to.
func (x *Index) hang(c *corpus, q *query, h hit, f *Finding) {
	anchor := x.anchorOf(c, h)
	if anchor == nil && len(q.toks) == 1 && q.toks[0].kind == Path {
		anchor = x.file(base(q.text(0)))
	}
	if anchor == nil {
		return
	}
	f.Anchor = string(anchor)
	if f.Rivals = x.rivals(c, h, anchor); f.Rivals == 0 {
		f.Class = Anchored
	}
}

// file is the name of a file if the user said it.
func (x *Index) file(name []byte) []byte {
	if name == nil || !x.sub.read(&x.lex, x.seed, name) || len(x.sub.toks) != 1 || x.sub.toks[0].kind != Path {
		return nil
	}
	if _, ok := x.user.has(&x.lex, &x.sub); !ok {
		return nil
	}
	return name
}

// byHost anchors a link to the exact host the user named.
func (x *Index) byHost(q *query, best *Finding) {
	if best.Class >= Anchored || len(q.toks) != 1 || q.toks[0].kind != URL && q.toks[0].kind != Host {
		return
	}
	if h := hostOf(q.text(0)); h != nil && x.named.hosts[string(h)] {
		best.Class, best.Anchor, best.Rivals = Anchored, string(h), 0
		if best.Level == trust.Untrusted && best.Tool == "" {
			best.Level = trust.Owner
		}
	}
}

// typed reports whether a part of a field stands for itself: everything in the field is
// a figure or a target, or it is the address behind a name, "Bob Smith <bob@host>".
func (x *Index) typed(c *corpus, q *query, h hit) bool {
	text := c.segText(h.seg)
	if len(q.toks) == 1 && q.toks[0].kind == Email && h.lo > 0 && text[h.lo-1] == '<' &&
		string(bytes.TrimSpace(text[h.hi:])) == ">" && bytes.Count(text, []byte("@")) == 1 {
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

const (
	excerptBefore = 40
	excerptAfter  = 60
)

// excerpt is the text around a hit on one line.
func (c *corpus) excerpt(h hit) string {
	text := c.segText(h.seg)
	lo, hi := max(0, h.lo-excerptBefore), min(len(text), h.hi, h.lo+maxScalar)
	hi = min(len(text), hi+excerptAfter)
	for lo > 0 && !utf8.RuneStart(text[lo]) {
		lo--
	}
	for hi < len(text) && !utf8.RuneStart(text[hi]) {
		hi++
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(text[lo:hi]), "")), " ")
}
