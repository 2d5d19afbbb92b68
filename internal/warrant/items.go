package warrant

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/audience"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/reader"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

// mandate is what binds the call at hand: the items of the latest message's contract; nil: it has none.
func (c *Context) mandate() *mandate.Mandate {
	if c.agreed == nil {
		return nil
	}
	return c.agreed.Mandate
}

// bind holds the slots of a call to where the owner's words say that its values come from. Without a contract the words themselves
// are the item. One of the first form says too little of where values come from to bind by itself: beside it only what
// speaks against the words is refused.
func (j *judging) bind(values []arguments.Leaf) {
	w := world{c: j.c, strays: map[string]string{}, quoted: true, told: j.c.tells(), to: j.readers(values)}
	w.given = len(j.c.guarded) > 0 && j.c.givesAll(texts(values))
	offered, call := j.offerFor(values), j.asCall(values)
	m := j.withPromises(offered.mandate)
	got := m.Cover(call, w, j.c.records.All())
	if got.Item != nil {
		j.confirmed(m, got.Item, call, w)
	}
	for i := range got.Missing {
		if miss := &got.Missing[i]; !j.picked(miss) && !j.granted(miss) && (j.promises == nil || miss.Contradicts()) {
			j.unbind(miss)
		}
	}
	j.saidBefore(offered, &got, call, w)
	j.sparedByName(offered, call)
	j.calledOtherwise(offered, call)
	j.containsOnly(offered, call)
	if path := j.narrowed(offered, call); path != "" {
		why := "your words say which " + path + ", and the call does not"
		j.w.Slots = append(j.w.Slots, Slot{Kind: Object, Path: path, Has: Nothing, Why: why})
	}
	j.chosenElsewhere(offered, call)
	j.figuresElsewhere(offered, call)
	j.crossed(offered, call)
	j.exchanged(call)
	j.unitsUnsaid(call)
	j.filedElsewhere(call)
	j.learn(m, &got, call, w)
	j.bears(strings.Join(j.c.asking, "\n"), values)
}

// confirmed gives the values that stood for what the words name before their evidence: the user confirmed it then.
func (j *judging) confirmed(m *mandate.Mandate, it *mandate.Item, call *mandate.Call, w world) {
	for _, v := range m.Paired(it, call, w, j.c.records.All()) {
		for i := range j.w.Slots {
			if s := &j.w.Slots[i]; s.Kind == Aim && s.Path == v.Path && s.Value == v.Text && s.Has < Own && !s.Fault && !s.Secret {
				s.Has, s.Why = Own, "you confirmed it before"
			}
		}
	}
}

// maxLearnt bounds the values of a call that anything is learnt from.
const maxLearnt = 64

// learn notes what would be known from now on: where an item holds all of a call, the pairs that the user said; else those that a
// yes confirms, which are about what is missing and nothing else.
func (j *judging) learn(m *mandate.Mandate, got *mandate.Covered, call *mandate.Call, w world) {
	if got.Item == nil || j.w.Danger || j.outer != nil || len(call.Values) > maxLearnt {
		return
	}
	for _, p := range m.Pairs(got.Item, call, w, j.c.records.All()) {
		missing := slices.ContainsFunc(got.Missing, func(miss mandate.Missing) bool {
			return miss.Role == mandate.Aim && arguments.Root(miss.Path) == p.Path && miss.Value == p.Value
		})
		if missing || len(got.Missing) == 0 && p.Sure {
			j.w.Pairs = append(j.w.Pairs, p)
		}
	}
}

// withPromises is the item of the words with the sources that a contract of the first form names for its arguments.
func (j *judging) withPromises(m *mandate.Mandate) *mandate.Mandate {
	if len(j.promises) == 0 {
		return m
	}
	it := m.Items[0]
	it.Args = maps.Clone(it.Args)
	for name, list := range mandate.FirstForm("", []mandate.Promise{{Tool: it.Tool, Args: j.promises}})[0].Args {
		it.Args[name] = append(slices.Clip(it.Args[name]), list...)
	}
	it.Index()
	return &mandate.Mandate{Items: []mandate.Item{it}, Reads: m.Reads}
}

// unbind takes from a slot what spoke for it.
func (j *judging) unbind(miss *mandate.Missing) {
	kind := missingKind(miss.Role, j.w.Deed)
	for i := range j.w.Slots {
		if s := &j.w.Slots[i]; s.Path == miss.Path && s.Value == miss.Value && s.Kind == kind {
			if s.Has > Nothing {
				s.Has, s.Why = Nothing, miss.Why
			}
			return
		}
	}
	j.w.Slots = append(j.w.Slots, Slot{Kind: kind, Path: miss.Path, Value: miss.Value, Has: Nothing, Why: miss.Why})
}

