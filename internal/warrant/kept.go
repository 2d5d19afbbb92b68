package warrant

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// A judgement outlives its process by traces: of each result, and of each message that is not
// the user's own, what judgement needs of it, in hashes under a key. Whoever replays the
// user's words and the traces in their order judges as before, or stricter: of free text it
// is known which words stood in it, and not what was said with them.

// traceVersion is the first byte of a trace. It changes with its form and with how values are
// spelt by the index: a hash of another spelling is found nowhere.
const traceVersion = 1

// MaxTrace bounds the bytes of one trace.
const MaxTrace = 16 << 10

const (
	maxOwnKept = 256 // of one result
	sumSize    = 5   // bytes of a hash
)

// What a trace says of the conversation and of the result.
const (
	keptArgued = 1 << iota
	keptOutside
	keptForeign
	keptLost
	_ // the host has a shell: its tools are told again
	keptPaper
	keptList
	keptActed
	keptIndex   // what the index keeps follows
	keptRefused // the hashes are of values that the owner turned down
	_           // the host had told of its tools
	_           // and which of them are its own
	keptFiles   // what is known of files follows
	keptBeyond  // it came from beyond this machine

	keptAll = keptBeyond<<1 - 1
)

// trace is what is kept of one step.
type trace struct {
	flags uint64
	step  uint64
	thing uint64 // hash of what an act was done to; 0: nothing
	sums  []uint64
	files []keptFile
	index *valueindex.Trace
}

// keptFile is what is kept of a file: the hash of its last name, what it does and where it is
// from.
type keptFile struct{ sum, what uint64 }

// memory is what is kept of earlier steps, by hashes.
type memory struct {
	on           bool // traces are made
	exact        bool // steps give back what they were told
	again        bool // a step of before is being told
	recalled     bool // some were replayed, or may be
	own, refused map[uint64]bool
	fresh        []uint64   // our own values of the result at hand
	files        []keptFile // of the call at hand
}

// Keep makes results and others' messages leave traces under a key, each use of which has
// hashes of its own.
func (c *Context) Keep(key []byte, use string) {
	if len(key) > 0 {
		c.index.Trace(key, use)
		c.memory.on = true
	}
}

// Recall makes a conversation one in which traces are replayed. Nothing may have been said in
// it.
func (c *Context) Recall() {
	if c.memory.on {
		c.index.Recall()
		c.memory.recalled, c.memory.own, c.memory.refused = true, map[uint64]bool{}, map[uint64]bool{}
	}
}

// traced finishes the trace of a step; nil where none are made.
func (c *Context) traced(t trace) []byte {
	if t.index.Over() && c.memory.recalled {
		c.Lost() // what was kept and what is read now can no longer be compared
	}
	if !c.memory.on || c.memory.exact {
		return nil
	}
	foreign := c.foreign && !slices.ContainsFunc(c.unheard, func(m message) bool { return m.by == byOwner }) // the user has spoken since
	for _, f := range []struct {
		on  bool
		bit uint64
	}{
		{c.argued, keptArgued}, {c.outside, keptOutside}, {foreign, keptForeign}, {c.lost, keptLost},
		{t.index != nil, keptIndex}, {len(t.files) > 0, keptFiles},
	} {
		if f.on {
			t.flags |= f.bit
		}
	}
	b := binary.AppendUvarint(binary.AppendUvarint([]byte{traceVersion}, t.flags), t.step)
	b = appendSum(b, t.thing)
	t.sums = t.sums[:min(len(t.sums), maxOwnKept)]
	b = binary.AppendUvarint(b, uint64(len(t.sums)))
	for _, s := range t.sums {
		b = appendSum(b, s)
	}
	if len(t.files) > 0 {
		b = binary.AppendUvarint(b, uint64(len(t.files)))
		for _, f := range t.files {
			b = binary.AppendUvarint(appendSum(b, f.sum), f.what)
		}
	}
	if t.index != nil {
		b = t.index.Append(b, MaxTrace-len(b))
	}
	return b
}

func appendSum(b []byte, sum uint64) []byte {
	var raw [8]byte
	binary.LittleEndian.PutUint64(raw[:], sum)
	return append(b, raw[:sumSize]...)
}

