package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/policy"
)

// match says how an expected value is compared.
type match uint8

const (
	exact    match = iota // equal; it says what is decided, so only a person changes it
	named                 // equal; the name of a rule, which may be given another
	contains              // the expected text is part of the one found; "" means there is none
	inFile                // equal to a file of the archive
)

// expected is one key of expect: what it looks at and how.
type expected struct {
	get   func(*Outcome) any // string, bool or []string
	match match
	verbs []Verb
}

// expectations are all keys of expect. It is a function so that nothing can change it.
func expectations() map[string]expected {
	begins := []Verb{VerbTurn, VerbSay, VerbSpawn, VerbFork}
	desk := []Verb{VerbAnswer, VerbReview, VerbReset, VerbRevoke}
	asked := []Verb{VerbModel, VerbWants}
	call, state := []Verb{VerbCall}, []Verb{VerbState}
	return map[string]expected{
		"taint": {func(o *Outcome) any { return o.Taint }, exact, slices.Concat(begins, asked, call, state, []Verb{VerbResult, VerbEnd})},
		"error": {func(o *Outcome) any { return o.Error }, exact, slices.Concat(desk, []Verb{VerbResult, VerbEnd})},

		"level":   {func(o *Outcome) any { return o.Level }, exact, slices.Concat(begins, []Verb{VerbResult})},
		"command": {func(o *Outcome) any { return o.Command }, exact, begins},
		"notice":  {func(o *Outcome) any { return o.Notice }, contains, slices.Concat(begins, call, []Verb{VerbModel, VerbAnswer})},

		"hidden":  {func(o *Outcome) any { return o.Hidden }, exact, asked},
		"blocked": {func(o *Outcome) any { return o.Blocked }, exact, asked},

		"verdict":  {func(o *Outcome) any { return o.Verdict }, exact, call},
		"kind":     {func(o *Outcome) any { return o.Kind }, exact, call},
		"rule":     {func(o *Outcome) any { return o.Rule }, named, slices.Concat(begins, asked, call)},
		"reason":   {func(o *Outcome) any { return o.Reason }, contains, slices.Concat(asked, call)},
		"reasons":  {func(o *Outcome) any { return o.Reasons }, named, call},
		"evidence": {func(o *Outcome) any { return o.Evidence }, contains, call},
		"text":     {func(o *Outcome) any { return o.Text }, inFile, call},
		"approved": {func(o *Outcome) any { return o.Approved }, exact, call},
		"prompt":   {func(o *Outcome) any { return o.Prompt }, contains, call},
		"opinion":  {func(o *Outcome) any { return o.Opinion }, exact, call},
		"settled":  {func(o *Outcome) any { return o.Settled }, exact, call},
		"ruling":   {func(o *Outcome) any { return o.Ruling }, exact, call},
		"kept":     {func(o *Outcome) any { return o.Write != "" }, exact, call},

		"footer": {func(o *Outcome) any { return o.Footer }, contains, []Verb{VerbEnd}},

		"tainted":   {func(o *Outcome) any { return o.Tainted }, exact, state},
		"sensitive": {func(o *Outcome) any { return o.Sensitive }, exact, state},
		"open":      {func(o *Outcome) any { return o.Open }, exact, state},
		"questions": {func(o *Outcome) any { return o.Questions }, exact, state},
		"grants":    {func(o *Outcome) any { return o.Grants }, exact, state},
		"writes":    {func(o *Outcome) any { return o.Writes }, exact, state},
		"task":      {func(o *Outcome) any { return o.Task }, exact, state},
		"asked":     {func(o *Outcome) any { return o.Asked }, exact, state},

		"picture": {func(o *Outcome) any { return o.Picture }, inFile, []Verb{VerbGraph}},
	}
}

// expect reads a step's expectations and refuses steps that expect nothing where
// they should.
func (d *decoder) expect(n *configfile.Node) {
	if n != nil {
		d.step.Expect = append(d.step.Expect, d.expectFields(n)...)
	}
	d.checkAnswers(d.step.Expect)
	if d.step.Verb == VerbCall && d.step.Result != nil && verdictOf(d.step.Expect) != policy.Allow.String() {
		d.Errorf(d.step.Pos, "a call that does not run brings no result")
	}
}

// expectFields reads a map of expectations that the step's verb can have.
func (d *decoder) expectFields(n *configfile.Node) []Expectation {
	var out []Expectation
	fields := map[string]func(*configfile.Node){}
	for key, e := range expectations() {
		if slices.Contains(e.verbs, d.step.Verb) {
			fields[key] = func(v *configfile.Node) {
				d.checkExpected(key, e, v)
				out = append(out, Expectation{Key: key, Value: v})
			}
		}
	}
	d.Fields(n, fields)
	return out
}

// checkAnswers refuses what could not fail.
func (d *decoder) checkAnswers(list []Expectation) {
	switch {
	case d.step.Verb == VerbCall && verdictOf(list) == "":
		d.Hintf(d.step.Pos, "add expect: {verdict: allow}", "the call does not say which verdict it expects")
	case d.step.Verb == VerbState && len(list) == 0:
		d.Errorf(d.step.Pos, "state without expect looks at nothing")
	}
}

