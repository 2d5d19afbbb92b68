package warrant

import (
	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
)

var (
	querying = list("querying")
	accounts = list("accounts")
)

// queries reports whether a call of a tool that executes what it is given is a query that only looks.
// It is one of the two places that make a call milder than its tool, so everything in the call must agree:
// the tool is one for queries, each order in it only looks, and nothing stands beside them but what the
// user or a record they named says. An argument that is added can only end this, never bring it about.
func (j *judging) queries(values []leaves.Leaf) bool {
	switch j.w.Deed {
	case Execute, Unknown, Read:
	default:
		return false
	}
	found := false
	for i := range values {
		l := &values[i]
		if l.Flag || l.Text == "" {
			continue
		}
		switch p := j.resolve(l); {
		case p.Role == meaning.Command && j.query(l):
			found = true
		case p.Role == meaning.Command, p.Role == meaning.Target, p.Role == meaning.Amount, p.Role == meaning.Credential:
			return false
		case l.Quoted:
			if e, _ := j.evidence(l.Text, false); e < Picked {
				return false
			}
		}
	}
	return found
}

// query reports whether an order is one that only looks, given to a tool that takes such orders: its
// definition has the parameter and calls it a query, or nobody told what it takes and its name does.
func (j *judging) query(l *leaves.Leaf) bool {
	if clis[j.m.Tool] {
		return looks(l.Text)
	}
	named := anyOf(leaves.NameWords(j.m.Tool), querying)
	if len(j.m.Params) > 0 {
		_, has := j.m.Param(l.Path)
		named = has && (named || querying[leaves.LastWord(l.Path)])
	}
	return named && sqlReads(l.Text)
}

// constant reports whether a value is a word of the interface and names nobody and nothing of its own. Words
// for oneself count as an aim only where the user speaks of themselves; for what cannot be taken back no
// constant says which thing is meant.
func (j *judging) constant(low string, aim bool) bool {
	if aim {
		return accounts[low] && j.c.user.speaksOfSelf()
	}
	return (constants[low] || accounts[low]) && !j.w.Deed.graverThan(Change)
}

var selves = list("selves")

// speaksOfSelf reports whether the user's own words name themselves.
func (h *heard) speaksOfSelf() bool {
	for w := range selves {
		if h.stems[w] {
			return true
		}
	}
	return false
}
