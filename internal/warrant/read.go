package warrant

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/tool"
)

// judging is one call while it is read.
type judging struct {
	c         *Context
	w         *Warrant
	m         *toolinfo.Meaning
	args      *tool.Args
	workspace bool              // it is done with the host's own tools
	promises  map[string]string // argument sources by the contract; nil: the tool is not in it
	param     string            // the parameter that is looked at
	slots     int               // aims, objects and places
	tied      bool              // one of them is the user's
	loose     bool              // one of them is not
	allSaid   bool              // all of them are
	textual   bool              // a measure or a text of it stands in what others wrote
	composes  bool              // it holds a text that the user did not give
	copied    []*arguments.Leaf // texts that stand so in what the user named
	looks     bool              // its command only looks, builds and tests
	results   *mandate.Brought  // which results were brought for it; nil: nobody asked
	known     *callable         // what is known of the tool; nil: nobody asked
	seen      [4]seen           // what its values are for, as far as that was asked of late
	next      int               // of them is overwritten
	said      said              // what its arguments say of the act
	picks     []string          // choices that the words make by their verbs
	terminal  bool              // what it runs is given a terminal
	outer     *toolinfo.Meaning // the tool that the call at hand stands in, where that does something itself
	beside    []arguments.Leaf  // what that tool is given beside the call
	given     []arguments.Leaf  // the values of a call that is judged beside another
	has       []arguments.Leaf  // its values
	more      []*judging        // the calls that are judged beside this one
}

// Of is the warrant of a call.
func (c *Context) Of(name string, args *tool.Args) *Warrant {
	c.listen()
	defer c.release()
	m := c.meaning(name)
	made := &struct { // most calls need no more
		Warrant
		room [3]Slot
	}{Warrant: Warrant{Tool: m.Tool, Deed: deedOf(m)}}
	w := &made.Warrant
	w.Slots = made.room[:0]
	values, plain := arguments.Plain(c.room[:0], args)
	if plain {
		c.room = values
	}
	var fields map[string]any
	var err error
	if !plain || slices.ContainsFunc(values, wrapping) {
		fields, err = args.Fields()
		values = arguments.Of(fields)
	}
	if err != nil || len(values) > arguments.Most {
		w.Deed = Unknown
		w.endanger(false)
		w.add(Order, "", string(args.Raw()), Nothing, "it cannot be read")
		return w
	}
	c.index.Bound(leastAsked+mostAsked*len(args.Raw()), c.gone)
	c.records.Begin(len(args.Raw()))
	j := &judging{c: c, w: w, m: m, args: args, allSaid: true, workspace: c.workspace(m)}
	if j.noAct(values) {
		return w
	}
	if in := c.unwrap(m, fields); len(in) > 0 {
		values = j.enter(in)
	} else {
		values = j.opened(values)
		w.Deed = j.deed(values)
	}
	if len(c.contracts) > 0 {
		j.promises = c.sources(j.m)
	}
	j.read(values)
	for _, also := range j.more {
		if len(c.contracts) > 0 {
			also.promises = c.sources(also.m)
		}
		also.read(also.given)
	}
	if c.index.Spent() || c.records.Spent() { // what was not looked for was not found
		w.Deed, w.Gate = Unknown, nil
		w.endanger(false)
		w.add(Order, "", string(args.Raw()), Nothing, "it is too large to be judged")
	}
	return w
}

// The bytes of values that may be looked up for one call: a fixed part, and a part of what its arguments are long.
// Honest calls ask for each of their values a few times.
const (
	leastAsked = 1 << 20
	mostAsked  = 64
)

// Sought is how many bytes of values were looked up for the call that was judged last, each with a little more.
func (c *Context) Sought() int { return c.index.Asked() }

// Until has what is judged from now on end early once gone is closed, because nobody waits for it any more: it is held then, and whoever
// asked must not take that for an answer. Nil takes it back.
func (c *Context) Until(gone <-chan struct{}) { c.gone = gone }

// release lets go of what was called with.
func (c *Context) release() {
	c.index.Release()
	clear(c.room)
}

var terminals = list("terminals")

// rerun judges what a tool of the host's puts into files that something runs which was started before.
func (j *judging) rerun(values []arguments.Leaf) {
	name := unprefixed(j.m.Tool)
	if !j.workspace && !tool.IsHost(name) || j.m.Act == toolinfo.Read || tool.IsShell(name) {
		return
	}
	if why, file := j.c.reruns(madeBy(j.m, values)); why != "" {
		j.bad(false, why, "content", file)
	}
}