func verdictOf(list []Expectation) string {
	for _, e := range list {
		if e.Key == "verdict" {
			return e.Value.Text
		}
	}
	return ""
}

// checkExpected refuses values that could never match.
func (d *decoder) checkExpected(key string, e expected, n *configfile.Node) {
	choices := map[string][]string{
		"verdict": {"allow", "confine", "confirm", "deny"}, "kind": {"escalate", "danger", "taint-escalation", "intent-block", ""},
		"opinion": {"consistent", "inconsistent", "unsure", "failed", ""}, "settled": {"allow", "block", "ask", "warn", ""},
		"ruling": {"allow", "deny", "failed", ""},
		"error":  {"sealed", "not-found", "refused"}, "command": {"approve", "deny", "reset-trust", ""},
	}
	switch e.get(&Outcome{}).(type) {
	case bool:
		d.Bool(n)
	case []string:
		d.names(n)
		if n.Kind == configfile.Null {
			d.Errorf(n.Pos, "%s must be a list; write [] for an empty one", key)
		}
	default:
		switch {
		case e.match == inFile:
			d.refer(n)
		case key == "taint" || key == "level":
			d.level(n)
		case choices[key] != nil:
			d.Choice(n, choices[key]...)
		case n.Kind != configfile.String:
			d.Hintf(n.Pos, "quote it", "%s must be text", key)
		}
	}
}

// Mismatch is an expectation that did not hold.
type Mismatch struct {
	Pos  configfile.Pos
	Step string
	Key  string
	Got  string
	Want string

	words  bool                 // a text does not hold the words it should; only a person can say which
	update func(*rewriter) bool // puts a name or a whole text in; nil for everything else
}

// Error is file:line: step: key: got, want.
func (m Mismatch) Error() string {
	place := fmt.Sprintf("%s:%d: %s", m.Pos.File, m.Pos.Line, m.Step)
	if m.Key == "" {
		return place + ": " + m.Got
	}
	if strings.Contains(m.Got+m.Want, "\n") {
		return fmt.Sprintf("%s: %s:\n--- got\n%s\n--- want\n%s", place, m.Key, m.Got, m.Want)
	}
	return fmt.Sprintf("%s: %s: got %s, want %s", place, m.Key, m.Got, m.Want)
}

// check compares a step's outcome with what it expects.
func (r *run) check(st *Step, o *Outcome) {
	known := expectations()
	list := st.Expected(r.preset).Expect
	for _, want := range list {
		e := known[want.Key]
		r.compare(st, want, e, e.get(o))
	}
	if o.Error != "" && !slices.ContainsFunc(list, func(e Expectation) bool { return e.Key == "error" }) {
		r.miss(Mismatch{Pos: st.Pos, Step: st.name(), Key: "error", Got: o.Error, Want: "none"})
	}
}

func (r *run) compare(st *Step, want Expectation, e expected, got any) {
	m := Mismatch{Pos: want.Value.Pos, Step: st.name(), Key: want.Key}
	text, _ := got.(string)
	switch {
	case e.match == inFile:
		r.compareFile(m, want.Value.Text, text)
		return
	case e.match == contains:
		w := want.Value.Text
		if w == "" && text == "" || w != "" && strings.Contains(text, w) {
			return
		}
		m.Got, m.Want, m.words = fmt.Sprintf("%q", text), fmt.Sprintf("text with %q in it", w), true
	default:
		m.Got, m.Want = written(got), wanted(want.Value)
		if m.Got == m.Want {
			return
		}
		if e.match == named {
			m.update = func(w *rewriter) bool { return w.value(want.Value, m.Got) }
		}
	}
	r.miss(m)
}

// compareFile compares with a file of the archive, where codes stand by their names.
func (r *run) compareFile(m Mismatch, name, got string) {
	got, want := r.unexpand(got), strings.TrimRight(string(r.s.files[name].data), "\n")
	if got = strings.TrimRight(got, "\n"); got == want {
		return
	}
	m.Got, m.Want = got, want
	m.update = func(w *rewriter) bool { return w.file(name, got+"\n") }
	r.miss(m)
}

// written is a found value in the file's own notation.
func written(v any) string {
	switch v := v.(type) {
	case bool:
		return fmt.Sprintf("%t", v)
	case []string:
		items := make([]string, len(v))
		for i, s := range v {
			items[i] = quoted(s)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return quoted(v.(string))
}

// wanted is an expected value in the same notation.
func wanted(n *configfile.Node) string {
	switch n.Kind {
	case configfile.Bool:
		return fmt.Sprintf("%t", n.Bool)
	case configfile.List:
		items := make([]string, len(n.List))
		for i, item := range n.List {
			items[i] = quoted(item.Text)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return quoted(n.Text)
}

// quoted leaves plain words as they are.
func quoted(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./", r)
	})
	if plain && s[0] != '-' && s != "true" && s != "false" && s != "null" && (s[0] < '0' || s[0] > '9') {
		return s
	}
	return fmt.Sprintf("%q", s)
}
