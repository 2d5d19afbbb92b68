package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/glob"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/tool"
)

// past is what a rule asks of the session so far: company rules are about order and about once, and an expression over one
// call cannot say either. nil asks nothing.
type past struct {
	once   *value   // it holds where a call that the rule is about ran before; nil: whether one did or not
	after  []string // it holds unless each of these tools has answered, without an error
	agreed []string // it holds unless a person let each of these through
	per    *value   // of after: with the same value; nil: with any
}

// value is what two calls must have in common: nothing but the session, a slot, or an argument by its path.
type value struct {
	slot SlotKind // the zero one is none: an act is no value
	path []string
}

// slotName is the slot as the file has it; empty where it is none.
func (v *value) slotName() string {
	if v.slot == warrant.Act {
		return ""
	}
	return v.slot.String()
}

// fullNames reads tools that must have been called. A pattern would be met by the least of those it fits.
func (r *reader) fullNames(n *configfile.Node) []string {
	var out []string
	for _, t := range r.Texts(n) {
		name := tool.Name(t.Text)
		if name == "" || glob.Has(name) {
			r.Errorf(t.Pos, "%s takes tools by their full names: a pattern would be met by the least of them", t.Path)
		}
		r.named[name] = true
		out = append(out, name)
	}
	if len(out) == 0 {
		r.Errorf(n.Pos, "%s names no tool", n.Path)
	}
	return out
}

// looksBack gives a rule what it asks of the session so far.
func (r *reader) looksBack(item *configfile.Node, u *rule, p *past) {
	switch per := item.Get("per"); {
	case per != nil && len(p.after) == 0:
		r.Errorf(per.Pos, "%s is of onlyAfter: which value the two calls have in common", per.Path)
	case p.once == nil && len(p.after)+len(p.agreed) == 0:
		return
	case p.once != nil && len(p.after)+len(p.agreed) > 0:
		r.Errorf(item.Pos, "%s has once and onlyAfter: write two rules", item.Path)
	case u.reason.Effect == Allow:
		r.Errorf(item.Pos, "%s says when a call must not run: its effect is deny or escalate", item.Path)
	}
	u.past = p
}

// readPeople reads how many people a question takes.
func (r *reader) readPeople(n *configfile.Node, u *rule) {
	if v, ok := r.Int(n, 2, 5); ok {
		u.reason.People = int(v)
	}
}

// value reads the name of a slot, args.PATH, or one of some further words, which stand for the session as a whole.
func (r *reader) value(n *configfile.Node, session ...string) *value {
	text, ok := r.Text(n)
	if !ok {
		return &value{}
	}
	if path, isArg := strings.CutPrefix(text, "args."); isArg && path != "" {
		return &value{path: strings.Split(path, ".")}
	}
	if slices.Contains(session, text) {
		return &value{}
	}
	kind, known := warrant.KindNamed(text)
	if !known || kind == warrant.Act {
		words := strings.Join(append(session, "aim", "object or args.NAME"), ", ")
		r.Hintf(n.Pos, "write "+words, "%s: %q is no slot and no argument", n.Path, short(text))
	}
	return &value{slot: kind}
}

// of are the values of a call; one empty text where it has none, so that calls without it are alike.
func (v *value) of(a *activation) []string {
	var out []string
	switch {
	case v.slot != warrant.Act:
		out = a.values(v.slot)
	case v.path != nil && a.in.Args != nil:
		fields, err := a.in.Args.Fields()
		if err == nil {
			out = texts(nil, under(fields, v.path))
		}
	}
	if len(out) == 0 {
		return []string{""}
	}
	return out
}

// under is what stands at a path; names are compared as hosts spell them.
func under(v any, path []string) any {
	for _, name := range path {
		fields, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		if v = nil; fields[name] != nil {
			v = fields[name]
			continue
		}
		for _, key := range sortedKeys(fields) {
			if sameField(key, strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))) {
				v = fields[key]
				break
			}
		}
	}
	return v
}

