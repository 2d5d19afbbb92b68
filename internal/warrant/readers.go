package warrant

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/audience"
	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
)

// What may go to whom (AUD-02): who reads a call, which results they may be told of, and what a text would tell them of the others.

// readers are who reads what a call sends: those it names, or, where it names nobody, everybody.
func (j *judging) readers(values []leaves.Leaf) audience.Set {
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
	may := w.open(w.passes(apart))
	for _, step := range slices.Sorted(maps.Keys(c.guarded)) {
		if !may(step) && c.unsaidWords(text, may) >= fewBlind {
			return "it was worded after the result of step " + strconv.FormatUint(step, 10) + " was read, which " + c.guarded[step] +
				", and could tell of it in words that I cannot find there"
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
func (c *Context) lays(m *meaning.Meaning, values []leaves.Leaf) {
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
	named := func(step uint64) bool {
		names := func(cl *clause) bool { return !cl.denies && c.records.All().Names(step, cl.text) }
		return slices.ContainsFunc(c.user.scope(), names)
	}
	free := func(step uint64) bool { return !c.beyond[step] || c.readers[step].Public || named(step) }
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
