package scenario

import (
	"fmt"
	"time"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// How each verb reads its value.

func (d *decoder) place(n *configfile.Node)   { d.fields(n, nil) }
func (d *decoder) nothing(n *configfile.Node) { d.step.Ref.Session = d.last; d.Fields(n, nil) }

// turnFields are the fields of everything that begins a turn.
func (d *decoder) turnFields() map[string]func(*configfile.Node) {
	t := &d.step.Turn
	return map[string]func(*configfile.Node){
		"agent": d.into(&t.Agent), "provider": d.into(&t.Sender.Provider), "sender": d.into(&t.Sender.ID),
		"owner": d.flag(&t.Sender.IsOwner), "group": d.into(&t.Sender.Group), "from": d.into(&t.From),
		"noMetadata": d.flag(&t.Sender.Unknown), "spawnedBy": d.into(&t.Sender.SpawnedBy),
		"message": d.message, "context": d.census,
		"id": d.into(&d.step.Ref.Turn), "turn": nil, // a new turn has an id, it is not in one
	}
}

func (d *decoder) message(n *configfile.Node) {
	if text, ok := d.Text(n); ok {
		d.step.Turn.Message = &text
	}
}

func (d *decoder) census(n *configfile.Node) {
	for _, item := range d.Items(n) {
		it := event.Item{Index: len(d.step.Turn.Items)}
		d.Fields(item, map[string]func(*configfile.Node){
			"kind": d.into(&it.Kind), "tool": d.into(&it.Tool), "trust": func(v *configfile.Node) { it.Trust = d.level(v) },
		})
		d.step.Turn.Items = append(d.step.Turn.Items, it)
	}
}

func (d *decoder) level(n *configfile.Node) trust.Level {
	text, ok := d.Text(n)
	if !ok {
		return trust.Untrusted
	}
	l, err := trust.ParseLevel(text)
	if err != nil {
		d.Errorf(n.Pos, "%v", err)
	}
	return l
}

func (d *decoder) turn(n *configfile.Node) { d.fields(n, d.turnFields()) }

// say is a turn whose sender is the one of the session's last turn, where not given.
func (d *decoder) say(n *configfile.Node) {
	if n.Kind == configfile.String {
		d.step.Ref.Session = d.last
		d.message(n)
		return
	}
	d.turn(n)
	if d.step.Turn.Message == nil {
		d.Errorf(n.Pos, "say needs a message")
	}
}

func (d *decoder) spawn(n *configfile.Node) {
	fields := d.turnFields()
	delete(fields, "spawnedBy")
	fields["by"] = d.into(&d.step.Turn.Sender.SpawnedBy)
	d.fields(n, fields)
	if d.step.Turn.Sender.SpawnedBy == "" {
		d.step.Turn.Sender.SpawnedBy = d.last
	}
	if !d.step.given["session"] || d.step.Ref.Session == d.step.Turn.Sender.SpawnedBy {
		d.Errorf(n.Pos, "spawn needs the child's own session")
	}
}

func (d *decoder) fork(n *configfile.Node) {
	fields := d.turnFields()
	fields["parent"] = d.into(&d.step.Turn.Parent)
	d.fields(n, fields)
	d.step.Turn.Forked = true
	if d.step.Ref.Branch == "" {
		d.Errorf(n.Pos, "fork needs the name of the new branch")
	}
}

func (d *decoder) model(n *configfile.Node) {
	m := &d.step.Model
	m.Iteration = -1
	d.fields(n, map[string]func(*configfile.Node){
		"tools": d.tools, "name": d.into(&m.Model), "iteration": d.number(&m.Iteration),
	})
}

// tools reads names, or definitions as a host hands them to the model.
func (d *decoder) tools(n *configfile.Node) {
	m := &d.step.Model
	m.Tools = []string{}
	for _, item := range d.Items(n) {
		def := tool.Definition{}
		if item.Kind == configfile.String {
			def.Name, _ = d.Text(item)
		} else {
			d.Fields(item, map[string]func(*configfile.Node){
				"name": d.into(&def.Name), "description": d.into(&def.Description),
				"params": func(v *configfile.Node) { def.Schema = schemaOf(d.names(v)) },
			})
		}
		m.Tools, m.Definitions = append(m.Tools, def.Name), append(m.Definitions, def)
	}
}

func (d *decoder) wants(n *configfile.Node) {
	if n.Kind == configfile.List {
		d.step.Ref.Session, d.step.Calls = d.last, d.names(n)
		return
	}
	d.fields(n, map[string]func(*configfile.Node){"calls": func(v *configfile.Node) { d.step.Calls = d.names(v) }})
}

func (d *decoder) names(n *configfile.Node) []string {
	out := []string{}
	for _, item := range d.Texts(n) {
		out = append(out, item.Text)
	}
	return out
}

func (d *decoder) callOf(n *configfile.Node) {
	c := &d.step.Call
	c.Args = []byte("{}")
	d.fields(n, map[string]func(*configfile.Node){
		"id": d.into(&c.ID), "tool": d.into(&c.Name), "args": func(v *configfile.Node) { c.Args = d.json(v) },
	})
	if c.Name == "" {
		d.Errorf(n.Pos, "call needs a tool")
	}
	if c.ID == "" {
		c.ID = fmt.Sprintf("call-%d", len(d.s.Steps)+1) // hosts give every call an id
	}
	if d.call[c.ID] {
		d.Errorf(n.Pos, "call id %q is used twice", c.ID)
	}
	d.call[c.ID] = true
}

func (d *decoder) json(n *configfile.Node) []byte {
	if !n.Empty() && n.Kind != configfile.Map {
		d.Errorf(n.Pos, "%s must be a map", n.Path)
		return nil
	}
	b, err := appendJSON(nil, n)
	if err != nil {
		d.Errorf(n.Pos, "%v", err)
	}
	return b
}

func (d *decoder) result(n *configfile.Node) { d.resultOf(n, false) }

// resultOf reads a result: its text, or a map. With a call in the same step it needs
// no further name.
func (d *decoder) resultOf(n *configfile.Node, inline bool) {
	r := &Result{}
	d.step.Result = r
	if inline && n.Kind == configfile.String {
		r.Content = n.Text
		return
	}
	own := map[string]func(*configfile.Node){
		"content": func(v *configfile.Node) { r.Content, _ = d.Text(v) }, "from": d.into(&r.From), "failed": d.flag(&r.Failed),
	}
	if inline {
		d.Fields(n, own)
		return
	}
	own["call"], own["tool"] = d.into(&r.Of), d.into(&r.Tool)
	own["args"] = func(v *configfile.Node) { r.Args = d.json(v) }
	d.fields(n, own)
	switch {
	case (r.Of == "") == (r.Tool == ""):
		d.Errorf(n.Pos, "result needs either the id of a call above, or a tool")
	case r.Of != "" && !d.call[r.Of]:
		d.Errorf(n.Pos, "no call above has the id %q", r.Of)
	}
}

func (d *decoder) end(n *configfile.Node) {
	if n.Kind == configfile.String {
		d.step.Ref.Session, d.step.End.Content = d.last, []byte(n.Text)
		return
	}
	var content string
	d.fields(n, map[string]func(*configfile.Node){"content": d.into(&content)})
	d.step.End.Content = []byte(content)
}

func (d *decoder) answer(n *configfile.Node) {
	v := &d.step.Vote
	d.fields(n, map[string]func(*configfile.Node){
		"question": d.number(&v.Number), "decision": d.choose(&v.Yes, "deny", "approve"), "minutes": d.number(&v.Minutes),
		"reason": d.into(&v.Reason), "where": d.where,
	})
	if !d.step.given["decision"] {
		d.Errorf(n.Pos, "answer needs a decision: approve or deny")
	}
}

// where reads the arguments that similar calls must have.
func (d *decoder) where(n *configfile.Node) {
	d.step.Vote.Where = map[string]string{}
	for _, k := range d.Entries(n) {
		d.step.Vote.Where[k.Name], _ = d.Text(k.Value)
	}
}

func (d *decoder) review(n *configfile.Node) {
	v := &d.step.Vote
	d.fields(n, map[string]func(*configfile.Node){
		"write": d.number(&v.Number), "action": d.choose(&v.Yes, "discard", "release"),
	})
	if !d.step.given["action"] {
		d.Errorf(n.Pos, "review needs an action: release or discard")
	}
}

func (d *decoder) choose(to *bool, no, yes string) func(*configfile.Node) {
	return func(n *configfile.Node) {
		i, _ := d.Choice(n, no, yes)
		*to = i == 1
	}
}

func (d *decoder) wait(n *configfile.Node) {
	d.step.Ref.Session = d.last
	text, ok := d.Text(n)
	if !ok {
		return
	}
	w, err := time.ParseDuration(text)
	if err != nil || w <= 0 {
		d.Hintf(n.Pos, "write it as 30s, 2m or 1h", "%q is not a time to wait", text)
	}
	d.step.Wait = w
}

func (d *decoder) reload(n *configfile.Node) {
	d.step.Ref.Session = d.last
	d.step.File = d.refer(n)
}

func (d *decoder) graph(n *configfile.Node) {
	if n.Kind == configfile.String {
		d.step.Ref.Session = d.last
		d.picture(n)
		return
	}
	d.fields(n, map[string]func(*configfile.Node){"file": d.picture})
	if len(d.step.Expect) == 0 {
		d.Errorf(n.Pos, "graph needs the file that holds the picture")
	}
}

// picture notes which file holds the picture, under every preset without a line of its own.
func (d *decoder) picture(n *configfile.Node) {
	d.refer(n)
	d.step.Expect = []Expectation{{Key: "picture", Value: n}}
}

// schemaOf is the JSON Schema of parameters that are known by name only.
func schemaOf(names []string) []byte {
	properties := map[string]struct{}{}
	for _, n := range names {
		properties[n] = struct{}{}
	}
	raw, _ := strictjson.Marshal(map[string]any{"type": "object", "properties": properties}) // names cannot fail
	return raw
}
