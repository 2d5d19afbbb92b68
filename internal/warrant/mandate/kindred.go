package mandate

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
)

// What was read counts as what the words name only where the call that brought it was for that: by its arguments, by its tool, or by an id
// that such a result had. Whatever else a record holds, it is another source, and anybody who gets something into one could put the name
// and a value of theirs side by side there.

// kinds are what interfaces call the things that a call is about: the words of the parameters that its tool declares, or else of the one
// that is looked at, and of the tool's name. Not those of others that a call has: whoever makes it could add one.
type kinds struct {
	bare  bool            // no parameters are declared
	tool  []string        // the words of its name
	words map[string]bool // true: of its parameters
	item  map[string]bool // what the words that gave the item are found by: they name more than one source of it does
}

var (
	families  = lists.ByFirst("families") // words that interfaces have for one thing
	reachable = lists.Set("reachable")    // what tools are called by that list whom one can write to
	listing   = lists.Set("listing")      // words of tools' names that say that many are looked through
	looking   = lists.Set("looking")      // words of tools' names that say how something is looked up, and not what
)

// kindsOf are what a call of a tool is about.
func kindsOf(tool string, params []string) *kinds {
	k := &kinds{bare: len(params) == 0, tool: toolWords(tool), words: map[string]bool{}}
	for _, p := range params {
		for w := range arguments.Words(root(p)) {
			k.add(w, true)
		}
	}
	for _, w := range k.tool {
		if !looking[w] {
			k.add(w, false)
		}
	}
	return k
}

// at are those of a call as far as one of its parameters is looked at.
func (k *kinds) at(path string) *kinds {
	if !k.bare {
		return k
	}
	out := *k
	out.words = maps.Clone(k.words)
	for w := range arguments.Words(root(path)) {
		out.add(w, true)
	}
	return &out
}

func (k *kinds) add(w string, param bool) {
	if w = kind(w); w != "" {
		k.words[w] = k.words[w] || param
	}
}

// kind is what a word of a name calls things by; empty: nothing.
func kind(w string) string {
	if idNames[w] || functional[w] {
		return ""
	}
	w = singular(w)
	if f := families[w]; f != "" {
		return f
	}
	return w
}

// singular is an English plural as a tool names one of it.
func singular(w string) string {
	for _, ending := range [...]string{"ches", "shes", "xes", "sses"} {
		if strings.HasSuffix(w, ending) {
			return w[:len(w)-2]
		}
	}
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 3 && w[len(w)-1] == 's' && !strings.ContainsRune("sui", rune(w[len(w)-2])):
		return w[:len(w)-1]
	}
	return w
}

func toolWords(tool string) []string { return slices.Collect(arguments.Words(tool)) }

// kindred reports whether the call of a step was for what some words name, or for what a call takes; aim says for somebody to write to, and
// strict that what the agent chose to search for says nothing. Said are values that the owner said; nil: nobody knows.
func (r *Records) kindred(step uint64, k *kinds, words []string, aim, strict bool, said func(value string) bool) bool {
	a := r.calls[step]
	if a == nil {
		return false
	}
	spoken := spelt(words)
	if a.looked != "" || a.listed(k, spoken, aim) || r.returns(a.tool, k, aim) {
		return true
	}
	within := slices.ContainsFunc(words, func(w string) bool { return speaks(a.linked, w) })
	return a.asksFor(func(p *part) bool {
		named := p.only(spoken) || !aim && p.only(func(w string) bool { return k.item[w] }) || said != nil && said(p.text)
		return named || within && p.narrows() ||
			slices.ContainsFunc(words, func(w string) bool { return speaks(p.linked, w) || !strict && speaks(p.query, w) })
	})
}

// narrows reports whether an argument can only choose among what another one names: it is no place, no address and no id.
func (p *part) narrows() bool {
	return len(p.linked) == 0 && (lookOf(p.text) == aWord || !placed.MatchString(p.text))
}

// placed is what one word looks like that may say where something is looked for, or whose it is.
var placed = regexp.MustCompile(`^#?[\pL\pN][\pL\pN_:./@+-]*$`)

// returns reports whether a tool says of itself that it brings many of what another call takes.
func (r *Records) returns(tool string, k *kinds, aim bool) bool {
	return slices.ContainsFunc(r.says[tool], func(w string) bool {
		param, named := k.words[w]
		return named && (param || !aim)
	})
}

