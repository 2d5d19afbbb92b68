package question

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/trust"
)

// Head is the first paragraph: what would happen, and why it is asked about.
func (c *Card) Head() string {
	would := c.Would()
	switch {
	case confined.Verb(c.Tool) == confined.Keep:
		return text.Seen(sentence(c.Reason)) + " Keep them?"
	case confined.Verb(c.Tool) != "":
		return text.Seen(sentence(c.Reason)) + " Let it?" // the reason is what it wants
	case c.Blocked:
		return fmt.Sprintf("This %s call was blocked: %s. Override?", text.Visible(c.Tool), c.Reason)
	case would == "" && !(c.Tainted && len(c.Sources) > 0):
		return fmt.Sprintf("%s wants to run: %s. Let it?", text.Visible(c.Tool), c.Reason)
	case would != "" && c.carrying() != "":
		would += ". " + text.Seen(c.carrying())
	case would != "" && c.onlyOrder():
		would += ". " + noOrder
	case would != "":
		would += ". " + text.Seen(sentence(c.Reason))
	}
	if would != "" || !c.Tainted || len(c.Sources) == 0 {
		return would + " Let it?"
	}
	parts := make([]string, 0, 2)
	for _, s := range c.Sources[:min(2, len(c.Sources))] {
		parts = append(parts, where(s))
	}
	const asks = "%s wants to run, and others have spoken before: %s. Did you ask for it?"
	return fmt.Sprintf(asks, text.Visible(c.Tool), strings.Join(parts, "; "))
}

// noOrder is said of a call whose values are all in order, where that it is to be done was not found: a person who reads below it that
// they asked for it should not read above it that they did not.
const noOrder = "Its values are yours, or of what you named; that it is to be done I could not read in your words for certain."

// onlyOrder reports whether nothing is missing but the act.
func (c *Card) onlyOrder() bool {
	lacks, named := false, false
	for _, v := range c.Values {
		switch {
		case v.Lacks && (v.Path != "" || v.Slot != "act" || v.Why != notFound):
			return false
		case v.Lacks:
			lacks = true
		case v.Path != "" && !slices.Contains([]string{"followed", "picked", "own", "assented", "said"}, v.Has):
			return false // the agent's own, or what it made of an order: nobody named it
		case v.Path != "":
			named = true
		}
	}
	return lacks && named && len(c.Carries) == 0
}

func where(s trust.Source) string {
	if s.Tool == "" {
		return strings.ReplaceAll(s.Kind, "_", " ")
	}
	return fmt.Sprintf("%s at step %d", text.Visible(s.Tool), s.Step)
}

// sentence is a reason as a sentence of its own.
func sentence(reason string) string {
	if reason == "" {
		return ""
	}
	return strings.ToUpper(reason[:1]) + strings.TrimSuffix(reason[1:], ".") + "."
}

// form is how an act is said: its verb, and the kinds of slots that are told, each with the word before it.
type form struct {
	verb  string
	slots []told
}

type told struct{ kind, before string }

// forms are the acts in words.
var forms = map[string]form{
	"read":    {"Look at", []told{{"object", ""}, {"aim", ""}, {"cargo", ""}}},
	"tidy":    {"Make a small change:", []told{{"object", ""}, {"place", "in"}, {"measure", "to"}, {"cargo", "saying"}}},
	"create":  {"Create", []told{{"cargo", ""}, {"object", ""}, {"place", "in"}, {"aim", "for"}, {"measure", ""}}},
	"change":  {"Change", []told{{"object", ""}, {"place", "in"}, {"measure", "to"}, {"aim", "for"}, {"cargo", "saying"}}},
	"send":    {"Send", []told{{"aim", "to"}, {"object", "about"}, {"place", "in"}}},
	"delete":  {"Delete", []told{{"object", ""}, {"aim", ""}, {"place", "in"}}},
	"execute": {"Run", []told{{"order", ""}, {"aim", "at"}, {"object", "on"}}},
	"pay":     {"Pay", []told{{"measure", ""}, {"aim", "to"}, {"object", "for"}}},
	"grant":   {"Give access", []told{{"aim", "to"}, {"measure", "as"}, {"object", "on"}}},
	"unknown": {"Do something that nobody here understands:", []told{{"order", ""}, {"aim", "to"}, {"object", "on"}, {"measure", ""}}},
}

// nobody are the acts without anybody whom they are for, where they are said differently.
var nobody = map[string]form{
	"send":  {"Send or post", []told{{"object", ""}, {"place", "in"}}},
	"grant": {"Accept, or give access:", []told{{"measure", ""}, {"object", ""}}},
}

// maxHead is how many values of a kind the first line names.
const maxHead = 3