// read finds the slots of a call, and what stands behind each.
func (j *judging) read(values []arguments.Leaf) {
	c := j.c
	j.has = values
	j.terminal = slices.ContainsFunc(values, func(l arguments.Leaf) bool {
		return l.Flag && l.Text == "true" && terminals[last(arguments.NameWords(l.Path))]
	})
	if !j.workspace {
		if j.browses(values) {
			return
		}
	}
	for i := range values {
		if c.index.Spent() {
			break // it is held, whatever the others are
		}
		j.value(&values[i])
	}
	j.rerun(values)
	switch {
	case c.foreign && j.w.Deed != Read:
		j.w.add(Act, "", j.m.Tool, Nothing, "I have no words of yours that could ask for it")
	case c.argued && c.user.turn == 0 && j.w.Deed != Read:
		j.w.add(Act, "", j.m.Tool, Nothing, "I have no words of yours that could ask for it")
	case j.needsNone() == mandate.Unargued:
		j.free(values)
	case j.needsNone() == mandate.Hosted:
		j.w.add(Act, "", j.m.Tool, Said, "the host's own tool, on this machine")
	case j.needsNone() == mandate.Bound && j.forbidden(values) != nil:
		j.w.add(Act, "", j.m.Tool, Nothing, forbids(j.forbidden(values)))
	case j.needsNone() == mandate.Bound && c.mandate() != nil:
		j.covered(c.mandate(), values)
		j.withholds(values)
		j.commands(values)
	case j.needsNone() == mandate.Bound:
		j.listen(values)
		j.acts()
		if j.doneSo(values) {
			j.w.add(Act, "", j.m.Tool, Nothing, doneOften+" your message asks for")
		}
		j.bind(values)
		j.withholds(values)
		j.commands(values)
	case j.tool().reveals:
		j.discloses()
	default:
		j.w.add(Act, "", j.m.Tool, Said, "it only looks")
	}
	j.carries()
}

// needsNone is why a call needs nobody to have given it.
func (j *judging) needsNone() mandate.Free {
	switch {
	case !j.c.argued:
		return mandate.Unargued
	case j.workspace:
		return mandate.Hosted
	case j.w.Deed == Read:
		return mandate.Looks
	}
	return mandate.Bound
}

// acts judges the act, and that of the tool it stands in.
func (j *judging) acts() {
	e, why := j.act()
	if j.unread() {
		e, why = Nothing, "no model has read your message, and this is not done on its words alone"
	}
	j.w.add(Act, "", j.m.Tool, e, why)
	if j.outer != nil {
		j.m, j.said = j.outer, said{}
		e, why = j.act()
		j.w.add(Act, "", j.m.Tool, e, why)
	}
}

// discloses judges a read of secrets, which must have been asked for.
func (j *judging) discloses() {
	for _, cl := range j.c.user.scope() {
		if j.c.matches(cl, j.m).nouns > 0 {
			j.w.add(Act, "", j.m.Tool, Said, "you asked")
			return
		}
	}
	j.w.add(Act, "", j.m.Tool, Nothing, "it reads secrets, and I could not find them in your words")
}

// free lets everything be but what is dangerous whoever asks for it, and what only servers speak of: nobody but the user has
// said anything that counts as content.
func (j *judging) free(values []arguments.Leaf) {
	ordered := j.w.Deed == Read && slices.ContainsFunc(values, func(l arguments.Leaf) bool { // a read asks nobody for its address
		return (isHost(l.Text) || startsURL(l.Text)) && j.ordered(l.Text) && !j.c.index.Said(l.Text)
	})
	for i := range j.w.Slots {
		s := &j.w.Slots[i]
		ordered = ordered || j.w.Deed != Read && s.Has < Own && j.ordered(s.Value)
		if j.w.Danger || s.Has < Own && (j.c.others.Names(s.Value) || j.c.servers.Names(s.Value)) {
			continue
		}
		if j.c.wordless && s.Has < Own && j.named(s) {
			continue
		}
		s.Has = Said
	}
	switch {
	case ordered:
		j.w.add(Act, "", j.m.Tool, Nothing, "only another server's description names it")
	case !j.c.others.Empty() && !Send.graverThan(j.w.Deed) && !j.looks && j.c.user.onlyAsks():
		j.w.add(Act, "", j.m.Tool, Nothing, "I took what you said for a question and no more")
	default:
		j.w.add(Act, "", j.m.Tool, Said, "nobody but you has said anything")
	}
}

// ordered reports whether a server may have ordered a call of another's by what it says of itself: it names the file, the
// address, the channel. Words that stand anywhere order nothing.
func (j *judging) ordered(value string) bool {
	if !strings.ContainsAny(strings.TrimSpace(value), "@/\\:#. 0123456789") {
		return false
	}
	own := serverOf(j.m.Tool)
	return own != "" && j.c.others.Elsewhere(own, value) || j.c.servers.Elsewhere(own, value)
}

