package question

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
)

// form is how an act is said: its verb, and the kinds of slots that are told, each with the word before it.
type form struct {
	verb  string
	slots []told
}

// told is a kind of slot in a sentence. A value of it stands there alone where it says itself what it is, and else behind the name of its
// parameter: nobody understands "Pay 250 for true".
type told struct {
	kind, before string
	bare         bool // the only value of its kind needs no name: whom a mail goes to
}

// forms are the acts in words.
var forms = map[string]form{
	"read":    {"Look at", kinds("object", "aim", "cargo")},
	"tidy":    {"Make a small change:", kinds("object", "place in", "measure", "cargo saying!")},
	"create":  {"Create", kinds("cargo !", "object", "place in", "aim for", "measure")},
	"change":  {"Change", kinds("object", "place in", "measure", "aim for", "cargo saying!")},
	"send":    {"Send", kinds("aim to!", "object about", "place in")},
	"delete":  {"Delete", kinds("object", "aim", "place in")},
	"execute": {"Run", kinds("order !", "aim at", "object on")},
	"pay":     {"Pay", kinds("measure !", "aim to!", "object for")},
	"grant":   {"Give access", kinds("aim to!", "measure as", "object on", "key by")},
	"unknown": {"Do something I do not understand:", kinds("order !", "aim to", "object on", "measure")},
}

// kinds are the kinds of slots of an act, each as its name, the word before it, and a mark where the only one needs no name.
func kinds(list ...string) []told {
	out := make([]told, len(list))
	for i, of := range list {
		kind, before, _ := strings.Cut(of, " ")
		before, bare := strings.CutSuffix(before, "!")
		out[i] = told{kind, before, bare}
	}
	return out
}

// The bounds of the first line: how many values of a kind it names, and how many of a call that it says no act of.
const (
	maxHead  = 3
	maxPlain = 4
)

// acts are the acts of the cards as names of tools tell them; of those that are not here no name is certain.
var acts = map[string][]toolinfo.Act{
	"read": {toolinfo.Read}, "tidy": {toolinfo.Create, toolinfo.Change}, "create": {toolinfo.Create}, "change": {toolinfo.Change},
	"send": {toolinfo.Send}, "delete": {toolinfo.Delete}, "execute": {toolinfo.Execute}, "pay": {toolinfo.Pay}, "grant": {toolinfo.Grant},
}

// verb is the verb of the tool's own name, where that and what it is done to are certain; empty: the sentence is the plain
// call, since it must not claim more than that says. What judgement takes a call for is the gravest that it could be.
func (c *Card) verb() string {
	for _, act := range acts[c.Act] {
		if verb := toolinfo.Certain(c.Tool, act); verb != "" {
			return verb
		}
	}
	return ""
}

// Would is what would happen, in words, with the values that say to whom, to what and how much; empty where nobody looked
// at what the call does, or nothing of it is missing.
func (c *Card) Would() string {
	f, ok := forms[c.Act]
	if !ok || !c.lacking() {
		return ""
	}
	values := c.inOrder()
	verb, with := c.verb(), ", with "+text.Visible(c.Tool)
	writes := slices.ContainsFunc(values, func(v event.Shown) bool { return v.Slot == "order" && v.Why == decides })
	orders, _ := c.told(values, told{kind: "order"}, nil)
	switch {
	case writes:
		verb = "Write instructions that this machine or the agent follows later:"
	case verb == "":
		return c.plainCall(values)
	case c.Act == "execute" && len(orders) == 0: // then the tool is what is run
		verb, with = f.verb+" "+text.Visible(c.Tool), ""
	case c.Act == "execute" || c.Act == "read":
		verb = f.verb
	default:
		verb = strings.ToUpper(verb[:1]) + verb[1:]
	}
	var seen []string
	var groups [][]called
	for _, t := range f.slots {
		var list []called
		if c.Act == "grant" {
			t.before, t.bare = "", false // who invites somebody gives nothing "to" them
		}
		t.bare = t.bare && !(t.kind == "measure" && verb != "Pay") // who orders five orders no sum
		list, seen = c.told(values, t, seen)
		if len(list) > 0 {
			groups = append(groups, list)
		}
	}
	if len(groups) == 0 && c.Act != "execute" {
		return c.plainCall(values) // a verb alone says nothing
	}
	if note := once(groups); note != "" {
		with += " (" + note + ")"
	}
	return strings.TrimSuffix(phrase(verb, groups), ":") + with
}