// mark is how a session remembers that a call ran which a rule is about, with a value. The value is hashed: it is compared, never shown.
// Spelling does not make it another one.
func mark(rule, value string) string {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, norm.NFKC.String(value))
	sum := sha256.Sum256([]byte(rule + "\x00" + plain))
	return rule + "#" + hex.EncodeToString(sum[:8])
}

// markOf is mark for one side of onlyAfter, where a value is what it is: another spelling may be another thing.
func markOf(rule, value string) string {
	sum := sha256.Sum256([]byte(rule + "\x00exactly\x00" + strings.TrimSpace(value)))
	return rule + "=" + hex.EncodeToString(sum[:8])
}

// holds reports whether the session so far makes the rule hold.
func (p *past) holds(a *activation, rule string) bool {
	h := a.in.History
	if p.once != nil {
		return slices.ContainsFunc(p.once.of(a), func(v string) bool { return h != nil && h.Marked(mark(rule, v)) > 0 })
	}
	for _, name := range p.after {
		if h == nil || h.Done(name) == 0 {
			return true
		}
	}
	for _, name := range p.agreed {
		if h == nil || h.Approved(name) == 0 {
			return true
		}
	}
	return p.per != nil && slices.ContainsFunc(p.per.of(a), func(v string) bool { return v == "" || h.Marked(markOf(rule, v)) == 0 })
}

// text says what the rule waits for, so that the agent knows what to do first.
func (p *past) text(name string) string {
	if p.once != nil {
		what := "such a call"
		switch {
		case p.once.slot != warrant.Act:
			what = "one with the same " + p.once.slot.String()
		case p.once.path != nil:
			what = "one with the same " + strings.Join(p.once.path, ".")
		}
		return "the rule " + name + " lets it be done once, and " + what + " has run in this session"
	}
	var first []string
	if len(p.after) > 0 {
		first = append(first, strings.Join(p.after, ", ")+" has been done in this session")
	}
	if len(p.agreed) > 0 {
		first = append(first, "a person has approved "+strings.Join(p.agreed, ", ")+" in this session")
	}
	out := "the rule " + name + " lets it run only after " + strings.Join(first, " and ")
	if p.per != nil {
		out += ", with the same " + strings.Join(append([]string{p.per.slotName()}, p.per.path...), "")
	}
	return out
}

// Marks are what a session must remember of a call if it runs: History.Marked counts them, and those of Bounds are the rules that say who
// may read what it brings. It is asked about the call that was judged last.
func (s *Set) Marks(in *Input) (marks, bounds []string) {
	if len(s.agents) > 0 {
		s = s.For(in.Agent)
	}
	if !s.remembers {
		return nil, nil
	}
	r := s.rowOf(in)
	a := s.activate()
	defer s.release(a)
	a.in, a.set, a.name = *in, s, r.boxed
	for i := range r.conds {
		k := &r.conds[i]
		if k.past == nil || k.past.once == nil {
			continue
		}
		if holds, err := k.when.holds(a); holds || err != nil {
			for _, v := range k.past.once.of(a) {
				marks = append(marks, mark(k.Rule, v))
			}
		}
	}
	name := tool.Name(in.Tool)
	for _, l := range s.scope.layers {
		for _, u := range l.rules {
			if u.past != nil && u.past.per != nil && slices.Contains(u.past.after, name) {
				for _, v := range u.past.per.of(a) {
					marks = append(marks, markOf(u.reason.Rule, v))
				}
			}
		}
	}
	return marks, boundsOf(s.Expect(in).Readers)
}

// slots reports whether it asks for a slot of the deed.
func (p *past) slots() bool {
	return p != nil && (p.once != nil && p.once.slot != warrant.Act || p.per != nil && p.per.slot != warrant.Act)
}

// looksBack reports whether some rule asks what ran before.
func (s *scope) looksBack() bool {
	back := func(u *rule) bool { return u.past != nil }
	return slices.ContainsFunc(s.layers, func(l layer) bool { return slices.ContainsFunc(l.rules, back) })
}
