package mandate

import (
	"slices"
	"strings"
)

// Where a result is from is told by the call that brought it, never by its text: by the records whose ids the call was
// given, and what those were brought by in turn. What the agent searched for is its own choice, so that names a result
// only where nothing depends on it but what can be undone.

// asked is the call that brought a result.
type asked struct {
	tool   string
	args   []string        // its values in their one spelling
	query  map[string]bool // the words of what it asked for
	linked map[string]bool // the words of the records that it was given the ids of
	parts  []part          // what it asked for, argument by argument
	cut    bool            // it asked for more than that
	formal map[string]bool // what of it says only how many, or is one of what its tool lists; nil: nobody told, and figures do
	called map[string]bool // the words of the tool's name
	name   []string        // the same, one after another
	looked string          // the name that we looked up ourselves; empty: the agent asked
}

// part is one argument of such a call.
type part struct {
	text   string
	query  map[string]bool // the words of it
	linked map[string]bool // the words of the records whose id it is
}

// asks reads the call that brought a result.
func (r *Records) asks(tool string, call []string) *asked {
	out := &asked{tool: tool, name: toolWords(tool), query: map[string]bool{}, linked: map[string]bool{}, called: map[string]bool{}}
	put := func(all, one map[string]bool, w string) {
		switch {
		case all[w], len(all) < maxCallWords:
			all[w], one[w] = true, true
		default:
			out.cut = true
		}
	}
	for _, w := range wordsOf(strings.ReplaceAll(tool, "_", " ")) {
		put(out.called, out.called, stem(w))
	}
	for _, c := range call {
		one := part{plain(c), map[string]bool{}, map[string]bool{}}
		if len(out.args) < maxFields {
			out.args, out.parts = append(out.args, one.text), append(out.parts, one)
		} else {
			out.cut = true
		}
		for _, k := range keysOf(c) {
			put(out.query, one.query, k)
		}
		for _, at := range r.whole[one.text] {
			rec := &r.all[at]
			if rec.identifies(one.text) {
				for w := range rec.called {
					put(out.linked, one.linked, w)
				}
				for w := range r.calls[rec.step].linked {
					put(out.linked, one.linked, w)
				}
			}
		}
	}
	return out
}

// Formal tells which values of the call that brought a step's result say only how many, or are of what its tool lists.
func (r *Records) Formal(step uint64, values []string) {
	if a := r.calls[step]; a != nil {
		a.formal = map[string]bool{}
		for _, v := range values {
			a.formal[plain(v)] = true
		}
	}
}

// Asked reports whether a result was brought by a call of a tool one of whose values is so.
func (r *Records) Asked(step uint64, tool string, is func(value string) bool) bool {
	call := r.calls[step]
	return call != nil && call.tool == tool && slices.ContainsFunc(call.args, is)
}

// identifies reports whether a value is what a record is found by, and not one that it shares with others: no word.
func (rec *Record) identifies(value string) bool {
	return strings.ContainsAny(value, "0123456789@/-_.") || slices.ContainsFunc(rec.fields, func(f field) bool {
		return f.text == value && (f.key == "id" || strings.HasSuffix(f.key, "id") || f.key == "" || f.key == "key")
	})
}

// names reports whether a call is called by a word: by that of a record whose id it was given, by what it searched for, by its tool.
func (a *asked) names(w string, searched, tool bool) bool {
	return tool && slices.ContainsFunc(saidKeys(w), func(k string) bool { return a.called[k] }) ||
		speaks(a.linked, w) || searched && speaks(a.query, w)
}

// speaks reports whether a word is among some words, in whatever ending.
func speaks(words map[string]bool, w string) bool {
	if slices.ContainsFunc(saidKeys(w), func(k string) bool { return words[k] }) {
		return true
	}
	for _, root := range roots(w) {
		if !words[root] {
			continue
		}
		for k := range words {
			if k != "" && k[0] != 0 && similar(k, w) {
				return true
			}
		}
	}
	return false
}

// cover is how many of some words the call of a step is called by.
func (r *Records) cover(step uint64, words []string, searched bool) int {
	n := 0
	for _, w := range words {
		if r.calls[step].names(w, searched, true) {
			n++
		}
	}
	return n
}

