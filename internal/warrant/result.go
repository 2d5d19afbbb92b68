package warrant

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/audience"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/tool"
)

// Result is what a call brought back.
type Result struct {
	Tool    string
	Step    uint64
	Args    *tool.Args
	Content []byte // nothing of it is kept but copies
	Failed  bool
	Tainted bool   // its structure is not the server's: somebody may have written all of it
	Told    bool   // the policy says what the tool's results are worth, so its name does not
	Local   bool   // of what the policy says: it comes from this machine
	Ours    bool   // of what the policy says: nobody but the operator or the user has written it
	LookUp  string // the name that we looked up ourselves: the agent has not read it; "": it has
	Held    bool   // it is kept from the agent, who has not read it either: it is known, and argues for nothing
	Readers Readers
}

// Readers is what others than its structure say of who may read a result. The zero Readers is nothing.
type Readers struct {
	Private bool     // its server, or the policy, says that it is for nobody else
	Public  bool     // the policy says, or lets its server say, that anybody may
	Secret  bool     // the policy says that it is secret
	Named   []string // those of whom the policy lets its server say that they may, and nobody else
}

// narrow is who may read a result after all: nobody else, where anything says so.
func (r Readers) narrow(s audience.Set) audience.Set {
	switch {
	case r.Private:
		return audience.Set{}
	case len(r.Named) > 0:
		return audience.Of(r.Named...)
	case r.Public:
		return audience.Everybody()
	}
	return s
}

// Result adds what a call brought back, and returns its trace: in two parts, so that a long content is not copied.
func (c *Context) Result(r Result) (head, rest []byte) {
	c.listen()
	t := trace{step: r.Step}
	c.memory.fresh = nil
	if r.LookUp == "" {
		c.result(r, &t)
	} else if !r.Failed {
		c.records.AddLooked(r.Step, c.meaning(r.Tool).Tool, r.LookUp, c.user.turn, r.Content)
	}
	t.sums = c.memory.fresh
	if head = c.traced(t); !c.memory.exact {
		return head, nil
	}
	return r.told(c)
}

func (c *Context) result(r Result, t *trace) {
	c.author = ""
	m := c.meaning(r.Tool)
	if len(bytes.TrimSpace(r.Content)) == 0 || string(r.Content) == "null" {
		return
	}
	fields, _ := r.Args.Fields() // arguments that cannot be read name nothing
	values := arguments.Of(fields)
	c.composes(m, values, r.Step)
	c.shown(m, values, r.Content)
	c.needs(m, values, &r)
	acted := acts(m)
	if acted {
		more := tellsMore(r.Content, values)
		c.acted(m, values, r, more)
		t.flags, t.thing = keptActed, c.index.Sum(m.Thing)
		c.answered(m, &r, values)
		if !r.Tainted && (!r.Told || r.Local) && !more {
			return
		}
	}
	c.argued = c.argued || !r.Held && (r.Tainted || !r.Ours && !(c.workspace(m) && nods(r.Content)))
	if c.foreignTo(m, values, &r) {
		if !r.Held {
			c.Outside()
		}
		c.beyond[r.Step], t.flags = true, t.flags|keptBeyond
	}
	named := slices.ContainsFunc(values, func(l arguments.Leaf) bool { return l.Quoted && c.index.Said(l.Text) })
	free := c.document(m, fields) || r.Tainted || acted
	c.shaped(&r, free, t)
	c.shares(m, values, &r, free)
	if c.fetched(m, values) {
		c.records.AddPage(r.Step, m.Tool, texts(values), r.Content)
	} else {
		c.records.Add(r.Step, m.Tool, texts(values), r.Content, r.Tainted || acted || c.page(m, values), c.lists[r.Step])
	}
	c.records.Formal(r.Step, formal(m, values))
	in := valueindex.Result{Tool: m.Tool, Step: r.Step, Named: named, External: true, Free: free, Content: r.Content}
	t.index = c.index.Result(in)
}

