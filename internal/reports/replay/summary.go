package replay

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
)

// maxRows bounds how many rules and tools are counted one by one: their names come from
// the recordings.
const maxRows = 2000

// Summary counts what was decided. The zero Summary is empty and ready.
type Summary struct {
	Runs    int `json:"runs"`
	Bad     int `json:"bad"`   // runs that could not be read or replayed; not among Runs
	Quiet   int `json:"quiet"` // runs without a question or a denial
	Calls   int `json:"calls"`
	Asks    int `json:"asks"`
	Denials int `json:"denials"`
	Stopped int `json:"stopped"` // runs with a question or a denial

	rows map[rowKey]*Row
}

// Row is one rule and tool.
type Row struct {
	Rule    string `json:"rule"`
	Tool    string `json:"tool"`
	Asks    int    `json:"asks"`
	Denials int    `json:"denials"`
	Runs    int    `json:"runs"` // in which it stopped something

	last int // run it was last counted in
}

type rowKey struct{ rule, tool string }

// Add counts a run.
func (s *Summary) Add(o *Outcome) {
	if o.Err != nil {
		s.Bad++
		return
	}
	s.Runs++
	s.Calls += len(o.Calls)
	stops := 0
	for i := range o.Calls {
		d := &o.Calls[i]
		if !d.Stops() {
			continue
		}
		stops++
		r := s.row(d)
		if d.Decision == Ask {
			s.Asks++
			r.Asks++
		} else {
			s.Denials++
			r.Denials++
		}
		if r.last != s.Runs {
			r.last = s.Runs
			r.Runs++
		}
	}
	if stops == 0 {
		s.Quiet++
	} else {
		s.Stopped++
	}
}

func (s *Summary) row(d *Decision) *Row {
	if s.rows == nil {
		s.rows = map[rowKey]*Row{}
	}
	k := rowKey{d.Rule, d.Tool}
	if s.rows[k] == nil && len(s.rows) >= maxRows {
		k = rowKey{"(others)", "(others)"}
	}
	r := s.rows[k]
	if r == nil {
		r = &Row{Rule: k.rule, Tool: k.tool}
		s.rows[k] = r
	}
	return r
}

// Rows are the rules and tools that stopped calls, most often first.
func (s *Summary) Rows() []Row {
	out := make([]Row, 0, len(s.rows))
	for _, r := range s.rows {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Asks+b.Denials, a.Asks+a.Denials), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Tool, b.Tool))
	})
	return out
}

// AsksPerRun is the mean number of questions.
func (s *Summary) AsksPerRun() float64 { return float64(s.Asks) / float64(max(1, s.Runs)) }

// Targets are the calls that must be stopped: "run", or "run:step".
type Targets struct{ missing map[string]bool }

// NewTargets notes what must be stopped.
func NewTargets(names []string) *Targets {
	t := &Targets{missing: map[string]bool{}}
	for _, n := range names {
		t.missing[n] = true
	}
	return t
}

// Add looks at a run.
func (t *Targets) Add(o *Outcome) {
	if len(t.missing) == 0 {
		return
	}
	for i := range o.Calls {
		if d := &o.Calls[i]; d.Stops() {
			delete(t.missing, o.ID)
			delete(t.missing, o.ID+":"+strconv.Itoa(d.Step))
		}
	}
}

// Missed are those that were not stopped, or never came.
func (t *Targets) Missed() []string { return slices.Sorted(maps.Keys(t.missing)) }

// Change is a call about which two policies differ.
type Change struct {
	ID   string   `json:"id"`
	Step int      `json:"step"`
	Tool string   `json:"tool"`
	Was  Decision `json:"was"`
	Now  Decision `json:"now"` // under the other policy
}

// Stricter reports whether the other policy lets the agent do less.
func (c *Change) Stricter() bool { return rank(c.Now.Decision) > rank(c.Was.Decision) }

func rank(decision string) int { return slices.Index([]string{Allow, Confine, Ask, Deny}, decision) }

// Changes are the calls of a run on which the policies differ.
func (o *Outcome) Changes() []Change {
	var out []Change
	for i := range min(len(o.Calls), len(o.Other)) {
		if was, now := o.Calls[i], o.Other[i]; was.Decision != now.Decision {
			out = append(out, Change{ID: o.ID, Step: was.Step, Tool: was.Tool, Was: was, Now: now})
		}
	}
	return out
}