// brings reports whether a step is one that some words name: it is called by at least half of them, and no other by more.
func (r *Records) brings(step uint64, words []string, searched bool) bool {
	mine := r.cover(step, words, searched)
	if mine == 0 || 2*mine < len(words) {
		return false
	}
	return mine >= r.mostCovered(words, searched)
}

// follows reports whether a step was brought by the ids of what some words name: not by its tool's name alone.
func (r *Records) follows(step uint64, words []string) bool {
	a := r.calls[step]
	return a != nil && r.brings(step, words, false) && slices.ContainsFunc(words, func(w string) bool {
		return slices.ContainsFunc(saidKeys(w), func(k string) bool { return a.linked[k] })
	})
}

// mostCovered is how many of some words the step has that has most of them.
func (r *Records) mostCovered(words []string, searched bool) int {
	key := strings.Join(words, " ")
	if searched {
		key += "?"
	}
	best, known := r.covers[key]
	if !known {
		for step := range r.calls {
			best = max(best, r.cover(step, words, searched))
		}
		r.covers[key] = best
	}
	return best
}

// login reports whether a value is of the record that tells who is logged in: the one that a tool of such a name brought
// without being asked for anybody.
func (r *Records) login(value string) bool {
	return slices.ContainsFunc(r.whole[plain(value)], func(at int32) bool { return r.tellsLogin(&r.all[at]) })
}

func (r *Records) tellsLogin(rec *Record) bool {
	a := r.calls[rec.step]
	return len(a.args) == 0 && rec.parent < 0 && !rec.wrote &&
		slices.ContainsFunc(wordsOf(strings.ReplaceAll(a.tool, "_", " ")), func(w string) bool { return loginNames[w] })
}

// joined are the paths of an entry of a folder that was listed.
func (a *asked) joined(f *field) []string {
	if f.key != "" && !fileKeys[f.key] || strings.Contains(f.text, "/") || !strings.Contains(f.text, ".") || len(a.args) == 0 {
		return nil
	}
	folder := strings.TrimSuffix(a.args[0], "/")
	if folder == "" || strings.ContainsAny(folder, " \n") {
		return nil
	}
	return []string{folder + "/" + f.text}
}

// Names reports whether a phrase of the owner's names the result of a step: by what the call asked for, or by what
// a record of it is called.
func (r *Records) Names(step uint64, phrase string) bool {
	words := contentWords(phrase)
	if len(words) == 0 || r.calls[step] == nil {
		return false
	}
	strong := strongWords(words)
	if r.cover(step, strong, true) == len(strong) || r.calls[step].opens(words) {
		return true
	}
	for i := r.firsts[step]; i < len(r.all) && r.all[i].step == step; i++ {
		if r.score(i, strong) >= exactly*len(strong) {
			return true
		}
	}
	return r.brings(step, words, true)
}

// opens reports whether a call was given a path that ends with one of some words, which is a path itself: files are said as they lie
// below the folder that is worked in, and opened by their full names. An address is said without how it is reached.
func (a *asked) opens(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		ends := func(arg string) bool { return strings.HasSuffix(strings.ToLower(arg), "/"+w) }
		file := strings.Contains(w, "/") && slices.ContainsFunc(a.args, ends)
		return file || strings.Contains(w, ".") && slices.Contains(a.args, plain(w))
	})
}

// strongWords are those of a phrase that can hardly be said of two things: with signs or digits in them; all of
// them, where none has any.
func strongWords(words []string) []string {
	var out []string
	for _, w := range words {
		if strings.ContainsAny(w, "0123456789@./_-") {
			out = append(out, w)
		}
	}
	if len(out) == 0 {
		return words
	}
	return out
}

// with reports whether a value goes with a record that some words single out: the record has it, or one that it stands
// in, or it was given to the call that brought it.
func (r *Records) with(value string, words []string) bool {
	value, best := plain(value), 0
	found := false
	r.candidates(words, func(at int) {
		s := r.score(at, words)
		if s < exactly*len(words) || s < best {
			return
		}
		if s > best {
			best, found = s, false
		}
		found = found || r.near(at, value)
	})
	return found
}

func (r *Records) near(at int, value string) bool {
	if slices.Contains(r.calls[r.all[at].step].args, value) {
		return true
	}
	for ; at >= 0; at = r.all[at].parent {
		if slices.ContainsFunc(r.all[at].fields, func(f field) bool { return f.key != "" && f.text == value }) {
			return true
		}
	}
	return false
}
