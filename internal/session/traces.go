package session

import "github.com/tidemark/tidemark/event"

// The bounds on what a session's log keeps for judgement.
const (
	maxTraces  = 1024
	traceBytes = 256 << 10
)

// Traces are where the log holds what judgement needs of content. The zero Traces is none,
// and nothing is missing.
type Traces struct {
	At   []uint64 // the records that hold one, in order
	Lost bool     // of something nothing was kept, so that the rest is of no use

	bytes int
}

// Room reports whether a trace of that length will be kept.
func (t *Traces) Room(n int) bool { return !t.Lost && len(t.At) < maxTraces && t.bytes+n <= traceBytes }

// traced notes the trace in the event being folded, where one was needed.
func (s *State) traced(e *event.Event) {
	trace, needed := "", false
	switch {
	case e.Began != nil:
		trace, needed = e.Began.Trace, e.Began.Message != nil && !e.Began.Words
	case e.Kind == event.ContextSeen:
		trace, needed = e.Seen.Trace, e.Seen.Content != nil && !e.Seen.Words
	case e.Kind == event.ResultSeen:
		trace, needed = e.Seen.Trace, true
	case e.Decided != nil:
		trace = e.Decided.Trace
	case e.Kind == event.Answered:
		trace, needed = e.Answer.Trace, e.Answer.Verdict == "deny"
	}
	t := &s.Traces
	switch {
	case trace == "" && !needed:
	case trace == "" || !t.Room(len(trace)):
		*t = Traces{Lost: true}
	default:
		t.At, t.bytes = append(t.At, s.Version), t.bytes+len(trace)
	}
}
