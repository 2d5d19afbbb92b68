// Package doctor finds out whether Tidemark really guards what it should: it asks the
// server, looks at tokens and the log, and sends through every door a call that must be
// blocked. It says in words what it found, what is open by nature, and what to do.
//
// It does I/O: HTTP to the server, files of the data folder, the hook program. It knows
// no adapter; stores and agents are handed to it.
//
// Invariants:
//   - the zero Grade is Broken: what nobody looked at is not good;
//   - a call that must be blocked and was not is never anything but Broken;
//   - nothing is changed, except that the tried calls are in the log;
//   - no token and nothing of a session's content is in a report.
package doctor

import (
	"context"
	"time"
)

// Grade is how a finding is meant. The zero value is the worst.
type Grade uint8

// The grades. The first two are faults.
const (
	Broken Grade = iota // does not work, or does not block
	Open                // works, and there is a case in which calls run without being asked about
	Limit               // no fault, but nobody should assume otherwise
	Off                 // not there, and nobody said it should be
	Good
)

var gradeNames = [...]string{"broken", "open", "limit", "off", "good"}

// String is the grade's name.
func (g Grade) String() string {
	if int(g) < len(gradeNames) {
		return gradeNames[g]
	}
	return gradeNames[Broken]
}

// MarshalText writes the name.
func (g Grade) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// Finding is one thing that was looked at.
type Finding struct {
	About string `json:"about"` // what was examined: server, tokens, store, approvals, hosts, doors, an agent's name, limits
	Name  string `json:"name"`
	Grade Grade  `json:"grade"`
	Text  string `json:"text"`
	Fix   string `json:"fix,omitzero"` // what to do about it
}

// Report is all that was found, in the order of the checks.
type Report struct {
	Findings []Finding `json:"findings"`
}

// Count is the number of findings of a grade.
func (r Report) Count(g Grade) int {
	n := 0
	for _, f := range r.Findings {
		if f.Grade == g {
			n++
		}
	}
	return n
}

// OK says that nothing is broken and nothing fails open. A report of nothing is not OK.
func (r Report) OK() bool {
	return len(r.Findings) > 0 && r.Count(Broken)+r.Count(Open) == 0
}

// Check is one examination.
type Check struct {
	Name string
	Run  func(ctx context.Context) []Finding
}

// limit is how long one check may take where it does not say itself.
const limit = 2 * time.Minute

// Examine runs the checks one after the other. Progress, which may be nil, is told what
// is looked at now.
func Examine(ctx context.Context, checks []Check, progress func(name string)) Report {
	r := Report{Findings: []Finding{}}
	for _, c := range checks {
		if progress != nil {
			progress(c.Name)
		}
		within, cancel := context.WithTimeout(ctx, limit)
		r.Findings = append(r.Findings, c.Run(within)...)
		cancel()
	}
	return r
}

// found collects the findings about one thing.
type found struct {
	about string
	list  []Finding
}

func (f *found) add(g Grade, name, text, fix string) {
	f.list = append(f.list, Finding{About: f.about, Name: name, Grade: g, Text: text, Fix: fix})
}