// named reports whether what was read may have named a slot that leaves this machine or runs on it. Files
// of the work are what work is about.
func (j *judging) named(s *Slot) bool {
	switch s.Kind {
	case Aim, Order, Key:
	default:
		return false
	}
	local := strings.HasPrefix(s.Value, "/") || strings.HasPrefix(s.Value, "./") || strings.HasPrefix(s.Value, "~/")
	if local && s.Kind == Aim && !strings.ContainsAny(s.Value, ":@") {
		return false
	}
	return j.c.lost || j.c.index.Of(s.Value).Class > valueindex.Unseen
}

// squeezed is a text without what numbers are grouped by.
func squeezed(s string) string { return groups.Replace(s) }

var groups = strings.NewReplacer(" ", "", "-", "")

var (
	computes = list("computes")
	funds    = list("funds")

	reckoning = list("reckoning")
)

// signs are what a read is given though it should need none of it.
type signs struct {
	aim, body, money, payee, choice, place, sum bool
}

// doubt looks at what a read is given: who to tell, how much, what to decide, where to put
// something make it none.
func (j *judging) doubt(values []arguments.Leaf, queries bool) Deed {
	var s signs
	d := Read
	for i := range values {
		last := j.tool().param(values[i].Path).last
		s.note(&values[i], *j.resolve(&values[i]), last)
		s.sums(&values[i], j.resolve(&values[i]))
		s.place = s.place || signPlaces[last] && !j.travels(&values[i])
		if a := j.filled(&values[i]); a.graverThan(d) {
			d = a
		}
	}
	switch could := deedBy(j.m.Could(), toolinfo.High); {
	case d != Read:
		return d
	case s.makes(could, len(values) > 0 && !queries):
		return could
	case s.aim && s.body:
		return Send
	case s.money && (s.payee || j.movesMoney()):
		return Pay
	case s.choice:
		return Grant
	case s.place:
		return Create
	case j.m.Seems() && len(values) > 0, !queries && j.goesOn(values):
		return Change
	}
	return j.brings(&s, values, queries)
}

// brings is what a look does that gets a sum, puts a text before others, or brings something somewhere.
func (j *judging) brings(s *signs, values []arguments.Leaf, queries bool) Deed {
	switch {
	case s.sum && !queries && !j.reckons() && (len(j.m.Params) == 0 || anyOf(j.c.nameOf(j.m), gainful)):
		return Pay
	case s.body && displays[j.m.Verb]:
		return Send
	case len(values) > 0 && !queries && j.loads(values):
		return Change
	}
	return Read
}

// goesOn reports whether a tool that nobody defined may do more than look: its verb is none that only looks, or its name goes on behind it
// to what is done then. Addresses, and how much is looked up, are what any look is given.
func (j *judging) goesOn(values []arguments.Leaf) bool {
	if len(j.m.Params) > 0 || j.c.offered[j.m.Tool] || j.m.Looks() || j.namedLook(values) {
		return false
	}
	if !slices.ContainsFunc(values, func(l arguments.Leaf) bool {
		return !l.Flag && l.Text != "" && !j.isAddress(&l, *j.resolve(&l)) && j.resolve(&l).Role != toolinfo.Control
	}) {
		return false
	}
	if !plainLooks[j.m.Verb] {
		return true
	}
	words := arguments.NameWords(unprefixed(j.m.Tool))
	at := slices.Index(words, j.m.Verb) + 1
	return at > 0 && at < len(words) && (looksEnd[words[at]] && !(words[at] == "for" && seekers[j.m.Verb]))
}

// namedLook reports whether a tool of no verb is named after something that is looked at, or is told by an argument to look.
func (j *judging) namedLook(values []arguments.Leaf) bool {
	words := arguments.NameWords(unprefixed(j.m.Tool))
	if len(words) > 0 && shownThings[words[len(words)-1]] {
		return true
	}
	return slices.ContainsFunc(values, func(l arguments.Leaf) bool {
		act, chosen := j.m.Choice(l.Path, l.Text)
		return chosen && act == toolinfo.Read && plainLooks[l.Text]
	})
}

var shownThings = list("shown_things")

var plainLooks, looksEnd, seekers = list("plain_looks"), list("looks_end"), list("seekers")

// makes reports whether what a call is given makes an act of a name that may be one.
func (s *signs) makes(could Deed, given bool) bool {
	switch could {
	case Send:
		return s.body
	case Grant:
		return s.aim
	case Pay, Execute: // whatever it is called that it is given
		return given
	}
	return false
}

