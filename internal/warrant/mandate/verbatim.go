package mandate

import (
	"slices"
	"strings"
)

// A text that the owner gives word for word binds its parameter: what was read elsewhere does not go along with it, though their
// message names that for something else.

// verbatim are the texts that the words give for this call and leave nobody else to word: by the clauses that name whom or what it is
// done to, or, where none does, by all. nil: there are none, or some clause leaves the wording to the agent.
func (p *pass) verbatim(v *Value, sources []Source) []string {
	if v.Role != Text || !p.item.Worded {
		return nil
	}
	var out []string
	named := slices.ContainsFunc(sources, func(s Source) bool { return p.doneTo(s.For) })
	for i := range sources {
		switch s := &sources[i]; {
		case named && !p.doneTo(s.For):
		case s.How != Said || len(s.Verbatim) == 0:
			return nil
		default:
			out = append(out, s.Verbatim...)
		}
	}
	return out
}

// doneTo reports whether the call is done to one of some values.
func (p *pass) doneTo(values []string) bool {
	return slices.ContainsFunc(p.call.Values, func(v Value) bool {
		return v.Role != Text && slices.ContainsFunc(values, func(s string) bool { return plain(s) == plain(v.Text) })
	})
}

// exactly is why a text is not what was given word for word. A greeting around it is nobody's, but what was read is.
func (p *pass) exactly(v *Value, given []string) string {
	rest := strings.Join(strings.Fields(v.Text), " ")
	found := subset(wordsOf(v.Text), wordsOf(strings.Join(given, " ")))
	for _, g := range given {
		if g = strings.Join(strings.Fields(g), " "); g != "" && strings.Contains(rest, g) {
			rest, found = strings.ReplaceAll(rest, g, " "), true
		}
	}
	if !found {
		return "you gave this text, and this one differs"
	}
	if fills(rest) {
		return whyFilled
	}
	if p.call.Reaches {
		if p.stray, _ = p.world.Stray(rest, nil); p.stray != "" {
			return "you said what this text says, and it holds what was read besides"
		}
	}
	return ""
}
