package scenario

import (
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/tool"
)

// script reads the answers of the auditor and of the verifier.
func (d *decoder) script() {
	d.scriptOf(auditorFile, d.auditorReply)
	d.scriptOf(verifierFile, d.verifierReply)
}

func (d *decoder) scriptOf(name string, read func(*configfile.Node) reply) {
	f, ok := d.s.files[name]
	if !ok {
		return
	}
	root, faults := configfile.Parse(d.s.Name, f.padded())
	d.Faults = append(d.Faults, faults...)
	if root == nil {
		return
	}
	items := d.Items(root)
	for _, n := range items {
		r := read(n)
		r.pos = n.Pos
		d.s.replies = append(d.s.replies, r)
	}
	if len(items) == 0 {
		d.Errorf(d.at(f.line), "%s has no answers", name)
	}
}

// auditorReply reads an answer of the auditor, each kind with its own words.
func (d *decoder) auditorReply(n *configfile.Node) reply {
	var r reply
	var answer, rules *configfile.Node
	fields := d.replyFields(&r)
	fields["kind"] = func(v *configfile.Node) {
		if i, ok := d.Choice(v, "caution", "consistency", "plan"); ok {
			r.kind = [...]string{"caution", "consistency", "plan"}[i]
		}
	}
	fields["answer"] = func(v *configfile.Node) { answer = v }
	fields["rules"] = func(v *configfile.Node) { rules = v }
	d.Fields(n, fields)
	switch r.kind {
	case "caution":
		d.answerOf(&r, n, answer, "allow", "block", "error")
	case "consistency":
		d.answerOf(&r, n, answer, "consistent", "inconsistent", "unsure", "error")
	case "plan":
		d.planOf(&r, n, answer, rules)
	default:
		if n.Get("kind") == nil {
			d.Hintf(n.Pos, "add kind: caution, consistency or plan", "the answer does not say to which kind of question")
		}
	}
	if rules != nil && r.kind != "plan" {
		d.Errorf(rules.Pos, "rules are for kind: plan")
	}
	return r
}

// planOf reads a plan: a map, or any text where a model talks nonsense.
func (d *decoder) planOf(r *reply, n, answer, rules *configfile.Node) {
	switch {
	case r.tool != "":
		d.Errorf(n.Pos, "a plan is not asked for about one tool")
	case answer != nil:
		d.answerOf(r, n, answer, "error")
	case rules == nil:
		d.Errorf(n.Pos, "a plan needs rules, or answer: error")
	case rules.Kind == configfile.String:
		r.rules = rules.Text
	default:
		r.rules = string(d.json(rules))
	}
}

func (d *decoder) verifierReply(n *configfile.Node) reply {
	r := reply{kind: "verify"}
	var answer *configfile.Node
	fields := d.replyFields(&r)
	fields["answer"] = func(v *configfile.Node) { answer = v }
	d.Fields(n, fields)
	d.answerOf(&r, n, answer, "allow", "deny", "error")
	return r
}

// replyFields are the fields every answer has.
func (d *decoder) replyFields(r *reply) map[string]func(*configfile.Node) {
	return map[string]func(*configfile.Node){
		"tool": func(v *configfile.Node) {
			if name, ok := d.Text(v); ok {
				r.tool = tool.Name(name)
			}
		},
		"contains": func(v *configfile.Node) { r.contains = d.names(v) },
		"lacks":    func(v *configfile.Node) { r.lacks = d.names(v) },
		"reason":   d.into(&r.reason),
		"under": func(v *configfile.Node) {
			if i, ok := d.Choice(v, d.s.Presets()...); ok {
				r.under = d.s.Presets()[i]
			}
		},
	}
}

func (d *decoder) answerOf(r *reply, n, answer *configfile.Node, words ...string) {
	if answer == nil {
		d.Errorf(n.Pos, "the entry has no answer")
		return
	}
	if i, ok := d.Choice(answer, words...); ok {
		r.answer = words[i]
	}
	if r.answer == "error" && r.reason == "" {
		d.Errorf(answer.Pos, "an error needs its reason")
	}
}
