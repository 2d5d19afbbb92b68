package warrant

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/lookup"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/tool"
)

// Contract is what an isolated model understood of one message: which acts it asks for,
// and where their arguments come from. The model has seen no content, so no content can have
// written it.
type Contract struct {
	Acts  []Promise
	Opens string // which addresses may be opened: none, named, linked, search
	// Delegates says that the user wants done what some content they named says.
	Delegates bool

	Mandate *mandate.Mandate // what it lists in the second form, which binds; nil: it is of the first
}

// Promise is one act that a contract asks for.
type Promise struct {
	Tool string
	Args map[string]string // by parameter: user:<literal>, lookup, delegated, agent
	Most int               // how often it is to be done; 0: nobody counted
}

// Contract adds the contract of the latest message.
func (c *Context) Contract(k *Contract) {
	c.listen()
	if k.Mandate != nil {
		kept := *k
		kept.Mandate = k.Mandate.Within(c.said)
		k = &kept
	}
	c.contracts = append(c.contracts, drawn{k, c.user.turn})
	c.agreed, c.unread = k, false
}

// LookUps are what we look up ourselves at a server for the latest message: the people and things that its items name. They are given once
// for a message; before a model has read it there are none.
func (c *Context) LookUps(server string) []lookup.LookUp {
	c.listen()
	m := c.mandate()
	if m == nil || c.lookedFor[server] == c.user.turn {
		return nil
	}
	if c.lookedFor == nil || len(c.lookedFor) > maxServers {
		c.lookedFor = map[string]int{}
	}
	c.lookedFor[server] = c.user.turn
	var tools []lookup.Tool
	for _, name := range slices.Sorted(maps.Keys(c.offered)) {
		if d, ok := c.defined[name]; ok && c.tools[name] != nil && serverOf(name) == server {
			tools = append(tools, lookup.Tool{Definition: &d, Meaning: c.tools[name]})
		}
	}
	return lookup.Wanted(m.Pinned(c.pin), tools)
}

// maxServers bounds how many servers are remembered to have been asked.
const maxServers = 256

// Known tells which pairs of names and values held before, in whichever conversation.
func (c *Context) Known(list []mandate.Pair) {
	means := func(w vocabulary.Word) bool { return len(w.Acts)+len(w.Things) > 0 || w.Gram != 0 }
	c.records.Know(mandate.NewPairs(list, func(word string) bool { return slices.ContainsFunc(c.vocabulary.Words(word), means) }))
}

// Unread notes that nobody could read the latest message, though somebody was to: then the words alone count, and
// warrant nothing that cannot be taken back. Whoever can make a model fail must not gain by it.
func (c *Context) Unread() {
	c.listen()
	c.unread = true
}

// unread reports whether a call is one that the words alone do not warrant where a model should have read them.
func (j *judging) unread() bool {
	return j.c.unread && (j.w.Deed.grave() || slices.ContainsFunc(j.w.Slots, func(s Slot) bool { return s.Kind == Aim && s.Has < Own }))
}

// pin is the definition of a tool as it is now, in a few signs.
func (c *Context) pin(name string) string {
	d, known := c.defined[name]
	if !known {
		return ""
	}
	return mandate.Pin(&d)
}

// gate notes that only the act of a call is missing, where that is so. An act that cannot be taken back and for which
// the message names another tool is not asked about: it would be done twice.
func (j *judging) gate(m *mandate.Mandate, call *mandate.Call) {
	c := j.c
	if len(m.Limits) > 0 { // how far what is followed may go is the owner's to say of each act: no model sees what it was
		return
	}
	if j.w.Danger || c.lost || slices.ContainsFunc(j.w.Slots, func(s Slot) bool { return s.Fault || s.Secret }) {
		return
	}
	if j.w.Deed.grave() && slices.ContainsFunc(m.Items, func(it mandate.Item) bool { return deedOf(c.meaning(it.Tool)) == j.w.Deed }) {
		return
	}
	g := m.Gate(call, world{c: c, strays: map[string]string{}}, c.records.All())
	if g == nil {
		return
	}
	from := map[string]mandate.Whence{}
	for i := range g.Slots {
		h := &g.Slots[i]
		from[h.Arg] = h.From
		if len(j.m.Params) == 0 {
			h.Arg = "" // the agent named it
		} else if !slices.ContainsFunc(j.m.Params, func(p toolinfo.Param) bool { return arguments.Root(p.Path) == h.Arg }) {
			return
		}
	}
	for i := range j.w.Slots {
		if s := &j.w.Slots[i]; s.Kind != Act {
			s.Has, s.Why = Said, from[arguments.Root(s.Path)].String()
		}
	}
	j.w.Gate = g
}

