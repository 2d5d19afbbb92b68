package warrant

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/audience"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/sql"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
)

// What may go to whom (AUD-02): who reads a call, which results they may be told of, and what a text would tell them of the others.

// readers are who reads what a call sends: those it names, or, where it names nobody, everybody.
func (j *judging) readers(values []arguments.Leaf) audience.Set {
	var names []string
	for i := range values {
		if l := &values[i]; l.Quoted && j.roleOf(l) == mandate.Aim {
			for _, name := range split(l.Text) {
				if strings.HasPrefix(name, "#") || audience.IsRoom(l.Path) {
					name = audience.Place(owner(j.m.Tool), name)
				}
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return audience.Everybody()
	}
	return audience.Of(names...)
}

// private finds a figure or a code that is of results which the owner did not name, and which somebody would read who may not: in
// digits, in words or spaced out. Words in a row are looked for whoever may read them: who has a letter already may still be told
// something in the owner's name that its writer worded.
func (w world) private(text string, of func(uint64) bool) string {
	c := w.c
	may := w.open(of)
	found := ""
	eachFigure(text, func(v string) bool {
		if c.strays(v, may) || len(v) >= fewApart && len(v) <= mostApart && countDigits(v) == len(v) && c.strays(spacedOut(v), may) {
			found = v
		}
		if found == "" && !c.index.Said(v) && !c.isOwn(v) && c.besides(v, w) {
			found = v
		}
		return found == ""
	})
	return found
}

// besides reports whether a figure is of another field than the one that the owner wants told of a record: who asks for the status of an
// invoice has not asked for its number, whatever the record says belongs to it. Where a clause names the record and none of its fields,
// all of it is meant.
func (c *Context) besides(v string, w world) bool {
	for step, fields := range c.fields {
		at := slices.IndexFunc(fields, func(f audience.Field) bool { return standsIn(v, f.Value) })
		if at < 0 || c.readers[step].Covers(w.to) {
			continue
		}
		if asked, narrow := c.askedFields(step, fields); narrow &&
			!slices.ContainsFunc(asked, func(f audience.Field) bool { return standsIn(v, f.Value) }) {
			return true
		}
	}
	return false
}

// askedFields are the fields of a record that the clauses which name it ask for, and whether each of those asks for one.
func (c *Context) askedFields(step uint64, fields []audience.Field) (asked []audience.Field, narrow bool) {
	for _, cl := range c.user.scope() {
		if cl.denies || !c.records.All().Names(step, cl.text) {
			continue
		}
		words := map[string]bool{}
		for _, t := range tokens(cl.text) {
			words[stem(t)] = true
		}
		n := len(asked)
		for _, f := range fields {
			if !slices.ContainsFunc(f.Key, func(k string) bool { return !words[stem(k)] }) {
				asked = append(asked, f)
			}
		}
		if narrow = len(asked) > n; !narrow {
			return nil, false
		}
	}
	return asked, narrow
}

// standsIn reports whether a figure stands in a text as a word of its own.
func standsIn(v, text string) bool {
	found := false
	eachFigure(text, func(f string) bool {
		found = strings.Trim(f, "$€£") == strings.Trim(v, "$€£")
		return !found
	})
	return found
}

// withoutReaders is a phrase without those whom the call is for.
func (w world) withoutReaders(phrase string) string {
	rest := strings.ToLower(phrase)
	for _, who := range w.to.People {
		rest = strings.ReplaceAll(rest, audience.Spoken(who), " ")
	}
	return rest
}

// passes tells of which steps something may be passed on: those that one of the sources names.
func (w world) passes(sources []string) func(step uint64) bool {
	named := map[uint64]bool{}
	return func(step uint64) bool {
		is, known := named[step]
		if !known {
			is = slices.ContainsFunc(sources, func(s string) bool { return w.names(step, s) })
			named[step] = is
		}
		return is
	}
}

// open tells of which steps something may be told to those who read the call: what is passed on, and what they may read anyway.
func (w world) open(of func(uint64) bool) func(step uint64) bool {
	return func(step uint64) bool {
		return of(step) || w.c.directory.Covers(w.c.readers[step], w.to, w.c.user.turn)
	}
}

// fewBlind is how many words that nobody said may hold a secret, whatever they are.
const fewBlind = 12

// fewBeside is the same where the owner says what is told: a greeting stands beside it, and no sentence.
const fewBeside = 6

// blind asks about a text of the agent's own wording behind something secret: in other words, in another language or in a code of their
// own it would be told, and nobody could see that.
func (w world) blind(text string, sources []string) string {
	c := w.c
	if len(c.guarded) == 0 {
		return ""
	}
	apart := make([]string, len(sources)) // whoever wrote a record may not have all of it: its server puts fields beside theirs
	for i, s := range sources {
		apart[i] = w.withoutReaders(s)
	}
	may, few := w.open(w.passes(apart)), fewBlind
	if w.given {
		few = fewBeside
	}
	for _, step := range slices.Sorted(maps.Keys(c.guarded)) {
		if !may(step) && c.unsaidWords(text, may) >= few {
			return "it was worded after the result of step " + strconv.FormatUint(step, 10) + " was read, which " + c.guarded[step] +
				", and may repeat it in other words"
		}
	}
	return ""
}

// unsaidWords counts the different words of a text that neither the owner said nor what may be passed on holds.
func (c *Context) unsaidWords(text string, may func(uint64) bool) int {
	seen := map[string]bool{}
	for _, v := range c.vocabulary.Words(text[:min(len(text), maxRetold)]) {
		if !seen[v.Stem] && len(v.Text) > 2 && !c.user.stems[v.Stem] && !c.index.Said(v.Text) && !c.index.Stands(v.Text, may) {
			seen[v.Stem] = true
		}
	}
	return len(seen)
}

// laid is what of results that nobody else may read was put into the workspace.
type laid struct {
	part, tool string
	step       uint64
}

// lays notes what a call of the host's own puts into the workspace, a commit's message too, of results from beyond this machine that
// others may not read and the owner's words do not name: what is pushed later would carry it.
func (c *Context) lays(m *toolinfo.Meaning, values []arguments.Leaf) {
	if c.laid != nil || !c.outside || !c.workspace(m) {
		return
	}
	for i := range values {
		if l := &values[i]; l.Quoted {
			if part := c.fromBeyond(l.Text); part != "" {
				f := c.index.Of(part)
				c.laid = &laid{strings.Clone(part), strings.Clone(f.Tool), f.Step}
				return
			}
		}
	}
}

// fromBeyond is a part of a text that stands only in such results; empty: there is none.
func (c *Context) fromBeyond(text string) string {
	if !c.outside {
		return ""
	}
	shut := c.shut()
	free := func(step uint64) bool { return !shut(step) }
	found := c.strayRun(text, free)
	if found == "" {
		eachFigure(text, func(v string) bool {
			if countDigits(v) >= fewApart && c.strays(v, free) {
				found = v
			}
			return found == ""
		})
	}
	return found
}

// What a push adds over there is looked at before it leaves (AUD-02): commits are made by programs that nobody here sees, and what an
// agent wrote into a file may have been put there in any way.

// Added is a text that leaves this machine with a push: the lines that it adds to a file, or all that is written of a commit.
type Added struct{ Path, Text string }

// Carried is a part of such a text that is of a result which others may not read.
type Carried struct {
	Path string
	Carry
}

// Pushed looks through what a push adds for what results from beyond this machine say that others may not read and that the owner does
// not name: quoted, told in other words, or behind something secret worded at all. whole says that the texts are all of it. why is empty
// where nothing speaks against it.
func (c *Context) Pushed(added []Added, whole bool) (found []Carried, why string) {
	c.listen()
	shut := c.shut()
	steps := slices.DeleteFunc(slices.Sorted(maps.Keys(c.beyond)), func(step uint64) bool { return !shut(step) })
	if len(steps) == 0 {
		return nil, ""
	}
	size := 0
	for i := range added {
		size += len(added[i].Text)
	}
	c.index.Bound(leastAsked+mostAsked*size, c.gone)
	defer c.index.Release()
	p := pushed{c: c, shut: shut, done: map[string]bool{}}
	for _, a := range added {
		p.look(a)
	}
	switch {
	case len(p.found) > 0:
		return p.found, "it would carry what others may not read"
	case !whole || c.index.Spent():
		const unread = "not all of what it carries can be read here, and others may not read the result of step %d"
		return nil, fmt.Sprintf(unread, steps[len(steps)-1])
	}
	return nil, p.blind(added)
}

// shut tells of steps whether their results came from beyond this machine, and are such as others may not read and the owner does not
// name.
func (c *Context) shut() func(step uint64) bool {
	known := map[uint64]bool{}
	return func(step uint64) bool {
		if !c.beyond[step] || c.readers[step].Public {
			return false
		}
		is, ok := known[step]
		if !ok {
			names := func(cl *clause) bool {
				all := c.records.All()
				return !cl.denies && (all.Names(step, cl.text) || all.Names(step, withoutFiles(cl.text)))
			}
			is = !slices.ContainsFunc(c.user.scope(), names)
			known[step] = is
		}
		return is
	}
}

// withoutFiles is a clause without the files that it speaks of: into which something is put.
func withoutFiles(clause string) string {
	words := slices.DeleteFunc(strings.Fields(clause), func(w string) bool {
		w = strings.TrimRight(w, ".,;:!?")
		return strings.ContainsAny(w, "./") && !strings.ContainsAny(w, "@:")
	})
	return strings.Join(words, " ")
}

// pushed is a push while it is looked through.
type pushed struct {
	c     *Context
	shut  func(step uint64) bool
	found []Carried
	done  map[string]bool // parts that were found
}

func (p *pushed) free(step uint64) bool { return !p.shut(step) }

// look finds what one text holds.
func (p *pushed) look(a Added) {
	p.quoted(a)
	eachFigure(a.Text, func(v string) bool {
		if v = strings.Trim(v, "$€£"); countDigits(v) >= fewApart && p.c.strays(v, p.free) {
			p.add(a.Path, v)
		} else if len(v) >= fewApart && len(v) <= mostApart && countDigits(v) == len(v) && p.c.strays(spacedOut(v), p.free) {
			p.add(a.Path, spacedOut(v))
		}
		return !p.full()
	})
	for paragraph := range strings.SplitSeq(a.Text, "\n\n") { // what is told is told in one breath
		for ; len(paragraph) > 0 && len(p.found) == 0; paragraph = paragraph[min(len(paragraph), maxRetold):] {
			if told := p.c.retold(paragraph, p.free, fewRetold); told != "" {
				p.add(a.Path, told)
			}
		}
	}
}

// full reports whether no more is looked for.
func (p *pushed) full() bool { return len(p.found) >= mostCarries || p.c.index.Spent() }

// quoted finds words in a row. Signs that stand around words in programs and comments are no part of them.
func (p *pushed) quoted(a Added) {
	var words []string
	for _, w := range strings.Fields(a.Text) {
		if w = strings.Trim(w, "\"'`()[]{}<>*#/|=+\\"); w != "" && w != "-" && w != "--" {
			words = append(words, w)
		}
	}
	row := func(i, n int) string { return strings.Trim(strings.Join(words[i:i+n], " "), ".,;:!?") }
	for i := 0; i+run <= len(words) && !p.full(); i++ {
		n := run
		if !p.c.strays(row(i, n), p.free) {
			continue
		}
		for i+n < len(words) && n < longest && p.c.strays(row(i, n+1), p.free) {
			n++
		}
		p.add(a.Path, row(i, n))
		i += n - 1
	}
}

// longest is how many words in a row are told as one part.
const longest = 40

// add notes a part, once.
func (p *pushed) add(path, part string) {
	if p.done[part] || len(p.found) >= mostCarries {
		return
	}
	p.done[part] = true
	step, tool := uint64(0), ""
	of := func(s uint64) bool { step = s; return p.shut(s) }
	if word, _, _ := strings.Cut(part, " "); !p.c.index.Stands(part, of) { // in other words: it is of the result that has the first of them
		p.c.index.Stands(word, of)
	}
	p.c.index.EachResult(func(s uint64, of string) {
		if s == step {
			tool = strings.Clone(of)
		}
	})
	readers := strings.TrimPrefix(strings.TrimPrefix(p.c.readers[step].String(), "you, "), "you")
	p.found = append(p.found, Carried{path, Carry{strings.Clone(part), tool, step, readers}})
}

// blind asks about texts of anybody's wording behind something secret.
func (p *pushed) blind(added []Added) string {
	for _, step := range slices.Sorted(maps.Keys(p.c.guarded)) {
		if !p.shut(step) {
			continue
		}
		words := 0
		for _, a := range added {
			if words += p.c.unsaidWords(a.Text, p.free); words >= fewBlind {
				const told = "it was made after the result of step %d was read, which %s, and may repeat it in other words"
				return fmt.Sprintf(told, step, p.c.guarded[step])
			}
		}
	}
	return ""
}

// mentions judges the words that a look takes along to somewhere else: two of one private result, which nobody said and which the words
// that count now do not name, tell of it.
func (j *judging) mentions(l *arguments.Leaf) {
	c := j.c
	if !c.argued || !l.Quoted || c.index.Said(l.Text) || !j.outward() || sql.Reads(l.Text) {
		return
	}
	w := world{c: c, told: true, given: true}
	named := w.passes([]string{strings.Join(c.asking, "\n")})
	in := map[uint64][]string{}
	for field := range strings.FieldsFuncSeq(l.Text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		t := strings.ToLower(field)
		if !distinctive(t) || c.user.stems[t] || c.user.stems[stem(t)] || c.isOwn(t) || c.index.Said(t) {
			continue
		}
		open := func(step uint64) bool { return c.readers[step].Public || named(step) }
		if c.index.Stands(t, open) {
			continue
		}
		found := false
		c.index.Stands(t, func(step uint64) bool {
			if !slices.Contains(in[step], t) {
				in[step] = append(in[step], t)
				found = found || len(in[step]) >= fewMentioned
			}
			return false
		})
		if found {
			j.w.add(Cargo, l.Path, l.Text, Nothing, "it carries along what was read elsewhere")
			return
		}
	}
}

// fewMentioned is how many words of one result tell somebody else of it.
const fewMentioned = 2

// outward reports whether a look asks somebody else: its name says so, or its description.
func (j *judging) outward() bool {
	words := arguments.NameWords(j.m.Tool)
	if anyOf(words, outwardNames) {
		return true
	}
	d, told := j.c.defined[j.m.Tool]
	return told && anyOf(tokens(d.Description), outwardSaid)
}

var outwardNames, outwardSaid = list("outward"), list("outward_said")
