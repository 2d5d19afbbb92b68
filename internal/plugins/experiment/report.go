package experiment

import (
	"github.com/tidemark/tidemark/internal/event"
)

// Figures are how the sessions of one arm fared.
type Figures struct {
	Sessions   int     `json:"sessions"`
	Turns      int     `json:"turns"`
	ModelCalls int     `json:"modelCalls"`
	TokensIn   int64   `json:"tokensIn"`
	TokensOut  int64   `json:"tokensOut"`
	LatencyMs  float64 `json:"latencyMs"` // of a model call, on average
	Calls      int     `json:"calls"`
	Asked      int     `json:"asked"`
	Denied     int     `json:"denied"`
	Approved   int     `json:"approved"` // of those that were asked about
	Failed     int     `json:"failed"`   // tools that answered with an error
}

// Pair is what the policy in force and the candidate said about a call.
type Pair struct {
	InForce   string `json:"inForce"`
	Candidate string `json:"candidate"`
}

// Report compares arms, and policies.
type Report struct {
	Arms     map[Arm]*Figures `json:"arms"`
	Policies map[Pair]int     `json:"-"` // calls, by what both said

	arm  func(session string) Arm
	seen map[string]bool
}

// NewReport makes an empty one. Without an experiment every session is in arm a.
func NewReport(x *Experiment) *Report {
	r := &Report{Arms: map[Arm]*Figures{A: {}, B: {}}, Policies: map[Pair]int{}, seen: map[string]bool{}}
	r.arm = func(string) Arm { return A }
	if x != nil {
		r.arm = x.Arm
	}
	return r
}

// Add counts one event of a session.
func (r *Report) Add(session string, e *event.Event) {
	f := r.Arms[r.arm(session)]
	if !r.seen[session] {
		r.seen[session] = true
		f.Sessions++
	}
	switch e.Kind {
	case event.TurnBegan:
		f.Turns++
	case event.ModelAnswered:
		f.LatencyMs = (f.LatencyMs*float64(f.ModelCalls) + float64(e.Model.LatencyMs)) / float64(f.ModelCalls+1)
		f.ModelCalls++
		f.TokensIn += e.Model.TokensIn
		f.TokensOut += e.Model.TokensOut
	case event.CallDecided:
		r.decided(f, e.Decided)
	case event.ResultSeen:
		if e.Seen.Error {
			f.Failed++
		}
	}
}

func (r *Report) decided(f *Figures, d *event.Decided) {
	f.Calls++
	switch d.Effect {
	case "confirm":
		f.Asked++
	case "deny":
		f.Denied++
	}
	if d.Spent != "" {
		f.Approved++
	}
	if s := d.Shadow; s != nil {
		r.Policies[Pair{d.Effect, s.Effect}]++
	}
}
