package warrant

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/graphql"
	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/sql"
	"github.com/tidemark/tidemark/tool"
)

// Deed is the kind of act that a call is, as the table of needs tells them apart. The zero
// Deed is one that nobody understands.
type Deed uint8

// The deeds.
const (
	Unknown Deed = iota
	Read
	Tidy // creates or changes something small of the user's own
	Create
	Change
	Send
	Delete
	Execute
	Pay
	Grant
	NumDeeds // how many there are
)

var deedNames = [NumDeeds]string{"unknown", "read", "tidy", "create", "change", "send", "delete", "execute", "pay", "grant"}

// String is the deed's name in policies.
func (d Deed) String() string {
	if d < NumDeeds {
		return deedNames[d]
	}
	return deedNames[Unknown]
}

// gravities are how hard deeds are to take back. What is not understood lies between what
// only tells somebody something and what cannot be undone.
var gravities = [NumDeeds]int{Read: 0, Tidy: 1, Create: 2, Change: 3, Send: 4, Unknown: 5, Delete: 6, Execute: 7, Pay: 8, Grant: 9}

func (d Deed) graverThan(other Deed) bool { return gravities[d] > gravities[other] }

// grave reports whether a deed is one that must be asked for by its verb.
func (d Deed) grave() bool { return !Delete.graverThan(d) }

// final reports whether a deed is one whose object must not be mistaken for its neighbour.
func (d Deed) final() bool { return d == Pay || d == Delete || d == Grant }

// deedOf is what a tool does, as far as its meaning tells.
func deedOf(m *meaning.Meaning) Deed { return deedBy(m.Act, m.Gravity) }

func deedBy(act meaning.Act, gravity meaning.Gravity) Deed {
	switch act {
	case meaning.Create, meaning.Change:
		switch {
		case gravity == meaning.Low:
			return Tidy
		case act == meaning.Create:
			return Create
		}
		return Change
	case meaning.Read:
		return Read
	case meaning.Send:
		return Send
	case meaning.Delete:
		return Delete
	case meaning.Execute:
		return Execute
	case meaning.Pay:
		return Pay
	case meaning.Grant:
		return Grant
	}
	return Unknown
}

// raise makes the deed of a call graver. Nothing makes it milder.
func (w *Warrant) raise(d Deed) {
	if d.graverThan(w.Deed) {
		w.Deed = d
	}
}

// deed is what one call of a tool does: the gravest of what name, description and schema of the tool say, what it
// chooses among them, what the names of filled parameters say, and its orders. What stands in free text says nothing:
// a reminder to pay the rent pays none. It is set from here before any slot is looked at, and only raised after.
func (j *judging) deed(values []leaves.Leaf) Deed {
	d := j.tool().deed(values)
	queries := !j.workspace && j.queries(d, values)
	switch {
	case j.workspace:
		return d
	case queries:
		d = Read
	case d == Read && anyOf(leaves.NameWords(j.m.Tool), graphs): // what it is asked stands where nobody can read it
		d = Execute
	}
	if d == Read {
		d = j.doubt(values, queries)
	}
	for i := range values {
		if o := j.orders(d, &values[i]); o.graverThan(d) {
			d = o
		}
		if o := j.document(&values[i]); o.graverThan(d) {
			d = o
		}
	}
	return d
}

// document is what a document of GraphQL does: the gravest of what its fields are called, and a mutation is an order
// whatever they are called. Only where tool or parameter speak of the language is a text one.
func (j *judging) document(l *leaves.Leaf) Deed {
	if !l.Quoted || !anyOf(leaves.NameWords(j.m.Tool), graphs) && !anyOf(leaves.NameWords(l.Path), graphs) {
		return Read
	}
	doc, ok := graphql.Read(l.Text)
	if !ok {
		return Read
	}
	d := Read
	if doc.Mutates {
		d = Execute
	}
	for _, f := range doc.Fields {
		act := meaning.Outspoken(f)
		if doc.Mutates {
			act = meaning.Of(tool.Definition{Name: f}).Act
		}
		if o := deedBy(act, meaning.High); act != meaning.Unknown && o.graverThan(d) {
			d = o
		}
	}
	return d
}

var (
	graphs   = list("graphs")
	graphing = list("graphing")
)

// asksGraph reports whether a value is a document that only asks, given to a tool that does nothing but take such: one
// word more in its name, and it is a tool that does something else too.
func (j *judging) asksGraph(l *leaves.Leaf) bool {
	words := leaves.NameWords(unprefixed(j.m.Tool))
	if !anyOf(words, graphs) || slices.ContainsFunc(words, func(w string) bool { return !graphs[w] && !graphing[w] }) {
		return false
	}
	doc, ok := graphql.Read(l.Text)
	return ok && !doc.Mutates && j.document(l) == Read
}

// orders is what an order does that is given to a tool which should only look: it is carried out, unless it is a look
// itself. An address is judged as one.
func (j *judging) orders(d Deed, l *leaves.Leaf) Deed {
	if d != Read || l.Flag || strings.TrimSpace(l.Text) == "" || j.tool().param(l.Path).typed {
		return Read
	}
	p := j.resolve(l)
	switch {
	case l.Quoted && j.isAddress(l, *p), p.Role != meaning.Command && !(l.Quoted && sqlActs(l.Text)):
		return Read
	case sql.Reads(l.Text), clis[j.m.Tool] && looks(l.Text):
		return Read
	}
	return Execute
}

// deed is what a tool does with what it chooses. One that does one of several things is as grave as the worst of them,
// a call only as what it chooses; milder than its tool only where the tool's own schema has the choice.
func (t *callable) deed(values []leaves.Leaf) Deed {
	m, deed, chosen := t.m, deedOf(t.m), Read
	known, listed := false, true
	for i := range values {
		l := &values[i]
		if p := t.param(l.Path); !p.unseen.Chooses || p.unseen.Role == meaning.Command {
			continue // a command is an order, and no word of it chooses
		}
		act, ok := m.Choice(l.Path, l.Text)
		if !ok || !l.Quoted {
			continue
		}
		_, has := m.Param(l.Path)
		known, listed = true, listed && has
		if d := deedBy(act, meaning.High); d.graverThan(chosen) {
			chosen = d
		}
	}
	switch {
	case !known, m.Act == meaning.Read:
		return deed
	case listed: // what name and description say by themselves, and cannot be undone, no choice takes back
		if named := deedBy(m.Named(), meaning.High); named.final() && named.graverThan(chosen) {
			return named
		}
		return chosen
	case chosen.graverThan(deed):
		return chosen
	}
	return deed
}
