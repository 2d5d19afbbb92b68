package box

import (
	"cmp"
	"slices"
	"strings"
)

// outcome is what a file may hold after a call.
type outcome struct {
	text  string
	after uint64
}

// outcomes are what the calls after the one that made a file what it is may have left of it: all of them up to one, or one alone, since
// a call that was allowed may have failed. base is nil where there was no file.
func outcomes(base *string, after uint64, path string, orders []Order) []outcome {
	var out []outcome
	orders = slices.DeleteFunc(slices.Clone(orders), func(o Order) bool { return o.Path != path || o.Number <= after })
	slices.SortFunc(orders, func(a, b Order) int { return cmp.Compare(a.Number, b.Number) })
	now := base
	for i := range orders {
		for j, from := range []*string{now, base} {
			if j > 0 && now == base {
				continue
			}
			if text, ok := orders[i].done(from); ok {
				out = append(out, outcome{text, orders[i].Number})
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
