package reader

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// order is what a clause gave for a tool, while the owner may say more of it.
type order struct {
	tool *Tool
	args map[string][]mandate.Source
}

// detail adds what a plain statement behind an order says of its parameters: "The subject should be 'Minutes'." A statement
// names the parameter, or says that an address is somebody's, for one that takes addresses.
func (o *order) detail(cl *clause) {
	var values []string
	mailed, quoted := "", false
	for _, l := range cl.literals() {
		if l.quote || l.word.Kind != vocabulary.Plain {
			values = append(values, l.text)
		}
		if l.word.Kind == vocabulary.Email || l.quote && strings.Contains(l.text, "@") {
			mailed, quoted = l.text, l.quote && cl.states()
		}
	}
	is := cl.predicate()
	values = append(values, is...)
	if !quoted && !slices.ContainsFunc(is, func(s string) bool { return strings.Contains(s, mailed) }) {
		mailed = "" // who is only spoken of: "kim@… wants the figures"
	}
	for i := range o.tool.Params {
		p := &o.tool.Params[i]
		root := rootOf(p)
		switch {
		case p.Role == toolinfo.Command:
		case mailed != "" && (p.Kind == toolinfo.Email || p.Role == toolinfo.Target):
			o.args[root] = append(o.args[root], mandate.Source{How: mandate.Said, What: []string{mailed}})
		case cl.names(p) && len(values) > 0:
			o.args[root] = append(o.args[root], mandate.Source{How: mandate.Said, What: values})
		}
	}
}

// names reports whether a clause has a word of a parameter's name.
func (c *clause) names(p *toolinfo.Param) bool {
	for i := range c.words {
		if c.spells(i, p) {
			return true
		}
	}
	return false
}

// spells reports whether a word of a clause is one of a parameter's name.
func (c *clause) spells(i int, p *toolinfo.Param) bool {
	for w := range arguments.Words(rootOf(p)) {
		if len(w) > 3 && (c.words[i].Text == w || c.words[i].Stem == w) {
			return true
		}
	}
	return false
}

// states reports whether a clause has a verb of being.
func (c *clause) states() bool {
	return slices.ContainsFunc(c.words, func(w vocabulary.Word) bool { return states.has(c.lang, w.Text) })
}

// predicate is what a statement says behind its verb of being.
func (c *clause) predicate() []string {
	for i := range c.words {
		if states.has(c.lang, c.words[i].Text) && i+1 < len(c.words) {
			return []string{c.from.span(c.words[i+1:])}
		}
	}
	return nil
}