// maxUntold bounds how many parameters of a call that its tool does not tell may be read by words. Further ones have no source.
const maxUntold = 64

// called is the tool of a call as the reader sees it, with the parameters that its definition does not tell.
func (j *judging) called(values []arguments.Leaf) *reader.Tool {
	t := reader.ToolOf(j.c.nameOf(j.m), j.m, j.c.vocabulary)
	have := map[string]bool{}
	for i := range values {
		if _, told := j.m.Param(values[i].Path); !told && !have[values[i].Path] && len(have) < maxUntold {
			have[values[i].Path] = true
			p := *j.resolve(&values[i])
			p.Path = values[i].Path
			t.Params = append(slices.Clip(t.Params), p)
		}
	}
	return &t
}

// amounts reports whether a parameter is a sum. Evidence knows which of them may be worked out.
func (j *judging) amounts(path string) bool {
	p, ok := j.m.Param(path)
	return ok && p.Role == toolinfo.Amount
}

// spokenOf reports whether the owner has a word for a parameter: then what it is was theirs to say.
func (j *judging) spokenOf(path string) bool {
	for w := range arguments.Words(path) {
		if j.c.user.stems[stem(w)] {
			return true
		}
	}
	return false
}

// granted reports whether a slot that words do not hold needs none: the owner agreed to it, it is a key or a sum, of which evidence
// says more, a word of the interface, an id of our own acts, or the name that the agent gives to something new. But for what was
// agreed to none of them is where something goes.
func (j *judging) granted(miss *mandate.Missing) bool {
	for i := range j.w.Slots {
		s := &j.w.Slots[i]
		if s.Path != miss.Path || s.Value != miss.Value {
			continue
		}
		switch {
		case s.Has == Assented, s.Has == Said && j.c.saidOtherwise(miss):
			return true
		case j.ofWords(miss, s):
			return true
		case miss.Role == mandate.Order:
			return s.Has == Entailed // it builds, tests or looks
		case miss.Role == mandate.Aim:
			return s.Has == Own && j.c.newIDs[valueindex.Normal(miss.Value)]
		case miss.Role == mandate.Key, s.Kind == Measure && j.amounts(miss.Path):
			return s.Has > Nothing
		case s.Has == Agent:
			return j.w.Deed == Create && !chooses(miss) || (j.w.Deed == Create || j.w.Deed == Tidy) && j.calls(miss)
		}
		return !j.w.Deed.grave() && (j.c.isOwn(miss.Value) || s.Has == Own && !mandate.Many(s.Value) && !j.spokenOf(s.Path))
	}
	return false
}

// ofWords reports whether what can be undone is done to something put together of what the owner said: two names, or a query.
func (j *judging) ofWords(miss *mandate.Missing, s *Slot) bool {
	if j.w.Deed.grave() {
		return false
	}
	selects := s.Has == Said && selecting[arguments.LastWord(miss.Path)] && j.c.selects(miss.Value)
	return selects || miss.Role == mandate.Object && j.c.ofSaidParts(miss.Value)
}

// saidOtherwise reports whether a value was said though the words do not hold it so: a town with its region, or, behind a restart, a
// secret, of which the log holds only that they said it.
func (c *Context) saidOtherwise(miss *mandate.Missing) bool {
	return c.fullerTown(miss.Path, miss.Value) || c.index.SaidSealed(miss.Value)
}

// maxOffers bounds how many tools are remembered with what the words offer for them.
const maxOffers = 64

// offerFor is what the owner's latest messages offer for the tool of a call. It is made once for all calls that name the same parameters
// beside its definition.
func (j *judging) offerFor(values []arguments.Leaf) *offer {
	c := j.c
	key := j.m.Tool
	for i := range values {
		if _, told := j.m.Param(values[i].Path); !told {
			key += "\x00" + values[i].Path
		}
	}
	if o := c.offers[key]; o != nil {
		return o
	}
	if c.offers == nil || len(c.offers) >= maxOffers {
		c.offers = map[string]*offer{}
	}
	c.offers[key] = c.given(j.called(values))
	return c.offers[key]
}

