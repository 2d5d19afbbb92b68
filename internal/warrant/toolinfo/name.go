package toolinfo

import (
	"slices"
	"strings"
)

// reading is what has been understood of a tool so far.
type reading struct {
	act    Act
	verb   string
	sure   bool     // the verb can hardly be anything else
	thing  string   // what the act is done to, singular
	nouns  []string // all things named, singular
	of     class    // of thing
	all    class    // of all things named
	why    string
	asks   bool     // the name ends like a question: share price, order history
	orders string   // the parameter that takes a question in a language that can do more
	about  class    // of what the description says it is done to
	later  bool     // what is made is not sent yet, says the description
	told   bool     // the act is that of a program, which its description may tell
	could  Act      // the gravest act that words mean which may be things as well
	listed bool     // the name ends with things, several of them: my_letters
	others []string // plain verbs of the name beside the one that told the act
}

func (r *reading) add(why string) {
	if r.why != "" {
		r.why += "; "
	}
	r.why += why
}

func (r *reading) become(a Act, why string) {
	r.act = a
	r.add(why)
}

// readName understands the name alone. What comes before the last separator of a server's
// or group's name (mail__send, files.delete) only helps where the rest says too little.
func readName(name string) reading {
	last, context := segments(name)
	toks := words(last)
	if web, ok := webVerb(toks); ok {
		r := reading{act: web, verb: toks[1], sure: web == Read || web == Delete, why: "`" + toks[1] + "` in its name"}
		r.things(toks, 1)
		return r
	}
	program, toks := programs(toks)
	at := outspoken(toks, findVerb(toks))
	told := at.i < 0 && len(program) > 0 // docker_events: the program alone does not say what it is told
	context = append(context, program...)
	if at.i < 0 && len(context) > 0 {
		toks, context = join(append(slices.Clone(context), toks...)), nil
		at = outspoken(toks, findVerb(toks))
	}
	r := reading{sure: at.sure && !told, told: told}
	if at.i >= 0 {
		r.verb, r.act = toks[at.i], actOf(toks[at.i])
		r.why = "`" + r.verb + "` in its name"
	}
	r.could = could(toks)
	r.others, r.listed = plainVerbs(toks, at.i), endsInThings(toks)
	r.asks = endsAsInfo(toks)
	r.things(toks, at.i)
	if r.thing == "" {
		r.things(append(context, toks...), len(context)+max(at.i, 0))
	}
	return r
}

// endsInThings reports whether a name is nothing but several things, and whose or which: my_letters, open_trades.
// Several of them are what a tool lists: nothing is traded by "trades".
func endsInThings(toks []string) bool {
	n := len(toks) - 1
	if n < 1 {
		return false
	}
	one := singular(toks[n])
	more := func(w string) bool { return !isSkipped.has(w) && !isWhich.has(w) }
	return one != toks[n] && nouns[one] != 0 && !slices.ContainsFunc(toks[:n], more)
}

// segments are the words of the name proper and those of what stands before it.
func segments(name string) (last string, context []string) {
	name = strings.NewReplacer("__", "/", ".", "/", ":", "/").Replace(name)
	name = strings.Trim(name, "/ _-")
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return name, nil
	}
	for _, w := range words(name[:i]) {
		if !isSkipped.has(w) {
			context = append(context, w)
		}
	}
	return name[i+1:], context
}

// things finds what the act is done to: the last word before a relation ("user" in
// add_user_to_group), or before the verb where that comes last.
func (r *reading) things(toks []string, verb int) {
	r.nouns, r.all = r.nouns[:0], 0
	after := slices.Clone(toks[min(verb+1, len(toks)):])
	head, n := r.walk(after)
	if n == 0 && verb > 0 {
		head, _ = r.walk(toks[:verb])
	}
	r.thing, r.of = head, nouns[head]
	if verb > 0 && n > 0 { // notes_create_copy: the context still says what it is about
		for _, w := range toks[:verb] {
			r.note(w)
		}
	}
}

func (r *reading) walk(toks []string) (head string, n int) {
	open := true
	for _, w := range toks {
		if isRelation.has(w) || isJoin.has(w) {
			open = open && n == 0
			continue
		}
		if isSkipped.has(w) {
			continue
		}
		s := r.note(w)
		if n++; open {
			head = s
		}
	}
	return head, n
}

func (r *reading) note(w string) string {
	s := singular(w)
	if !slices.Contains(r.nouns, s) {
		r.nouns = append(r.nouns, s)
	}
	r.all |= nouns[s]
	return s
}
