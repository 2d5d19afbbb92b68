package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/tool"
)

// firstSession is the session of steps that come before any is named.
const firstSession = "main"

// read is how each verb reads its value.
func (d *decoder) read() map[Verb]func(*configfile.Node) {
	return map[Verb]func(*configfile.Node){
		VerbTurn: d.turn, VerbSay: d.say, VerbSpawn: d.spawn, VerbFork: d.fork,
		VerbModel: d.model, VerbWants: d.wants, VerbCall: d.callOf, VerbResult: d.result, VerbEnd: d.end,
		VerbAnswer: d.answer, VerbReview: d.review, VerbReset: d.place, VerbRevoke: d.place,
		VerbWait: d.wait, VerbReload: d.reload, VerbRestart: d.nothing, VerbState: d.place, VerbGraph: d.graph,
	}
}

func (d *decoder) events() {
	f, ok := d.s.files[eventsFile]
	if !ok {
		d.Errorf(d.at(1), "the archive has no file %q", eventsFile)
		return
	}
	root, faults := configfile.Parse(d.s.Name, f.padded())
	d.Faults = append(d.Faults, faults...)
	if root == nil {
		return
	}
	d.last, d.call = firstSession, map[string]bool{}
	items := d.Items(root)
	for _, n := range items {
		d.oneStep(n)
	}
	if len(items) == 0 {
		d.Errorf(d.at(f.line), "the scenario has no steps")
	}
}

// oneStep reads a map with exactly one verb, and what else the verb allows.
func (d *decoder) oneStep(n *configfile.Node) {
	d.step = &Step{Pos: n.Pos, given: map[string]bool{}, Under: map[string]Answers{}}
	verbs, before := d.read(), len(d.Faults)
	var expect *configfile.Node
	var own []configfile.Key
	for _, k := range d.Entries(n) {
		switch read := verbs[Verb(k.Name)]; {
		case k.Name == "expect":
			expect, d.step.expectLine = k.Value, k.Pos.Line
		case isPreset(k.Name):
			own = append(own, k)
		case k.Name == string(VerbResult) && n.Get(string(VerbCall)) != nil:
			d.resultOf(k.Value, true)
		case read == nil:
			d.Hintf(k.Pos, "a step is one of "+verbList(verbs), "unknown step %q", k.Name)
		case d.step.Verb != "":
			d.Errorf(k.Pos, "a second verb in one step: %s and %s", d.step.Verb, k.Name)
		default:
			d.step.Verb, d.step.Pos = Verb(k.Name), k.Pos
			read(k.Value)
		}
	}
	if d.step.Verb == "" {
		if len(d.Faults) == before {
			d.Errorf(n.Pos, "the step has no verb")
		}
		return
	}
	d.last = d.step.Ref.Session
	d.expect(expect)
	for _, k := range own {
		d.presetLine(k)
	}
	d.s.Steps = append(d.s.Steps, *d.step)
}

func verbList(verbs map[Verb]func(*configfile.Node)) string {
	var names []string
	for _, v := range slices.Sorted(maps.Keys(verbs)) {
		names = append(names, string(v))
	}
	return strings.Join(names, ", ")
}

// fields reads a map whose entries are the step's own ones and where it happens.
func (d *decoder) fields(n *configfile.Node, own map[string]func(*configfile.Node)) {
	ref := &d.step.Ref
	ref.Session = d.last
	all := map[string]func(*configfile.Node){
		"session": d.into(&ref.Session), "branch": d.into(&ref.Branch), "turn": d.into(&ref.Turn),
	}
	maps.Copy(all, own)
	for _, k := range n.Keys {
		d.step.given[k.Name] = true
	}
	d.Fields(n, all)
}

func (d *decoder) into(to *string) func(*configfile.Node) {
	return func(n *configfile.Node) { *to, _ = d.Text(n) }
}

func (d *decoder) flag(to *bool) func(*configfile.Node) {
	return func(n *configfile.Node) { *to, _ = d.Bool(n) }
}

func (d *decoder) number(to *int) func(*configfile.Node) {
	return func(n *configfile.Node) {
		v, _ := d.Int(n, 0, 1_000_000)
		*to = int(v)
	}
}

// name is how messages call a step.
func (s *Step) name() string {
	if s.Verb == VerbCall {
		return fmt.Sprintf("call %s", tool.Name(s.Call.Name))
	}
	return string(s.Verb)
}
