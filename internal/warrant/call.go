package warrant

import (
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// A call says more of what it does than the name of its tool: which of the parameters are
// filled, and what is chosen. update_card with a due date is "set the due date"; a rollout
// with the sub-command restart is "restart it".

// said is what the arguments of one call add to the name of its tool.
type said struct {
	nouns   []vocabulary.Word  // words of the parameters that are filled
	choices []vocabulary.Word  // words that are chosen
	decides vocabulary.Classes // grave acts that are chosen
}

// wordsOf are the words of a parameter's name or of a choice. Names come again and again.
func (c *Context) wordsOf(name string) []vocabulary.Word {
	w, ok := c.spelt[name]
	if !ok {
		name = strings.Clone(name) // it is part of what was called with
		w = c.vocabulary.Name(name)
		if len(c.spelt) < 4096 {
			c.spelt[name] = w
		}
	}
	return w
}

const choiceLength = 24 // of the longest text that may be a choice

// grave are the classes of acts that are asked for by their verb.
const grave = vocabulary.Delete | vocabulary.Pay | vocabulary.Grant

// listen takes from the values of a call what they say of it.
func (j *judging) listen(values []leaves.Leaf) {
	c := j.c
	for i := range values {
		l := &values[i]
		p := j.resolve(l)
		name := l.Path[strings.LastIndexByte(l.Path, '.')+1:]
		if !idNames[leaves.LastWord(name)] && len(name) < 40 {
			j.said.nouns = append(j.said.nouns, c.wordsOf(name)...)
		}
		if !l.Quoted || len(l.Text) > choiceLength || strings.ContainsAny(l.Text, " @/.") {
			continue
		}
		if p.Role != meaning.Control && !p.Chooses && !p.Decides {
			continue
		}
		for _, w := range c.wordsOf(l.Text) {
			j.said.choices = append(j.said.choices, w)
			a := c.vocabulary.ClassesOf(w)
			mild := w.Gram.Has(vocabulary.Done) || a.Any(vocabulary.Read|vocabulary.Create|vocabulary.Change)
			if !mild && (p.Decides || p.Chooses) {
				j.said.decides |= a & grave
			}
		}
	}
}

// asks is how well a clause asks for this call.
func (j *judging) asks(cl *clause) match {
	out := j.c.matches(cl, j.m)
	for i := range j.said.choices {
		w := &j.said.choices[i]
		for _, id := range w.Acts {
			out.chosen = out.chosen || cl.acts.has(id)
		}
		out.chosen = out.chosen || w.Stem != "" && cl.doing.has(w.Stem)
		if len(w.Stem) > 2 && cl.names(*w) {
			out.soft++
		}
	}
	for i := range j.said.nouns {
		if w := &j.said.nouns[i]; len(w.Stem) > 2 && !w.Gram.Has(vocabulary.Function) && cl.names(*w) {
			out.soft++
		}
	}
	return out
}

// texts are what a call asked for.
func texts(values []leaves.Leaf) []string {
	var out []string
	for i := range values {
		out = append(out, values[i].Text)
	}
	return out
}