// Given is the warrant with the act said: what it would be if somebody asked for the act.
func (w *Warrant) Given() *Warrant {
	out := *w
	out.Slots = slices.Clone(w.Slots)
	for i := range out.Slots {
		if s := &out.Slots[i]; s.Kind == Act {
			s.Has = Said
		}
	}
	return &out
}

// Quotes reports whether an answer quotes words of the user's that hold what the call has of them.
func (c *Context) Quotes(g *mandate.Gate, quote string) bool {
	c.listen()
	return g.Within(quote, c.said)
}

// Deeds are what was done since the user spoke, by kind, with how often.
func (c *Context) Deeds() []string {
	c.listen()
	var counts [NumDeeds]int
	for name, t := range c.done {
		counts[deedOf(c.meaning(name))] += t.times
	}
	var out []string
	for d, n := range counts {
		if n > 0 {
			out = append(out, fmt.Sprintf("%s %d", Deed(d), n)) // there are ten
		}
	}
	return out
}

// drawn is a contract with the turn of its message.
type drawn struct {
	*Contract
	turn int
}

// sources are what the contracts that count now say of the arguments of a tool; nil: they
// do not ask for it. Those of earlier messages count while what came after only says yes or
// goes on: a message whose own contract failed is not judged by another's.
func (c *Context) sources(m *toolinfo.Meaning) map[string]string {
	turn := c.user.turn
	for i := len(c.contracts) - 1; i >= 0; i-- {
		for ; turn > c.contracts[i].turn; turn-- {
			if c.user.speaks(turn) {
				return nil
			}
		}
		for _, a := range c.contracts[i].Acts {
			switch {
			case tool.Name(a.Tool) != m.Tool:
			case a.Args == nil:
				return map[string]string{}
			default:
				return a.Args
			}
		}
	}
	return nil
}

// task is one message of the owner's and what is done for it: what was agreed on, and what was done since. The next
// message ends it, whatever it says. The zero task gives nothing.
type task struct {
	agreed      *Contract         // of the message; nil: none
	done        map[string]*tally // our acts since, by tool
	brought     map[string]bool   // ids and links that they returned, which stood nowhere before; nil: none
	reachedOnce map[string]int    // how often an act that came about went to whom; nil: none did
}

// end is what another message does to a task.
func (t *task) end() {
	t.agreed, t.brought, t.reachedOnce = nil, nil, nil
	clear(t.done)
}

// tally is what our acts with a tool were, since the user spoke.
type tally struct {
	times int
	calls map[string]bool // their arguments, as far as they are known
}

// did counts an act that may run; nil: its arguments are not known.
func (c *Context) did(name string, args *tool.Args) {
	t := c.done[name]
	if t == nil {
		if len(c.done) >= maxTools {
			return // more than any agent has
		}
		t = &tally{calls: map[string]bool{}}
		c.done[strings.Clone(name)] = t
	}
	if c.ago[name] == nil {
		c.ago[strings.Clone(name)] = map[int]int{}
	}
	c.ago[name][len(c.said)]++
	if t.times++; args != nil && len(t.calls) < maxTools && len(args.Raw()) < 4096 {
		t.calls[string(args.Raw())] = true
	}
}

// Undone takes back that a call of a tool was counted as an act: nothing of it was begun. It returns the trace of that.
func (c *Context) Undone(name string) []byte {
	c.listen()
	m := c.meaning(name)
	if t := c.done[m.Tool]; t != nil && t.times > 0 {
		t.times--
	}
	if at := c.ago[m.Tool]; at[len(c.said)] > 0 { // what an earlier message ordered stays counted
		at[len(c.said)]--
	}
	return c.journal(toldUndone, 0, 0, name)
}

