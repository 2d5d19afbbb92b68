package scenario

import (
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/policy"
)

// World is what a door is opened on: a monitor of its own with the scenario's clock,
// randomness and policy, and with the auditor and the verifier that the file scripts.
type World struct {
	Monitor *engine.Monitor
	Store   engine.Store

	now      atomic.Int64 // nanoseconds since the start; a door may still be finishing while a wait moves it
	random   io.Reader
	set      *policy.Set
	next     *policy.Set // waits for Apply
	advisers *advisers
	audits   bool // there is an auditor
	checks   bool // there is a verifier
}

// start is when every scenario begins.
func start() time.Time { return time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC) }

// Now is the scenario's clock: it stands still but for wait steps.
func (w *World) Now() time.Time { return start().Add(time.Duration(w.now.Load())) }

// Apply puts the policy that a reload step named in force.
func (w *World) Apply() {
	w.set = w.next
	w.Monitor.SetPolicy(w.set)
}

func newWorld(s *Scenario, store engine.Store, set *policy.Set, preset string) (*World, error) {
	w := &World{
		Store: store, set: set, next: set, random: rand.NewChaCha8(sha256.Sum256([]byte(s.Name))),
		advisers: newAdvisers(s.replies, preset),
	}
	_, w.audits = s.files[auditorFile]
	_, w.checks = s.files[verifierFile]
	return w, w.boot()
}

// boot builds the monitor, at the start and after a restart; all it knows is the log.
func (w *World) boot() (err error) {
	w.Monitor, err = w.Server(nil)
	return err
}

// Server makes a monitor over the world's log, as a server that starts there has one. One that is to
// run beside others is told what they share.
func (w *World) Server(shared engine.Shared) (*engine.Monitor, error) {
	o := engine.Options{
		Policy: w.set, Store: w.Store, Now: w.Now, Rand: w.random, Key: []byte("the key of all stories, 32 bytes"), Shared: shared,
	}
	if w.audits {
		o.Auditor = auditor{w.advisers}
	}
	if w.checks {
		o.Verifier = authority{w.advisers}
	}
	return engine.New(o)
}
