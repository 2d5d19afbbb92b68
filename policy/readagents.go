package policy

import (
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// readAgents reads what some agents may do less than the file allows.
func (r *reader) readAgents(n *configfile.Node) {
	for _, k := range r.Entries(n) {
		prefix := "agents." + k.Name + "."
		base := r.base
		s := &scope{
			parent: base, overrides: map[string]*override{}, outputs: map[string]output{},
			layers:        append(base.layers[:1:1], layer{def: Allow, rule: prefix + "defaultEffect"}),
			policies:      base.policies[:len(base.policies):len(base.policies)],
			maxIterations: base.maxIterations, capPos: base.capPos, hideConfirm: base.hideConfirm,
		}
		fields := r.scoped(s, prefix)
		for _, name := range AgentReserved() {
			fields[name] = func(*configfile.Node) {}
		}
		r.Fields(k.Value, fields, formerKeys...)
		r.tightLevels(keysOf(k.Value.Get("taintPolicy")), s, prefix)
		for _, t := range keysOf(k.Value.Get("toolOverrides")) {
			for _, e := range keysOf(t.Value) {
				r.tightOverride(tool.Name(t.Name), e, s)
			}
		}
		if v := k.Value.Get("defaultEffect"); v != nil && s.layers[1].def > base.layers[0].def {
			r.loosens(v, [...]string{"deny", "ask"}[base.layers[0].def])
		}
		r.agents[k.Name] = s
	}
}

func keysOf(n *configfile.Node) []configfile.Key {
	if n == nil {
		return nil
	}
	return n.Keys
}

// tightLevels keeps of an agent's taint policy what is stricter than the file's,
// and makes the result monotone.
func (r *reader) tightLevels(keys []configfile.Key, s *scope, prefix string) {
	levels := s.parent.levels
	for _, k := range keys {
		l, err := trust.ParseLevel(k.Name)
		e := s.levels[l]
		switch {
		case err != nil || !e.given:
		case levels[l].stricter(e):
			r.loosens(k.Value, levels[l].word())
		default:
			levels[l] = e
		}
	}
	if len(keys) > 0 {
		r.monotone(&levels, prefix+"taintPolicy", func(l trust.Level) string { return prefix + "taintPolicy." + l.String() })
	}
	for _, l := range trust.Levels() {
		s.levels[l] = entry{}
		if levels[l].stricter(s.parent.levels[l]) {
			s.levels[l] = levels[l]
		}
	}
}

// tightOverride warns about an agent's override that is looser than the file's
// mode somewhere. It needs no removal: scope.mode takes the stricter of both.
func (r *reader) tightOverride(name string, k configfile.Key, s *scope) {
	looser, stays := false, entry{effect: Allow}
	for _, l := range trust.Levels() {
		if k.Name != l.String() && (k.Name != "*" || s.overrides[name].level[l].given) {
			continue
		}
		own, base := s.overrides[name].at(l), s.parent.mode(name, l, 0)
		if own.given && base.stricter(own) {
			if looser = true; base.stricter(stays) {
				stays = base
			}
		}
	}
	if looser {
		r.loosens(k.Value, stays.word())
		return
	}
	said := s.parent.overrides[name].at(trust.Untrusted).given
	if s.root().needs != nil && !said && allows(s.overrides[name], k.Name) {
		r.Warnf(k.Value.Pos, "%s loosens nothing: an agent can only tighten, and calls of %s are judged by the table as before",
			k.Value.Path, name)
	}
}

// allows reports whether an entry of an override, by its key, lets calls run.
func allows(o *override, key string) bool {
	if key == "*" {
		return o.any.given && o.any.effect == Allow
	}
	l, err := trust.ParseLevel(key)
	return err == nil && o.level[l].given && o.level[l].effect == Allow
}
