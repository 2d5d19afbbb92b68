package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// Restate is the scenario's text with the answers of a run in the lines of its preset, and
// which verdicts that changes, one line each. It is for a preset that is meant to judge
// otherwise than before. What a story expects under ByLevels, or under a preset that its
// own policy names, is never touched.
func (s *Scenario) Restate(report *Report) (text []byte, changed []string, err error) {
	r := report.run
	if r.preset == ByLevels || s.fixed != "" || len(report.Outcomes) != len(s.Steps) {
		return nil, nil, errors.New("only the lines of a preset that the story is told under besides " + ByLevels + " can be restated")
	}
	w := &restater{run: r, lines: strings.Split(string(s.data), "\n"), files: map[string]string{}}
	for i := len(s.Steps) - 1; i >= 0; i-- { // lines further up keep their numbers
		st, o := &s.Steps[i], &report.Outcomes[i]
		if was, is := verdictOf(st.Expected(r.preset).Expect), o.Verdict; was != is {
			changed = append(changed, fmt.Sprintf("%s:%d: %s: %s, was %s", s.Name, st.Pos.Line, st.name(), is, was))
		}
		w.step(st, o)
	}
	slices.Reverse(changed)
	w.warnings(report)
	return w.archive(), changed, w.err
}

// restater writes the lines of one preset.
type restater struct {
	run   *run
	lines []string
	files map[string]string // of this preset, by name
	err   error
}

// step takes the preset's line of a step out, and puts one in where expect does not hold.
func (w *restater) step(st *Step, o *Outcome) {
	preset := w.run.preset
	if own, ok := st.Under[preset]; ok {
		w.lines = slices.Delete(w.lines, own.line-1, w.end(own.line))
	}
	if !o.Unasked && w.holds(st, o, st.Expect) {
		return
	}
	at := st.expectLine
	if at == 0 {
		at = st.Pos.Line
	}
	w.lines = slices.Insert(w.lines, w.end(at), "  "+preset+": "+w.answers(st, o))
}

// end is the line after which what begins on a line ends: all that is indented further
// than the keys of a step belongs to it.
func (w *restater) end(line int) int {
	for line < len(w.lines) && strings.HasPrefix(w.lines[line], "   ") {
		line++
	}
	return line
}

// holds reports whether a step's outcome is what a list expects.
func (w *restater) holds(st *Step, o *Outcome, list []Expectation) bool {
	probe := *w.run
	probe.report = &Report{}
	known := expectations()
	for _, want := range list {
		probe.compare(st, want, known[want.Key], known[want.Key].get(o))
	}
	foreseen := o.Error == "" || slices.ContainsFunc(list, func(e Expectation) bool { return e.Key == "error" })
	return len(probe.report.Missed) == 0 && foreseen
}

// answers is a step's line: what the step looks at anyway, and of a call that is stopped
// which rule stops it.
func (w *restater) answers(st *Step, o *Outcome) string {
	if o.Unasked {
		return unasked
	}
	keys := []string{}
	for _, e := range st.Expect {
		keys = append(keys, e.Key)
	}
	if st.Verb == VerbCall && o.Verdict != "allow" {
		keys = append(keys, "kind", "rule")
	}
	if o.Error != "" {
		keys = append(keys, "error")
	}
	var out, seen []string
	for _, key := range keys {
		if slices.Contains(seen, key) {
			continue
		}
		seen = append(seen, key)
		if value, ok := w.value(st, o, key); ok {
			out = append(out, key+": "+value)
		}
	}
	return "{" + strings.Join(out, ", ") + "}"
}

// value is what a key's outcome is written as. Parts of a text that it does not hold are
// left out: which parts matter is for a person to say.
func (w *restater) value(st *Step, o *Outcome, key string) (string, bool) {
	e := expectations()[key]
	got := e.get(o)
	if e.match == exact || e.match == named {
		return written(got), true
	}
	lists := [][]Expectation{st.Expect}
	if e.match == contains {
		lists = append(lists, st.Under[w.run.preset].Expect)
	}
	for _, want := range slices.Concat(lists...) {
		if want.Key == key && w.holds(st, o, []Expectation{want}) {
			return quoted(want.Value.Text), true
		}
	}
	if e.match == contains {
		return "", false
	}
	return w.file(st, key, w.run.unexpand(got.(string)))
}

// file keeps a whole text in a file of the preset's own.
func (w *restater) file(st *Step, key, text string) (string, bool) {
	i := slices.IndexFunc(st.Expect, func(e Expectation) bool { return e.Key == key })
	name := st.Expect[i].Value.Text + "." + w.run.preset
	text = strings.TrimRight(text, "\n") + "\n"
	if before, twice := w.files[name]; twice && before != text {
		w.err = errors.Join(w.err, fmt.Errorf("two steps have different texts for %s: give each a file of its own", name))
	}
	w.files[name] = text
	return name, true
}

func (w *restater) warnings(report *Report) {
	for _, m := range report.Missed {
		if m.Key == "warnings" {
			w.files[warningsOf(w.run.preset)] = strings.TrimRight(m.Got, "\n") + "\n"
		}
	}
}

// archive is the text with the preset's files in it; one that no line names any more goes.
func (w *restater) archive() []byte {
	archive := txtar.Parse([]byte(strings.Join(w.lines, "\n")))
	suffix := "." + w.run.preset
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool {
		_, named := w.files[f.Name]
		return !named && strings.HasSuffix(f.Name, suffix) && f.Name != warningsOf(w.run.preset)
	})
	for _, name := range slices.Sorted(maps.Keys(w.files)) {
		f := txtar.File{Name: name, Data: []byte(w.files[name])}
		if i := slices.IndexFunc(archive.Files, func(old txtar.File) bool { return old.Name == name }); i >= 0 {
			archive.Files[i] = f
		} else {
			archive.Files = append(archive.Files, f)
		}
	}
	return txtar.Format(archive)
}