// filled is what a filled parameter says by its name that a look does besides: a switch that publishes, a place to
// copy to, a sum that is paid in. Its value says nothing.
func (j *judging) filled(l *arguments.Leaf) Deed {
	name := l.Path[strings.LastIndexByte(l.Path, '.')+1:]
	switch {
	case l.Text == "" || l.Text == "false":
	case l.Flag:
		act := toolinfo.Outspoken(name)
		if act == toolinfo.Create || act == toolinfo.Change {
			act = toolinfo.Of(tool.Definition{Name: name}).Act // to make it public is to let others in
		}
		if act != toolinfo.Unknown && act != toolinfo.Read {
			return deedBy(act, toolinfo.High)
		}
	case !l.Quoted && toolinfo.Outspoken(name) == toolinfo.Pay && !anyOf(arguments.NameWords(j.m.Tool), reckoning):
		return Pay // so much is to be reserved
	case arguments.LastWord(name) == "to" && toolinfo.Outspoken(name) != toolinfo.Unknown:
		return Send
	case j.resolve(l).Role == toolinfo.Amount && anyOf(arguments.NameWords(name), moving) &&
		!anyOf(arguments.NameWords(j.m.Tool), reckoning):
		return Pay
	}
	return Read
}

var (
	signAims, signBodies, signSums = list("sign_aims"), list("sign_bodies"), list("sign_sums")
	signChoices, signPlaces        = list("sign_choices"), list("sign_places")
)

func (s *signs) note(l *arguments.Leaf, p toolinfo.Param, last string) {
	switch {
	case signAims[last]:
		s.aim = s.aim || strings.Contains(l.Text, "@")
	case signBodies[last]:
		s.body = s.body || l.Quoted && l.Text != ""
	case signSums[last]:
		s.money = s.money || p.Role == toolinfo.Amount
	case signChoices[last]:
		s.choice = true
	case last == "path":
		s.place = s.place || saves(l.Path)
	}
	s.payee = s.payee || p.Kind == toolinfo.IBAN
	s.place = s.place || p.Kind == toolinfo.Path && saves(l.Path)
	s.aim = s.aim || strings.Contains(l.Text, "@") && (split(l.Text)[0] != l.Text || mailbox(l.Text)) ||
		p.Role == toolinfo.Target && (p.Kind == toolinfo.Person || p.Kind == toolinfo.Email)
}

// sums notes a sum that bounds nothing.
func (s *signs) sums(l *arguments.Leaf, p *toolinfo.Param) {
	bound := slices.ContainsFunc(arguments.NameWords(l.Path), func(w string) bool { return sumBounds[w] })
	s.sum = s.sum || p.Role == toolinfo.Amount && !strings.Contains(l.Path, ".") && !l.Flag && !bound && l.Text != "" && l.Text != "0"
}

// reckons reports whether a look that is given a sum works with it, or asks what it would come to: by its verb, or by what it is named
// after. Whoever gets a sum otherwise gets the money, unless the tool tells what it takes and has no word for money in its name.
func (j *judging) reckons() bool {
	words := arguments.NameWords(unprefixed(j.m.Tool))
	return computes[j.m.Verb] && !gets[j.m.Verb] || len(words) > 0 && comesTo[words[len(words)-1]] || anyOf(words, offers)
}

// loads reports whether what a tool brings it brings somewhere: it is given what, and where to.
func (j *judging) loads(values []arguments.Leaf) bool {
	if !bringing[j.m.Verb] {
		return false
	}
	n := 0
	for i := range values {
		if p := j.resolve(&values[i]); !values[i].Flag && values[i].Text != "" && p.Role != toolinfo.Control {
			n++
		}
	}
	return n > 1
}

var (
	displays, gets, bringing   = list("displays"), list("gets"), list("brings")
	sumBounds, comesTo, offers = list("sum_bounds"), list("comes_to"), list("offers")
	gainful                    = list("gainful")
)

// travels reports whether a destination is where a journey ends: the tool's own definition asks for its origin too, and what is given is
// the name of a place. What lies somewhere is no such name.
func (j *judging) travels(l *arguments.Leaf) bool {
	journey := slices.ContainsFunc(j.m.Params, func(p toolinfo.Param) bool { return arguments.LastWord(p.Path) == "origin" })
	return journey && l.Quoted && placeName.MatchString(l.Text)
}

var placeName = regexp.MustCompile(`^[\pL\pM]+(?:[ '’,-]{1,2}[\pL\pM]+){0,5}$`)

func saves(path string) bool { return strings.Contains(strings.ToLower(path), "save") }

// movesMoney reports whether a tool that is given a sum does more than work with it.
func (j *judging) movesMoney() bool {
	if strings.HasPrefix(strings.ToLower(j.m.Verb), "convert") {
		return false
	}
	return !computes[j.m.Verb] && j.m.Act != toolinfo.Read || anyOf(j.c.nameOf(j.m), funds)
}
