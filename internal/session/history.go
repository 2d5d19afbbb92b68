package session

import (
	"slices"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// maxNames bounds how many distinct tool names a session counts one by one. An agent
// that invents names without end shares one counter after that.
const maxNames = 1024

type count struct{ calls, results, done, approved int64 }

func (s *State) count(name string) *count {
	c := s.counts[name]
	if c == nil {
		if len(s.counts) >= maxNames {
			name = ""
			if c = s.counts[name]; c != nil {
				return c
			}
		}
		c = &count{}
		s.counts[name] = c
	}
	return c
}

// resulted counts a result. A call of which nothing was begun was none.
func (s *State) resulted(seen *event.Seen) {
	c := s.count(seen.Tool)
	if seen.Refused != "" {
		c.calls = max(0, c.calls-1)
		return
	}
	if c.results++; !seen.Error {
		c.done++
	}
}

// Calls is how many calls of the tool were let through.
func (s *State) Calls(name string) int64 { return s.counted(name).calls }

// Results is how many results of the tool came back.
func (s *State) Results(name string) int64 { return s.counted(name).results }

// Done is how many results of the tool came back and were no error. A name that shares a counter with others was not seen to be done.
func (s *State) Done(name string) int64 {
	if c := s.counts[name]; c != nil && name != "" {
		return c.done
	}
	return 0
}

// Approved is how many calls of the tool ran because a person said so; of a name that shares a counter with others, none.
func (s *State) Approved(name string) int64 {
	if c := s.counts[name]; c != nil && name != "" {
		return c.approved
	}
	return 0
}

// The bounds on what rules have a session remember. A value beyond them counts as one that was there.
const (
	maxMarks  = 4096
	maxBounds = 64
)

// Marked is how many calls ran that a rule has the session remember by this mark.
func (s *State) Marked(mark string) int64 {
	if n := s.marks[mark]; n > 0 || len(s.marks) < maxMarks {
		return n
	}
	return 1
}

// Bounds are the rules whose readers may read what has come in.
func (s *State) Bounds() []string { return s.bounds }

// remember notes what rules want known of a call that runs.
func (s *State) remember(d *event.Decided) {
	if s.marks == nil && len(d.Marks) > 0 {
		s.marks = map[string]int64{}
	}
	for _, m := range d.Marks {
		if len(s.marks) < maxMarks || s.marks[m] > 0 {
			s.marks[m]++
		}
	}
	s.bind(d.Bounds)
}

// bind adds rules whose readers may read what has come in.
func (s *State) bind(rules []string) {
	for _, b := range rules {
		if len(s.bounds) >= maxBounds {
			b = "" // no rule is called that: nobody may
		}
		if !slices.Contains(s.bounds, b) {
			s.bounds = append(s.bounds[:len(s.bounds):len(s.bounds)], b)
		}
	}
}

// counted is what is known of a tool. One that shares the last counter with others has
// been used at most that often; a rule that limits it must not read 0.
func (s *State) counted(name string) count {
	if c := s.counts[name]; c != nil {
		return *c
	}
	if c := s.counts[""]; c != nil && len(s.counts) >= maxNames {
		return *c
	}
	return count{}
}

// Denied is how many calls were not let through.
func (s *State) Denied() int64 { return s.denied }

// Steps is how many calls were decided.
func (s *State) Steps() int64 { return s.steps }

// maxCautious bounds how many tools of a session can declare themselves cautioned. An
// agent with more of them is cautioned about those it names first.
const maxCautious = 256

// Cautious reports whether the tool asks for caution in its own definition (CAU-08).
func (s *State) Cautious(name string) bool { return s.cautious[name] }

// NewlyCautious are the normalised names that are not known yet.
func (s *State) NewlyCautious(names []string) []string {
	var out []string
	for _, n := range names {
		n = tool.Name(n)
		full := len(s.cautious)+len(out) >= maxCautious
		if n != "" && len(n) <= MaxName && !s.cautious[n] && !slices.Contains(out, n) && !full {
			out = append(out, n)
		}
	}
	return out
}

func (s *State) declared(names []string) {
	for _, name := range names {
		if s.cautious == nil {
			s.cautious = map[string]bool{}
		}
		s.cautious[name] = true
	}
}

// Word is where a message of the user's own is in the log.
type Word struct {
	Seq  uint64 // of its record
	Turn uint64 // in which it was said, counted from 1
	// Contract is what a model understood of it; nil: nobody has asked.
	Contract *event.Contract
	// Waited are the tools for whose calls it was read once more, or was to be.
	Waited []string
}

// said notes that the event being folded holds the user's own words.
func (s *State) said(words bool, c *event.Contract) {
	if words {
		s.Words, s.Repairs = append(s.Words, Word{Seq: s.Version, Turn: s.Turns, Contract: c}), 0
		s.Acts = Acts{}
	}
}

// agreed notes the contract of a message. One that was drawn stays: a message is understood
// once, unless a tool comes up that nobody knew.
func (s *State) agreed(c *event.Contract) {
	for i := len(s.Words) - 1; i >= 0; i-- {
		w := &s.Words[i]
		if w.Seq != c.Word {
			continue
		}
		if c.Added != nil {
			s.added(w, c)
		}
		switch {
		case w.Contract == nil || w.Contract.Failed != "", c.Added != nil && c.Failed == "":
			w.Contract = c
		case c.Added != nil && !c.Late: // there is no use in asking again
			kept := *w.Contract
			kept.Tools = append(slices.Clip(kept.Tools), c.Added.Tool)
			w.Contract = &kept
		}
		return
	}
}

// maxAdded bounds how many tools are remembered that nobody described.
const maxAdded = 64

// added notes a tool that came up, for this message and for those after it.
func (s *State) added(w *Word, c *event.Contract) {
	w.Waited = append(slices.Clip(w.Waited), c.Added.Tool)
	known := func(a event.AddedTool) bool { return a.Tool == c.Added.Tool }
	if !slices.ContainsFunc(s.Added, known) && len(s.Added) < maxAdded {
		s.Added = append(slices.Clip(s.Added), *c.Added)
	}
}

// Task is the constraints drawn up for what the user wants now. The zero Task is none.
type Task struct {
	Rules  *policy.Task // nil: none could be drawn up
	Words  int          // how many of the user's messages they cover
	Failed string       // why there are none
}

// readTask reads constraints back. Some that cannot be read are none, which is the
// stricter state.
func readTask(t *event.Task) Task {
	out := Task{Words: t.Words, Failed: t.Failed}
	if t.Failed != "" {
		return out
	}
	rules, err := policy.ParseTask([]byte(t.Rules))
	if err != nil {
		out.Failed = err.Error()
		return out
	}
	out.Rules = rules
	return out
}
