package policy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/trust"
)

// readTaintPolicy merges a partial map of level to mode.
func (r *reader) readTaintPolicy(n *configfile.Node, s *scope, prefix string) {
	for l, e := range r.levelModes(n) {
		e.rule = prefix + "taintPolicy." + l.String()
		s.levels[l] = e
	}
}

// levelModes reads a map of level to mode.
func (r *reader) levelModes(n *configfile.Node) map[trust.Level]entry {
	out := map[trust.Level]entry{}
	fields := map[string]func(*configfile.Node){}
	for _, l := range trust.Levels() {
		fields[l.String()] = func(v *configfile.Node) {
			if e, ok := r.mode(v); ok {
				out[l] = e
			}
		}
	}
	r.Fields(n, fields)
	return out
}

// monotone makes each level at least as strict as the more trusted one before it
// (PRV-12). It warns at the key that is too loose or, where the file does not have
// that key, at the one that made it so. rule names a corrected level's rule.
func (r *reader) monotone(levels *[trust.NumLevels]entry, path string, rule func(trust.Level) string) {
	before := levels[trust.System]
	for _, l := range trust.Levels() {
		e := levels[l]
		if before.stricter(e) {
			at := cmp.Or(e.pos, before.pos)
			r.Warnf(at, "%s.%s is %s but a more trusted level is %s: corrected to %s", path, l, e.word(), before.word(), before.word())
			e = entry{effect: before.effect, shows: before.shows, rule: rule(l), pos: at, given: true}
			levels[l] = e
		}
		before = e
	}
}

// readOverrides merges per tool and level over what is shipped. A file's "*" is
// not allowed to loosen a level the shipped table names: that takes the level's key.
func (r *reader) readOverrides(n *configfile.Node, s *scope, prefix string) {
	seen := map[string]string{}
	for _, k := range r.Entries(n) {
		name, ok := r.tool(k, seen)
		if !ok {
			continue
		}
		rule := prefix + "toolOverrides." + name + "."
		given := r.override(k.Value, rule)
		if old := s.overrides[name]; old != nil {
			given = r.mergeOverride(*old, given, k)
		} else if s.parent == nil && given.any.given && given.any.effect == Allow {
			r.opensAll(k, name, s)
		}
		s.overrides[name] = &given
	}
}

// opensAll tells of an entry after which nobody looks at the calls of a tool that does more than read. Of one that nobody understands
// it is the way to say that it is fine. Whoever checks the file is told, and nobody else: it may be meant.
func (r *reader) opensAll(k configfile.Key, name string, s *scope) {
	if deed := warrant.DeedOf(name); s.needs == nil || deed == warrant.Read || deed == warrant.Unknown {
		return
	}
	r.opened = append(r.opened, configfile.Fault{Pos: k.Pos, Severity: configfile.Warning, Message: fmt.Sprintf(
		"toolOverrides.%s.* lets every call of it run, whatever it does and whoever wanted it: the table of %s is not asked "+
			"(name the levels where you want that, or change a cell under warrants)", name, r.settings.Preset)})
}

func (r *reader) override(n *configfile.Node, rule string) override {
	var o override
	fields := map[string]func(*configfile.Node){"*": func(v *configfile.Node) {
		if e, ok := r.mode(v); ok {
			e.rule = rule + "*"
			o.any = e
		}
	}}
	for _, l := range trust.Levels() {
		fields[l.String()] = func(v *configfile.Node) {
			if e, ok := r.mode(v); ok {
				e.rule = rule + l.String()
				o.level[l] = e
			}
		}
	}
	r.Fields(n, fields)
	return o
}

func (r *reader) mergeOverride(old, given override, k configfile.Key) override {
	out, kept := old, ""
	if given.any.given {
		out.any = given.any
	}
	for _, l := range trust.Levels() {
		switch {
		case given.level[l].given:
			out.level[l] = given.level[l]
		case given.any.given && old.level[l].given && !old.level[l].stricter(given.any):
			out.level[l] = given.any
		case given.any.given && old.level[l].given:
			kept += " " + l.String()
		}
	}
	if kept != "" {
		r.Warnf(k.Pos, "toolOverrides.%s.* is looser than the shipped mode at%s, which stays: "+
			"name these levels to change them", k.Name, kept)
	}
	return out
}

