package warrant

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/origin"
	"github.com/tidemark/tidemark/internal/warrant/reader"
)

// readerBinds says whether a message without a contract is judged by what the certain reader finds in it. As long as
// it is false such a message is judged by the evidence for each slot (act.go).
const readerBinds = false

// mandate is what binds the call at hand: the items of the latest message's contract or, where it has none, those that
// the certain reader finds; nil: nothing does.
func (c *Context) mandate() *mandate.Mandate {
	switch {
	case c.agreed != nil:
		return c.agreed.Mandate
	case !readerBinds:
		return nil
	}
	return c.words()
}

// forbidden reports whether the owner forbids the call at hand, as the certain reader finds it. It holds whoever else reads
// their words.
func (j *judging) forbidden(values []leaves.Leaf) bool {
	m := j.c.words()
	return len(m.Never) > 0 && m.Forbids(j.asCall(values), j.c.records) != nil
}

// words are what the certain reader finds in the messages that count now. They are read once for all calls.
func (c *Context) words() *mandate.Mandate {
	if c.worded == nil {
		c.worded = c.reading()
	}
	return c.worded
}

// maxAsking bounds how many messages count together.
const maxAsking = 8

// ask notes a message for the reader. Those before it count while it only says yes or goes on.
func (c *Context) ask(text string) {
	if c.worded = nil; c.user.speaks(c.user.turn) || len(c.asking) >= maxAsking {
		c.asking = c.asking[:0]
	}
	c.asking = append(c.asking, text)
}

// reading is what the certain reader finds in the messages that count now. Bans of all of them hold.
func (c *Context) reading() *mandate.Mandate {
	var tools []reader.Tool
	for name := range c.offered {
		if m := c.tools[name]; m != nil && m.Act != meaning.Read {
			tools = append(tools, reader.ToolOf(c.nameOf(m), m, c.vocabulary))
		}
	}
	slices.SortFunc(tools, func(a, b reader.Tool) int { return strings.Compare(a.Name, b.Name) })
	out := &mandate.Mandate{Assents: true}
	for _, text := range c.asking {
		m := reader.Certain(reader.Read(text, tools, c.vocabulary))
		out.Items, out.Reads, out.Never = append(out.Items, m.Items...), append(out.Reads, m.Reads...), append(out.Never, m.Never...)
	}
	return out
}

// covered judges a call by the items of a message: all of its slots are held by one of them, or those that are not
// are the question.
func (j *judging) covered(m *mandate.Mandate, values []leaves.Leaf) {
	call := j.asCall(values)
	w := world{j.c}
	if ban := m.Forbids(call, j.c.records); ban != nil {
		j.w.add(Act, "", j.m.Tool, Nothing, "you said not to")
		return
	}
	got := m.Cover(call, w, j.c.records)
	switch {
	case j.outer != nil: // what the wrapper does itself no item of the call in it asks for
		j.w.add(Act, "", j.outer.Tool, Nothing, "I could not find it in your words")
		return
	case got.Item == nil:
		if offer := j.assented(); offer != "" && m.Assents && !j.w.Deed.grave() {
			j.w.add(Act, "", j.m.Tool, Assented, "you agreed to: "+offer)
			return
		}
		j.w.add(Act, "", j.m.Tool, Nothing, "I could not find it in your words")
		return
	case j.used(m):
		j.w.add(Act, "", j.m.Tool, Nothing, "it was done as often as you asked for")
		return
	}
	j.w.add(Act, "", j.m.Tool, Said, "you asked: "+got.Item.Quote)
	j.hold(&got)
}

// hold gives the slots of a call what its item says of them.
func (j *judging) hold(got *mandate.Covered) {
	missing := map[string]bool{}
	for _, miss := range got.Missing {
		missing[miss.Path] = true
	}
	kept := j.w.Slots[:0]
	for _, s := range j.w.Slots {
		switch {
		case s.Kind == Act || s.Fault || s.Secret || s.Kind == Order && j.w.Danger:
		case missing[s.Path]:
			continue // it is told as what it lacks, and only so
		default:
			s.Has, s.Why = Said, "item "+got.Item.ID+" of what you asked for"
		}
		kept = append(kept, s)
	}
	j.w.Slots = kept
	for _, miss := range got.Missing {
		kind := missingKind(miss.Role, j.w.Deed)
		j.w.Slots = append(j.w.Slots, Slot{Kind: kind, Path: miss.Path, Value: miss.Value, Has: Nothing, Why: miss.Why})
	}
}

// missingKind is the kind of a slot that is missing: one that the rows of the shipped tables ask for in such an act.
func missingKind(r mandate.Role, d Deed) Kind {
	switch r {
	case mandate.Aim:
		return Aim
	case mandate.Key:
		return Key
	case mandate.Order:
		if d == Execute || d == Unknown {
			return Order
		}
	case mandate.Text:
		if d == Tidy || d == Create || d == Change || d == Send {
			return Cargo
		}
	}
	return Object
}

