package policy

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"

	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// maxDetail is how many characters of a URL, path or command a person is shown.
const maxDetail = 200

// addTraits works out what is known of the tool before a call.
func (r *row) addTraits() {
	out, f := r.set.scope.output(r.name), r.set.facts
	r.note = f.annotations[r.name]
	r.sink = said(r.note.sink, false)
	r.memory = f.writers.has(r.name)
	for _, t := range f.trustRules {
		if t.tools.has(r.name) && (!t.lowers || t.trust < out.level) {
			r.trust = append(r.trust, t)
		}
	}
	r.caution, r.cautionFixed = f.caution.of(r.name, out.level)
	r.traits = r.finish(out, trust.Internal)
}

// finish derives the rest of the traits from level and sensitivity.
func (r *row) finish(out output, sens trust.Sensitivity) Traits {
	sensitive := said(r.note.sensitive, false) || sens >= trust.Private
	if sensitive {
		sens = max(sens, trust.Private)
	}
	return Traits{
		Level: out.level, Rule: out.rule, Sensitivity: sens, Sensitive: sensitive, Sink: r.sink,
		Source:  said(r.note.source, out.level <= trust.External),
		Caution: r.caution, CautionFixed: r.cautionFixed, Labelled: r.set.facts.labelled.has(r.name),
		Vouched: r.set.facts.vouched.has(r.name), Told: r.set.facts.told.has(r.name),
		Holds: r.set.facts.held.has(r.name),
	}
}

// Traits are what a call is. Arguments that cannot be read make its response
// untrusted; nil ones leave what is known of the tool. The set answers for its
// own agent: ask For first.
func (s *Set) Traits(name string, args *tool.Args) Traits {
	r := s.row(name)
	if args == nil {
		return r.traits
	}
	t, fields := r.expect(name, args)
	if len(fields) > 0 {
		t.Detail = detail(fields)
		if r.memory {
			t.Memory = r.set.memoryFile(fields)
		}
	}
	return t
}

// expect is what the arguments say of the response, and the arguments; none where they cannot be read.
func (r *row) expect(name string, args *tool.Args) (Traits, map[string]any) {
	fields, err := args.Fields()
	if err != nil {
		t := r.finish(output{level: trust.Untrusted, rule: "arguments-unreadable"}, trust.Internal)
		t.Readers = strings.Join(r.readers(func(int) bool { return true }), "\n")
		return t, nil
	}
	if len(r.trust) == 0 {
		return r.traits, fields
	}
	c := r.consider(name, args, fields)
	t := r.finish(c.weighAll())
	t.Readers = strings.Join(c.readers, "\n")
	return t, fields
}

// readers are the rules among those of the tool that say who may read what comes.
func (r *row) readers(fits func(int) bool) []string {
	var out []string
	for i, t := range r.trust {
		if t.binds && fits(i) {
			out = append(out, strings.TrimPrefix(t.rule, "trustRules."))
		}
	}
	return out
}

// Expect is what Traits says of the response of the call just judged, without Detail and
// Memory: it leaves arguments unread that no rule looks at, because it is asked before
// every call. The answer is shared: never change it.
func (s *Set) Expect(in *Input) *Traits {
	r := s.rowOf(in)
	if len(r.trust) == 0 {
		return &r.traits
	}
	if in.Args == nil {
		return &r.traits
	}
	t, _ := r.expect(in.Tool, in.Args)
	return &t
}

// rowOf is the row Judge found for this very question.
func (s *Set) rowOf(in *Input) *row {
	if r := in.row; r != nil && r.set == s && in.judged == in.Tool {
		return r
	}
	return s.row(in.Tool)
}

// Memory is the path of the memory file the call writes, "" if none (BEY-08).
func (s *Set) Memory(in *Input) string {
	if !s.rowOf(in).memory {
		return ""
	}
	return s.Traits(in.Tool, in.Args).Memory
}

// weighAll is the join over everything the call is about: the least trusted, the
// most sensitive. What no rule speaks of has the table's level.
func (c *consideration) weighAll() (output, trust.Sensitivity) {
	subjects := c.subjects()
	if len(subjects) == 0 {
		subjects = []subject{{}}
	}
	out, sens := c.weigh(&subjects[0])
	for i := range subjects[1:] {
		o, s := c.weigh(&subjects[i+1])
		if o.level < out.level {
			out = o
		}
		sens = sens.Join(s)
	}
	c.readers = c.row.readers(func(i int) bool { return c.fitted[i] })
	return out, sens
}

// consideration is one call being held against the trust rules of its tool.
type consideration struct {
	row    *row
	name   string
	fields map[string]any
	holds  []bool // by rule: its action and condition fit
	errs   []bool // by rule: its condition could not be evaluated
	fitted []bool // by rule: it may be about something of the call

	readers []string // the rules that say who may read what comes
}

func (r *row) consider(name string, args *tool.Args, fields map[string]any) *consideration {
	c := &consideration{row: r, name: name, fields: fields, holds: make([]bool, len(r.trust)), errs: make([]bool, len(r.trust))}
	c.fitted = make([]bool, len(r.trust))
	for i, t := range r.trust {
		c.holds[i] = t.actions == nil || slices.Contains(t.actions, tool.Name(text(fields["action"])))
		if t.when == nil || !c.holds[i] {
			continue
		}
		a := r.set.activate()
		a.in, a.name = Input{Args: args}, types.String(tool.Name(name))
		ok, err := t.when.holds(a)
		c.holds[i], c.errs[i] = ok, err != nil
		r.set.release(a)
	}
	return c
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// weigh finds the first rule that speaks of the subject's trust, and the first
// that speaks of its sensitivity. It goes through them from the last, so that each
// is held against what would count without it: a rule that improves on that must
// be sure, one that tightens need not be. A subject that cannot be read is the worst.
func (c *consideration) weigh(s *subject) (output, trust.Sensitivity) {
	out, sens := output{c.row.traits.Level, c.row.traits.Rule}, trust.Internal
	for i := len(c.row.trust) - 1; i >= 0; i-- {
		t := c.row.trust[i]
		unread := c.errs[i] || c.holds[i] && t.kind == s.kind && t.kind != anySubject && !s.ok
		fit := no
		switch {
		case unread:
			fit = maybe
		case c.holds[i]:
			fit = t.fits(s)
		}
		if fit == no {
			continue
		}
		c.fitted[i] = true // whoever else speaks of it: all of them bind
		switch {
		case !t.setsTrust:
		case unread:
			out = output{trust.Untrusted, unreadRule(t, c.errs[i])}
		case fit == sure || t.trust <= out.level:
			out = output{t.trust, t.rule}
		}
		if t.setsSens && (fit == sure || t.sens >= sens) {
			sens = t.sens
		}
	}
	return out, sens
}

func unreadRule(t *trustRule, erred bool) string {
	if erred {
		return t.rule
	}
	return subjectNames[t.kind] + "-unreadable"
}