// shares notes who may read a result: everybody what stands at an address, else those of whom the structure says so that its server
// printed. What somebody wrote as a whole says nothing of that.
func (c *Context) shares(m *toolinfo.Meaning, values []arguments.Leaf, r *Result, free bool) {
	s := audience.Set{Public: m.Reaches ||
		slices.ContainsFunc(values, func(l arguments.Leaf) bool { return l.Quoted && startsURL(l.Text) })}
	c.author = ""
	if !s.Public && !free {
		s, c.author = audience.Read(r.Content, owner(m.Tool)), audience.Author(r.Content)
	}
	if s = r.Readers.narrow(s); s.Public || len(s.People) > 0 {
		c.readers[r.Step] = s
	}
	if f := audience.Fields(r.Content); len(f) > 1 && !s.Public {
		c.fields[r.Step] = f
	}
	switch field := audience.Secret(r.Content); {
	case r.Held || s.Public: // the agent has not read it, or anybody may
	case r.Readers.Secret:
		c.guarded[r.Step] = "the policy calls secret"
	case field != "" && !c.host.owns(m.Tool):
		c.guarded[r.Step] = "has a field for " + field
	}
	if !free && !r.Held && !r.Failed {
		words := arguments.NameWords(c.names[m.Tool])
		c.directory.Learn(audience.Listing{Server: owner(m.Tool), Name: words, Args: values, Content: r.Content, Turn: c.user.turn})
	}
}

// owner is whose places a tool speaks of: its server's.
func owner(tool string) string {
	return strings.TrimSuffix(strings.TrimSuffix(tool, unprefixed(tool)), "__")
}

// Shared is who wrote the latest result and who may read it besides the user, in words; empty: nobody says, and nobody may.
func (c *Context) Shared(step uint64) (author, readers string) {
	s := c.readers[step]
	if !s.Public && len(s.People) == 0 {
		return c.author, ""
	}
	return c.author, strings.TrimPrefix(s.String(), "you, ")
}

// acts reports whether a tool does something of which its answer tells.
func acts(m *toolinfo.Meaning) bool {
	return m.Act != toolinfo.Read && m.Act != toolinfo.Unknown && m.Act != toolinfo.Execute
}

// shaped notes whether a result is a text that somebody wrote as a whole, or lists things.
func (c *Context) shaped(r *Result, free bool, t *trace) {
	if free {
		c.papers[r.Step] = true
		t.flags |= keptPaper
	} else if listing(r.Content) {
		c.lists[r.Step] = true
		t.flags |= keptList
	}
}

// nods reports whether an answer of the host's own tool is a word or two and names nothing:
// "accepted" argues for nothing.
func nods(content []byte) bool {
	return len(content) < 40 && len(tokens(string(content))) <= 2 && len(valueindex.Targets(string(content))) == 0
}

// answered notes that what an act returned may order something: a short sentence may as well as a long one. The act is counted, unless it
// says that nothing came about.
func (c *Context) answered(m *toolinfo.Meaning, r *Result, values []arguments.Leaf) {
	if !r.Failed && !r.Held && !refused(r.Content) {
		c.came(m, values)
	}
	c.argued = c.argued || !r.Held && !r.Ours && !repeats(r.Content, values)
}

// refused reports whether an answer says that nothing came about.
func refused(content []byte) bool {
	text := noError.ReplaceAllString(string(content[:min(len(content), 4<<10)]), "")
	return slices.ContainsFunc(tokens(text), func(t string) bool { return saidFailed[t] })
}

// noError is a field for errors that has none.
var noError = regexp.MustCompile(`"\w*[eE]rrors?"\s*:\s*(?:null|false|""|\[\]|0)`)

var saidDone, saidFailed = list("said_done"), list("said_failed")

// repeats reports whether an answer to an act holds nothing but what the act was called with, that it was done, and numbers: it names
// nothing that could be ordered.
func repeats(content []byte, args []arguments.Leaf) bool {
	known := map[string]bool{}
	for i := range args {
		for _, t := range tokens(args[i].Text) {
			known[t] = true
		}
	}
	return len(content) <= 4<<10 && !slices.ContainsFunc(tokens(string(content)), func(t string) bool {
		return !known[t] && !saidDone[t] && strings.Trim(t, "0123456789") != ""
	})
}

// foreignTo reports whether a result comes from beyond this machine.
func (c *Context) foreignTo(m *toolinfo.Meaning, values []arguments.Leaf, r *Result) bool {
	if r.Tainted || r.Told && !r.Local {
		return true
	}
	if r.Told && !tool.IsShell(m.Tool) {
		return false
	}
	return !c.host.owns(m.Tool) || c.brings(m, values)
}

