package event

// Pruning is that something was taken out of records of a session, and what is left of them.
type Pruning struct {
	Session string `json:"session"`
	Records int64  `json:"records"`         // that it took something out of
	Bytes   int64  `json:"bytes,omitzero"`  // that it took out
	Before  int64  `json:"before,omitzero"` // records older than this, Unix nanoseconds; 0: whatever their age
	Person  string `json:"person,omitzero"` // because this person is to be forgotten
	By      string `json:"by"`              // who did it
	Why     string `json:"why,omitzero"`

	// How many of the records lost what.
	Content   int64 `json:"content,omitzero"`
	Arguments int64 `json:"arguments,omitzero"`
	Previews  int64 `json:"previews,omitzero"`
	Events    int64 `json:"events,omitzero"`

	// All is how many records of the session something was taken out of by then, and Left covers what is left
	// of them (audit.Remainder), in hex.
	All  int64  `json:"all"`
	Left string `json:"left"`
}

// Of is how many records lost one kind of what can be pruned; nil: there is no such kind.
func (p *Pruning) Of(what string) *int64 {
	return map[string]*int64{
		PruneContent: &p.Content, PruneArguments: &p.Arguments, PrunePreviews: &p.Previews, PruneEvents: &p.Events,
	}[what]
}

// Hold is that a session, or whatever a person took part in, must not be pruned, or may be again.
type Hold struct {
	Session string `json:"session,omitzero"`
	Person  string `json:"person,omitzero"`
	Ended   bool   `json:"ended,omitzero"`
	By      string `json:"by"`
	Why     string `json:"why,omitzero"`
}

// Trace is what the event keeps for judgement, and the tool that brought it; both may be empty.
func (e *Event) Trace() (tool, trace string) {
	switch {
	case e.Began != nil:
		return "", e.Began.Trace
	case e.Seen != nil:
		return e.Seen.Tool, e.Seen.Trace
	case e.Decided != nil:
		return "", e.Decided.Trace
	case e.Answer != nil:
		return "", e.Answer.Trace
	}
	return "", ""
}

// What can be pruned of a record. Each is taken out by itself, and Events takes the others along.
const (
	PruneContent   = "content"   // what judgement keeps of what was read: traces, and what is sealed
	PruneArguments = "arguments" // of calls, and of writes that were held
	PrunePreviews  = "previews"  // texts: of messages, results and sources, and what was understood of them
	PruneEvents    = "events"    // everything but what the state of a session is folded from
)

// PruneKinds are all of them, the least first.
func PruneKinds() []string {
	return []string{PruneContent, PruneArguments, PrunePreviews, PruneEvents}
}
