package warrant

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/graphql"
	"github.com/tidemark/tidemark/internal/warrant/sql"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
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
func deedOf(m *toolinfo.Meaning) Deed { return deedBy(m.Act, m.Gravity) }

func deedBy(act toolinfo.Act, gravity toolinfo.Gravity) Deed {
	switch act {
	case toolinfo.Create, toolinfo.Change:
		switch {
		case gravity == toolinfo.Low:
			return Tidy
		case act == toolinfo.Create:
			return Create
		}
		return Change
	case toolinfo.Read:
		return Read
	case toolinfo.Send:
		return Send
	case toolinfo.Delete:
		return Delete
	case toolinfo.Execute:
		return Execute
	case toolinfo.Pay:
		return Pay
	case toolinfo.Grant:
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
func (j *judging) deed(values []arguments.Leaf) Deed {
	d := j.tool().deed(values)
	queries := !j.workspace && j.queries(d, values)
	switch {
	case j.workspace:
		return d
	case queries:
		d = Read
	case d == Read && anyOf(arguments.NameWords(j.m.Tool), graphs): // what it is asked stands where nobody can read it
		d = Execute
	}
	if d == Read {
		d = j.doubt(values, queries)
	}
	if o := j.members(values); o.graverThan(d) {
		d = o
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

// asksSQL reports whether a statement only reads, and nothing that people keep to themselves but what the owner speaks of.
func (j *judging) asksSQL(text string) bool {
	return sql.Reads(text) && !slices.ContainsFunc(sql.Columns(text), func(name string) bool {
		return slices.ContainsFunc(arguments.NameWords(name), func(w string) bool {
			return (keptColumns[w] || secretWords[w]) && !j.c.user.stems[w] && !j.c.user.stems[stem(w)] && !j.c.user.stems[name]
		})
	})
}

var keptColumns, secretWords = list("kept_columns"), list("secrets")

// members are what the keys inside a structure say: a stage of a pipeline that nobody knows executes, and a key that begins with a verb
// does what it says.
func (j *judging) members(values []arguments.Leaf) Deed {
	d := Read
	for i := range values {
		l := &values[i]
		parts := strings.Split(strings.ReplaceAll(l.Path, "[]", ""), ".")
		if len(parts) > 1 && slices.Contains(arguments.NameWords(parts[len(parts)-1]), "method") && methods[strings.ToUpper(l.Text)] {
			d = Execute // "X-HTTP-Method-Override" of a look
		}
		for _, part := range parts[1:] {
			o := Read
			if word, stage := strings.CutPrefix(part, "$"); stage && !pureStages[strings.ToLower(word)] {
				o = Execute
			} else if words := arguments.NameWords(part); len(words) > 1 && toolinfo.Outspoken(words[0]) != toolinfo.Unknown {
				o = deedBy(toolinfo.Outspoken(part), toolinfo.High)
			}
			if Send.graverThan(o) && o != Unknown || o == Unknown {
				continue // what is created or changed there is what the tool is for
			}
			if o.graverThan(d) {
				d = o
			}
		}
		if text := strings.TrimSpace(l.Text); l.Quoted && len(text) > 1 && (text[0] == '[' || text[0] == '{') {
			for _, m := range stages.FindAllStringSubmatch(text, -1) {
				if !pureStages[strings.ToLower(m[1])] {
					d = Execute
				}
			}
		}
	}
	return d
}

// methods are those of HTTP that do more than look.
var methods = map[string]bool{"POST": true, "PUT": true, "PATCH": true, "DELETE": true}

// selects is how a statement of SQL begins that reads, whatever the parameter is called in which it stands.
var selects = regexp.MustCompile(`(?i)^\s*(?:select\s[^.!?]*?(?:\sfrom\s|[*(,=_]|\d)|with\s+\w+\s+as\s*\()`)

var (
	stages     = regexp.MustCompile(`["']?\$([A-Za-z]+)["']?\s*:`)
	pureStages = list("pure_stages")
)

// document is what a document of GraphQL does: the gravest of what its fields are called, and a mutation is an order
// whatever they are called. Only where tool or parameter speak of the language is a text one.
func (j *judging) document(l *arguments.Leaf) Deed {
	if !l.Quoted || !anyOf(arguments.NameWords(j.m.Tool), graphs) && !anyOf(arguments.NameWords(l.Path), graphs) {
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
		act := toolinfo.Outspoken(f)
		if doc.Mutates {
			act = toolinfo.Of(tool.Definition{Name: f}).Act
		}
		if o := deedBy(act, toolinfo.High); act != toolinfo.Unknown && o.graverThan(d) {
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
func (j *judging) asksGraph(l *arguments.Leaf) bool {
	words := arguments.NameWords(unprefixed(j.m.Tool))
	if !anyOf(words, graphs) || slices.ContainsFunc(words, func(w string) bool { return !graphs[w] && !graphing[w] }) {
		return false
	}
	doc, ok := graphql.Read(l.Text)
	return ok && !doc.Mutates && j.document(l) == Read
}

// orders is what an order does that is given to a tool which should only look: it is carried out, unless it is a look
// itself. An address is judged as one.
func (j *judging) orders(d Deed, l *arguments.Leaf) Deed {
	if d != Read || l.Flag || strings.TrimSpace(l.Text) == "" || j.tool().param(l.Path).typed {
		return Read
	}
	p := j.resolve(l)
	switch {
	case l.Quoted && p.Role != toolinfo.Command && selects.MatchString(l.Text) && !j.asksSQL(l.Text):
		return Execute
	case l.Quoted && j.isAddress(l, *p), p.Role != toolinfo.Command && !(l.Quoted && sqlActs(l.Text)):
		return Read
	case j.asksSQL(l.Text), clis[j.m.Tool] && looks(l.Text):
		return Read
	}
	return Execute
}

// deed is what a tool does with what it chooses. One that does one of several things is as grave as the worst of them,
// a call only as what it chooses; milder than its tool only where the tool's own schema has the choice.
func (t *callable) deed(values []arguments.Leaf) Deed {
	m, deed, chosen := t.m, deedOf(t.m), Read
	known, listed := false, true
	for i := range values {
		l := &values[i]
		if p := t.param(l.Path); !p.unseen.Chooses || p.unseen.Role == toolinfo.Command {
			continue // a command is an order, and no word of it chooses
		}
		act, ok := m.Choice(l.Path, l.Text)
		if !ok || !l.Quoted {
			continue
		}
		_, has := m.Param(l.Path)
		known, listed = true, listed && has
		if d := deedBy(act, toolinfo.High); d.graverThan(chosen) {
			chosen = d
		}
	}
	switch {
	case !known, m.Act == toolinfo.Read:
		return deed
	case listed: // what name and description say by themselves, and cannot be undone, no choice takes back
		if named := deedBy(m.Named(), toolinfo.High); named.final() && named.graverThan(chosen) {
			return named
		}
		return chosen
	case chosen.graverThan(deed):
		return chosen
	}
	return deed
}