// readOutputs merges the trust of tool responses.
func (r *reader) readOutputs(n *configfile.Node, s *scope, prefix string) {
	seen := map[string]string{}
	for _, k := range r.Entries(n) {
		name, ok := r.tool(k, seen)
		if !ok {
			continue
		}
		if l, ok := r.level(k.Value); ok {
			if s.parent != nil && s.parent.output(name).level < l {
				r.loosens(k.Value, s.parent.output(name).level.String())
				continue
			}
			s.outputs[name] = output{level: l, rule: prefix + "toolOutputTaints." + name}
		}
	}
}

// loosens warns about an agent's entry that would be looser than the file's.
func (r *reader) loosens(n *configfile.Node, stays string) {
	r.Warnf(n.Pos, "%s would loosen the policy of the file: an agent can only tighten it, %s stays", n.Path, stays)
}

func (r *reader) readDefaultEffect(n *configfile.Node, own *layer) {
	if e, ok := r.effect(n); ok {
		own.def, own.pos = e, n.Pos
	}
}

func (r *reader) readAskTools(n *configfile.Node, s *scope) {
	i, ok := r.Choice(n, "visible", "hidden")
	switch {
	case !ok:
	case s.parent != nil && s.parent.hideConfirm && i == 0:
		r.loosens(n, "hidden")
	default:
		s.hideConfirm = i == 1
	}
}

func (r *reader) readMaxIterations(n *configfile.Node, s *scope) {
	v, ok := r.Int(n, 0, 1_000_000)
	switch {
	case !ok:
	case s.parent != nil && s.parent.maxIterations > 0 && (v == 0 || int(v) > s.parent.maxIterations):
		r.loosens(n, fmt.Sprint(s.parent.maxIterations))
	default:
		s.maxIterations, s.capPos = int(v), n.Pos
	}
}

// readStrictness reads the taint policies that hold from some iteration on
// (HOOK-14). Each can only be stricter than what holds before it.
func (r *reader) readStrictness(n *configfile.Node) {
	type at struct {
		from  int64
		modes map[trust.Level]entry
		node  *configfile.Node
	}
	var all []at
	for _, item := range r.Items(n) {
		a := at{node: item}
		r.Fields(item, map[string]func(*configfile.Node){
			"iteration_gte": func(v *configfile.Node) { a.from, _ = r.Int(v, 1, 1_000_000) },
			"taintPolicy":   func(v *configfile.Node) { a.modes = r.levelModes(v) },
		})
		switch {
		case a.from == 0:
			if item.Get("iteration_gte") == nil && item.Kind == configfile.Map {
				r.Errorf(item.Pos, "%s needs iteration_gte", item.Path)
			}
		case slices.ContainsFunc(all, func(b at) bool { return b.from == a.from }):
			r.Errorf(item.Pos, "%s: iteration_gte %d is given twice", item.Path, a.from)
		default:
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b at) int { return cmp.Compare(a.from, b.from) })
	levels := r.base.levels
	for _, a := range all {
		r.tighten(&levels, a.modes, a.node, fmt.Sprintf("strictness.%d", a.from))
		r.base.steps = append(r.base.steps, step{int(a.from), levels})
	}
}

// tighten applies modes where they are stricter and warns where they are not.
func (r *reader) tighten(levels *[trust.NumLevels]entry, modes map[trust.Level]entry, n *configfile.Node, rule string) {
	for _, l := range trust.Levels() {
		e, ok := modes[l]
		switch {
		case !ok:
		case levels[l].stricter(e):
			r.Warnf(n.Get("taintPolicy").Get(l.String()).Pos, "%s.taintPolicy.%s is looser than %s, which holds before: corrected to %s",
				n.Path, l, levels[l].word(), levels[l].word())
		case e.stricter(levels[l]):
			e.rule = rule
			levels[l] = e
		}
	}
	r.monotone(levels, n.Path+".taintPolicy", func(trust.Level) string { return rule })
}