// acted keeps what an act of our own was done to and what it returned.
func (c *Context) acted(m *toolinfo.Meaning, values []arguments.Leaf, r Result, more bool) {
	c.actedAt = r.Step
	if m.Act != toolinfo.Send { // a text changes no members
		c.directory.Forget(owner(m.Tool), texts(values))
	}
	if m.Thing != "" {
		c.things[m.Thing] = true
	}
	c.makes(m, values, &r, more)
	for _, l := range values { // what was made is ours by the name that it got; what was there before is not, whatever was done to it
		p := m.Resolve(l.Path, l.Text)
		names := p.Role == toolinfo.Selector || p.Role == toolinfo.Unclear
		if m.Act == toolinfo.Create && names && len(l.Text) < 200 && c.index.Of(l.Text).Class == valueindex.Unseen {
			c.keepOwn(l.Text, 2)
			c.keepOwn(aloneMark+l.Text, 2)
		}
	}
}

// makes keeps the ids of what an act of ours made. Only what makes, tells or books something makes any: what is changed, closed or moved
// was there before, whatever else the answer names.
func (c *Context) makes(m *toolinfo.Meaning, values []arguments.Leaf, r *Result, more bool) {
	a := answer{c: c, act: m, args: values, own: c.nameOf(m)}
	v, ok := valueindex.Parse(r.Content)
	if ok {
		eachID(&v, 0, func(id string) {
			if a.given(id) { // what it was done to is ours to go on with
				c.keepOwn(id, 1)
			}
		})
	}
	if m.Act != toolinfo.Create && m.Act != toolinfo.Send && m.Act != toolinfo.Pay && m.Act != toolinfo.Grant {
		return
	}
	body := bytes.TrimSpace(r.Content)
	switch {
	case ok && (body[0] == '{' || body[0] == '[' || bytes.IndexByte(body, '\n') > 0): // a line with a colon is a line
		a.entries(&v, made(r.Args))
	case !more && len(r.Content) < 300:
		a.text(string(r.Content))
	}
	for _, id := range a.ids {
		if c.keepOwn(id, a.shortest); !a.beside {
			c.keepOwn(aloneMark+id, a.shortest)
		}
	}
	if a.of == 1 {
		c.madeBy(r.Content, values, a.ids)
		c.madeHere(r.Content, values, a.ids)
	}
}

// madeBy keeps the new id of what an act of ours made: the one identifier of its answer that stood nowhere before.
func (c *Context) madeBy(content []byte, args []arguments.Leaf, ours []string) {
	var fresh []string
	note := func(v string) {
		known := slices.ContainsFunc(args, func(l arguments.Leaf) bool { return l.Text == v })
		if n := valueindex.Normal(v); n != "" && len(v) <= 64 && !known &&
			c.index.Of(v).Class == valueindex.Unseen && !slices.Contains(fresh, n) {
			fresh = append(fresh, n)
		}
	}
	if v, ok := valueindex.Parse(content); ok {
		eachID(&v, 0, note)
	} else {
		for _, id := range ours {
			note(id)
		}
	}
	isOurs := func(id string) bool { return valueindex.Normal(id) == fresh[0] }
	if len(fresh) == 1 && len(c.newIDs) < maxMade && slices.ContainsFunc(ours, isOurs) {
		unsaid := slices.ContainsFunc(args, func(l arguments.Leaf) bool { return !l.Flag && !c.index.Said(l.Text) })
		c.newIDs[fresh[0]] = !unsaid && !reaches(fresh[0])
	}
}

// reaches reports whether an id is an address by itself: who answers an act would choose where things go.
func reaches(id string) bool {
	return strings.ContainsAny(id, "@./:") || len(valueindex.Targets(id)) > 0
}

// maxMade bounds the ids of what was made.
const maxMade = 1024

// eachID calls do with the identifiers of an answer, by the names of the fields.
func eachID(v *valueindex.Value, depth int, do func(string)) {
	for i := range v.Kids {
		k := &v.Kids[i]
		switch {
		case k.Shape == valueindex.Scalar && returned[arguments.LastWord(k.Key)]:
			do(k.Text)
		case k.Shape != valueindex.Scalar && depth < 2 && !identified(v):
			eachID(k, depth+1, do)
		}
	}
}