// came counts an act that its tool says came about, by whom it reached: what is paid, or told, twice is two.
func (c *Context) came(m *toolinfo.Meaning, values []arguments.Leaf) {
	if m.Act != toolinfo.Pay && m.Act != toolinfo.Send || len(c.reachedOnce) >= maxRan {
		return
	}
	if c.reachedOnce == nil {
		c.reachedOnce = map[string]int{}
	}
	c.reachedOnce[reached(m, values)]++
}

// maxRan bounds the acts that are counted by whom they reach.
const maxRan = 1024

// reached is a key for an act and whom it reaches; where it says nobody, what it is of. Another tool for the same is no other act.
func reached(m *toolinfo.Meaning, values []arguments.Leaf) string {
	var whom, what []string
	for i := range values {
		l := &values[i]
		if len(l.Text) > maxNamed || !l.Quoted {
			continue
		}
		if what = append(what, valueindex.Normal(l.Text)); m.Resolve(l.Path, l.Text).Role == toolinfo.Target {
			whom = append(whom, valueindex.Normal(l.Text))
		}
	}
	if len(whom) == 0 {
		whom = append(what, m.Tool)
	}
	slices.Sort(whom)
	return strconv.Itoa(int(m.Act)) + "\x00" + strings.Join(whom, "\x00")
}

// doneSo reports whether the words ask for an act once, and it came about: to pay somebody again, or to write to them again, is another
// one. Who speaks of several, or of how often, leaves it open.
func (j *judging) doneSo(values []arguments.Leaf) bool {
	c := j.c
	if c.agreed != nil || j.w.Deed != Pay && j.w.Deed != Send || len(c.reachedOnce) == 0 {
		return false
	}
	n := c.reachedOnce[reached(j.m, values)]
	if n == 0 {
		return false
	}
	orders := 0
	for _, text := range c.asking {
		if mandate.Many(text) || anyOf(tokens(text), oftens) || j.w.Deed == Send && c.severalIn(text) {
			return false
		}
	}
	for _, cl := range c.user.scope() {
		if cl.orders() && !cl.denies && j.fits(j.asks(cl)) {
			orders++
		}
	}
	return n >= max(1, orders)
}

var oftens = list("often")

// severalIn reports whether a text says how many, or how often: a number that is no sum.
func (c *Context) severalIn(text string) bool {
	sums := c.sums(text)
	counts := append(c.counts(text), slices.Collect(maps.Keys(mandate.Counts(text)))...)
	return slices.ContainsFunc(counts, func(n string) bool { return n != "1" && n != "0" && !slices.Contains(sums, n) })
}

// times is how often a tool was used since a message, counted from 1.
func (c *Context) times(name string, since int) int {
	n := 0
	for at, times := range c.ago[name] {
		if at >= since {
			n += times
		}
	}
	return n
}

// again reports whether a call is one that was made before and does nothing more: what has an
// id, a path or an address of its own is deleted, or given, once. To pay once more does more, and
// the first of a list, or the oldest, is another one each time.
func (t *tally) again(d Deed, args *tool.Args) bool {
	if d == Pay || !t.calls[string(args.Raw())] {
		return false
	}
	fields, err := args.Fields()
	return err == nil && slices.ContainsFunc(arguments.Of(fields), func(l arguments.Leaf) bool {
		coded := strings.ContainsFunc(l.Text, unicode.IsDigit) && strings.ContainsFunc(l.Text, unicode.IsLetter)
		return arguments.LastWord(l.Path) == "id" || l.Quoted && (coded || strings.ContainsAny(l.Text, "@/"))
	})
}

// spent reports whether the contract of the latest message asks for an act that cannot be
// taken back, and it was done as often as that by now.
func (c *Context) spent(m *toolinfo.Meaning, args *tool.Args) bool {
	t := c.done[m.Tool]
	if t == nil || t.again(deedOf(m), args) {
		return false
	}
	if c.agreed == nil || c.agreed.Delegates || !deedOf(m).final() {
		return false
	}
	most := 0
	for _, a := range c.agreed.Acts {
		if tool.Name(a.Tool) == m.Tool {
			if a.Most == 0 {
				return false
			}
			most += a.Most
		}
	}
	return most > 0 && t.times >= most
}