// used reports whether the items for a tool are spent.
func (j *judging) used(m *mandate.Mandate) bool {
	t := j.c.done[j.m.Tool]
	once := j.w.Deed == Delete || j.w.Deed == Grant || j.w.Deed == Change || j.w.Deed == Tidy // to send once more is another letter
	if t == nil || once && t.again(j.w.Deed, j.args) {
		return false
	}
	most := 0
	for i := range m.Items {
		switch it := &m.Items[i]; {
		case it.Tool != j.m.Tool:
		case it.Per != "":
			most += maxEach
		default:
			most += max(1, it.Times)
		}
	}
	return t.times >= most
}

// maxEach bounds how often something is done for the entries of a list.
const maxEach = 100

// asCall is the call as items are held against it.
func (j *judging) asCall(values []leaves.Leaf) *mandate.Call {
	out := &mandate.Call{Tool: j.m.Tool, Deed: j.w.Deed.String(), Grave: j.w.Deed.grave(), Reaches: j.w.Deed.graverThan(Tidy)}
	for _, list := range [][]leaves.Leaf{values, j.beside} {
		for i := range list {
			l := &list[i]
			out.Values = append(out.Values, mandate.Value{Path: l.Path, Text: l.Text, Role: j.roleOf(l), Flag: l.Flag})
		}
	}
	return out
}

// roleOf is what an argument is to an item.
func (j *judging) roleOf(l *leaves.Leaf) mandate.Role {
	p := *j.resolve(l)
	switch {
	case l.Flag, datish.MatchString(l.Text) && len(l.Text) <= 32:
		return mandate.Measure
	case l.Quoted && sqlActs(l.Text), p.Role == meaning.Command:
		return mandate.Order
	case p.Role == meaning.Credential:
		return mandate.Key
	case p.Role == meaning.Target, l.Quoted && mailbox(l.Text):
		return mandate.Aim
	case p.Role == meaning.Content, l.Quoted && wordy(l.Text) && len(tokens(l.Text)) > 4:
		return mandate.Text
	case p.Role == meaning.Amount:
		return mandate.Measure
	case l.Quoted && pathish(l, p.Kind) && sensitive(l.Text):
		return mandate.Place
	case identifier(l):
		return mandate.Object
	case p.Role == meaning.Unclear || !l.Quoted, !p.Object && choice.MatchString(l.Text):
		return mandate.Measure
	}
	return mandate.Object
}

// choice is one plain word, as schemas list them.
var choice = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// singles reports whether what the user asks for singles out the record of a value, or there is no other of its kind.
func (c *Context) singles(v string) bool {
	var words []string
	for _, cl := range c.user.scope() {
		words = append(words, cl.text)
	}
	return c.records.Singled(v, strings.Join(words, " "))
}

// texts are what a call asked for.
func texts(values []leaves.Leaf) []string {
	var out []string
	for i := range values {
		out = append(out, values[i].Text)
	}
	return out
}

// world is the conversation as items are held against it.
type world struct{ c *Context }

func (w world) Said(v string) bool { return w.c.index.Said(v) }
func (w world) Own(v string) bool  { return w.c.isOwn(v) }
func (w world) Told(v string) bool { return w.c.inText(v) }

// run is how many words in a row are a quotation, and most how many runs of a text are looked for.
const (
	run  = 5
	most = 4000
)

// Stray finds what a text holds of results that no source names: addresses, figures and runs of words.
func (w world) Stray(text string, sources []string) string {
	c := w.c
	named := map[uint64]bool{}
	of := func(step uint64) bool {
		is, known := named[step]
		if !known {
			for _, s := range sources {
				if is = c.records.Names(step, s); is {
					break
				}
			}
			named[step] = is
		}
		return is
	}
	stray := func(v string) bool {
		return !c.index.Said(v) && c.index.Of(v).Class > origin.Unseen && !c.isOwn(v) && !c.index.Stands(v, of)
	}
	found := ""
	origin.EachTarget([]byte(text), func(p origin.Part) bool {
		if c.index.Said(p.Text) || c.isOwn(p.Text) || c.index.Stands(p.Text, of) {
			return true
		}
		found = p.Text // one that stands nowhere is no better than one that does
		return false
	})
	if found != "" {
		return found
	}
	words := strings.Fields(text)
	for _, word := range words {
		if v := strings.Trim(word, ".,;:!?()[]\"'"); len(v) >= 4 && strings.ContainsAny(v, "0123456789") && stray(v) {
			return v
		}
	}
	for i := 0; i+run <= len(words) && i < most; i++ {
		if v := strings.Trim(strings.Join(words[i:i+run], " "), ".,;:!?"); stray(v) {
			return v
		}
	}
	return ""
}
