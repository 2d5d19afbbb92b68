package shim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/settings"
)

// MaxInput bounds what an agent may send.
const MaxInput = 8 << 20

// DefaultTimeout is how long the shim takes at most where it does not wait for a person.
// It must be shorter than the agent's own limit: when that passes, tools run.
const DefaultTimeout = catalogue.DefaultTimeout

// Options say what one start of the shim is about.
type Options struct {
	Agent   string
	Event   string // for agents whose payload does not name it
	Data    string // the server's data folder
	Timeout time.Duration
	Wait    time.Duration // how long a held call may wait for its owner's answer
	Start   bool          // where no server runs, start the one that the data folder names
	// Sender is who speaks in prompts: "owner", or "unknown" where the agent is run by
	// something strangers can trigger. SpeakerHere finds out where nobody says.
	Sender string
	// Installed names the record of the installation that this hook is part of; "" where it
	// was put there by hand.
	Installed string
	Env       func(string) string // of this process; nil: there is none
	Etc       string              // what comes before the administrator's files; "" outside tests
	Root      string              // the folder of the project, where the agent says it besides the working folder
	// Ancestors are the processes that this one was started by, the nearest first, by the files of their programs; stop is the number of
	// one that is not among them, 0 if there is none such. nil, or none: they cannot be told.
	Ancestors func(stop int) []string
	// Words are the words of the command lines that these processes were started with, as far as they can be told.
	Words  func() []string
	EndBox func(data, session string) // ends the boxes of a session that is over; nil: they end by themselves
	In     io.Reader
}

// SpeakerHere is the sender to assume in this environment: the owner sits at the terminal,
// but nobody sits at a build machine's, and what starts it there is often a stranger's
// issue or pull request.
func SpeakerHere(getenv func(string) string) string {
	for _, name := range []string{"CI", "GITHUB_ACTIONS", "BUILD_BUILDID", "TF_BUILD", "JENKINS_URL"} {
		if v := getenv(name); v != "" && v != "0" && v != "false" {
			return "unknown"
		}
	}
	return "owner"
}

// Run reads one event and answers it. It always returns before the deadline.
func Run(ctx context.Context, o Options) Outcome {
	known, err := catalogue.Find(o.Agent)
	if err != nil {
		return Outcome{Stderr: clean("Tidemark: " + err.Error()), Code: catalogue.CodeRefuse}
	}
	a := adapter{known}
	if err := o.check(); err != nil {
		return a.fault(nil, err)
	}
	ctx, cancel := context.WithTimeout(ctx, o.limit())
	defer cancel()
	// The question is given up a little before the deadline, so that it can be answered in
	// the form of its event.
	inner, stop := context.WithTimeout(ctx, o.limit()-o.Timeout/8)
	defer stop()
	var event atomic.Pointer[catalogue.Event] // nil until it has been read: then whatever it is is refused
	done := make(chan Outcome, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- a.owe(o, event.Load(), fmt.Errorf("a bug in the hook, so this may not go on: %v", r))
			}
		}()
		done <- a.run(inner, o, &event)
	}()
	select {
	case out := <-done:
		return out
	case <-ctx.Done():
		return a.owe(o, event.Load(), late(ctx, o))
	}
}

// patience is how long a server may take to answer.
func (o *Options) patience() time.Duration { return o.Timeout + o.Wait - o.Timeout/8 }

// limit is all the time there is. That for starting a server comes on top: the question has its own.
func (o *Options) limit() time.Duration {
	if o.Start {
		return catalogue.StartTime + o.Timeout + o.Wait
	}
	return o.Timeout + o.Wait
}

func (o *Options) check() error {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	switch {
	case o.Timeout < 0 || o.Wait < 0:
		return errors.New("the time limit is negative")
	case o.Sender != "owner" && o.Sender != "unknown":
		return fmt.Errorf("unknown sender %q (want owner or unknown)", o.Sender)
	case o.Installed != "" && !settings.IsRecordName(o.Installed, o.Agent):
		return fmt.Errorf("%q is no record of %s", o.Installed, o.Agent)
	case o.In == nil:
		return errors.New("there is no input")
	}
	return nil
}

func late(ctx context.Context, o Options) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %v, so this may not go on", o.Timeout+o.Wait)
	}
	return errors.New("stopped before there was an answer, so this may not go on")
}

// run says which event it is as soon as it knows, so that a fault is answered in its form.
func (a adapter) run(ctx context.Context, o Options, known *atomic.Pointer[catalogue.Event]) Outcome {
	body, err := io.ReadAll(io.LimitReader(o.In, MaxInput+1))
	switch {
	case err != nil:
		return a.fault(nil, fmt.Errorf("read input: %w", err))
	case len(body) > MaxInput:
		return a.fault(nil, fmt.Errorf("read input: more than %d bytes", MaxInput))
	}
	e, err := a.Decode(o.Event, body)
	if err != nil {
		return a.fault(nil, err)
	}
	known.Store(e)
	if e.Kind == catalogue.Ignored {
		return a.answer(e, verdict{})
	}
	if o.reader() != "" {
		if out := a.reads(ctx, o, e); out != nil {
			return *out
		}
		o.Sender = "unknown" // whoever sets the variable loses by it: what is said here is nobody's, and nothing reads it
	}
	unnoted := errors.Join(a.relate(o, e), a.follow(e))
	if unnoted != nil && e.Kind != catalogue.Start { // of a start the server is told all the same
		return a.owe(o, e, unnoted)
	}
	s, err := serverFor(ctx, o, e)
	if err != nil {
		return a.owe(o, e, errors.Join(unnoted, err))
	}
	defer s.wire.close()
	asking, stop := context.WithTimeout(ctx, o.patience())
	defer stop()
	v, err := a.ask(asking, s, o, e)
	if asking.Err() != nil {
		err = late(asking, o)
	}
	if err := errors.Join(unnoted, err); err != nil {
		return a.owe(o, e, err)
	}
	return a.answer(e, v)
}

// owe answers a fault. A result that was not reported is noted, so that the session's
// next call is judged as if the worst had come back.
func (a adapter) owe(o Options, e *catalogue.Event, err error) Outcome {
	if e != nil && (e.Kind == catalogue.Result || e.Kind == catalogue.Return || e.Kind == catalogue.Loaded) {
		err = errors.Join(err, incur(o.Data, a.debtor(e)))
	}
	return a.fault(e, err)
}
