package keeper

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/broker"
	"github.com/tidemark/tidemark/internal/box/entry"
	"github.com/tidemark/tidemark/internal/box/relay"
	"github.com/tidemark/tidemark/internal/box/snapshot"
)

// shelf is the boxes that there are, by what they are for.
type shelf struct {
	o    Options
	mu   sync.Mutex
	held map[string]*held // guarded by mu
	used time.Time        // guarded by mu: when there was a box last
	over bool             // guarded by mu: no more boxes are made

	spare   *box.Spare // guarded by mu: the first process of the next box; nil: there is none just now
	filling bool       // guarded by mu: one is being started

	left func(*held) // is told of a box that has ended, while the keeper has not; nil: nobody is
}

// fill starts the first process of the next box, so that nobody has to wait for it.
func (s *shelf) fill() {
	s.mu.Lock()
	if s.over || s.filling || s.spare != nil {
		s.mu.Unlock()
		return
	}
	s.filling = true
	s.mu.Unlock()
	spare, err := box.Prepare(s.o.First)
	s.mu.Lock()
	s.filling = false
	if err == nil && !s.over {
		s.spare, spare = spare, nil
	}
	s.mu.Unlock()
	if err == nil && spare != nil {
		spare.End()
	}
}

// next is the first process of the next box; nil: one has to be started.
func (s *shelf) next() *box.Spare {
	s.mu.Lock()
	defer s.mu.Unlock()
	spare := s.spare
	s.spare = nil
	return spare
}

// open opens a box with the first process that waits, where there is one.
func (s *shelf) open(w box.Want) (*box.Box, error) {
	defer func() { go s.fill() }()
	w.Spare = s.next()
	b, err := box.Open(w)
	if err != nil && w.Spare != nil {
		go w.Spare.End() // where it was not used
	}
	return b, err
}

// held is one box, from the moment that somebody wants it.
type held struct {
	key    string
	grant  Grant
	ready  chan struct{} // closed when it is made, or could not be
	box    *box.Box
	err    error
	record record
	way    *way
	out    *relay.Relay
	pins   broker.Pins
	vouch  *broker.Vouch
	want   box.Want // what it was made with
	temp   temp

	keeping keeping

	mu       sync.Mutex
	used     time.Time // guarded by mu, as all below
	running  int
	commands int
	said     int   // how much of what was put aside was told
	ended    Ended // of the last command
	told     int   // how many files the monitor has heard of that were put aside
	closed   bool
	ticket   string // of the command that came last
}

// touch says that a box is about to be needed. It is false if none is made any more.
func (s *shelf) touch() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = time.Now().Add(grace)
	return !s.over
}

// errFragile is a box that does not live until a command is run in it.
var errFragile = errors.New("the box ended as soon as it was made")

// enter gives the box for a grant, which is made if there is none, and counts the caller as in it. leave counts them out. One whose
// processes somebody ended is made anew.
func (s *shelf) enter(g Grant, env []string) (*held, error) {
	for range 3 {
		if h, err := s.enterOnce(g, env); !errors.Is(err, errFragile) {
			return h, err
		}
	}
	return nil, errFragile
}

func (s *shelf) enterOnce(g Grant, env []string) (*held, error) {
	want, err := s.wanted(g, env)
	if err != nil {
		return nil, err
	}
	settings, err := strictjson.Marshal(g.Settings)
	if err != nil {
		return nil, fmt.Errorf("read the settings of the box: %w", err)
	}
	key := strings.Join([]string{g.Session, want.Workspace, string(settings)}, "\x00")
	s.mu.Lock()
	h := s.held[key]
	switch {
	case s.over:
		s.mu.Unlock()
		return nil, errors.New("the box keeper ends")
	case h == nil:
		h = &held{key: key, grant: g, ready: make(chan struct{}), used: time.Now(), way: &way{by: s.o.Asker}}
		h.keeping.begin()
		s.held[key] = h
		h.count(1)
		s.mu.Unlock()
		s.make(h, want)
	default:
		h.count(1)
		s.mu.Unlock()
	}
	h.by(g)
	<-h.ready
	if h.err != nil {
		s.drop(h)
		return nil, h.err
	}
	select {
	case <-h.box.Gone():
		h.count(-1)
		s.drop(h)
		return nil, errFragile
	default:
		h.bring(g.Temp, s.o.Say)
		return h, nil
	}
}

func (h *held) count(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running += n
	h.used = time.Now()
	if n > 0 {
		h.commands++
	}
}

