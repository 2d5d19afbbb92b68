package policy

import (
	"strings"

	"github.com/tidemark/tidemark/internal/source"
)

// maxRules bounds each list of rules: every one of them is asked about every call
// it could concern.
const maxRules = 1000

// effect reads allow, deny or escalate.
func (r *reader) effect(n *source.Node) (Effect, bool) {
	i, ok := r.Choice(n, "allow", "escalate", "deny")
	return Allow - Effect(i), ok
}

// list reads a list of maps that each have a name of their own.
func (r *reader) list(n *source.Node, each func(item *source.Node, name string)) {
	items := r.Items(n)
	if len(items) > maxRules {
		r.Errorf(n.Pos, "%s has %d entries, more than the %d allowed", n.Path, len(items), maxRules)
		return
	}
	seen := map[string]int{}
	for _, item := range items {
		if item.Kind != source.Map {
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
func (r *reader) readRules(n *source.Node, prefix string) []*rule {
	var out []*rule
	r.list(n, func(item *source.Node, name string) {
		u := &rule{tools: everyTool(), reason: Reason{Rule: prefix + "rules." + name, Pos: item.Pos.String()}}
		r.Fields(item, map[string]func(*source.Node){
			"name":   func(*source.Node) {},
			"tools":  func(v *source.Node) { u.tools = r.someTools(v) },
			"when":   func(v *source.Node) { u.when = r.cel.condition(&r.Decoder, v) },
			"effect": func(v *source.Node) { u.reason.Effect, _ = r.effect(v) },
			"reason": func(v *source.Node) { u.reason.Text, _ = r.Text(v) },
		})
		if item.Get("effect") == nil {
			r.Errorf(item.Pos, "%s needs an effect: allow, deny or escalate", item.Path)
		}
		if u.reason.Text == "" {
			u.reason.Text = ruleText(name, u.reason.Effect)
		}
		out = append(out, u)
	})
	return out
}

// readPolicies reads declarative policies (HOOK-13).
func (r *reader) readPolicies(n *source.Node, prefix string) []*declared {
	var out []*declared
	r.list(n, func(item *source.Node, name string) {
		p := &declared{remove: tools(), block: tools(), reason: Reason{Rule: prefix + "policies." + name, Pos: item.Pos.String()}}
		r.Fields(item, map[string]func(*source.Node){
			"name":   func(*source.Node) {},
			"when":   func(v *source.Node) { r.readWhen(v, p) },
			"action": func(v *source.Node) { r.readAction(v, p) },
		})
		if item.Get("action").Empty() {
			r.Errorf(item.Pos, "%s needs an action", item.Path)
		}
		if p.turn && p.when != nil && (p.when.args || p.when.tool) {
			r.Errorf(item.Get("when").Pos, "%s: block_turn is decided before any call, its expression cannot look at tool or args", item.Path)
		}
		if p.reason.Text == "" {
			p.reason.Text = policyText(p)
		}
		out = append(out, p)
	})
	return out
}

// readWhen reads conditions that must all hold; a text is an expression alone.
func (r *reader) readWhen(n *source.Node, p *declared) {
	if n.Kind == source.String {
		p.when = r.cel.condition(&r.Decoder, n)
		return
	}
	r.Fields(n, map[string]func(*source.Node){
		"context_taint_includes": func(v *source.Node) {
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
		"iteration_gte": func(v *source.Node) {
			if i, ok := r.Int(v, 0, 1_000_000); ok {
				p.from = int(i)
			}
		},
		"expression": func(v *source.Node) { p.when = r.cel.condition(&r.Decoder, v) },
	})
}

func (r *reader) readAction(n *source.Node, p *declared) {
	r.Fields(n, map[string]func(*source.Node){
		"remove_tools":     func(v *source.Node) { p.remove = r.someTools(v) },
		"block_tools":      func(v *source.Node) { p.block = r.someTools(v) },
		"block_turn":       r.flag(&p.turn),
		"reason":           func(v *source.Node) { p.reason.Text, _ = r.Text(v) },
		"log_full_context": r.flag(&p.log),
		"persist_graph":    r.flag(&p.persist),
	})
}