// plainCall is a call of which nobody can say for certain what it does: the tool's name, and its values by the names of their
// parameters, those that are asked about first where there are many.
func (c *Card) plainCall(values []event.Shown) string {
	var list []called
	seen := map[string]bool{}
	for _, v := range values {
		if v.Path == "" || v.Value == "" || v.Slot == "cargo" && !short(v, values) || seen[v.Path+"\x00"+v.Value] {
			continue
		}
		seen[v.Path+"\x00"+v.Value] = true
		asked := func(o event.Shown) bool { return o.Lacks && o.Path == v.Path && o.Value == v.Value }
		if i := slices.IndexFunc(values, asked); i >= 0 {
			v = values[i] // one parameter can be slots of several kinds
		}
		if v.Slot == "order" {
			v = c.ordered(v)
		}
		next := c.inLine(v)
		if next.lacks = v.Lacks; !titled(v) {
			next.param = parameter(v.Path)
		}
		next.part = v.Slot == "cargo" && !c.whole(v)
		list = append(list, next)
	}
	if len(list) == 0 {
		list = c.plainArgs()
	}
	many := len(list) > maxPlain
	slices.SortStableFunc(list, func(a, b called) int { // whatever order an agent gives them in
		if many && a.lacks != b.lacks {
			return asked(a) - asked(b)
		}
		return strings.Compare(a.param, b.param)
	})
	out, note := calls+text.Visible(c.Tool), ""
	if len(list) > 0 {
		if note = once([][]called{list}); note != "" {
			note = " (" + note + ")"
		}
		out += ": " + together(list, maxPlain)
	}
	return out + note
}

// parameter is the name of a parameter as the sentence has it: a file is at a path, whichever agent calls that file_path.
func parameter(path string) string {
	if name := last(path); name != "file_path" {
		return name
	}
	return "path"
}

// plainArgs are the short arguments of a call of which no value decides.
func (c *Card) plainArgs() (list []called) {
	for _, l := range strictjson.Flat(c.Args) {
		if l.Text != "" && len(l.Text) <= maxSaying && !strings.Contains(l.Text, "\n") && !strings.HasPrefix(l.Text, "[REDACTED") {
			list = append(list, called{param: parameter(l.Path), text: text.Shown(l.Text)})
		}
	}
	return list
}

// calls begins a sentence that says no more than the call.
const calls = "Call "

// asked puts what is asked about before what is not.
func asked(v called) int {
	if v.lacks {
		return 0
	}
	return 1
}

// takenFor is what a call is taken for that is told by its name alone.
var takenFor = map[string]string{
	"read": "It seems only to read.", "tidy": "It seems to change something small.", "create": "It seems to add something.",
	"change": "It seems to change something.", "send": "It seems to send something to others.",
	"delete":  "I take it that it deletes or ends something.",
	"execute": "I take it that it runs something.", "pay": "I take it that it pays, orders or books.",
	"grant": "I take it that it gives somebody access or a right.", "unknown": "I do not know what it does.",
}

// phrase is an act with its values.
func phrase(verb string, groups [][]called) string {
	out := verb
	for i, list := range groups {
		switch first := list[0]; {
		case first.param == "" && first.before != "":
			out += " " + first.before + " "
		case i == 0 && first.param != "":
			out = strings.TrimSuffix(out, ":") + ": "
		case i == 0:
			out += " "
		default:
			out += ", "
		}
		out += together(list, maxHead)
	}
	return out
}

// called is a value as the first line names it, and what is said of it there.
type called struct {
	before, param, text, note string
	lacks                     bool
	part                      bool // of a longer text
}