// Says tells what tools bring by what is said of them, tool by tool: by the plurals of the first sentence of that.
func (r *Records) Says(tools map[string]string) {
	r.says = map[string][]string{}
	for tool, description := range tools {
		first, _, _ := strings.Cut(description[:min(len(description), maxSaid)], ".")
		first, _, _ = strings.Cut(first, "\n")
		for w := range arguments.Words(first) {
			if one := kind(w); one != "" && singular(w) != w {
				r.says[tool] = append(r.says[tool], one)
			}
		}
	}
}

// maxSaid is how much of a description is read.
const maxSaid = 240

// listed reports whether a call was one of a tool that lists what some words name, or what another call takes.
func (a *asked) listed(k *kinds, spoken func(string) bool, aim bool) bool {
	name := a.name
	if len(name) > 2 && len(k.tool) > 2 && name[0] == k.tool[0] {
		name = name[1:] // what tools of one server all begin with says nothing
	}
	whole := !slices.ContainsFunc(a.args, func(s string) bool { return !digits(s) })
	lists := len(a.args) == 0 || slices.ContainsFunc(a.name, func(w string) bool { return listing[w] })
	return slices.ContainsFunc(name, func(w string) bool {
		param, named := k.words[kind(w)]
		named = named && !looking[w] && (param || !aim) || spoken(w)
		named = named && (lists || singular(w) != w) // one that is opened holds what somebody wrote
		return named || aim && (directories[w] || whole && (rosters[w] || reachable[w]))
	})
}

// asksFor reports whether each thing that a call asked for is of some kind, and there is one: what says only how many, or is of what its
// tool lists, is no matter. What stands beside a word that was said may be anybody's choice: whose folder, from whom.
func (a *asked) asksFor(is func(p *part) bool) bool {
	some := false
	for i := range a.parts {
		p := &a.parts[i]
		switch {
		case p.text == "", a.formal[p.text], a.formal == nil && digits(p.text):
		case !is(p):
			return false
		default:
			some = true
		}
	}
	return some && !a.cut
}

// only reports whether an argument says nothing but what some words name, figures aside.
func (p *part) only(names func(w string) bool) bool {
	some := false
	for k := range p.query {
		if k == "" || k[0] == 0 || !strings.ContainsFunc(k, unicode.IsLetter) { // a beginning, or a figure
			continue
		}
		if !names(k) {
			return false
		}
		some = true
	}
	return some
}

// spelt reports whether a word is one of some, in whatever ending.
func spelt(words []string) func(string) bool {
	return func(k string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(saidKeys(w), k) || similar(w, k) })
	}
}

// Brought tells of results whether they were brought for what the owner's words name, or for what a call takes.
type Brought struct {
	kinds *kinds
	words []string              // those of the owner's that can name something
	said  func(arg string) bool // whether the owner said what a call asked for
	known map[asking]bool
}

// NewBrought is that for a call of a tool with some parameters, by the words that count.
func NewBrought(tool string, params []string, words string, said func(arg string) bool) *Brought {
	return &Brought{kinds: kindsOf(tool, params), words: contentWords(words), said: said, known: map[asking]bool{}}
}

// asking is of which step it is asked and for which parameter, whether for somebody to write to, and how strictly.
type asking struct {
	step        uint64
	param       string
	aim, strict bool
}

// Step reports it of the result of a step.
func (b *Brought) Step(r *Records, step uint64, param string, aim, strict bool) bool {
	what := asking{step, param, aim, strict}
	is, known := b.known[what]
	if !known {
		is = r.takes(len(b.words)) && b.step(r, step, param, aim, strict)
		b.known[what] = is
	}
	return is
}

func (b *Brought) step(r *Records, step uint64, param string, aim, strict bool) bool {
	return r.kindred(step, b.kinds.at(param), b.words, aim, strict, b.said)
}

// Any reports it of any result that has a value as a field.
func (b *Brought) Any(r *Records, value, param string, aim, strict bool) bool {
	return slices.ContainsFunc(r.whole[plain(value)], func(at int32) bool { return b.Step(r, r.all[at].step, param, aim, strict) })
}

// kinds are what the call is about that an item is held against.
func (p *pass) kinds() *kinds {
	if p.about == nil {
		k := *p.call.kinds()
		k.item = map[string]bool{}
		for _, w := range p.index.content {
			for _, key := range keysOf(w) {
				k.item[key] = true
			}
		}
		p.about = &k
	}
	return p.about
}

// kinds are what a call is about.
func (c *Call) kinds() *kinds {
	if c.about == nil {
		c.about = kindsOf(c.Tool, c.Takes)
	}
	return c.about
}
