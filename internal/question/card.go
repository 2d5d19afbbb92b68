// Package question is the one text a person reads before they answer: what would happen, the call whole, what is missing and
// where it comes from, what they asked for, and what a yes opens. Terminal, page, chat, refusal and replay show these lines
// and make none of their own. The Index finds questions that are open, and knows who waits for their answers. It is pure.
//
// Invariants:
//   - no line of a call, a title or a name that others chose stands where a line of ours could stand;
//   - what is missing is shown whole, never masked and never folded;
//   - nothing is claimed of what was not said, only of what could not be found.
package question

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/trust"
)

// Line is one paragraph of a question, with its name; the first has none. A paragraph of
// several lines holds one thing in each.
type Line struct{ Name, Text string }

// The names of paragraphs that others look for.
const (
	Call    = "Call"
	Why     = "Why it is asked" // which values nothing of what the user asked for holds, and where they come from
	Asked   = "You said"
	Read    = "Was read"
	Opens   = "If you approve"
	NotRead = "Not read"
	Plan    = "Your task, as it was understood"
)

// Card is what is known of a held call.
type Card struct {
	Tool, Args  string // the arguments as JSON, redacted
	Act         string // what it would do, by its name in policies; empty: nobody looked
	Reason      string // of the rule that holds it
	Blocked     bool   // the auditor blocked it
	Tainted     bool   // what the context holds is why it is asked about
	Values      []event.Shown
	Item        *event.Covering // the item that comes closest; nil: none
	Words       []event.Said
	Sources     []trust.Source
	Carries     []event.Carried // what its texts hold of results
	Opinion     *event.Opinion
	People      int      // how many must approve, where a rule of the policy says so
	Agreed      []string // who approves, where it takes several people
	UserUnheard bool     // what the user says is not known here
	Plan        []string // what the task was understood as, item by item
	Unread      string   // why no model has read it: none, late or failed
	Abandoned   bool     // nobody waits for the answer

	Once, Task, Always, Reads string // what each kind of yes opens; empty: there is no such yes
}

// The bounds of what is shown of words and sources.
const (
	maxWords   = 8
	maxSources = 4
)

// NobodyWaits is said of a question that is abandoned.
const NobodyWaits = "the agent no longer waits for your answer. If you approve, the call runs only if the agent tries it again"

// wordsUnknown stands for the user's words where a door cannot hear them.
const wordsUnknown = "Tidemark does not see your messages here, so it asks more often; tidemark install or tidemark llm changes that"

// unread says that no model has read what the user said, and what that means.
var unread = map[string]string{
	"none":   "no model has read your message, so only its exact words count; tidemark model lists models that could",
	"late":   "no model has read your message, so only its exact words count: the model had not answered in time",
	"failed": "no model has read your message, so only its exact words count: the model could not",
}

// Lines are the question as every surface shows it: what would happen, the call, why it is asked and where that comes from,
// what the user said, what a yes opens and who else must agree. No paragraph says what one before it has said.
func (c *Card) Lines() []Line {
	out := []Line{{"", c.Head()}, {Call, c.call(false)}}
	add := func(name string, items ...string) {
		for i, item := range items {
			items[i] = text.Seen(strings.Join(strings.Fields(item), " ")) // nobody's words begin a line
		}
		if len(items) > 0 {
			out = append(out, Line{name, strings.Join(items, "\n")})
		}
	}
	add(Carries, c.carries()...)
	add(Why, c.why()...)
	add(Asked, c.said()...)
	if i := c.Item; i != nil && i.ID != "" && !c.quotes(i.Quote) {
		add("You asked", Named(i))
	}
	if c.UserUnheard {
		add(Asked, wordsUnknown)
	}
	add(Read, c.holds()...)
	if o := c.Opinion; o != nil {
		add("Auditor", strings.Trim(o.Answer+": "+o.Reason, ": "))
	}
	add(Opens, c.opens()...)
	if way := c.WayOut(); way != "" {
		add("Without a yes", "the agent can "+way)
	}
	if c.People > 1 && len(c.Agreed) == 0 {
		add("It takes", fmt.Sprintf("%d people, each under their own name; nothing runs after the first yes alone", c.People))
	}
	if len(c.Agreed) > 0 {
		add("Approved so far by", strings.Join(c.Agreed, ", ")+". One more person must approve")
	}
	if c.Abandoned {
		add("Nobody waits", NobodyWaits)
	}
	add(Plan, c.Plan...)
	add("The rest", c.rest()...)
	if why := unread[c.Unread]; why != "" {
		add(NotRead, why)
	}
	return out
}

