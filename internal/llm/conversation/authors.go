package conversation

import (
	"strings"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// The bounds within which a text counts as somebody else's.
const (
	// leastExact is the shortest text that is known by being the same where a model may have
	// begun the conversation: shorter ones are said by everybody.
	leastExact = 4
	// leastAnswer is the same for answers of models, anywhere.
	leastAnswer = 8
	// leastLine is the shortest line that is known inside another text, if it has more than one word.
	leastLine = 12
	// maxLines is how many lines of a text are looked at one by one.
	maxLines = 4096
	// leastLong is how long a text in the middle of a conversation must be before it is
	// looked for in what models and tools wrote: people quote short pieces.
	leastLong = 200
	// leastQuoted is how many runs of a longer text must stand in another.
	leastQuoted = 24
)

// author is who stands behind a text in the user's place, as far as it is a model or a tool.
type author struct {
	memory
	some     bool   // something of theirs stands in it
	most     bool   // and next to nothing of anybody else's
	from, to int    // where the first and the last of it stand
	words    string // what is left
}

// all is an author of the whole text.
func all(m memory) author { return author{memory: m, some: true, most: true} }

// authors finds whoever is behind a text in the user's place. Before a model has answered for
// the first time any text may be a task that another model gave, however short.
func (p *past) authors(text string, first bool) author {
	if m, ok := p.recognise(engine.RecalledOutput, answerDigest(text)); ok && len(text) >= least(first) {
		return all(m)
	}
	d := digest(text)
	if first && len(text) >= leastExact {
		for _, kind := range []engine.RecalledKind{recalledArgument, engine.RecalledResult} {
			if m, ok := p.recognise(kind, d); ok {
				return all(m)
			}
		}
	}
	if _, said := p.recognise(engine.RecalledWords, d); said || !first && len(text) < leastLong {
		return author{words: text} // people say a thing again, after models have repeated it
	}
	a := p.within(text, first)
	switch {
	case a.most:
		return a
	case a.some:
		a.words = around(text, a.from, a.to)
		return a
	}
	p.mu.Lock()
	forgot := p.forgot()
	p.mu.Unlock()
	if forgot {
		return all(memory{label: unseen("forgotten_text")})
	}
	return author{words: text}
}

func least(first bool) int {
	if first {
		return leastExact
	}
	return leastAnswer
}

// within finds what models and tools wrote inside a text.
func (p *past) within(text string, first bool) author {
	runs := p.keys.runs(text)
	hashes := make([]uint64, len(runs))
	for i, r := range runs {
		hashes[i] = r.hash
	}
	t := tally{runs: runs, by: map[*writing]*quoted{}}
	sums := p.keys.sums(p.tenant, hashes)
	p.mu.Lock()
	for i, s := range sums {
		if w, ok := p.runs.get(s); ok {
			t.add(i, s, w)
		}
	}
	a := t.author(first)
	p.mu.Unlock()
	if first && !a.most {
		p.lines(text, &a)
	}
	return a
}

// lines finds short texts of models and tools that are lines of another.
func (p *past) lines(text string, a *author) {
	at := 0
	for range maxLines {
		line, _, more := strings.Cut(text[at:], "\n")
		for _, piece := range []string{line, afterColon(line)} {
			piece = trimmed(piece)
			if len(piece) < leastLine || len(piece) > leastLong || !strings.Contains(piece, " ") && !strings.ContainsFunc(piece, unspaced) {
				continue
			}
			for kind, d := range map[engine.RecalledKind]tool.Digest{
				recalledArgument: digest(piece), engine.RecalledResult: digest(piece), engine.RecalledOutput: answerDigest(piece),
			} {
				if m, ok := p.recognise(kind, d); ok && m.label.Level < trust.Owner {
					a.add(m, at, at+len(line), kind)
				}
			}
		}
		if at += len(line) + 1; !more {
			return
		}
	}
}

// afterColon is what a line says after its label: "Task: ...".
func afterColon(line string) string {
	_, rest, _ := strings.Cut(line, ": ")
	return rest
}

// add joins somebody to the authors. Who begins a conversation with what a model gave to a
// tool works for that model: no user speaks there.
func (a *author) add(m memory, from, to int, kind engine.RecalledKind) {
	if !a.some {
		a.label, a.from = nothing(), from
	}
	a.some, a.label = true, a.label.Join(m.label)
	a.from, a.to = min(a.from, from), max(a.to, to)
	if m.session != "" {
		a.session = m.session
	}
	a.most = a.most || kind == recalledArgument
}

// quoted is what of one writing stands in a text.
type quoted struct {
	found      int
	start, end int
}

// tally counts who wrote which runs of a text.
type tally struct {
	runs []run
	seen map[uint64]bool
	by   map[*writing]*quoted
	// about how many runs of the text are somebody's: of long texts only some were kept
	covered int
}

func (t *tally) add(i int, sum uint64, w *writing) {
	t.covered += w.rate
	q := t.by[w]
	if q == nil {
		q = &quoted{start: t.runs[i].start}
		t.by[w] = q
	}
	if q.end = t.runs[i].end; t.seen[sum] {
		return
	}
	if t.seen == nil {
		t.seen = map[uint64]bool{}
	}
	t.seen[sum] = true
	q.found++
}

// is reports whether a writing stands in the text, and not only words that many use: all of
// a short one, some sentences of a longer one.
func (q *quoted) is(w *writing) bool {
	if w.label.Level >= trust.Owner {
		return false
	}
	whole := 4*q.found >= 3*w.own && (w.own >= 3 || w.total <= 4)
	return whole || q.found >= 3 && q.found*w.rate >= leastQuoted
}

func (t *tally) author(first bool) author {
	var a author
	for w, q := range t.by {
		if !q.is(w) {
			continue
		}
		reach := 0
		if w.rate > 1 { // what stands beside it was not kept
			reach = 16 * w.rate
		}
		kind := w.kind
		if !first {
			kind = 0
		}
		a.add(w.memory, q.start-reach, q.end+reach, kind)
	}
	if len(t.by) == 0 || 2*t.covered < len(t.runs) {
		return a
	}
	for w := range t.by { // most of it is theirs
		a.add(w.memory, 0, 0, 0)
	}
	a.most = true
	return a
}

// around is what stands before and after a piece of a text, without the rest of its lines.
func around(text string, from, to int) string {
	from, to = max(0, min(from, len(text))), max(0, min(to, len(text)))
	before := text[:strings.LastIndexByte(text[:from], '\n')+1]
	after := ""
	if n := strings.IndexByte(text[to:], '\n'); n >= 0 {
		after = text[to+n:]
	}
	return trimmed(before + "\n" + after)
}