// identified reports whether an object says itself what it is called by: what stands in it is something else, which the act did not
// make. One that does not is a wrapping.
func identified(v *valueindex.Value) bool {
	return v.Shape == valueindex.Object && slices.ContainsFunc(v.Kids, func(k valueindex.Value) bool {
		return k.Shape == valueindex.Scalar && k.Text != "" && returned[arguments.LastWord(k.Key)]
	})
}

var returned = list("returned")

// made is how many things a call makes at most: one, or as many as a list of it has entries.
func made(args *tool.Args) int {
	fields, _ := args.Fields() // what cannot be read makes one
	n := 1
	for _, v := range fields {
		if list, ok := v.([]any); ok {
			n = max(n, len(list))
		}
	}
	return n
}

// tellsMore reports whether an answer to an act says more than that it was done: then
// somebody else's words are in it.
func tellsMore(content []byte, args []arguments.Leaf) bool {
	known := map[string]bool{}
	for _, l := range args {
		for _, t := range tokens(l.Text) {
			known[t] = true
		}
	}
	more := false
	valueindex.EachTarget(content, func(p valueindex.Part) bool { // whose address, if the call did not hold it?
		held := slices.ContainsFunc(args, func(l arguments.Leaf) bool { return strings.Contains(l.Text, p.Text) })
		more = !held && p.Kind != valueindex.URL && p.Kind != valueindex.Host
		return !more
	})
	if more {
		return true
	}
	for line := range bytes.FieldsFuncSeq(content, func(r rune) bool { return strings.ContainsRune("\n\r.!?;", r) }) {
		n := 0
		for piece := range stretches(line) {
			for _, t := range tokens(string(piece)) {
				if !known[t] && !strings.ContainsAny(t, "0123456789") {
					n++
				}
			}
			if n > 7 {
				return true
			}
		}
	}
	return false
}

var (
	readers   = list("readers")
	bodies    = list("bodies")
	listings  = list("listings")
	addresses = list("addresses")
)

// document reports whether a result is a text that somebody wrote as a whole: a page, a
// file, another agent's answer. Structure in it is the writer's, not the tool's.
func (c *Context) document(m *toolinfo.Meaning, args map[string]any) bool {
	name := arguments.NameWords(c.names[m.Tool])
	if anyOf(name, listings) {
		return false
	}
	if m.Reaches || anyOf(name, bodies) || tool.IsShell(unprefixed(m.Tool)) { // what a command prints, anybody may have written
		return true
	}
	for k, v := range args {
		text, ok := v.(string)
		if !ok {
			continue
		}
		p := m.Resolve(k, text)
		if p.Kind == toolinfo.URL || startsURL(text) || addressed(k) || p.Kind == toolinfo.Path && readers[m.Verb] {
			return true
		}
	}
	return false
}

// page reports whether what a tool brings is a text that somebody wrote, or a page: then nothing in it is the server's.
func (c *Context) page(m *toolinfo.Meaning, values []arguments.Leaf) bool {
	name := arguments.NameWords(c.names[m.Tool])
	if anyOf(name, listings) {
		return false
	}
	if m.Reaches && len(m.Params) == 0 || anyOf(name, bodies) || tool.IsShell(unprefixed(m.Tool)) {
		return true
	}
	return slices.ContainsFunc(values, func(l arguments.Leaf) bool {
		return l.Quoted && (startsURL(l.Text) || isHost(l.Text)) || m.Resolve(l.Path, l.Text).Kind == toolinfo.Path && readers[m.Verb]
	})
}

// fetched reports whether a result is what an address brought, which anybody may have written.
func (c *Context) fetched(m *toolinfo.Meaning, values []arguments.Leaf) bool {
	return slices.ContainsFunc(values, func(l arguments.Leaf) bool { return l.Quoted && startsURL(l.Text) })
}

// addressed reports whether a parameter holds an address by its name.
func addressed(path string) bool {
	for w := range arguments.Words(path) {
		if addresses[stem(w)] {
			return true
		}
	}
	return false
}
