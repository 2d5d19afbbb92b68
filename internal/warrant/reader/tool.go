package reader

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// Tool is what is understood of a tool that the agent has.
type Tool struct {
	Name   string // by its canonical name
	Act    toolinfo.Act
	Params []toolinfo.Param

	acts  []vocabulary.ActID // that its name means
	nouns []vocabulary.Word  // of its name
	verb  string             // the verb of its name that nobody knows

	reaches bool // it tells somebody something, by a verb that says no more
}

// ToolOf is a tool with a name, without what it shares with others, and its meaning.
func ToolOf(name []string, m *toolinfo.Meaning, table *vocabulary.Table) Tool {
	t := Tool{Name: m.Tool, Act: m.Act, Params: m.Params, reaches: m.Act == toolinfo.Send && reaching[m.Verb]}
	list := table.Name(strings.Join(name, "_"))
	verb := verbOf(list)
	for i := range list {
		switch w := &list[i]; {
		case i == verb:
			t.acts = w.Acts
			if len(w.Things) > 0 && len(list) == 1 {
				t.nouns = append(t.nouns, *w)
			}
		case i == 0 && verb < 0 && unknown(w) && len(list) > 1:
			t.verb = w.Text
		case w.Gram.Has(vocabulary.Function) || len(w.Text) < 3 || len(w.Acts) > 0 && len(w.Things) == 0:
		default:
			t.nouns = append(t.nouns, *w)
		}
	}
	if len(t.acts) == 0 && m.Verb != "" {
		for _, w := range table.Name(m.Verb) {
			t.acts = append(t.acts, w.Acts...)
		}
	}
	if verb >= 0 && verb < len(list)-1 {
		t.requests(&list[len(list)-1], table)
	}
	return t
}

// requests makes a request of what a tool's verb says little of: file_absence_request requests an absence.
func (t *Tool) requests(last *vocabulary.Word, table *vocabulary.Table) {
	for _, id := range last.Acts {
		if table.Act(id).Name == "request" && t.general(table) {
			t.acts = append(slices.Clip(t.acts), id)
		}
	}
}

// general reports whether a tool's verb says little by itself.
func (t *Tool) general(table *vocabulary.Table) bool {
	return slices.ContainsFunc(t.acts, func(id vocabulary.ActID) bool { return generic[table.Act(id).Name] })
}

// verbOf is which word of a name says what is done: the first that is no thing, or the first; -1: none.
func verbOf(list []vocabulary.Word) int {
	verb := -1
	for i := range list {
		if len(list[i].Acts) > 0 && (verb < 0 || len(list[verb].Things) > 0 && len(list[i].Things) == 0) {
			verb = i
		}
	}
	return verb
}

// unknown reports whether nobody knows a word that is long enough to be a verb.
func unknown(w *vocabulary.Word) bool { return len(w.Things) == 0 && w.Gram == 0 && len(w.Text) > 3 }

// grave are the classes that a verb must name for an act that cannot be taken back.
func (t *Tool) grave() vocabulary.Classes {
	switch t.Act {
	case toolinfo.Delete:
		return vocabulary.Delete
	case toolinfo.Pay:
		return vocabulary.Pay
	case toolinfo.Execute:
		return vocabulary.Execute
	case toolinfo.Grant:
		return vocabulary.Grant
	}
	return 0
}

// placed is the side on which the tool's own name puts a parameter: what it names before its "to" is acted on, what it names behind
// is where that goes.
func (t *Tool) placed(p *toolinfo.Param) side {
	words := strings.Split(strings.ToLower(t.Name), "_")
	to := slices.Index(words, "to")
	if to < 0 {
		return unplaced
	}
	for w := range arguments.Words(rootOf(p)) {
		at := slices.IndexFunc(words, func(of string) bool { return len(w) > 2 && (of == w || of == w+"s" || of+"s" == w) })
		switch {
		case at < 0:
		case at < to:
			return object
		default:
			return toward
		}
	}
	return unplaced
}
