package auditor

import (
	"sync"
	"time"

	"github.com/tidemark/tidemark/intent"
)

// Status is what became of the questions since the start. Every audit is counted as
// asked and as one of allowed, blocked, unsure and failed.
type Status struct {
	Name        string    `json:"name"`
	Asked       uint64    `json:"asked"`
	Allowed     uint64    `json:"allowed"`
	Blocked     uint64    `json:"blocked"`
	Unsure      uint64    `json:"unsure"`
	Failed      uint64    `json:"failed"`
	Cached      uint64    `json:"cached"`      // of those answered, without asking the model again
	Plans       uint64    `json:"plans"`       // tasks planned, or tried to
	PlansFailed uint64    `json:"plansFailed"` // of those
	Contracts   uint64    `json:"contracts"`   // wanted by calls
	Late        uint64    `json:"late"`        // of those, not there in time
	Undrawn     uint64    `json:"undrawn"`     // of those, failed
	Requests    uint64    `json:"requests"`    // sent to the endpoint, tries included
	TokensIn    uint64    `json:"tokensIn"`    // as far as the endpoint tells
	TokensOut   uint64    `json:"tokensOut"`   // likewise
	LastHour    int       `json:"lastHour"`    // requests, also before the start
	LastDay     int       `json:"lastDay"`     // likewise
	PerHour     int       `json:"perHour,omitzero"`
	PerDay      int       `json:"perDay,omitzero"`
	Breaker     string    `json:"breaker"` // closed, half-open, open
	LastError   string    `json:"lastError,omitzero"`
	LastErrorAt time.Time `json:"lastErrorAt,omitzero"`
	Since       time.Time `json:"failsSince,omitzero"` // it fails since; zero: its last answer came
}

// tally keeps a Status.
type tally struct {
	mu sync.Mutex
	s  Status // guarded by mu
}

func (t *tally) snapshot() Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.s
}

func (t *tally) audited(at time.Time, a intent.Answer, cached bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.Asked++
	switch {
	case err != nil:
		t.s.Failed++
		t.note(at, err)
	case a == intent.Consistent:
		t.s.Allowed++
	case a == intent.Inconsistent:
		t.s.Blocked++
	default:
		t.s.Unsure++
	}
	if cached {
		t.s.Cached++
	}
}

func (t *tally) planned(at time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.Plans++
	if err != nil {
		t.s.PlansFailed++
		t.note(at, err)
	}
}

func (t *tally) drew(at time.Time, late bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.Contracts++
	switch {
	case late:
		t.s.Late++
	case err != nil:
		t.s.Undrawn++
		t.note(at, err)
	}
}

func (t *tally) requested() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.Requests++
}

func (t *tally) cost(in, out int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.TokensIn += uint64(in)   // not below zero
	t.s.TokensOut += uint64(out) // likewise
}

// reached notes whether the endpoint works. Nobody waiting any more says nothing about it.
func (t *tally) reached(at time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case alive(err):
		t.s.Since = time.Time{}
	case t.s.Since.IsZero() && !cancelled(err):
		t.s.Since = at
	}
}

func (t *tally) noted(at time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note(at, err)
}

// note needs mu.
func (t *tally) note(at time.Time, err error) { t.s.LastError, t.s.LastErrorAt = err.Error(), at }
