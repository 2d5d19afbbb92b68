package session

import (
	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/trust"
)

// The bounds on what a session's log keeps for judgement.
const (
	maxTraces  = 8192
	traceBytes = 4 << 20
	traceMost  = 1 << 20 // of one record
)

// Traces are where the log holds what judgement needs of content. The zero Traces is none,
// and nothing is missing.
type Traces struct {
	At   []uint64 // the records that hold one, in order
	Lost bool     // of something nothing was kept, so that the rest is of no use
	Bare bool     // something from outside came in with a record that has none

	bytes int
}

// Room is how long a trace may be that will be kept; 0 is that none will.
func (t *Traces) Room() int {
	if t.Lost || len(t.At) >= maxTraces {
		return 0
	}
	return min(traceMost, traceBytes-t.bytes)
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
		trace, needed = e.Seen.Trace, true
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
		t.At, t.bytes = append(t.At, s.Version), t.bytes+len(trace)
	}
}
