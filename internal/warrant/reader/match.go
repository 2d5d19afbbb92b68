package reader

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// reads reports whether a clause asks for nothing but a look at something.
func (c *clause) reads(table *vocabulary.Table) bool {
	classes := table.ClassesOf(c.words[c.verb])
	return classes != 0 && classes&^vocabulary.Read == 0
}

// fitting are the tools whose act and object a clause means, those that fit best. Of many that fit equally well none is
// sure.
func fitting(cl *clause, tools []Tool, table *vocabulary.Table) []*Tool {
	var out []*Tool
	best := 0
	for i := range tools {
		if tools[i].Act == toolinfo.Read || tools[i].grave() != 0 && !cl.leading {
			continue
		}
		switch n := fit(cl, &tools[i], table); {
		case n == 0 || n < best:
		case n > best:
			best, out = n, []*Tool{&tools[i]}
		default:
			out = append(out, &tools[i])
		}
	}
	if len(out) > maxTied {
		return nil
	}
	if slices.ContainsFunc(out, func(t *Tool) bool { return t.Act != out[0].Act }) { // "del" shares, or deletes
		out = slices.DeleteFunc(out, func(t *Tool) bool { return t.grave() != 0 })
	}
	return out
}

// verbs counts the tools for each act.
func verbs(tools []Tool) map[vocabulary.ActID]int {
	out := map[vocabulary.ActID]int{}
	for i := range tools {
		for _, id := range tools[i].acts {
			out[id]++
		}
	}
	return out
}

// ownVerbs are the verbs of tools that the vocabulary does not have.
func ownVerbs(tools []Tool) map[string]bool {
	out := map[string]bool{}
	for i := range tools {
		if tools[i].verb != "" {
			out[tools[i].verb] = true
		}
	}
	return out
}

// How well a verb and an object fit.
const (
	verbOnly = 10 // the very verb, of a tool that names no object
	akinVerb = 20 // a verb that stands for it, and the object
	verySame = 30 // the very verb, and the object
)

// fit is how well a clause asks for a tool; 0: it does not.
func fit(cl *clause, t *Tool, table *vocabulary.Table) int {
	things := cl.things(table)
	if cl.wants(table) {
		things = cl.direct(table)
	}
	v := cl.means(t, &things, table)
	hit, missed := 0, 0
	for i := range t.nouns {
		if things.means(&t.nouns[i], table) {
			hit++
		} else {
			missed++
		}
	}
	if v.paid || v.told { // what is sent is the money, and who is told something is who is contacted
		v.near, hit = true, max(hit, 1)
	}
	switch {
	case v.very && hit > 0:
		return verySame + 3*hit - missed
	case v.near && hit > 0:
		return akinVerb + 3*hit - missed
	case v.very && len(t.nouns) == 0, v.alone:
		return verbOnly
	}
	return 0
}

// wants reports whether the verb of a clause is a wish for a thing.
func (c *clause) wants(table *vocabulary.Table) bool {
	return slices.ContainsFunc(c.words[c.verb].Acts, func(id vocabulary.ActID) bool { return wanting[table.Act(id).Name] })
}

// sense is what the verb of a clause is to a tool: its very verb, one that stands for it, one that no other tool has; money that is given,
// somebody who is told something.
type sense struct{ very, near, alone, paid, told bool }

// means is what the verb of a clause is to a tool. For what cannot be taken back it must name the act itself.
func (c *clause) means(t *Tool, things *objects, table *vocabulary.Table) sense {
	verb := &c.words[c.verb]
	v := sense{very: t.verb != "" && t.verb == verb.Text && t.grave() == 0}
	for _, id := range verb.Acts {
		act := table.Act(id)
		money := t.grave() == vocabulary.Pay && c.givesMoney(&act, t, things, table)
		wished := t.grave() == vocabulary.Pay && wanting[act.Name]
		if g := t.grave(); g != 0 && !act.Classes.Any(g) && !money && !wished {
			continue
		}
		v.told = v.told || passing[act.Name] && t.reaches
		for _, own := range t.acts {
			v.add(id, own, t, c, table)
			v.paid = v.paid || money && t.pays(own, table)
		}
	}
	return v
}

// add notes what an act of a clause's verb is to one of a tool's.
func (v *sense) add(id, own vocabulary.ActID, t *Tool, c *clause, table *vocabulary.Table) {
	name, of := table.Act(id).Name, table.Act(own).Name
	v.very = v.very || own == id
	v.alone = v.alone || own == id && !generic[name] && c.from.verbs[id] == 1 && t.grave() == 0
	v.near = v.near || same[name][of] || generic[of] && t.makes(names[name], table)
}

// makes reports whether a tool is named after one of some things: who refunds somebody wants create_refund.
func (t *Tool) makes(things map[string]bool, table *vocabulary.Table) bool {
	return slices.ContainsFunc(t.nouns, func(w vocabulary.Word) bool {
		return slices.ContainsFunc(w.Things, func(id vocabulary.ThingID) bool { return things[table.Thing(id).Name] })
	})
}

// objects are what a clause speaks of.
type objects struct {
	things map[string]bool // by their English names
	stems  map[string]bool
}

// things are what a clause acts on: the things that it names, those that its verb means by itself, and those of the order
// before it where it says "it".
func (c *clause) things(table *vocabulary.Table) objects {
	out := objects{map[string]bool{}, map[string]bool{}}
	pronoun := false
	for i := range c.words[:c.body] {
		w := &c.words[i]
		pronoun = pronoun || w.Gram.Has(vocabulary.Pronoun) && !w.Gram.Has(vocabulary.Function)
		if i != c.verb {
			out.stems[w.Stem] = true
		}
		for _, id := range w.Things {
			out.things[table.Thing(id).Name] = true
		}
		switch {
		case w.Kind == vocabulary.Number && strings.ContainsFunc(c.from.typed.orders[w.Start:w.End], isCurrency):
			out.things["money"] = true
		case w.Kind == vocabulary.Path || w.Kind == vocabulary.Identifier && strings.Contains(w.Text, "."):
			out.things["file"] = true
		case strings.HasPrefix(w.Text, "#"):
			out.things["channel"] = true
		}
	}
	for _, id := range c.words[c.verb].Acts {
		name := table.Act(id).Name
		if worded[name] && c.body > c.verb && c.body < len(c.words) {
			name = "message"
		}
		for thing := range names[name] {
			out.things[thing] = true
		}
	}
	if pronoun && c.before != nil && c.before != c {
		for w := range c.before.own(table) {
			out.things[w] = true
		}
	}
	return out
}

// own are the things that a clause names itself.
func (c *clause) own(table *vocabulary.Table) map[string]bool {
	out := map[string]bool{}
	for i := range c.words[:c.body] {
		for _, id := range c.words[i].Things {
			out[table.Thing(id).Name] = true
		}
	}
	return out
}

// means reports whether what a clause speaks of is what a word of a tool's name means.
func (o *objects) means(noun *vocabulary.Word, table *vocabulary.Table) bool {
	if o.stems[noun.Stem] || o.thing(noun.Text) {
		return true
	}
	for _, id := range noun.Things {
		if o.thing(table.Thing(id).Name) {
			return true
		}
	}
	return false
}

// thing reports whether a clause speaks of a thing, or of one that belongs to it.
func (o *objects) thing(name string) bool {
	if o.things[name] {
		return true
	}
	for other := range akin[name] {
		if o.things[other] {
			return true
		}
	}
	return false
}