// quotes reports whether words that gave an item are among those that are shown: then they are not told again.
func (c *Card) quotes(words string) bool {
	plain := func(s string) string { // who read the words may have set them apart otherwise
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return -1
		}, s)
	}
	words = plain(words)
	return words != "" && slices.ContainsFunc(c.Words[max(0, len(c.Words)-maxWords):], func(w event.Said) bool {
		return strings.Contains(plain(w.Text), words)
	})
}

// Named is an item in words: its id, who gave it, and the words that did.
func Named(i *event.Covering) string {
	out := "item " + i.ID
	if i.Giver != "" && i.Giver != "words" {
		out += ", by " + i.Giver
	}
	if i.Quote != "" {
		out += ": " + text.Quote(i.Quote)
	}
	return out
}

// opens are the kinds of a yes, a line each.
func (c *Card) opens() []string {
	var out []string
	for _, o := range []struct{ kind, what string }{{"", c.Once}, {"for this task: ", c.Task}, {"always: ", c.Always},
		{"if it only reads: ", c.Reads},
	} {
		if o.what != "" || o.kind == "" {
			out = append(out, o.kind+o.what)
		}
	}
	return out
}

// said are the user's own words, the latest last.
func (c *Card) said() []string {
	words, out := c.Words, []string(nil)
	if n := len(words) - maxWords; n > 0 {
		out, words = append(out, fmt.Sprintf("(%d earlier messages)", n)), words[n:]
	}
	for _, w := range words {
		out = append(out, "“"+c.excerpt(w.Text)+"”")
	}
	return out
}

// holds are what was read of others, but for what was named already.
func (c *Card) holds() []string {
	var out []string
	for i, s := range c.Sources {
		if c.passage(s) {
			s.Excerpt, s.Author = "", "" // what it says stands above
			if s.Detail == "" {
				continue
			}
		}
		if len(out) == maxSources {
			return append(out, "and "+c.others(c.Sources[i:]))
		}
		s, folded := folds(s)
		line := strings.TrimSuffix(Describe(s), " ["+s.Level.String()+"]")
		if folded {
			line += FoldedText
		}
		out = append(out, line)
	}
	return out
}

// others names sources that there is no room for.
func (c *Card) others(list []trust.Source) string {
	var names []string
	for _, s := range list {
		names = append(names, where(s))
	}
	return some(names)
}

// passage reports whether why it is asked quotes a source already. Only our own words say so: what a text says of itself
// takes no other source off the card.
func (c *Card) passage(s trust.Source) bool {
	from := fmt.Sprintf("it stands in the text of %s at step %d:", text.Shown(s.Tool), s.Step)
	return s.Tool != "" && slices.ContainsFunc(c.Values, func(v event.Shown) bool { return v.Lacks && strings.HasPrefix(v.Why, from) })
}

// Describe is a source in one line.
func Describe(s trust.Source) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(s.Kind, "_", " "))
	if s.Tool != "" {
		b.Reset()
		fmt.Fprintf(&b, "%s at step %d", text.Shown(s.Tool), s.Step)
	}
	if s.Detail != "" {
		fmt.Fprintf(&b, " (%s)", text.Shown(s.Detail))
	}
	if s.Excerpt != "" {
		fmt.Fprintf(&b, " %s", text.Quote(s.Excerpt))
	}
	if s.Author != "" {
		fmt.Fprintf(&b, " by %s", text.Shown(s.Author))
	}
	if s.Readers != "" && s.Readers != trust.Everybody {
		fmt.Fprintf(&b, ", which %s may read", text.Shown(s.Readers))
	}
	fmt.Fprintf(&b, " [%s]", s.Level)
	return b.String()
}

// Look is what a value could be taken for; empty: for nothing else.
func Look(value string, words []event.Said) string {
	said := make([]string, len(words))
	for i := range words {
		said[i] = words[i].Text
	}
	var out []string
	if like := text.Alike(value, said); like != "" {
		out = append(out, "it is not "+text.Shown(like)+", which you said, and looks like it")
	} else if text.Mixed(value) {
		out = append(out, "it has letters of two scripts that look alike")
	}
	if wire := spelled(value); wire != "" {
		out = append(out, "the name of the host is really "+text.Shown(wire))
	}
	return strings.Join(out, "; ")
}

// Text is lines in plain text.
func Text(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		switch {
		case l.Name == "":
			b.WriteString(l.Text)
		case l.Name != Call && strings.Contains(l.Text, "\n"):
			fmt.Fprintf(&b, "\n%s:\n  %s", l.Name, strings.ReplaceAll(l.Text, "\n", "\n  "))
		default:
			fmt.Fprintf(&b, "\n%s: %s", l.Name, l.Text)
		}
	}
	return b.String()
}

// lacking reports whether something of the call is missing.
func (c *Card) lacking() bool {
	return slices.ContainsFunc(c.Values, func(v event.Shown) bool { return v.Lacks })
}
