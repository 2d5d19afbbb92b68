package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/source"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Rig is what a scenario runs on.
type Rig struct {
	Store func() (tidemark.Store, error)
	Door  func(*World) (Door, error)
}

// Report is what a run found.
type Report struct {
	Outcomes []Outcome  // one per step
	Missed   []Mismatch // expectations that did not hold, in the order of the file
	Unseen   []source.Pos
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
	rig    Rig
	world  *World
	door   Door
	report *Report

	codes     []string // in the order they were first shown
	questions []asked
	writes    []asked
	senders   map[string]trust.Sender // of each session's last turn
	calls     map[string]tool.Call    // allowed ones, by the file's id
}

// asked is something a person can answer.
type asked struct{ session, id string }

// Run plays the scenario through a door. The error says that it could not be played
// to its end; expectations that did not hold are in the report.
func (s *Scenario) Run(ctx context.Context, rig Rig) (report *Report, err error) {
	set, faults, err := s.load(policyFile)
	if err != nil {
		return nil, err
	}
	store, err := rig.Store()
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	w, err := newWorld(s, store, set)
	if err != nil {
		return nil, err
	}
	r := &run{
		s: s, rig: rig, world: w, report: &Report{},
		senders: map[string]trust.Sender{}, calls: map[string]tool.Call{},
	}
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
	return r.report, nil
}

func (r *run) close() error {
	if c, ok := r.door.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

func (r *run) miss(m Mismatch) { r.report.Missed = append(r.report.Missed, m) }

// checkWarnings compares what the policy's author is warned about with the warnings
// file; without one there must be no warning.
func (r *run) checkWarnings(faults source.Faults) {
	line := max(r.s.files[warningsFile].line, 1)
	m := Mismatch{Pos: source.Pos{File: r.s.Name, Line: line}, Step: policyFile, Key: "warnings"}
	r.compareFile(m, warningsFile, faults.Error())
}

func (r *run) play(ctx context.Context, st *Step) error {
	o, err := r.do(ctx, st)
	switch {
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

// around is what happens around the agent: people, time, the monitor itself.
func (r *run) around(ctx context.Context, st *Step) (Outcome, error) {
	desk, window := r.people()
	switch st.Verb {
	case VerbAnswer:
		return r.answer(ctx, desk, st)
	case VerbReview:
		w, err := pick(r.writes, st.Vote.Number, "write")
		if err != nil {
			return Outcome{}, err
		}
		return Outcome{}, desk.Review(ctx, w.session, w.id, st.Vote.Yes)
	case VerbReset:
		return Outcome{}, desk.Reset(ctx, st.Ref)
	case VerbRevoke:
		return Outcome{}, r.revoke(ctx, desk, st)
	case VerbState:
		return window.State(ctx, st.Ref)
	case VerbGraph:
		return r.graph(ctx, window, st)
	case VerbReload:
		return Outcome{}, r.reload(ctx, st)
	case VerbRestart:
		return Outcome{}, r.restart()
	case VerbWait:
		r.world.now = r.world.now.Add(st.Wait)
	}
	return Outcome{}, nil
}

// people are the desk and the window of the door, or the monitor's own.
func (r *run) people() (Desk, Window) {
	engine := &Engine{monitor: r.world.Monitor}
	desk, isDesk := r.door.(Desk)
	if !isDesk {
		desk = engine
	}
	window, isWindow := r.door.(Window)
	if !isWindow {
		window = engine
	}
	return desk, window
}

func (r *run) begin(ctx context.Context, st *Step) (Outcome, error) {
	t := st.Turn
	t.Ref = st.Ref
	r.inherit(st, &t)
	r.senders[t.Ref.Session] = t.Sender
	if t.Message != nil {
		text := r.expand(*t.Message)
		t.Message = &text
	}
	return r.door.Begin(ctx, t)
}

// inherit fills in the sender where the verb says it goes without saying.
func (r *run) inherit(st *Step, t *tidemark.Turn) {
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
	return h.Wants(ctx, tidemark.Asked{Ref: st.Ref, Calls: st.Calls})
}

// call judges a call and, where it may run and its step says what it brings, observes
// that.
func (r *run) call(ctx context.Context, st *Step) (Outcome, error) {
	call := st.Call
	o, err := r.door.Call(ctx, st.Ref, call)
	if err != nil {
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
	if !ran {
		return Outcome{}, nil
	}
	return r.door.Result(ctx, observation(st.Ref, call, st.Result))
}

func observation(ref tidemark.Ref, call tool.Call, res *Result) tidemark.Observation {
	return tidemark.Observation{
		Ref: ref, From: res.From,
		Result: tool.Result{CallID: call.ID, Name: call.Name, Args: call.Args, Content: []byte(res.Content), Error: res.Failed},
	}
}

func (r *run) answer(ctx context.Context, desk Desk, st *Step) (Outcome, error) {
	q, err := pick(r.questions, st.Vote.Number, "question")
	if err != nil {
		return Outcome{}, err
	}
	return desk.Answer(ctx, tidemark.Vote{
		Session: q.session, IDs: []string{q.id}, Approve: st.Vote.Yes, For: time.Duration(st.Vote.Minutes) * time.Minute, By: by, Via: via,
	})
}

// revoke ends the session's latest grant.
func (r *run) revoke(ctx context.Context, desk Desk, st *Step) error {
	v, err := r.world.Monitor.View(ctx, st.Ref.Session)
	if err != nil {
		return err
	}
	if len(v.Grants) == 0 {
		return fmt.Errorf("revoke grant: %w", tidemark.ErrNotFound)
	}
	return desk.Revoke(ctx, st.Ref.Session, v.Grants[len(v.Grants)-1].ID)
}

func (r *run) graph(ctx context.Context, window Window, st *Step) (Outcome, error) {
	text, err := window.Picture(ctx, st.Ref.Session, st.Ref.Turn)
	if err != nil {
		return Outcome{}, err
	}
	r.compareFile(Mismatch{Pos: st.Pos, Step: st.name(), Key: st.File}, st.File, text)
	return Outcome{Picture: text}, nil
}

func (r *run) reload(ctx context.Context, st *Step) error {
	set, faults, err := r.s.load(st.File)
	if err != nil {
		return err
	}
	if len(faults) > 0 {
		return fmt.Errorf("policy %s: %w", st.File, faults)
	}
	r.world.next = set
	if d, ok := r.door.(Reloader); ok {
		return d.Reload(ctx)
	}
	r.world.Apply()
	return nil
}

// restart loses everything but the log.
func (r *run) restart() error {
	if err := r.close(); err != nil {
		return err
	}
	if err := r.world.boot(); err != nil {
		return err
	}
	var err error
	r.door, err = r.rig.Door(r.world)
	return err
}

// pick is the nth thing a person can answer; 0 is the latest.
func pick(from []asked, n int, what string) (asked, error) {
	if n == 0 {
		n = len(from)
	}
	if n < 1 || n > len(from) {
		return asked{}, fmt.Errorf("there is no %s %d: %d so far", what, n, len(from))
	}
	return from[n-1], nil
}

var codeName = regexp.MustCompile(`\$code[0-9]*`)

// expand puts codes in for their names: $code1 is the first one shown, $code the latest.
func (r *run) expand(text string) string {
	return codeName.ReplaceAllStringFunc(text, func(name string) string {
		n := len(r.codes)
		if digits := strings.TrimPrefix(name, "$code"); digits != "" {
			n, _ = strconv.Atoi(digits)
		}
		if n < 1 || n > len(r.codes) {
			return name
		}
		return r.codes[n-1]
	})
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
