// Package experiment is a plugin that asks some sessions another model, or gives them another
// system prompt, and a report that says how both kinds fared. Which arm a session is in follows
// from its name alone: it is the same after a restart, on every server, and in the report.
//
// Two policies are compared otherwise: a candidate (`shadow` in the file) is asked about every call
// beside the one in force and never acts, so nobody is less protected for the sake of a trial. The
// report counts that too.
//
// The package is without I/O, clock and goroutines.
package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/tidemark/tidemark/hook"
)

// Arm is one side of an experiment.
type Arm string

// The arms: everything as it is, and everything with the change.
const (
	A Arm = "a"
	B Arm = "b"
)

// Options say what is tried.
type Options struct {
	Name  string // another name deals the sessions anew
	Share int    // percent of the sessions in arm b

	// What arm b has; empty: as it was.
	Model        string
	SystemPrompt string // in place of the host's
	Append       string // below the host's
}

// Experiment deals sessions. It is safe for concurrent use.
type Experiment struct{ o Options }

// New makes an experiment.
func New(o Options) (*Experiment, error) {
	switch {
	case o.Name == "":
		return nil, errors.New("new experiment: no name")
	case o.Share < 0 || o.Share > 100:
		return nil, errors.New("new experiment: the share is a percentage")
	case o.SystemPrompt != "" && o.Append != "":
		return nil, errors.New("new experiment: a system prompt is replaced or added to, not both")
	}
	return &Experiment{o}, nil
}

// Arm is the side a session is on.
func (x *Experiment) Arm(session string) Arm {
	sum := sha256.Sum256([]byte(x.o.Name + "\x00" + session))
	if binary.BigEndian.Uint64(sum[:8])%100 < uint64(max(0, x.o.Share)) {
		return B
	}
	return A
}

// Handler is the experiment as a plugin. A fault of it leaves a call as it was: it guards nothing.
func (x *Experiment) Handler() hook.Handler {
	return hook.Handler{Name: "experiment", FailOpen: true, On: hook.Handlers{
		BeforeLLMCall: func(_ context.Context, e *hook.BeforeLLMCall, c *hook.Context) (*hook.BeforeLLMCallResult, error) {
			if x.Arm(c.SessionKey) == A {
				return nil, nil
			}
			r := &hook.BeforeLLMCallResult{Model: x.o.Model}
			prompt := x.o.SystemPrompt
			if x.o.Append != "" {
				prompt = x.o.Append
				if e.SystemPrompt != "" {
					prompt = e.SystemPrompt + "\n\n" + x.o.Append
				}
			}
			if prompt != "" {
				r.SystemPrompt = &prompt
			}
			return r, nil
		},
	}}
}
