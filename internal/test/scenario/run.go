package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Rig is what a scenario runs on.
type Rig struct {
	Preset string // of a story that names none; "" for the shipped one
	Store  func() (engine.Store, error)
	Door   func(*World) (Door, error)
}

// Report is what a run found.
type Report struct {
	Outcomes []Outcome  // one per step
	Missed   []Mismatch // expectations that did not hold, in the order of the file
	Unseen   []configfile.Pos

	run *run
}

// Err lists the mismatches, or is nil.
func (r *Report) Err() error {
	var errs []error
	for _, m := range r.Missed {
		errs = append(errs, m)
	}
	return errors.Join(errs...)
}

// run is a scenario on its way.
type run struct {
	s      *Scenario
	preset string
	rig    Rig
	world  *World
	door   Door
	report *Report

	codes     []string // in the order they were first shown
	questions []asked
	writes    []asked
	senders   map[string]trust.Sender // of each session's last turn
	calls     map[string]tool.Call    // allowed ones, by the file's id
	untold    map[string]bool         // by the file's id: calls that the door did not see
}

// asked is something a person can answer.
type asked struct{ session, id string }

// Run plays the scenario through a door. The error says that it could not be played
// to its end; expectations that did not hold are in the report.
func (s *Scenario) Run(ctx context.Context, rig Rig) (report *Report, err error) {
	preset := cmp.Or(s.fixed, rig.Preset, Shipped())
	set, faults, err := s.load(policyFile, preset)
	if err != nil {
		return nil, err
	}
	store, err := rig.Store()
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	w, err := newWorld(s, store, set, preset)
	if err != nil {
		return nil, err
	}
	r := &run{
		s: s, preset: preset, rig: rig, world: w, report: &Report{},
		senders: map[string]trust.Sender{}, calls: map[string]tool.Call{}, untold: map[string]bool{},
	}
	r.report.run = r
	r.checkWarnings(faults)
	if r.door, err = rig.Door(w); err != nil {
		return nil, fmt.Errorf("open door: %w", err)
	}
	defer func() { err = errors.Join(err, r.close()) }()
	for i := range s.Steps {
		if err := r.play(ctx, &s.Steps[i]); err != nil {
			return r.report, err
		}
	}
	r.checkCounsel()
	return r.report, nil
}

func (r *run) close() error {
	if c, ok := r.door.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

func (r *run) miss(m Mismatch) { r.report.Missed = append(r.report.Missed, m) }

// warningsOf is the warnings file of one preset, where it warns of something else.
func warningsOf(preset string) string { return warningsFile + "." + preset }

// checkWarnings compares what the policy's author is warned about with the warnings
// file; without one there must be no warning. That a taintPolicy switches the table of a
// preset off is told of a preset the story was put on by us: its author chose none.
func (r *run) checkWarnings(faults policy.Faults) {
	faults = slices.DeleteFunc(slices.Clone(faults), func(f policy.Fault) bool {
		return f.Warning && strings.HasPrefix(f.Text, "taintPolicy switches the table of "+r.preset+" off")
	})
	name := warningsFile
	if _, own := r.s.files[warningsOf(r.preset)]; own {
		name = warningsOf(r.preset)
	}
	line := max(r.s.files[name].line, 1)
	m := Mismatch{Pos: configfile.Pos{File: r.s.Name, Line: line}, Step: policyFile, Key: "warnings"}
	r.compareFile(m, name, faults.Error())
}

// errUnasked says that a step answers something nobody has asked.
var errUnasked = errors.New("nobody has asked")

func (r *run) play(ctx context.Context, st *Step) error {
	o, err := r.do(ctx, st)
	unasked, moot := errors.Is(err, errUnasked), st.Expected(r.preset).Unasked
	switch {
	case unasked && len(r.report.Unseen) > 0: // asked in a step that the door did not see
		r.report.Unseen = append(r.report.Unseen, st.Pos)
		r.report.Outcomes = append(r.report.Outcomes, Outcome{})
		return nil
	case unasked && !moot:
		r.miss(Mismatch{Pos: st.Pos, Step: st.name(), Got: err.Error()})
		r.report.Outcomes = append(r.report.Outcomes, Outcome{Unasked: true})
		return nil
	case moot && !unasked && err == nil:
		r.miss(Mismatch{Pos: st.Pos, Step: st.name(), Got: "it can be played, though it is marked as unasked"})
	case moot && unasked:
		r.report.Outcomes = append(r.report.Outcomes, Outcome{Unasked: true})
		return nil
	case errors.Is(err, ErrUnseen):
		r.report.Unseen = append(r.report.Unseen, st.Pos)
		r.report.Outcomes = append(r.report.Outcomes, Outcome{})
		return nil
	case failure(err) != "":
		o.Error = failure(err)
	case err != nil:
		return fmt.Errorf("%s:%d: %s: %w", st.Pos.File, st.Pos.Line, st.name(), err)
	}
	r.report.Outcomes = append(r.report.Outcomes, o)
	r.check(st, &o)
	return nil
}

func (r *run) do(ctx context.Context, st *Step) (Outcome, error) {
	switch st.Verb {
	case VerbTurn, VerbSay, VerbSpawn, VerbFork:
		return r.begin(ctx, st)
	case VerbModel:
		call := st.Model
		call.Ref = st.Ref
		return r.door.Model(ctx, call)
	case VerbWants:
		return r.wants(ctx, st)
	case VerbCall:
		return r.call(ctx, st)
	case VerbResult:
		return r.result(ctx, st)
	case VerbEnd:
		end := st.End
		end.Ref = st.Ref
		return r.door.End(ctx, end)
	}
	return r.around(ctx, st)
}

func (r *run) begin(ctx context.Context, st *Step) (Outcome, error) {
	t := st.Turn
	t.Ref = st.Ref
	r.inherit(st, &t)
	r.senders[t.Ref.Session] = t.Sender
	t.HostTools = tool.Usual(nil) // the names of tools in scenarios are ours
	if t.Message != nil {
		text, err := r.expand(*t.Message)
		if err != nil {
			return Outcome{}, err
		}
		t.Message = &text
	}
	return r.door.Begin(ctx, t)
}

// inherit fills in the sender where the verb says it goes without saying.
func (r *run) inherit(st *Step, t *engine.Turn) {
	given := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(k string) bool { return st.given[k] })
	}
	switch {
	case st.Verb == VerbSpawn && !given("provider"):
		t.Sender.Provider = r.senders[t.Sender.SpawnedBy].Provider
	case (st.Verb == VerbSay || st.Verb == VerbFork) && !given("provider", "sender", "owner", "group", "spawnedBy", "noMetadata"):
		t.Sender = r.senders[t.Ref.Session]
	case st.Verb == VerbSay && !given("provider"):
		t.Sender.Provider = r.senders[t.Ref.Session].Provider
	}
}