// Replay adds what a trace says of an earlier step, of a tool or, without one, of a message.
// What cannot be read makes the conversation one of which something is lost.
func (c *Context) Replay(toolName string, b []byte) {
	if IsExact(b) {
		c.again(b)
		return
	}
	c.listen()
	t, ok := readTrace(b)
	if !ok || !c.memory.recalled || t.index.Over() || t.flags&keptLost != 0 {
		c.Lost()
		return
	}
	has := func(bit uint64) bool { return t.flags&bit != 0 }
	c.argued, c.outside, c.foreign = c.argued || has(keptArgued), c.outside || has(keptOutside), has(keptForeign)
	if has(keptPaper) {
		c.papers[t.step] = true
	}
	if has(keptList) {
		c.lists[t.step] = true
	}
	if toolName != "" && has(keptActed) {
		c.actedAt = t.step
		c.did(c.meaning(toolName).Tool, nil)
		if m := c.meaning(toolName); m.Thing != "" && c.index.Sum(m.Thing) == t.thing {
			c.things[m.Thing] = true
		}
	}
	set := c.memory.own
	if has(keptRefused) {
		set = c.memory.refused
	}
	for _, s := range t.sums {
		set[s] = true
	}
	c.past.recall(t.files)
	if has(keptBeyond) {
		c.beyond[t.step] = true
	}
	c.index.Restore(toolName, t.step, t.index)
}

func readTrace(b []byte) (t trace, ok bool) {
	if len(b) == 0 || b[0] != traceVersion || len(b) > MaxTrace {
		return t, false
	}
	b = b[1:]
	number := func() uint64 {
		n, size := binary.Uvarint(b)
		if ok = ok && size > 0; ok {
			b = b[size:]
		}
		return n
	}
	sum := func() uint64 {
		var raw [8]byte
		if ok = ok && len(b) >= sumSize; ok {
			copy(raw[:], b[:sumSize])
			b = b[sumSize:]
		}
		return binary.LittleEndian.Uint64(raw[:])
	}
	ok = true
	t.flags, t.step, t.thing = number(), number(), sum()
	n := number()
	if ok = ok && n <= maxOwnKept && t.flags <= keptAll; !ok {
		return t, false
	}
	for range n {
		t.sums = append(t.sums, sum())
	}
	if t.flags&keptFiles != 0 {
		for range min(number(), maxTraced) {
			t.files = append(t.files, keptFile{sum(), number()})
		}
	}
	if !ok || t.flags&keptIndex == 0 {
		return t, ok && len(b) == 0
	}
	var err error
	t.index, err = valueindex.ReadTrace(b)
	return t, err == nil
}

// own are the user's own things, as far as that is known: ids that our own acts gave back, and what those acts were given
// to call a thing by. It says that one may go on with them, never that something may go there.
type own map[string]bool

// keepOwn holds a value that our own acts gave back or were given.
func (c *Context) keepOwn(value string, shortest int) {
	keep(c.own, value, shortest)
	if c.memory.on && c.own[valueindex.Normal(value)] && len(c.memory.fresh) < maxOwnKept {
		c.memory.fresh = append(c.memory.fresh, c.index.Sum(value))
	}
}

// isOwn reports whether a value is one that our own acts gave back or were given.
func (c *Context) isOwn(value string) bool {
	return c.own[valueindex.Normal(value)] || len(c.memory.own) > 0 && c.memory.own[c.index.Sum(value)]
}

// turnedDown reports whether the owner turned a call with this value down.
func (c *Context) turnedDown(value string) bool {
	return len(c.refused) > 0 && c.refused[valueindex.Normal(value)] || len(c.memory.refused) > 0 && c.memory.refused[c.index.Sum(value)]
}

// namedWords is how many words the user may name a value by that was turned down.
const namedWords = 12

// reconsider forgets what was turned down and the user names now themselves.
func (c *Context) reconsider(text string) {
	if len(c.memory.refused) == 0 {
		return
	}
	words := strings.Fields(valueindex.Normal(text))
	for i := range words {
		for n := i + 1; n <= min(len(words), i+namedWords) && len(c.memory.refused) > 0; n++ {
			delete(c.memory.refused, c.index.Sum(strings.Join(words[i:n], " ")))
		}
	}
}

// Sealed adds values of the user's own words of which only hashes under a key were kept: a
// log holds no secrets, and what was in it before a restart was still said.
func (c *Context) Sealed(key []byte, sums []string) { c.index.Sealed(key, sums) }

// aloneMark stands before what an answer named and nothing else. No id holds it.
const aloneMark = "§alone§"

// answer is what an act returned, while it is read for what the act made.
type answer struct {
	c        *Context
	act      *toolinfo.Meaning
	args     []arguments.Leaf
	own      []string // the words of the tool's name
	ids      []string // of what was made
	of       int      // of how many things
	shortest int      // of the shortest id that is kept
	beside   bool     // the answer says something else
}

// given reports whether a text is one that the act was called with.
func (a *answer) given(text string) bool {
	return slices.ContainsFunc(a.args, func(l arguments.Leaf) bool { return l.Text == text })
}

// isOwn reports whether a word is one of the act's own, or says that it was done.
func (a *answer) isOwn(w string) bool {
	return saidDone[w] || ownForms[w] || slices.ContainsFunc(a.own, func(o string) bool { return stem(o) == stem(w) })
}

