package warrant

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
)

// deniesOf marks the switches of a call that the owner's words do not hold.
func (j *judging) deniesOf(values []arguments.Leaf, call *mandate.Call) {
	for i := range call.Values {
		if v := &call.Values[i]; v.Flag {
			v.Denied = j.denies(&arguments.Leaf{Path: v.Path, Text: v.Text, Flag: true}, j.offerFor(values), call)
		}
	}
}

// denies reports whether the owner's words do not hold a switch as it is put: one that is on is to be ordered, with the act or as how
// something is to be; one that is off is denied by them, or is off anyway. What they say otherwise speaks against either.
func (j *judging) denies(l *arguments.Leaf, o *offer, call *mandate.Call) bool {
	name := switchWords(l.Path)
	said := slices.Concat(o.parts, o.listed)
	on := slices.ContainsFunc(said, func(p part) bool { return p.turnsOn(name, call) })
	beside := j.deniedBeside(name)
	off := beside || slices.ContainsFunc(o.denied, func(words []string) bool { return mandate.Speaks(words, name) })
	switch l.Text {
	case "true":
		return !on || off
	case "false":
		spoken := slices.ContainsFunc(said, func(p part) bool {
			speaks := func(w string) bool { return mandate.Speaks(p.wordsBeside(call), []string{w}) }
			return !p.Lifts && !p.Denied && slices.ContainsFunc(name, speaks)
		})
		return spoken && !(beside && !on) || !off && !j.offAnyway(l)
	}
	return false
}

// deniedBeside reports whether the messages that count now have what a switch is called by right behind a denial: "not private".
func (j *judging) deniedBeside(name []string) bool {
	return slices.ContainsFunc(j.c.asking, func(text string) bool {
		words := tokens(text)
		for i := 1; i+len(name) <= len(words); i++ {
			if mandate.Negates(words[i-1]) && mandate.Speaks(words[i:i+len(name)], name) {
				return true
			}
		}
		return false
	})
}

// switchWords are what a switch is called by, without what only makes one of it: public of is_public.
func switchWords(path string) []string {
	all := arguments.NameWords(path[strings.LastIndexByte(path, '.')+1:])
	rest := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return switchForms[w] })
	if len(rest) == 0 {
		return all
	}
	return rest
}

// turnsOn reports whether a clause orders what a switch is called by: with the act, as how something is to be, or by a verb of its own.
func (p *part) turnsOn(name []string, call *mandate.Call) bool {
	verb := func(n string) bool { return p.Verb != "" && mandate.Speaks([]string{p.Verb}, []string{n}) } // "… and delete the branch"
	if p.Apart || p.Denied || p.Lifts || !p.Sets && !p.notes(name, call) && !slices.ContainsFunc(name, verb) {
		return false
	}
	return mandate.Speaks(p.ordering(call), name)
}

// ordering are the words of a clause beside the values of a call, without those that say what a thing is about or called: they order
// nothing.
func (p *part) ordering(call *mandate.Call) []string {
	var out []string
	said := quotations.ReplaceAllString(p.Words, ",")
	for _, phrase := range strings.FieldsFunc(said, func(r rune) bool { return strings.ContainsRune(",;:()–—", r) }) {
		described, anew := false, true
		for _, word := range strings.Fields(phrase) {
			named := !anew && title.MatchString(word) // a name, or a part of one
			for _, w := range tokens(word) {
				switch anew = beginsAnew[w]; {
				case describing[w]:
					described = true
				case anew:
					described = false
				case !described && !named && !has(call, w):
					out = append(out, w)
				}
			}
		}
	}
	return out
}

// notes reports whether a clause has no verb and says nothing else than what a switch is called by.
func (p *part) notes(name []string, call *mandate.Call) bool {
	return p.Noted && !slices.ContainsFunc(p.Content, func(w string) bool {
		return !slices.ContainsFunc(name, func(n string) bool { return mandate.Speaks([]string{w}, []string{n}) }) && !has(call, w)
	})
}

// wordsBeside are the words of a clause without those of other values of a call: they are those values'.
func (p *part) wordsBeside(call *mandate.Call) []string {
	return slices.DeleteFunc(tokens(p.Words), func(w string) bool { return has(call, w) })
}

var (
	quotations = regexp.MustCompile(`"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»`)
	title      = regexp.MustCompile(`^\p{Lu}[\p{Ll}\p{M}]+`)
)

// has reports whether a word stands in a value of a call that is neither a switch nor a text.
func has(call *mandate.Call, word string) bool {
	return slices.ContainsFunc(call.Values, func(v mandate.Value) bool {
		return !v.Flag && v.Role != mandate.Text && len(v.Text) <= maxNamed && slices.Contains(tokens(v.Text), word)
	})
}

// offAnyway reports whether a switch is off where nobody says anything: the definition tells so, or all that its name says is that more is
// done where it is on. Of something that stands only what says how it is done is so: that it was off nobody knows.
func (j *judging) offAnyway(l *arguments.Leaf) bool {
	if p := j.resolve(l); p.Listed != nil && p.Listed.Default == "false" {
		return true
	}
	makes := j.m.Act == toolinfo.Create || j.m.Act == toolinfo.Send
	adds := func(w string) bool { return switchForms[w] || switchMore[w] || makes && switchAdds[w] }
	name := switchWords(l.Path)
	ordered := func(w string) bool { // published, of publish_letter
		return slices.ContainsFunc(arguments.NameWords(j.m.Tool), func(n string) bool { return len(n) > 3 && strings.HasPrefix(w, n) })
	}
	if slices.ContainsFunc(name, ordered) {
		return false
	}
	return !slices.ContainsFunc(name, func(w string) bool { return !adds(w) })
}

var (
	switchForms, switchMore, switchAdds = list("switch_forms"), list("switch_more"), list("switch_adds")

	describing, beginsAnew = list("describing"), list("begins_anew")
)