// forbidden is the ban of the owner's on the call at hand, as the certain reader finds it; nil: there is none. It holds whoever else
// reads their words.
func (j *judging) forbidden(values []arguments.Leaf) *mandate.Ban {
	m := j.c.words()
	if len(m.Never) == 0 {
		return nil
	}
	return m.Forbids(j.asCall(values), j.c.records.All())
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
	c.offers, c.telling, c.withheld = nil, nil, nil
	if c.worded = nil; c.user.speaks(c.user.turn) || len(c.asking) >= maxAsking {
		c.asking = c.asking[:0]
	}
	c.asking = append(c.asking, text)
}

// reading is what the certain reader finds in the messages that count now. Bans of all of them hold.
func (c *Context) reading() *mandate.Mandate {
	var tools []reader.Tool
	for _, name := range slices.Sorted(maps.Keys(c.offered)) {
		if m := c.tools[name]; m != nil && m.Act != toolinfo.Read {
			tools = append(tools, reader.ToolOf(c.nameOf(m), m, c.vocabulary))
		}
	}
	out := &mandate.Mandate{Assents: true}
	for _, text := range c.asking {
		m := reader.Certain(reader.Read(text, tools, c.vocabulary))
		out.Items, out.Reads, out.Never = append(out.Items, m.Items...), append(out.Reads, m.Reads...), append(out.Never, m.Never...)
	}
	return out
}

// covered judges a call by the items of a message: all of its slots are held by one of them, or those that are not
// are the question.
func (j *judging) covered(m *mandate.Mandate, values []arguments.Leaf) {
	m = m.Pinned(j.c.pin)
	call := j.asCall(values)
	w := world{c: j.c, strays: map[string]string{}, told: j.c.tells(), to: j.readers(values)}
	if ban := m.Forbids(call, j.c.records.All()); ban != nil || j.c.user.lookOnly() { // a ban of either reader holds
		j.w.add(Act, "", j.m.Tool, Nothing, forbids(ban))
		return
	}
	got := m.Cover(call, w, j.c.records.All())
	switch {
	case j.outer != nil: // what the wrapper does itself no item of the call in it asks for
		j.w.add(Act, "", j.outer.Tool, Nothing, "I could not find it in your words")
		return
	case got.Item == nil:
		if offer := j.assented(); offer != "" && m.Assents && !j.w.Deed.grave() {
			j.offered(offer)
			return
		}
		j.w.add(Act, "", j.m.Tool, Nothing, "I could not find it in your words")
		j.listen(values)
		j.gate(m, call)
		return
	}
	j.w.Item = &Item{ID: got.Item.ID, Giver: "contract", Quote: got.Item.Quote}
	if j.used(m) || j.usedTogether(m, got.Item) || j.toldSo(m, call, w, values) {
		j.w.add(Act, "", j.m.Tool, Nothing, "it was done as often as you asked for")
		return
	}
	if got.Item.If != "" && j.w.Deed.grave() { // who reads the condition as met has read what others wrote
		j.w.add(Act, "", j.m.Tool, Nothing, "you said: "+got.Item.If+". I cannot tell whether that is so")
		return
	}
	if len(got.Missing) == 0 && !j.unmoved(m, got.Item, call, w) {
		j.w.Interferes = true
		j.w.Slots = append(j.w.Slots, Slot{Kind: Act, Value: j.m.Tool, Why: interference, Fault: true})
		return
	}
	j.w.add(Act, "", j.m.Tool, Said, "you asked: "+got.Item.Quote)
	if j.hold(&got); got.Item.Per == "" {
		j.bears(m.Quotes(j.m.Tool), values)
	}
	j.learn(m, &got, call, w)
}

// interference is what people are told where the answer would have been another without what no item names.
const interference = "a fault of ours: it would have run because of something that you did not name"

