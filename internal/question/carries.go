package question

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/trust"
)

// What a text of a call holds of results is told part by part: of which result, and who may read that. The parts stand marked in the
// call, where they are whole (AUD-02).

// Carries is the name of the paragraph.
const Carries = "Would carry"

// The bounds of what the paragraph names of a part, and of one result; in the call they stand whole.
const (
	maxPart  = 60
	maxParts = 6
)

// carries are the results that parts of the call are of, a line each.
func (c *Card) carries() []string {
	var out []string
	for _, g := range c.bySource() {
		var parts []string
		for _, p := range g[:min(len(g), maxParts)] {
			parts = append(parts, text.Quote(text.Words(p.Part, maxPart)))
		}
		if n := len(g) - maxParts; n > 0 {
			parts = append(parts, fmt.Sprintf("%d more", n))
		}
		out = append(out, fmt.Sprintf("of %s: %s, in %s", c.result(&g[0]), strings.Join(parts, ", "), name(g[0].Path)))
	}
	return out
}

// bySource are the parts by the result and the parameter that they are of, in the order of the call.
func (c *Card) bySource() [][]event.Carried {
	var out [][]event.Carried
	for _, p := range c.Carries {
		same := func(g []event.Carried) bool { return g[0].Step == p.Step && g[0].Path == p.Path }
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i] = append(out[i], p)
		} else {
			out = append(out, []event.Carried{p})
		}
	}
	return out
}

// result names a result, and who may read it.
func (c *Card) result(p *event.Carried) string {
	out := fmt.Sprintf("%s at step %d", text.Shown(p.Tool), p.Step)
	if i := slices.IndexFunc(c.Sources, func(s trust.Source) bool { return s.Step == p.Step && s.Detail != "" }); i >= 0 {
		out += " (" + text.Shown(c.Sources[i].Detail) + ")"
	}
	switch p.Readers {
	case "":
		return out + ", which as far as I know only you may read"
	case trust.Everybody:
		return out + ", which everybody may read"
	}
	return out + ", which you and " + text.Shown(p.Readers) + " may read"
}

// carrying is the sentence of the first paragraph that says what leaves; empty: nothing that was read does, or it is asked about for
// another reason.
func (c *Card) carrying() string {
	groups := c.bySource()
	if len(groups) == 0 || !c.cargoOnly() {
		return ""
	}
	parts := "a part"
	if n := len(groups[0]); n > 1 {
		parts = fmt.Sprintf("%d parts", n)
	}
	more := ""
	if n := len(groups) - 1; n > 0 {
		more = fmt.Sprintf(", and more of %d other results", n)
		if n == 1 {
			more = ", and more of another result"
		}
	}
	return fmt.Sprintf("It would carry %s of %s%s, and I could not find in your words that it may.", parts, c.result(&groups[0][0]), more)
}

// cargoOnly reports whether nothing is missing but that a text may leave.
func (c *Card) cargoOnly() bool {
	return c.lacking() && !slices.ContainsFunc(c.Values, func(v event.Shown) bool { return v.Lacks && v.Slot != "cargo" })
}

// WayOut is what whoever asks can do without anybody's yes: it names the parameters and the results, and quotes nothing. Empty: there
// is no such way.
func (c *Card) WayOut() string {
	if len(c.Carries) == 0 || !c.cargoOnly() {
		return ""
	}
	var from []string
	for _, g := range c.bySource() {
		from = append(from, fmt.Sprintf("%s at step %d out of %s", text.Shown(g[0].Tool), g[0].Step, name(g[0].Path)))
	}
	return "take what it holds of " + strings.Join(from, ", and of ") +
		", and call again: that call is judged anew, and needs no approval code"
}

// carried reports whether a line of a value holds a part that would be carried.
func (c *Card) carried(path, line string) bool {
	plain := strings.Join(strings.Fields(line), " ")
	return slices.ContainsFunc(c.Carries, func(p event.Carried) bool { return At(p.Path, path) && strings.Contains(plain, p.Part) })
}

// folds is a result that only the user may read with its figures shortened: a question goes to chats and pages of notices. Its words
// stay, since they may be why it is asked; whoever opens the question sees all of it.
func folds(s trust.Source) (trust.Source, bool) {
	if s.Tool == "" || s.Readers != "" {
		return s, false
	}
	was := s.Excerpt
	s.Excerpt = figure.ReplaceAllStringFunc(was, func(v string) string { return v[:1] + "…" })
	return s, s.Excerpt != was
}

// figure is a number of three digits and more, however it is grouped.
var figure = regexp.MustCompile(`[0-9](?:[ .,'/-]?[0-9]){2,}`)

// FoldedText is said of such a result.
const FoldedText = ", with figures folded: tidemark approvals --whole, or the console"

// WasRead are the results with what is folded of them elsewhere, a line each.
func (c *Card) WasRead() []string {
	var out []string
	for _, s := range c.Sources {
		if _, ok := folds(s); ok {
			out = append(out, Describe(s))
		}
	}
	return out
}
