package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"time"

	"github.com/tidemark/tidemark/policy"
)

// Options say how runs are replayed.
type Options struct {
	Policy  *policy.Set
	Other   *policy.Set // a second policy, to compare with; nil: none
	Person  Person
	Both    bool // compare with the same policy and a person who says yes for the task, where the recording does not say
	Workers int  // 0: one for each core
	// Hosts are those whose session files are read, by their format.
	Hosts map[Format]Host
	// Beat is told how many bytes of a recording have been played, while a long one is; several
	// workers call it. Nil: nobody wants to know.
	Beat func(bytes int)
}

// Host is what is known of a host that writes session files: what its hook says live.
type Host struct {
	// Name says what policy calls a tool of the host and its arguments; nil: what the host does.
	Name func(name string, args []byte) (string, []byte)
	// Tools are the host's own, and Control those by which it steers itself, by the names of policy.
	Tools, Control []string
}

// Outcome is one run replayed.
type Outcome struct {
	ID    string
	Calls []Decision
	Other []Decision // under the other policy
	Err   error      // the run could not be read or replayed; then there are no calls
	Bytes int        // of the recording, in the first outcome of its unit
}

// Each replays every unit, several at a time, and hands the outcomes over in the order
// of the units. It stops at the first error of yield, of the units or of ctx; a run that
// is no good is an outcome. It does not wait for units that block while it stops.
func Each(ctx context.Context, units iter.Seq2[Unit, error], o Options, yield func(Outcome) error) error {
	if o.Policy == nil {
		return errors.New("replay: no policy")
	}
	n := o.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()
	queue, work := make(chan job, 4*n), make(chan job, n)
	go feed(ctx, units, queue, work)
	known := &catalogue{}
	for range n {
		workers.Go(func() {
			for j := range receive(ctx, work) {
				j.done <- o.unit(ctx, &j.unit, known)
				close(j.done)
			}
		})
	}
	for j := range receive(ctx, queue) {
		if j.err != nil {
			return j.err
		}
		for outs := range receive(ctx, j.done) {
			for _, out := range outs {
				if err := yield(out); err != nil {
					return err
				}
			}
		}
	}
	return ctx.Err()
}

// receive is a channel's values until it is closed or ctx ends.
func receive[T any](ctx context.Context, from <-chan T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
				return
			case v, more := <-from:
				if !more || !yield(v) {
					return
				}
			}
		}
	}
}

// job is a unit on its way, in the queue (which keeps the order) and at a worker.
type job struct {
	unit Unit
	err  error
	done chan []Outcome
}

// feed puts units into the queue and hands them to the workers, until ctx ends.
func feed(ctx context.Context, units iter.Seq2[Unit, error], queue, work chan<- job) {
	defer close(queue)
	defer close(work)
	for u, err := range units {
		j := job{unit: u, err: err, done: make(chan []Outcome, 1)}
		if err == nil && !send(ctx, work, j) {
			return
		}
		j.unit = Unit{}
		if !send(ctx, queue, j) || err != nil {
			return
		}
	}
}

func send(ctx context.Context, to chan<- job, j job) bool {
	select {
	case to <- j:
		return true
	case <-ctx.Done():
		return false
	}
}

// unit reads and replays what is in a unit.
func (o *Options) unit(ctx context.Context, u *Unit, known *catalogue) []Outcome {
	runs, err := u.runs(known)
	if err != nil {
		return []Outcome{{Err: err, Bytes: u.Size}}
	}
	out := make([]Outcome, 0, len(runs))
	for i := range runs {
		one := o.Run(ctx, &runs[i])
		if one.Err != nil {
			one.Err = &PlaceError{u.place(0), one.Err}
		}
		out = append(out, one)
	}
	if len(out) > 0 {
		out[0].Bytes = u.Size
	}
	return out
}

// Run replays one run, under both policies where there are two.
func (o *Options) Run(ctx context.Context, run *Run) Outcome {
	out := Outcome{ID: run.ID}
	if h, known := o.Hosts[run.Format]; known {
		run.of(&h)
	}
	person := o.Person
	person.beat = o.Beat
	var err error
	out.Calls, err = Play(ctx, o.Policy, person, run)
	other, person := o.Other, o.Person
	if o.Both {
		other, person.Tasks = o.Policy, true
	}
	if err == nil && other != nil {
		out.Other, err = Play(ctx, other, person, run)
	}
	if err != nil {
		return Outcome{ID: run.ID, Err: fmt.Errorf("run %q: %w", run.ID, err)}
	}
	return out
}

// of gives a run the names policy knows, and the tools that are its host's.
func (r *Run) of(h *Host) {
	r.Format = "" // done
	r.HostTools, r.ControlTools = h.Tools, h.Control
	if h.Name != nil {
		r.rename(h.Name)
	}
}

// rename gives calls and results the names policy knows.
func (r *Run) rename(name func(string, []byte) (string, []byte)) {
	for i := range r.Events {
		switch e := &r.Events[i]; {
		case e.Call != nil:
			e.Call.Tool, e.Call.Args = name(e.Call.Tool, e.Call.Args)
		case e.Result != nil && e.Result.Of == nil && e.Result.Tool != "":
			e.Result.Tool, _ = name(e.Result.Tool, []byte("{}"))
		}
	}
}

// Speed replays runs, several at a time, and says how many a second.
func Speed(ctx context.Context, o Options, runs []Run) (perSecond float64, err error) {
	n := o.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	start := time.Now()
	var workers sync.WaitGroup
	failed := make([]error, n)
	for w := range n {
		workers.Go(func() {
			for i := w; i < len(runs); i += n {
				if out := o.Run(ctx, &runs[i]); out.Err != nil {
					failed[w] = out.Err
					return
				}
			}
		})
	}
	workers.Wait()
	return float64(len(runs)) / time.Since(start).Seconds(), errors.Join(failed...)
}