func (s *shelf) leave(h *held) {
	if s.o.Used != nil && h.record.Snapshot != "" {
		s.o.Used(h.record.Snapshot)
	}
	h.count(-1)
}

// wanted is the box that a grant and its caller's environment ask for.
func (s *shelf) wanted(g Grant, env []string) (box.Want, error) {
	home, err := filepath.EvalSymlinks(s.o.Home)
	if err != nil {
		return box.Want{}, fmt.Errorf("find home folder: %w", err)
	}
	dir, err := filepath.EvalSymlinks(g.Workspace)
	if err != nil || !filepath.IsAbs(dir) {
		return box.Want{}, fmt.Errorf("the workspace %s cannot be found (%v)", g.Workspace, err) //nolint:errorlint // it may be nil
	}
	paths := func(list []string) []string {
		out := make([]string, 0, len(list))
		for _, p := range list {
			if below, ok := strings.CutPrefix(p, "~/"); ok {
				p = filepath.Join(home, below)
			}
			out = append(out, p)
		}
		return out
	}
	there := func(list []string) []string { // what is not on this machine cannot be given
		return slices.DeleteFunc(paths(list), func(p string) bool { _, err := os.Stat(p); return err != nil || !filepath.IsAbs(p) })
	}
	w := box.Want{
		Workspace: box.WorkspaceOf(dir, home), Home: home, State: filepath.Join(boxesIn(s.o.Data), "s-"+rand.Text()[:12]),
		Hide: append([]string{s.o.Data}, paths(g.Settings.Hide)...), Read: there(g.Settings.Read),
		Write: there(g.Settings.Write), Env: env, First: s.o.First, Layer: g.Settings.Layer,
	}
	for _, p := range paths(g.Settings.Guard) {
		if filepath.IsAbs(p) {
			if p, err = filepath.Rel(w.Workspace, p); err != nil {
				continue // it lies elsewhere
			}
		}
		w.Guard = append(w.Guard, filepath.Clean(p))
	}
	return w, nil
}

// make takes the snapshot and opens the box.
func (s *shelf) make(h *held, w box.Want) {
	defer close(h.ready)
	h.record = record{
		Session: h.grant.Session, Workspace: w.Workspace, Opened: time.Now(), Folder: w.State,
	}
	kept, err := s.o.Take(h.grant.Session, w.Workspace)
	if err != nil {
		h.err = fmt.Errorf("no snapshot of the workspace could be taken: %w", err)
		return
	}
	taken := time.Now()
	w.Guard = append(w.Guard, kept.Guard...)
	h.record.Snapshot = kept.Name
	h.pins = pinned(filepath.Join(s.o.Data, "pins"), h.grant.Session, w.Workspace, snapshot.Tracked(w.Workspace, isList))
	h.vouch = broker.Vouching(h.pins, w.Workspace)
	h.want = w
	h.out = s.wayOut(h)
	w.Out, w.Ordered = h.out, s.ordered(h, w.Workspace)
	if h.err = h.record.write(); h.err != nil {
		return
	}
	if h.box, h.err = s.open(w); h.err != nil {
		h.err = errors.Join(h.err, h.record.remove())
		return
	}
	s.o.Say("box for session %s in %s (snapshot %v, box %v)", h.grant.Session, w.Workspace,
		taken.Sub(h.record.Opened).Round(time.Millisecond), time.Since(taken).Round(time.Millisecond))
}

// wayOut is the only way out of a box: what the policy names may be read or reached, and all else is asked about.
func (s *shelf) wayOut(h *held) *relay.Relay {
	o := s.o.Relay
	if o.Machine == nil {
		o.Machine = services
	}
	o.Let, o.Hosts, o.Ports, o.Closed = h.way.decide, h.grant.Settings.Hosts, h.grant.Settings.Ports, nil
	if s.o.Closed != nil {
		o.Closed = s.o.Closed()
	}
	return relay.New(o)
}

// drop takes a box off the shelf and ends it.
func (s *shelf) drop(h *held) {
	s.mu.Lock()
	if s.held[h.key] == h {
		delete(s.held, h.key)
	}
	s.used = time.Now()
	s.mu.Unlock()
	s.close(h)
}

// close ends a box and takes down what it leaves. A second time it does nothing.
func (s *shelf) close(h *held) {
	<-h.ready
	if s.ends(h) && s.left != nil {
		s.left(h)
	}
}

