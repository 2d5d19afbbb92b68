package policy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/glob"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/tool"
)

// group is some people, accounts and places by their addresses, each in one spelling, or as *@domain.
type group []string

// has reports whether somebody is one of them.
func (g group) has(who string) bool {
	who = spelled(who)
	plain := strings.Count(who, "@") == 1 && !strings.ContainsAny(who, " \t<>,;\"'()*?") // else it may be two in one
	return who != "" && slices.ContainsFunc(g, func(m string) bool { return m == who || plain && glob.Has(m) && glob.Match(m, who) })
}

// both are those of two groups who are in the other as well.
func (g group) both(o group) group {
	var out group
	for _, m := range g {
		if o.has(m) {
			out = append(out, m)
		}
	}
	for _, m := range o {
		if g.has(m) && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// named is an address with a name before it: a mail goes to the address, whatever the name.
var namedAddress = regexp.MustCompile(`^[^<>@,;]*<\s*([^\s<>@,;]+@[^\s<>@,;]+)\s*>$`)

// spelled is an address in its one spelling.
func spelled(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if m := namedAddress.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return s
}

var (
	groupName = regexp.MustCompile(`^[a-z][A-Za-z0-9_]*$`)
	wholeMail = regexp.MustCompile(`^(?:[^<>@,;]*<)?\s*[^\s<>@,;]+@[^\s<>@,;]+\s*>?$`)
)

// readGroups reads people by name. One may be a group that stands before it.
func (r *reader) readGroups(n *configfile.Node) {
	for _, k := range r.Entries(n) {
		if !groupName.MatchString(k.Name) || reservedName(k.Name) {
			r.Hintf(k.Pos, "a small letter, then letters and digits, and no word that conditions have already",
				"%q cannot be the name of a group", short(k.Name))
			continue
		}
		var g group
		for _, item := range r.Texts(k.Value) {
			g = append(g, r.members(item)...)
		}
		r.groups[k.Name] = g
	}
	r.cel.env, r.cel.groups = nil, make(map[string]members, len(r.groups)) // conditions of the file see them
	for name, g := range r.groups {
		r.cel.groups[name] = boxed(g)
	}
}

// members are the group of that name, or the one it is.
func (r *reader) members(item *configfile.Node) group {
	if g, ok := r.groups[item.Text]; ok {
		return g
	}
	who := spelled(item.Text)
	switch {
	case !strings.ContainsAny(who, "@#:/+") && !strings.ContainsAny(who, "0123456789"):
		r.Hintf(item.Pos, configfile.Suggest(item.Text, slices.Sorted(maps.Keys(r.groups))),
			"%s: %q is no group of this file, and no address, channel or account", item.Path, short(item.Text))
	case glob.Has(who) && (!strings.HasPrefix(who, "*@") || strings.Count(who, "*") != 1 || strings.ContainsAny(who, "?[{")):
		r.Hintf(item.Pos, "write *@your.domain", "%s: a pattern of people is a whole domain", item.Path)
	}
	return group{who}
}

// readReaders reads who may read what the rule's tools bring.
func (r *reader) readReaders(n *configfile.Node, t *trustRule) {
	t.binds = true
	for _, item := range r.Texts(n) {
		t.readers = append(t.readers, r.members(item)...)
	}
}

// readOtherwise reads what becomes of a call that would tell somebody else.
func (r *reader) readOtherwise(n *configfile.Node, t *trustRule, item *configfile.Node) {
	if t.otherwise, _ = r.effect(n); item.Get("readers") == nil || t.otherwise == Allow {
		r.Errorf(n.Pos, "%s is what becomes of a call that others than the readers would read: ask or deny", n.Path)
	}
}

// bound holds a call to those who may read all that came in: each rule with readers whose tools have brought something, and the call's own,
// where it tells what it reads. What the user wrote themselves they may tell anybody.
func (r *row) bound(a *activation, s *answers) {
	if len(r.set.facts.readers) == 0 || a.in.Args == nil {
		return
	}
	deed := a.deed()
	rules := boundsOf(r.set.Traits(a.in.Tool, a.in.Args).Readers)
	if deed == warrant.Read || deed == warrant.Unknown && len(rules) > 0 && len(a.recipients()) == 0 {
		return // it looks, or the file says that it is looked at by it
	}
	if h := a.in.History; h != nil && len(h.Bounds()) > 0 && !a.fact(warrant.FactDictated) {
		rules = append(rules, h.Bounds()...)
	}
	if len(rules) == 0 {
		return
	}
	to := a.recipients()
	if len(to) == 0 && r.keeps(a, deed) {
		return
	}
	slices.Sort(rules)
	if p, ok := r.held(slices.Compact(rules), to); ok {
		s.parts, s.only = append(s.parts, p), -1
	}
}

// held is what becomes of a call that goes to some people, if one of them is not a reader of every rule. Nobody named is everybody.
func (r *row) held(rules, to []string) (part, bool) {
	p := part{Reason: Reason{Rule: "trustRules." + rules[0], Effect: Confirm}}
	var all group
	for i, name := range rules {
		t := r.set.facts.readers[name]
		if t == nil {
			t = &trustRule{otherwise: Confirm} // the rule is gone: nobody knows who may
		}
		if all = t.joined(all, i == 0); t.otherwise < p.Effect {
			p.Effect, p.Rule = t.otherwise, "trustRules."+name
		}
	}
	stranger := "everybody"
	if len(to) > 0 {
		i := slices.IndexFunc(to, func(who string) bool { return !all.has(who) })
		if i < 0 {
			return part{}, false
		}
		stranger = short(plainMessage(to[i]))
	}
	p.Text = boundText(rules, all, stranger)
	return p, true
}

// boundsOf are the rules of Traits.Readers.
func boundsOf(readers string) []string {
	if readers == "" {
		return nil
	}
	return strings.Split(readers, "\n")
}

func (t *trustRule) joined(all group, first bool) group {
	if first {
		return t.readers
	}
	return all.both(t.readers)
}

// boundText says who may and who would.
func boundText(rules []string, all group, stranger string) string {
	may := "nobody but you may read"
	if len(all) > 0 {
		may = "only " + strings.Join(all[:min(len(all), 4)], ", ") + " may read"
		if len(all) > 4 {
			may = fmt.Sprintf("only %s and %d others may read", strings.Join(all[:4], ", "), len(all)-4)
		}
	}
	return fmt.Sprintf("%s what came in by %s, and this goes to %s", may, strings.Join(rules, " and "), stranger)
}

// keeps reports whether a call without a recipient tells nobody anything: it looks, or it changes what is the user's own. A command does so
// where it carries nothing to another machine.
func (r *row) keeps(a *activation, deed Deed) bool {
	switch deed {
	case warrant.Read, warrant.Tidy, warrant.Create, warrant.Change, warrant.Delete:
		return true
	case warrant.Execute:
		does := a.effects()
		return tool.IsShell(tool.Name(a.in.Tool)) && !does.Has(shell.Unparsed) && !does.Has(shell.NetworkWrite) && !does.Has(shell.Mail)
	}
	return false
}

// recipients are who a call goes to: its aims, and whatever else in it is an address as a whole.
func (a *activation) recipients() []string {
	var out []string
	add := func(v string) {
		for p := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == ',' || r == ';' || r == '\n' }) {
			if p = strings.TrimSpace(p); p != "" && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	for _, v := range a.values(warrant.Aim) {
		add(v)
	}
	for _, t := range a.allTexts() {
		if wholeMail.MatchString(strings.TrimSpace(t)) {
			add(t)
		}
	}
	return out
}

// Readers are the rules that say who may read what came in, with those who may.
func (s *Set) Readers() map[string][]string {
	out := map[string][]string{}
	for name, t := range s.facts.readers {
		out[name] = t.readers
	}
	return out
}

// members is a group in a condition: whoever is looked for in it is spelled as in the file.
type members struct {
	traits.Lister
	of group
}

func boxed(g group) members {
	return members{types.DefaultTypeAdapter.NativeToValue([]string(g)).(traits.Lister), g}
}

// Contains reports whether somebody is one of them.
func (m members) Contains(v ref.Val) ref.Val {
	s, ok := v.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v)
	}
	return types.Bool(m.of.has(string(s)))
}