// once says what is true of everything that is told, where that is the same of three values or more, and takes it from them.
func once(groups [][]called) string {
	var all []*called
	for _, list := range groups {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	if len(all) < 3 || slices.ContainsFunc(all, func(v *called) bool { return v.note == "" || v.note != all[0].note }) {
		return ""
	}
	note := "all of that " + all[0].note
	for _, v := range all {
		v.note = ""
	}
	return note
}

// together are values one behind the other; what is true of all of them is said once.
func together(list []called, most int) string {
	more := ""
	if n := len(list) - most; n > 0 {
		list, more = list[:most], fmt.Sprintf(", %d more", n)
	}
	same := len(list) > 1 && list[0].note != ""
	for _, v := range list {
		same = same && v.note == list[0].note
	}
	var out []string
	for i, v := range list {
		if v.param != "" && (i == 0 || list[i-1].param != v.param) { // entries of one list have its name once
			v.text = v.param + map[bool]string{false: " = ", true: " holds "}[v.part] + v.text
		}
		if v.note != "" && !same {
			v.text += " (" + v.note + ")"
		}
		out = append(out, v.text)
	}
	if same {
		all := map[bool]string{true: "both ", false: "all "}[len(list) == 2]
		return strings.Join(out, ", ") + " (" + all + list[0].note + ")" + more
	}
	return strings.Join(out, ", ") + more
}

// told are the values of a kind as the first line names them, each once in the whole line.
func (c *Card) told(values []event.Shown, t told, seen []string) (list []called, now []string) {
	params := paramsOf(values, t.kind)
	for _, v := range values {
		if v.Slot != t.kind || v.Path == "" || v.Value == "" {
			continue
		}
		if t.kind == "order" {
			v = c.ordered(v)
		}
		if slices.Contains(seen, v.Value) || t.kind == "cargo" && !short(v, values) {
			continue
		}
		seen = append(seen, v.Value)
		if n := len(list); t.kind == "measure" && n > 0 && unit(v.Value) && !v.Lacks {
			list[n-1].text += " " + v.Value // a sum and its currency
			continue
		}
		next := c.inLine(v)
		next.before = t.before
		if !plainly(&v, t, params) {
			next.param = last(v.Path)
		}
		list = append(list, next)
	}
	return list, seen
}

// paramsOf is how many parameters a kind of slot has values in, but for the currency of a sum.
func paramsOf(values []event.Shown, kind string) int {
	var names []string
	for _, v := range values {
		if v.Slot == kind && v.Path != "" && v.Value != "" && !(kind == "measure" && unit(v.Value)) {
			names = append(names, bare(v.Path))
		}
	}
	slices.Sort(names)
	return len(slices.Compact(names))
}

// plainly reports whether a value is told without the name of its parameter: a record by its title, the only one of a kind that the
// sentence has a word for, and the only one that says itself what it is.
func plainly(v *event.Shown, t told, params int) bool {
	return t.kind == "order" || titled(*v) || params == 1 && (t.bare || speaks(v.Value))
}

// speaks reports whether a value says what it is: an address, a path, the name of a file, words. A word, a number and a switch do not.
func speaks(value string) bool {
	return strings.ContainsAny(value, "@/. ") && strings.ContainsFunc(value, unicode.IsLetter)
}

// last is the last name of a path: the parameter that a value stands in.
func last(path string) string {
	path = bare(path)
	if shown := name(path); shown != path {
		return shown // others put points into it
	}
	return path[strings.LastIndexByte(path, '.')+1:]
}

// short reports whether a text is told in the first line: one that is asked about, and told as nothing else there. Others stand below.
func short(v event.Shown, values []event.Shown) bool {
	return v.Lacks && len(v.Value) <= maxRepeated && !strings.Contains(v.Value, "\n") &&
		!slices.ContainsFunc(values, func(o event.Shown) bool { return o.Slot != v.Slot && o.Value == v.Value })
}

// unit reports whether a value is a short word of letters, such as a currency's.
func unit(s string) bool {
	return len(s) <= 4 && s == strings.ToUpper(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < 'A' || r > 'Z' })
}

// ordered is a command as it stands in the call: what is missing of it may be a part, or a file that it runs.
func (c *Card) ordered(v event.Shown) event.Shown {
	var parts []string
	for _, leaf := range strictjson.Flat(c.Args) {
		if At(v.Path, leaf.Path) {
			parts = append(parts, leaf.Text)
		}
	}
	if len(parts) > 0 && !v.Secret && v.Why != decides {
		v.Value = strings.Join(parts, " ") // a command in pieces
	}
	return v
}

// whole reports whether a value is all of an argument, and not a part of a text.
func (c *Card) whole(v event.Shown) bool {
	return slices.ContainsFunc(strictjson.Flat(c.Args), func(l strictjson.Leaf) bool { return At(v.Path, l.Path) && l.Text == v.Value })
}

// The bounds of a value in the first line, which is for a glance; in the call it stands whole. What has no blank is an address or a path,
// whose end decides, and words are cut between two of them.
const (
	maxCalled = 160
	maxSaying = 80
)

// inLine is a value with its record's own title, and whether it is from the user if that is what is asked about.
func (c *Card) inLine(v event.Shown) called {
	value := v.Value
	if v.Secret {
		value = "a secret"
	}
	short := text.First(value, maxCalled)
	if v.Slot != "order" && strings.ContainsFunc(value, unicode.IsSpace) {
		short = strings.TrimSuffix(text.Words(value, maxSaying), text.Ellipsis)
	}
	out := called{text: text.Shown(short)}
	if v.Secret {
		out.text = value
	}
	if len(short) < len(value) {
		out.text += " … (whole below)"
	}
	if titled(v) {
		out.text = text.Quote(v.Title) + " = " + out.text
	}
	var notes []string
	if v.Lacks && v.Slot != "order" { // what speaks against an order is the reason, which follows
		if note := c.whose(&v); note != "" {
			notes = append(notes, note)
		}
		if v.Look != "" {
			notes = append(notes, "LOOK CLOSELY: "+v.Look)
		}
	}
	out.note = strings.Join(notes, "; ")
	return out
}

// titled reports whether the title of a value's record says what the value stands for: an address in a record is somebody else's
// name than the record's.
func titled(v event.Shown) bool { return v.Title != "" && !strings.ContainsAny(v.Value, "@ ") }