// ends reports whether it left something for a person.
func (s *shelf) ends(h *held) bool {
	h.keeping.mu.Lock()
	defer h.keeping.mu.Unlock()
	h.mu.Lock()
	was := h.closed
	h.closed = true
	last, told := h.ended, h.told
	h.mu.Unlock()
	if was || h.box == nil {
		return false
	}
	report, err := h.box.Close()
	if err != nil {
		h.record.Fault = err.Error()
		s.o.Say("end the box of session %s: %v", h.grant.Session, err)
	}
	h.record.Ended = time.Now()
	for _, l := range report.Layer {
		h.record.Layer += l.Files
	}
	if err := h.record.settle(); err != nil {
		s.o.Say("take down what a box left: %v", err)
	}
	if last.Ticket != "" && len(report.Aside) > told { // what was found at the end only
		last.Report = report
		tell(s.o, last)
	}
	return len(report.Aside) > 0
}

// endIdle ends the boxes that nothing has run in since, and reports whether there has been none since then.
func (s *shelf) endIdle(since time.Time) bool {
	s.mu.Lock()
	var idle []*held
	for _, h := range s.held {
		h.mu.Lock()
		if h.running == 0 && h.used.Before(since) {
			idle = append(idle, h)
			delete(s.held, h.key)
		}
		h.mu.Unlock()
	}
	if len(s.held) > 0 || len(idle) > 0 {
		s.used = time.Now()
	}
	none := s.used.Before(since)
	s.over = s.over || none
	s.mu.Unlock()
	for _, h := range idle {
		s.close(h)
	}
	return none
}

// end ends the boxes of a session, or all, and returns what they were.
func (s *shelf) end(session string) []entry.Open {
	s.mu.Lock()
	var ending []*held
	for _, h := range s.held {
		if session == "" || h.grant.Session == session {
			ending = append(ending, h)
			delete(s.held, h.key)
		}
	}
	s.used = time.Now()
	s.mu.Unlock()
	return s.each(ending, func(h *held) { s.close(h) })
}

// endAll ends every box, and no other is made.
func (s *shelf) endAll() {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	if spare := s.next(); spare != nil {
		spare.End()
	}
	s.end("")
}

func (s *shelf) list() []entry.Open {
	s.mu.Lock()
	all := make([]*held, 0, len(s.held))
	for _, h := range s.held {
		all = append(all, h)
	}
	s.mu.Unlock()
	return s.each(all, nil)
}

// each describes boxes, and then does something with each.
func (s *shelf) each(list []*held, then func(*held)) []entry.Open {
	slices.SortFunc(list, func(a, b *held) int { return a.record.Opened.Compare(b.record.Opened) })
	out := []entry.Open{}
	for _, h := range list {
		<-h.ready
		if h.box != nil {
			out = append(out, h.describe())
		}
	}
	var all sync.WaitGroup
	for _, h := range list {
		if then != nil {
			all.Add(1)
			go func() { defer all.Done(); then(h) }()
		}
	}
	all.Wait()
	return out
}

func (h *held) describe() entry.Open {
	r := legible(h.box.Standing())
	h.mu.Lock()
	defer h.mu.Unlock()
	return entry.Open{
		Session: h.grant.Session, Workspace: h.record.Workspace, Opened: h.record.Opened, Used: h.used, Running: h.running,
		Commands: h.commands, Processes: r.Processes, Memory: memoryOf(h.box.Process()), Aside: r.Aside, Snapshot: h.record.Snapshot,
	}
}

// memoryOf is what a process holds of its own, in bytes; 0 where it cannot be told.
func memoryOf(pid int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	f := strings.Fields(string(text))
	if err != nil || len(f) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(f[1], 10, 64)
	shared, _ := strconv.ParseInt(f[2], 10, 64)
	return (resident - shared) * int64(os.Getpagesize())
}

// news is what was put aside since it was told last.
func (h *held) news() []string {
	aside := h.box.Aside()
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, a := range aside[min(h.said, len(aside)):] {
		out = append(out, strings.ToValidUTF8(fmt.Sprintf("%s would run elsewhere or later: it is put aside, in %s", a.Path, a.Kept), "?"))
	}
	h.said = len(aside)
	return out
}

// last takes down how the last command ended.
func (h *held) last(e Ended) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = e
}

// tells takes down of how many files that were put aside the monitor is told.
func (h *held) tells(aside int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = max(h.told, aside)
}

// grantOf is what the box of a session is for.
func (s *shelf) grantOf(session string) (Grant, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.held {
		if h.grant.Session == session {
			return h.grant, true
		}
	}
	return Grant{}, false
}