func (r *run) wants(ctx context.Context, st *Step) (Outcome, error) {
	h, ok := r.door.(Hearer)
	if !ok {
		return Outcome{}, ErrUnseen
	}
	return h.Wants(ctx, engine.ModelReply{Ref: st.Ref, Calls: st.Calls})
}

// call judges a call and, where it may run and its step says what it brings, observes
// that.
func (r *run) call(ctx context.Context, st *Step) (Outcome, error) {
	call := st.Call
	args, err := r.expand(string(call.Args))
	if err != nil {
		return Outcome{}, err
	}
	call.Args = []byte(args)
	o, err := r.door.Call(ctx, st.Ref, call)
	if err != nil {
		r.untold[call.ID] = errors.Is(err, ErrUnseen)
		return o, err
	}
	if o.Code != "" && !slices.Contains(r.codes, o.Code) {
		r.codes = append(r.codes, o.Code)
		r.questions = append(r.questions, asked{st.Ref.Session, o.Question})
	}
	if o.Write != "" && !slices.Contains(r.writes, asked{st.Ref.Session, o.Write}) {
		r.writes = append(r.writes, asked{st.Ref.Session, o.Write})
	}
	if o.Verdict != "allow" {
		return o, nil
	}
	r.calls[call.ID] = call
	if st.Result != nil {
		_, err = r.door.Result(ctx, observation(st.Ref, call, st.Result))
	}
	return o, err
}

// result observes what a call above brings; a call that was held brings nothing.
func (r *run) result(ctx context.Context, st *Step) (Outcome, error) {
	if st.Result.Of == "" {
		call := tool.Call{Name: st.Result.Tool, Args: st.Result.Args}
		return r.door.Result(ctx, observation(st.Ref, call, st.Result))
	}
	call, ran := r.calls[st.Result.Of]
	switch {
	case r.untold[st.Result.Of]:
		return Outcome{}, ErrUnseen
	case !ran:
		return Outcome{}, nil
	}
	return r.door.Result(ctx, observation(st.Ref, call, st.Result))
}

func observation(ref engine.Ref, call tool.Call, res *Result) engine.Observation {
	return engine.Observation{
		Ref: ref, From: res.From,
		Result: tool.Result{CallID: call.ID, Name: call.Name, Args: call.Args, Content: []byte(res.Content), Error: res.Failed},
	}
}

var codeName = regexp.MustCompile(`\$code[0-9]*`)

// expand puts codes in for their names: $code1 is the first one shown, $code the latest.
func (r *run) expand(text string) (string, error) {
	var err error
	out := codeName.ReplaceAllStringFunc(text, func(name string) string {
		n := len(r.codes)
		if digits := strings.TrimPrefix(name, "$code"); digits != "" {
			n, _ = strconv.Atoi(digits)
		}
		if n < 1 || n > len(r.codes) {
			err = fmt.Errorf("there is no %s: %d codes so far: %w", name, len(r.codes), errUnasked)
			return name
		}
		return r.codes[n-1]
	})
	return out, err
}

// unexpand puts names in for codes and held writes, so that a text can be compared with a file.
func (r *run) unexpand(text string) string {
	for i, code := range r.codes {
		text = strings.ReplaceAll(text, code, fmt.Sprintf("$code%d", i+1))
	}
	for i, w := range r.writes {
		text = strings.ReplaceAll(text, w.id, fmt.Sprintf("$write%d", i+1))
	}
	return text
}
