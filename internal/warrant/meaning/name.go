package meaning

import (
	"slices"
	"strings"
)

// reading is what has been understood of a tool so far.
type reading struct {
	act   Act
	verb  string
	sure  bool     // the verb can hardly be anything else
	thing string   // what the act is done to, singular
	nouns []string // all things named, singular
	of    class    // of thing
	all   class    // of all things named
	why   string
	asks  bool // the name ends like a question: share price, order history
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
	at := findVerb(toks)
	if at.i < 0 && len(context) > 0 {
		toks, context = join(append(slices.Clone(context), toks...)), nil
		at = findVerb(toks)
	}
	r := reading{sure: at.sure}
	if at.i >= 0 {
		r.verb, r.act = toks[at.i], verbs[toks[at.i]]
		r.why = "`" + r.verb + "` in its name"
	}
	r.asks = endsAsInfo(toks)
	r.things(toks, at.i)
	if r.thing == "" {
		r.things(append(context, toks...), len(context)+max(at.i, 0))
	}
	return r
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

// place is where the verb of a name stands; -1 for nowhere.
type place struct {
	i    int
	sure bool
}

// findVerb looks first, last, then between: create_note, note_create, notes_create_copy.
func findVerb(toks []string) place {
	var first, plain = -1, -1 // any verb, one that is no noun
	for i, w := range toks {
		if verbs[w] == Unknown {
			continue
		}
		if first < 0 {
			first = i
		}
		if plain < 0 && !isNounToo.has(w) {
			plain = i
		}
	}
	switch {
	case first < 0:
		return place{i: -1}
	case first == 0 && plain == 0:
		return place{graver(toks, 0), true}
	case first == 0 && leadsObject(toks):
		return place{graver(toks, 0), verbs[toks[0]] == Read || isStrong.has(toks[0])}
	case plain >= 0:
		return place{graver(toks, plain), true}
	case first > 0 && first < len(toks)-1 && !endsAsInfo(toks):
		return place{graver(toks, first), false}
	}
	return place{first, false}
}

// leadsObject tells "list files" and "post message" from "book search" and "order status": a
// word that may be a noun is the verb where a thing, and no other verb, follows.
func leadsObject(toks []string) bool {
	if len(toks) < 2 || endsAsInfo(toks) {
		return false
	}
	return !slices.ContainsFunc(toks[1:], func(w string) bool { return verbs[w] != Unknown && !isNounToo.has(w) })
}

func endsAsInfo(toks []string) bool {
	last := len(toks) - 1 // a status is posted, a price is not
	return last > 0 && nouns[singular(toks[last])].any(ofFigures) && (toks[last] != "status" || toks[0] != "post")
}

// graver follows "and" to a graver verb, and hears a strong one at the end. One that may be
// a noun does not hide another before it: get_send_transfer sends.
func graver(toks []string, at int) int {
	act := verbs[toks[at]]
	if !act.mild() {
		return at
	}
	end := len(toks) - 1
	for end > at && isStrong.has(toks[end]) && isNounToo.has(toks[end]) {
		end--
	}
	for i := at + 1; i < len(toks); i++ {
		joined := isJoin.has(toks[i-1]) && verbs[toks[i]] > act
		if joined || i == end && isStrong.has(toks[i]) {
			return graver(toks, i)
		}
	}
	return at
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
