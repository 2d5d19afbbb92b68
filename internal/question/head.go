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
	case confined.Verb(c.Tool) != "":
		return text.Seen(sentence(c.Reason)) + " Let it?" // the reason is what it wants
	case c.Blocked:
		return fmt.Sprintf("This %s call was blocked: %s. Override?", text.Visible(c.Tool), c.Reason)
	case would == "" && !(c.Tainted && len(c.Sources) > 0):
		return fmt.Sprintf("%s wants to run: %s. Let it?", text.Visible(c.Tool), c.Reason)
	case would != "":
		would += ". " + text.Seen(sentence(c.Reason))
	}
	if !c.Tainted || len(c.Sources) == 0 {
		return would + " Let it?"
	}
	parts := make([]string, 0, 2)
	for _, s := range c.Sources[:min(2, len(c.Sources))] {
		parts = append(parts, where(s))
	}
	const asks = "This %s call is in a tainted session (%s). Does it match your intent?"
	return strings.TrimSpace(would + " " + fmt.Sprintf(asks, text.Visible(c.Tool), strings.Join(parts, "; ")))
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
	"read":    {"Look at", []told{{"object", ""}, {"cargo", ""}, {"aim", "at"}}},
	"tidy":    {"Change something small of yours:", []told{{"object", ""}, {"place", "in"}, {"measure", "to"}}},
	"create":  {"Make something:", []told{{"object", ""}, {"place", "in"}, {"aim", "for"}, {"measure", ""}}},
	"change":  {"Change", []told{{"object", ""}, {"place", "in"}, {"measure", "to"}, {"aim", "for"}}},
	"send":    {"Send", []told{{"aim", "to"}, {"object", "about"}, {"place", "in"}}},
	"delete":  {"Delete", []told{{"object", ""}, {"aim", ""}, {"place", "in"}}},
	"execute": {"Run", []told{{"order", ""}, {"aim", "at"}, {"object", "on"}}},
	"pay":     {"Pay", []told{{"measure", ""}, {"aim", "to"}, {"object", "for"}}},
	"grant":   {"Let somebody do something:", []told{{"aim", ""}, {"measure", "may"}, {"object", "on"}}},
	"unknown": {"Do something that nobody here understands:", []told{{"order", ""}, {"aim", "to"}, {"object", "on"}, {"measure", ""}}},
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
	parts := []string{f.verb}
	for _, t := range f.slots {
		var list, seen []string
		for _, v := range values {
			if v.Slot == t.kind && v.Path != "" && v.Value != "" && !slices.Contains(seen, v.Value) {
				list, seen = append(list, called(v)), append(seen, v.Value)
			}
		}
		if n := len(list) - maxHead; n > 0 {
			list = append(list[:maxHead], fmt.Sprintf("%d more", n))
		}
		if len(list) > 0 {
			parts = append(parts, strings.TrimSpace(t.before+" "+strings.Join(list, ", ")))
		}
	}
	return strings.TrimSuffix(strings.Join(parts, " "), ":") + ", with " + text.Visible(c.Tool)
}

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

// called is a value with its record's own title, and where it comes from if that is what is asked about.
func called(v event.Shown) string {
	value := v.Value
	if v.Secret {
		value = "a secret"
	}
	short := text.First(value, maxCalled)
	out := text.Shown(short)
	if len(short) < len(value) {
		out += " … (whole below)"
	}
	if v.Title != "" {
		out = text.Quote(v.Title) + " = " + out
	}
	var notes []string
	switch {
	case !v.Lacks || v.Slot == "order": // what speaks against an order is the reason, which follows
	case v.From != "":
		notes = append(notes, "from "+v.From+", not from you")
	default:
		notes = append(notes, v.Why)
	}
	if v.Look != "" {
		notes = append(notes, "LOOK CLOSELY: "+v.Look)
	}
	if len(notes) == 0 {
		return out
	}
	return out + " (" + strings.Join(notes, "; ") + ")"
}