// takes reports whether the act was called with something of a name.
func (a *answer) takes(w string) bool {
	return slices.ContainsFunc(a.args, func(l arguments.Leaf) bool { return wordIn(l.Path, map[string]bool{w: true}) })
}

// entries reads the answer of a call that makes so many things at most. A longer list is of others, as the letters that one stands beside.
func (a *answer) entries(v *valueindex.Value, made int) {
	a.shortest = 1
	if v.Shape == valueindex.List {
		if len(v.Kids) > made {
			return
		}
		for i := range v.Kids {
			a.entry(&v.Kids[i])
		}
		return
	}
	for i := range v.Kids {
		if k := &v.Kids[i]; made > 1 && k.Shape == valueindex.List && len(k.Kids) > 0 && !identified(v) {
			a.entries(k, made)
			return
		}
	}
	a.entry(v)
}

// entry reads what is said of one thing that was made: the ids under a bare name, or one of the act's own words. Where there is none,
// the one id under another name, if the act makes things that are called otherwise, and is not given such an id itself.
func (a *answer) entry(v *valueindex.Value) {
	a.of++
	own, other := map[string][]string{}, []string{}
	a.each(v, 0, func(key, text string) {
		words := arguments.NameWords(key)
		kind := words[len(words)-1]
		words = words[:len(words)-1]
		switch {
		case strings.Contains(text, aloneMark), a.given(text):
		case a.act.Act == toolinfo.Grant && !startsURL(text): // to let somebody in makes a link, and nothing else
			a.beside = true
		case !slices.ContainsFunc(words, func(w string) bool { return !a.isOwn(w) }):
			own[kind] = appendOnce(own[kind], text)
		case len(words) == 1 && !a.takes(words[0]):
			other = appendOnce(other, text)
		default:
			a.beside = true
		}
	})
	found := false
	for _, list := range own {
		if found = true; len(list) == 1 {
			a.ids = append(a.ids, list[0])
		} else {
			a.beside = true
		}
	}
	if slices.Sort(a.ids); len(other) == 1 && !found && (a.act.Act != toolinfo.Send || laysDown[a.act.Verb]) {
		a.ids = append(a.ids, other[0])
	} else {
		a.beside = a.beside || len(other) > 0
	}
}

// ownForms are words before what a thing that was made is called by, that say no other thing.
var ownForms = list("own_forms")

// laysDown are verbs that tell something by putting it somewhere, where it is a thing of its own.
var laysDown = list("lays_down")

// each calls do with the ids of what an entry is of, and notes what it says beside.
func (a *answer) each(v *valueindex.Value, depth int, do func(key, text string)) {
	for i := range v.Kids {
		switch k := &v.Kids[i]; {
		case k.Shape == valueindex.Scalar && returned[arguments.LastWord(k.Key)] && k.Text != "":
			do(k.Key, k.Text)
		case k.Shape == valueindex.Scalar:
			a.beside = a.beside || !a.nods(k.Text)
		case depth < 2 && !identified(v):
			a.each(k, depth+1, do)
		default:
			a.beside = a.beside || len(k.Kids) > 0
		}
	}
}

// nods reports whether a text says only that something was done, of what the act was called with, and no more than one of it.
func (a *answer) nods(text string) bool {
	return a.given(text) || text == "0" || text == "1" || strings.Trim(text, "0123456789") != "" && repeats([]byte(text), a.args)
}

// text reads an answer in words: it has one id, and says nothing but that the act was done.
func (a *answer) text(content string) {
	a.of, a.shortest = 1, 2
	split := func(r rune) bool { return strings.ContainsRune(" \t\n,;:()[]{}'\"`", r) }
	for _, w := range strings.FieldsFunc(content, split) {
		w = strings.Trim(w, ".!")
		if strings.ContainsAny(w, "0123456789") && !strings.Contains(w, aloneMark) && !a.given(w) {
			a.ids = appendOnce(a.ids, w)
		}
	}
	beside := slices.ContainsFunc(a.c.vocabulary.Words(content), func(w vocabulary.Word) bool { return !a.plain(&w) })
	if beside || len(a.ids) != 1 {
		a.ids = nil
	}
}

// plain reports whether a word of an answer says no more than that the act was done.
func (a *answer) plain(w *vocabulary.Word) bool {
	known := saidDone[w.Text] || idNames[w.Text] || returned[w.Text] || w.Gram.Has(vocabulary.Function) || w.Gram.Has(vocabulary.Done) ||
		strings.ContainsAny(w.Text, "0123456789") || slices.Contains(a.own, w.Text) || slices.Contains(a.own, w.Stem)
	return known || slices.ContainsFunc(a.args, func(l arguments.Leaf) bool { return slices.Contains(tokens(l.Text), w.Text) })
}