// source is what the contract says of a parameter.
func (j *judging) source(path string) (string, bool) {
	s, known := j.promises[arguments.Root(path)]
	return s, known
}

// bound reports whether the contract says where a value comes from, and not from the agent.
func (j *judging) bound(path string) bool {
	s, known := j.source(path)
	return known && s != "agent"
}

// promised improves the evidence for a value by what the contract says of its source. It
// never helps a value that a text speaks of.
func (j *judging) promised(k Kind, path, value string, e Evidence, why string) (Evidence, string) {
	if e >= Picked || j.promises == nil {
		return e, why
	}
	source, known := j.source(path)
	unseen := j.c.index.Of(value).Class == valueindex.Unseen
	switch {
	case j.c.contested(value, false):
	case unseen && k != Aim && (!known || source == "agent"):
		return Picked, "left to the agent"
	case unseen: // whom it goes to is not made up, and respelling helps nobody
	case source == "lookup", strings.HasPrefix(source, "user:"), !known && !strings.Contains(value, "@"):
		return Picked, "to be looked up, and found"
	case source == "delegated" && !j.w.Deed.final():
		return Picked, "to be taken from what you named"
	}
	return e, why
}

// forbids says to people what a ban is; nil: the certain reader found it.
func forbids(b *mandate.Ban) string {
	if b != nil && b.First {
		return "you wanted to see it first"
	}
	return "you said not to"
}

// usedTogether reports whether the choice that an item is one of was made: its items are done as often as one of them, and not each.
// What was done with one of their tools counts, whichever item it was done by.
func (j *judging) usedTogether(m *mandate.Mandate, it *mandate.Item) bool {
	if it.Or == "" || j.repeats() {
		return false
	}
	most, since, tools := 0, len(j.c.said), map[string]bool{}
	for _, o := range m.Together(it) {
		tools[o.Tool], since = true, min(since, o.Message)
		if o.Per != "" {
			most = maxEach
		}
		most = max(most, o.Times, 1)
	}
	times := 0
	for name := range tools {
		times += j.c.times(name, since)
	}
	return times >= most
}

// madeHere keeps what an act of the task at hand made: the one id, and the one link, of its answer that stood nowhere before. An
// answer with several of a kind makes none of them.
func (c *Context) madeHere(content []byte, args []arguments.Leaf, ours []string) {
	var ids, links []string
	note := func(v string) {
		n := valueindex.Normal(v)
		known := n == "" || len(v) > maxMadeLength || c.index.Of(v).Class != valueindex.Unseen
		for i := range args {
			known = known || args[i].Text == v
		}
		switch {
		case known:
		case startsURL(v):
			links = appendOnce(links, n)
		default:
			ids = appendOnce(ids, n)
		}
	}
	v, ok := valueindex.Parse(content)
	if !ok {
		return
	}
	eachID(&v, 0, note)
	eachLink(&v, 0, note)
	for _, list := range [][]string{ids, links} {
		isOurs := func(id string) bool { return valueindex.Normal(id) == list[0] }
		if len(list) == 1 && len(c.brought) < maxMade && slices.ContainsFunc(ours, isOurs) {
			if c.brought == nil {
				c.brought = map[string]bool{}
			}
			c.brought[list[0]] = true
		}
	}
}

// maxMadeLength bounds an id or a link of what was made.
const maxMadeLength = 512

// eachLink calls do with the texts of an answer that are nothing but an address.
func eachLink(v *valueindex.Value, depth int, do func(string)) {
	for i := range v.Kids {
		k := &v.Kids[i]
		switch {
		case k.Shape == valueindex.Scalar && startsURL(k.Text):
			do(k.Text)
		case k.Shape != valueindex.Scalar && depth < 2:
			eachLink(k, depth+1, do)
		}
	}
}

func appendOnce(list []string, v string) []string {
	for _, o := range list {
		if o == v {
			return list
		}
	}
	return append(list, v)
}

// MadeHere implements mandate.Maker.
func (w world) MadeHere(v string) bool { return w.c.brought[valueindex.Normal(v)] }
