// Package ordered tells what a file of a workspace may hold because calls of the session's own file tool were let, and makes files that
// nobody can write to unnoticed.
package ordered

import (
	"cmp"
	"slices"
	"strings"
)

// Order is what a call of the session's own file tool does to one file, because the monitor let it. The bytes that such a call leaves
// are the proof: whoever wrote them, they are what was allowed to stand there.
type Order struct {
	Number uint64 // later calls have larger ones
	Path   string // below the workspace
	Whole  bool   // it holds Text afterwards
	Text   string
	Edits  []Edit // else this is replaced in it, one after the other
}

// Edit is one replacement in a text: of the only place where Old stands, or of all.
type Edit struct {
	Old string `json:"old"`
	New string `json:"new"`
	All bool   `json:"all,omitzero"`
}

// Outcome is what a file may hold after a call.
type Outcome struct {
	Text  string
	After uint64 // the call
}

// Outcomes are what the calls after the one that made a file what it is may have left of it: all of them up to one, or one alone, since
// a call that was allowed may have failed. base is nil where there was no file.
func Outcomes(base *string, after uint64, path string, orders []Order) []Outcome {
	var out []Outcome
	orders = slices.DeleteFunc(slices.Clone(orders), func(o Order) bool { return o.Path != path || o.Number <= after })
	slices.SortFunc(orders, func(a, b Order) int { return cmp.Compare(a.Number, b.Number) })
	now := base
	for i := range orders {
		for j, from := range []*string{now, base} {
			if j > 0 && now == base {
				continue
			}
			if text, ok := orders[i].done(from); ok {
				out = append(out, Outcome{text, orders[i].Number})
			}
		}
		if text, ok := orders[i].done(now); ok {
			now = &text
		}
	}
	return out
}

// done is what a text becomes by an order; false: nothing that can be told.
func (o *Order) done(text *string) (string, bool) {
	switch {
	case o.Whole:
		return o.Text, true
	case text == nil && len(o.Edits) == 1 && o.Edits[0].Old == "": // that is how some tools make a file
		return o.Edits[0].New, true
	case text == nil || len(o.Edits) == 0:
		return "", false
	}
	now := *text
	for _, e := range o.Edits {
		switch n := strings.Count(now, e.Old); {
		case e.Old == "" || n == 0 || n > 1 && !e.All:
			return "", false
		}
		now = strings.ReplaceAll(now, e.Old, e.New)
	}
	return now, true
}

// Last is the last call that there was about a file.
func Last(path string, orders []Order) (n uint64) {
	for i := range orders {
		if orders[i].Path == path {
			n = max(n, orders[i].Number)
		}
	}
	return n
}
