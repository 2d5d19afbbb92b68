package waiting

import (
	"maps"
	"slices"

	"github.com/tidemark/tidemark/internal/engine"
)

// A session that asks and asks is one thing to look at: a list shows the first few of its calls and how many there are, so that
// those of the others are found, and all of them can be denied at once. Approving takes looking at each.
const (
	manyCalls = 8 // of one session: more are a flood
	FewCalls  = 5 // of a flood that are shown
)

// Flood is a session of which many calls wait.
type Flood struct {
	Session string
	Calls   int
}

// Floods are the sessions of which many calls wait, by their names.
func Floods(list []engine.Question) []Flood {
	var out []Flood
	all := bySession(list)
	for _, session := range slices.Sorted(maps.Keys(all)) {
		if n := all[session]; n > manyCalls {
			out = append(out, Flood{session, n})
		}
	}
	return out
}

// Window are so many of the calls that wait, the oldest, with few of each flood.
func Window(list []engine.Question, most int) []engine.Question {
	out, all := make([]engine.Question, 0, min(len(list), most)), bySession(list)
	shown := map[string]int{}
	for i := range list {
		q := &list[i]
		if !q.Pending() || len(out) == most || all[q.Session] > manyCalls && shown[q.Session] == FewCalls {
			continue
		}
		shown[q.Session]++
		out = append(out, *q)
	}
	return out
}

// bySession is how many calls of each session wait.
func bySession(list []engine.Question) map[string]int {
	out := map[string]int{}
	for i := range list {
		if list[i].Pending() {
			out[list[i].Session]++
		}
	}
	return out
}