// unmoved judges a call once more that an item holds, with every record blank that the item does not name. What our own
// acts returned stays. It reports whether the answer stays, and notes what that depends on.
func (j *judging) unmoved(m *mandate.Mandate, it *mandate.Item, call *mandate.Call, w world) bool {
	c := j.c
	if c.blank == nil || c.blank.Item() != it {
		c.blank = c.records.All().Blank(m, it)
	}
	blank, rivals := c.blank.For(call)
	w.sees = c.blank.Sees
	for _, r := range blank.Rests(call) {
		j.w.Depends = append(j.w.Depends, Dependency{Path: strings.Clone(r.Path), Step: r.Step})
	}
	return len(m.Hold(it, call, w, blank)) == 0 && len(m.Hold(it, call, w, rivals)) == 0
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
		j.w.Slots = append(j.w.Slots, Slot{Kind: kind, Path: miss.Path, Value: miss.Value, Has: Nothing, Why: miss.Why, Part: miss.Part})
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

// asCall is the call as items are held against it.
func (j *judging) asCall(values []arguments.Leaf) *mandate.Call {
	d := j.w.Deed
	out := &mandate.Call{Tool: j.m.Tool, Deed: d.String(), Grave: d.grave(), Reaches: d.graverThan(Tidy), Takes: j.takes()}
	for _, list := range [][]arguments.Leaf{values, j.beside} {
		for i := range list {
			l := &list[i]
			p := j.resolve(l)
			v := mandate.Value{Path: l.Path, Text: l.Text, Role: j.roleOf(l), Flag: l.Flag, Act: p.Chooses, Sum: p.Role == toolinfo.Amount}
			if v.Decides = p.Decides; p.Listed != nil {
				v.Choices, v.Default, v.Decides = p.Listed.Values, p.Listed.Default, p.Decides || p.Listed.Reaches()
			}
			out.Values = append(out.Values, v)
		}
	}
	j.deniesOf(values, out)
	return out
}

// roleOf is what an argument is to an item.
func (j *judging) roleOf(l *arguments.Leaf) mandate.Role {
	p := *j.resolve(l)
	switch {
	case l.Flag, datish.MatchString(l.Text) && len(l.Text) <= 32:
		return mandate.Measure
	case l.Quoted && sqlActs(l.Text), p.Role == toolinfo.Command:
		return mandate.Order
	case p.Role == toolinfo.Credential:
		return mandate.Key
	case p.Role == toolinfo.Target, l.Quoted && mailbox(l.Text):
		return mandate.Aim
	case l.Quoted && j.w.Deed.graverThan(Change) && goesAlong(l, &p):
		return mandate.Object
	case j.worded(l, &p):
		return mandate.Text
	case p.Role == toolinfo.Amount:
		return mandate.Measure
	case l.Quoted && pathish(l, p.Kind) && sensitive(l.Text):
		return mandate.Place
	case identifier(l):
		return mandate.Object
	case p.Role == toolinfo.Unclear || !l.Quoted, !p.Object && choice.MatchString(l.Text):
		return mandate.Measure
	}
	return mandate.Object
}

// goesAlong reports whether an argument is a file that goes with what is sent.
func goesAlong(l *arguments.Leaf, p *toolinfo.Param) bool {
	return (pathish(l, p.Kind) || p.Role == toolinfo.Content && refers(l.Text)) && !wordy(l.Text)
}

// refers reports whether what should be a text is one word with the signs of a path: it stands for what lies there.
func refers(text string) bool {
	return !strings.ContainsFunc(text, unicode.IsSpace) && strings.ContainsAny(strings.Trim(text, ".…"), `/\.`)
}

// worded reports whether an argument is a text for somebody to read. One that is none by its parameter is no text because it was read.
func (j *judging) worded(l *arguments.Leaf, p *toolinfo.Param) bool {
	switch {
	case !l.Quoted:
		return false
	case p.Role == toolinfo.Content, wordy(l.Text) && len(tokens(l.Text)) > 4 && !j.c.inText(l.Text):
		return true
	}
	return !p.Object && p.Role != toolinfo.Selector && remarks[arguments.LastWord(l.Path)]
}

// remarks are parameters for a few words to whoever reads it.
var remarks = list("remarks")

// choice is one plain word, as schemas list them.
var choice = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// world is the conversation as items are held against it.
type world struct {
	c      *Context
	quoted bool                   // in a text only runs of words are looked for: the addresses and figures in it are judged one by one
	to     audience.Set           // who reads what the call sends; none: nobody asked
	told   bool                   // the owner gave the text: what it says beside that is looked for word by word
	given  bool                   // they said all that it tells: what they only want looked at is no source
	sees   func(step uint64) bool // what of it may be looked at; nil: all
	// what was found in texts: only records that a source names count there, and they are never blank
	strays map[string]string
}

func (w world) Said(v string) bool { return w.c.index.Said(v) }
func (w world) Own(v string) bool  { return w.c.isOwn(v) }

func (w world) Made(v string, aim bool) bool {
	asSaid, made := w.c.newIDs[valueindex.Normal(v)]
	return made && (!aim || asSaid)
}

func (w world) Told(v string) bool {
	return w.c.inText(v) && (w.sees == nil || w.c.lost || w.c.index.Stands(v, w.sees))
}

// Stands reports whether a value stands in what some steps brought.
func (w world) Stands(v string, in func(uint64) bool) bool {
	return len(v) >= 3 && w.c.index.Stands(v, func(step uint64) bool { return (w.sees == nil || w.sees(step)) && in(step) })
}
