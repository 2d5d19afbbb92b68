package policy

import (
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
)

// maxRules bounds each list of rules: every one of them is asked about every call
// it could concern.
const maxRules = 1000

// effect reads allow, ask or deny.
func (r *reader) effect(n *configfile.Node) (Effect, bool) {
	i, ok := r.Word(n, effectWords, formerEffects...)
	return looser[i], ok
}

// list reads a list of maps that each have a name of their own.
func (r *reader) list(n *configfile.Node, each func(item *configfile.Node, name string)) {
	items := r.Items(n)
	if len(items) > maxRules {
		r.Errorf(n.Pos, "%s has %d entries, more than the %d allowed", n.Path, len(items), maxRules)
		return
	}
	seen := map[string]int{}
	for _, item := range items {
		if item.Kind != configfile.Map {
			r.Entries(item) // reports what it is instead
			if item.Empty() {
				r.Errorf(item.Pos, "%s is empty", item.Path)
			}
			continue
		}
		name := ""
		if v := item.Get("name"); v == nil {
			r.Errorf(item.Pos, "%s needs a name", item.Path)
		} else if name, _ = r.Text(v); strings.ContainsAny(name, "\n\r\t") {
			r.Errorf(v.Pos, "%s must be one line", v.Path)
		} else if at, twice := seen[name]; twice && name != "" {
			r.Errorf(v.Pos, "name %q is taken by the entry on line %d", name, at)
		} else {
			seen[name] = v.Pos.Line
		}
		each(item, name)
	}
}

// readRules reads static rules (SEQ-01).
func (r *reader) readRules(n *configfile.Node, prefix string) []*rule {
	var out []*rule
	r.list(n, func(item *configfile.Node, name string) {
		var past past
		u := &rule{tools: everyTool(), reason: Reason{Rule: prefix + "rules." + name, Pos: item.Pos.String()}}
		r.Fields(item, map[string]func(*configfile.Node){
			"name":              func(*configfile.Node) {},
			"tools":             func(v *configfile.Node) { u.tools = r.someTools(v) },
			"when":              func(v *configfile.Node) { u.when = r.condition(v) },
			"effect":            func(v *configfile.Node) { u.reason.Effect, _ = r.effect(v) },
			"reason":            func(v *configfile.Node) { u.reason.Text, _ = r.Text(v) },
			"people":            func(v *configfile.Node) { r.readPeople(v, u) },
			"once":              func(v *configfile.Node) { past.once = r.value(v, "session") },
			"onlyAfter":         func(v *configfile.Node) { past.after = r.fullNames(v) },
			"onlyAfterApproval": func(v *configfile.Node) { past.agreed = r.fullNames(v) },
			"per":               func(v *configfile.Node) { past.per = r.value(v) },
		})
		r.looksBack(item, u, &past)
		if item.Get("effect") == nil {
			r.Errorf(item.Pos, "%s needs an effect: allow, ask or deny", item.Path)
		}
		if u.reason.Text == "" && u.past != nil {
			u.reason.Text = u.past.text(name)
		} else if u.reason.Text == "" {
			u.reason.Text = ruleText(name, u.reason.Effect)
		}
		out = append(out, u)
	})
	return out
}

// readPolicies reads declarative policies (HOOK-13).
func (r *reader) readPolicies(n *configfile.Node, prefix string) []*declared {
	var out []*declared
	r.list(n, func(item *configfile.Node, name string) {
		p := &declared{remove: tools(), block: tools(), reason: Reason{Rule: prefix + "policies." + name, Pos: item.Pos.String()}}
		r.Fields(item, map[string]func(*configfile.Node){
			"name":   func(*configfile.Node) {},
			"when":   func(v *configfile.Node) { r.readWhen(v, p) },
			"action": func(v *configfile.Node) { r.readAction(v, p) },
		})
		if item.Get("action").Empty() {
			r.Errorf(item.Pos, "%s needs an action", item.Path)
		}
		if p.turn && p.when != nil && (p.when.args || p.when.tool) {
			r.Errorf(item.Get("when").Pos,
				"%s: block_turn is decided before any call, its expression cannot look at tool or args", item.Path)
		}
		if p.reason.Text == "" {
			p.reason.Text = policyText(p)
		}
		out = append(out, p)
	})
	return out
}

// readWhen reads conditions that must all hold; a text is an expression alone.
func (r *reader) readWhen(n *configfile.Node, p *declared) {
	r.Accepts(n, configfile.String, configfile.Map)
	if n.Kind == configfile.String {
		p.when = r.condition(n)
		return
	}
	r.Fields(n, map[string]func(*configfile.Node){
		"context_taint_includes": func(v *configfile.Node) {
			before := len(r.Faults)
			for _, item := range r.Texts(v) {
				if l, ok := r.level(item); ok {
					p.levels |= 1 << l
				}
			}
			if p.levels == 0 && len(r.Faults) == before {
				r.Errorf(v.Pos, "%s names no level", v.Path)
			}
		},
		"iteration_gte": func(v *configfile.Node) {
			if i, ok := r.Int(v, 0, 1_000_000); ok {
				p.from = int(i)
			}
		},
		"expression": func(v *configfile.Node) { p.when = r.condition(v) },
	})
}

func (r *reader) readAction(n *configfile.Node, p *declared) {
	r.Fields(n, map[string]func(*configfile.Node){
		"remove_tools":     func(v *configfile.Node) { p.remove = r.someTools(v) },
		"block_tools":      func(v *configfile.Node) { p.block = r.someTools(v) },
		"block_turn":       r.flag(&p.turn),
		"reason":           func(v *configfile.Node) { p.reason.Text, _ = r.Text(v) },
		"log_full_context": r.flag(&p.log),
		"persist_graph":    r.flag(&p.persist),
	})
}
