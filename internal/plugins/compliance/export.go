package compliance

import (
	"iter"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
)

// Line is one line of an export: what the record has, or why the monitor decided as it did, or
// what a person answered.
type Line struct {
	Entry
	Decision *Decision `json:"decision,omitzero"`
	Answer   *Answer   `json:"answer,omitzero"`
}

// Decision is the monitor's.
type Decision struct {
	Verdict string `json:"verdict"`
	Kind    string `json:"kind,omitzero"`
	Rule    string `json:"rule"`
	Reason  string `json:"reason,omitzero"`
	Warrant string `json:"warrant,omitzero"`
	Taint   string `json:"taint"`
	Policy  string `json:"policy"`
	Asked   string `json:"asked,omitzero"` // the question
	Spent   string `json:"spent,omitzero"` // the approval it ran with
}

// Answer is a person's.
type Answer struct {
	By      string   `json:"by"`
	Via     string   `json:"via,omitzero"`
	Verdict string   `json:"verdict"`
	About   []string `json:"about,omitzero"`
	Reason  string   `json:"reason,omitzero"`
}

// Why is a record of the monitor's log as a line; others than decisions and answers are none.
func Why(r audit.Record) (line Line, ok bool) {
	e, err := event.FromRecord(r)
	if err != nil {
		return Line{}, false
	}
	line.Time, line.Session, line.Turn, line.Branch = time.Unix(0, e.Time).UTC(), r.Session, e.Turn, e.Branch
	switch e.Kind {
	case event.CallDecided:
		d := e.Decided
		line.Tool, line.Call = d.Tool, d.CallID
		line.Decision = &Decision{
			Verdict: d.Effect, Kind: d.Kind, Rule: d.Rule, Reason: d.Reason, Warrant: d.Warrant,
			Taint: d.Level.String(), Policy: d.Policy, Spent: d.Spent,
		}
		if d.Ask != nil {
			line.Decision.Asked = d.Ask.ID
		}
	case event.Answered, event.TrustReset, event.WriteReviewed, event.GrantRevoked:
		a := e.Answer
		line.Answer = &Answer{By: a.By, Via: a.Via, Verdict: a.Verdict, About: a.IDs, Reason: a.Reason}
		if e.Kind != event.Answered {
			line.Answer.Verdict = string(e.Kind)
		}
	default:
		return Line{}, false
	}
	return line, true
}

// Merge puts the record and the reasons in the order of time; both are in it already.
func Merge(record iter.Seq2[Entry, error], reasons iter.Seq2[Line, error]) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		next, stop := iter.Pull2(record)
		defer stop()
		e, err, more := next()
		before := func(t time.Time, all bool) bool {
			for more && (all || err != nil || e.Time.Before(t)) {
				if !yield(Line{Entry: e}, err) || err != nil {
					return false
				}
				e, err, more = next()
			}
			return true
		}
		for line, err := range reasons {
			if !before(line.Time, false) || !yield(line, err) || err != nil {
				return
			}
		}
		before(time.Time{}, true)
	}
}
