package session

import (
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/trust"
)

// The bounds on what a session is told again from its log.
const (
	traceBytes = 8 << 20
	traceMost  = 1 << 20 // of one record
	traceLeast = 512     // that one counts for, however short it is: its record is read too
)

// TracesDue is how many bytes of traces may come before what was said and read is put aside, so that nothing falls out of what a session
// is told again that no checkpoint has.
const TracesDue = traceBytes / 8

// Traces are where the log holds what judgement needs of content. The zero Traces is none,
// and nothing is missing.
type Traces struct {
	At   []uint64 // the records that hold one, in order
	Lost bool     // of something nothing was kept, so that the rest is of no use
	Bare bool     // something from outside came in with a record that has none
	Left uint64   // the last record whose trace is not in At, because there are too many: a checkpoint made since has it; 0: none
	Sum  int      // counts the bytes of all there ever were

	older  int // how many of At are of the older half
	latest int // bytes of the other
}

// Partial reports whether the log tells less than was said and read.
func (t *Traces) Partial() bool { return t.Lost || t.Left > 0 }

// Room is how long a trace may be that will be kept; 0 is that none will.
func (t *Traces) Room() int {
	if t.Lost {
		return 0
	}
	return traceMost
}

// note adds a trace. In a long session the older half makes room.
func (t *Traces) note(at uint64, size int) {
	if size += traceLeast; len(t.At) > t.older && t.latest+size > traceBytes/2 {
		if t.older > 0 {
			t.Left = t.At[t.older-1]
		}
		t.At = append([]uint64(nil), t.At[t.older:]...)
		t.older, t.latest = len(t.At), 0
	}
	t.At, t.latest, t.Sum = append(t.At, at), t.latest+size, t.Sum+size
}

// traced notes the trace in the event being folded, where one was needed.
func (s *State) traced(e *event.Event) {
	trace, needed := "", false
	switch {
	case e.Began != nil:
		trace, needed = e.Began.Trace, e.Began.Message != nil && !e.Began.Words
		s.Traces.Bare = s.Traces.Bare || trace == "" && e.Began.Label.Level <= trust.External
	case e.Kind == event.ContextSeen:
		trace, needed = e.Seen.Trace, e.Seen.Content != nil && !e.Seen.Words
		s.Traces.Bare = s.Traces.Bare || trace == "" && e.Seen.Label.Level <= trust.External
	case e.Kind == event.ResultSeen:
		trace, needed = e.Seen.Trace, !e.Seen.Steered && e.Seen.Refused == ""
	case e.Kind == event.TurnSealed:
		trace = e.Seen.Trace
	case e.Decided != nil:
		trace = e.Decided.Trace
	case e.Kind == event.Answered:
		trace, needed = e.Answer.Trace, e.Answer.Verdict == "deny"
	}
	if e.Key != "" {
		s.Keys = append(s.Keys, e.Key)
	}
	t := &s.Traces
	switch {
	case trace == "" && !needed && !e.Forgot():
	case trace == "" || len(trace) > t.Room():
		*t = Traces{Lost: true}
	default:
		t.note(s.Version, len(trace))
	}
}
