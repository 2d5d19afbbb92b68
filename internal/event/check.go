package event

import "fmt"

// Check reports whether the event holds the payload its kind names.
func (e *Event) Check() error {
	holds, known := payloads[e.Kind]
	switch {
	case !known:
		return fmt.Errorf("unknown event kind %q", e.Kind)
	case !holds(e):
		return fmt.Errorf("event %s without its payload", e.Kind)
	}
	return nil
}

func began(e *Event) bool    { return e.Began != nil }
func seen(e *Event) bool     { return e.Seen != nil }
func modelled(e *Event) bool { return e.Model != nil }
func answered(e *Event) bool { return e.Answer != nil }
func boxed(e *Event) bool    { return e.Box != nil }

// payloads say for each kind whether an event holds what it must.
var payloads = map[Kind]func(*Event) bool{
	TurnBegan:   began,
	ContextSeen: seen, ResultSeen: seen, TurnSealed: seen,
	ModelCalled: modelled, ModelAnswered: modelled,
	CallDecided: func(e *Event) bool { return e.Decided != nil },
	Answered:    answered, TryFailed: answered, TrustReset: answered, WriteReviewed: answered, GrantRevoked: answered,
	TaskPlanned:   func(e *Event) bool { return e.Task != nil },
	ContractDrawn: func(e *Event) bool { return e.Contract != nil },
	Labelled:      func(e *Event) bool { return e.Resource != nil },
	LabelCleared:  func(e *Event) bool { return e.Resource != nil && e.Answer != nil },
	PersonActed:   func(e *Event) bool { return e.Person != nil },
	PinsChanged:   func(e *Event) bool { return e.Pins != nil },
	StandingSaid: func(e *Event) bool {
		return e.Standing != nil && (e.Answer != nil || e.Standing.Change == StandingUsed)
	},
	PairSaid:       func(e *Event) bool { return e.Pair != nil },
	StopSaid:       func(e *Event) bool { return e.Stop != nil && e.Answer != nil },
	SessionSpawned: func(e *Event) bool { return e.Spawned != nil },
	ToolsOffered:   func(e *Event) bool { return e.Offered != nil },
	LogPruned:      func(e *Event) bool { return e.Pruning != nil },
	HoldChanged:    func(e *Event) bool { return e.Hold != nil },
	BoxGiven:       boxed, BoxRedeemed: boxed, BoxEnded: boxed, SessionClosed: boxed,
}
