package question

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/trust"
)

// Head is the first paragraph: what would happen, and why it is asked about.
func (c *Card) Head() string {
	would := c.Would()
	switch {
	case confined.Verb(c.Tool) == confined.Keep:
		return text.Seen(sentence(c.Reason)) + " Keep them?"
	case confined.Verb(c.Tool) != "":
		return text.Seen(sentence(c.Reason)) + " Allow it?" // the reason is what it wants
	case c.Blocked:
		return fmt.Sprintf("This %s call was blocked: %s. Override?", text.Visible(c.Tool), c.Reason)
	case would == "" && !(c.Tainted && len(c.Sources) > 0):
		return fmt.Sprintf("%s wants to run: %s. Allow it?", text.Visible(c.Tool), c.Reason)
	case would != "" && c.carrying() != "":
		would += ". " + text.Seen(c.taken()+c.carrying())
	case would != "" && c.onlyOrder():
		would += ". " + c.taken() + noOrder
	case would != "":
		would += ". " + text.Seen(c.taken()+c.because())
	}
	if would != "" || !c.Tainted || len(c.Sources) == 0 {
		return would + " Allow it?"
	}
	parts := make([]string, 0, 2)
	for _, s := range c.Sources[:min(2, len(c.Sources))] {
		parts = append(parts, where(s))
	}
	const asks = "%s wants to run, and the agent has read what others wrote: %s. Did you ask for it?"
	return fmt.Sprintf(asks, text.Visible(c.Tool), strings.Join(parts, "; "))
}

// taken is what a call is taken for, where the first sentence is the plain call and says no act; with a blank behind it.
func (c *Card) taken() string {
	if what := takenFor[c.Act]; what != "" && strings.HasPrefix(c.Would(), calls) {
		return what + " "
	}
	return ""
}

// noOrder is said of a call whose values are all in order, where that it is to be done was not found: a person who reads below it that
// they asked for it should not read above it that they did not.
const noOrder = "Its values are from your words, or from what you named in them. I could not tell for certain that you want it done."

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

// decides is why a file that is written is an order: it is run or followed later.
const decides = "this file is run or followed later"

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