// Would is what would happen, in words, with the values that say to whom, to what and how much; empty where nobody looked
// at what the call does, or nothing of it is missing.
func (c *Card) Would() string {
	f, ok := forms[c.Act]
	if !ok || !c.lacking() {
		return ""
	}
	values := c.inOrder()
	aimed := func(v event.Shown) bool { return v.Slot == "aim" && v.Path != "" }
	if other, ok := nobody[c.Act]; ok && !slices.ContainsFunc(values, aimed) {
		f = other
	}
	parts, with := []string{f.verb}, ", with "+text.Visible(c.Tool)
	if list, _ := c.told(values, "order", nil); c.Act == "execute" && len(list) == 0 { // then the tool is what is run
		parts, with = []string{f.verb, text.Visible(c.Tool)}, ""
	}
	if slices.ContainsFunc(values, func(v event.Shown) bool { return v.Slot == "order" && v.Why == decides }) {
		parts[0] = "Write what this machine or the agent follows later:"
	}
	var seen, befores []string
	var groups [][]called
	for _, t := range f.slots {
		var list []called
		list, seen = c.told(values, t.kind, seen)
		if len(list) > 0 {
			groups, befores = append(groups, list), append(befores, t.before)
		}
	}
	note := once(groups)
	for i, list := range groups {
		parts = append(parts, strings.TrimSpace(befores[i]+" "+together(list)))
	}
	if note != "" {
		with += " (" + note + ")"
	}
	return strings.TrimSuffix(strings.Join(parts, " "), ":") + with
}

// called is a value as the first line names it, and what is said of it there.
type called struct{ text, note string }

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
func together(list []called) string {
	more := ""
	if n := len(list) - maxHead; n > 0 {
		list, more = list[:maxHead], fmt.Sprintf(", %d more", n)
	}
	same := len(list) > 1 && list[0].note != ""
	for _, v := range list {
		same = same && v.note == list[0].note
	}
	var out []string
	for _, v := range list {
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
func (c *Card) told(values []event.Shown, kind string, seen []string) (list []called, now []string) {
	for _, v := range values {
		if v.Slot != kind || v.Path == "" || v.Value == "" {
			continue
		}
		if kind == "order" {
			v = c.ordered(v)
		}
		if slices.Contains(seen, v.Value) || kind == "cargo" && !short(v, values) {
			continue
		}
		seen = append(seen, v.Value)
		if n := len(list); kind == "measure" && n > 0 && unit(v.Value) && !v.Lacks {
			list[n-1].text += " " + v.Value // a sum and its currency
			continue
		}
		list = append(list, inLine(v))
	}
	return list, seen
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

// ordered is a command as it stands in the call: what is missing of it may be a part.
func (c *Card) ordered(v event.Shown) event.Shown {
	for _, leaf := range strictjson.Flat(c.Args) {
		if At(v.Path, leaf.Path) && strings.Contains(leaf.Text, v.Value) {
			v.Value = leaf.Text
			return v
		}
	}
	return v
}

// decides is why a file that is written is an order: it is run or followed later.
const decides = "the file decides what this machine does next"

// inOrder are the values in the order of the call's arguments: the sum before its currency.
func (c *Card) inOrder() []event.Shown {
	place := map[string]int{}
	for i, l := range strictjson.Flat(c.Args) {
		if _, known := place[bare(l.Path)]; !known {
			place[bare(l.Path)] = i
		}
	}
	out := slices.Clone(c.Values)
	sort.SliceStable(out, func(i, k int) bool { return place[bare(out[i].Path)] < place[bare(out[k].Path)] })
	return out
}

// maxCalled is how long a value may be to stand whole in the first line; it stands whole in the call.
const maxCalled = 160

// inLine is a value with its record's own title, and whether it is from the user if that is what is asked about.
func inLine(v event.Shown) called {
	value := v.Value
	if v.Secret {
		value = "a secret"
	}
	short := text.First(value, maxCalled)
	out := called{text: text.Shown(short)}
	if len(short) < len(value) {
		out.text += " … (whole below)"
	}
	if titled(v) {
		out.text = text.Quote(v.Title) + " = " + out.text
	}
	var notes []string
	switch {
	case !v.Lacks || v.Slot == "order": // what speaks against an order is the reason, which follows
	case titled(v):
		notes = append(notes, "not named by you")
	case v.From != "":
		notes = append(notes, "not from you")
	default:
		notes = append(notes, "not found in your words")
	}
	if v.Look != "" {
		notes = append(notes, "LOOK CLOSELY: "+v.Look)
	}
	out.note = strings.Join(notes, "; ")
	return out
}

// titled reports whether the title of a value's record says what the value stands for: an address in a record is somebody else's
// name than the record's.
func titled(v event.Shown) bool { return v.Title != "" && !strings.ContainsAny(v.Value, "@ ") }
