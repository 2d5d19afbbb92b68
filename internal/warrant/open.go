package warrant

import (
	"slices"

	"github.com/tidemark/tidemark/internal/warrant/leaves"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
)

// Some tools take their arguments as one text of JSON. What stands in it is what the call is
// given, and is judged like any other value.

const mostOpened = 4 // texts in texts that are looked into; what is deeper is judged as a text

// opened are the values of a call with texts of JSON taken apart. What a tool is given as content or
// to run is one text, whatever it looks like.
func (j *judging) opened(values []leaves.Leaf) []leaves.Leaf {
	if j.workspace || !slices.ContainsFunc(values, leaves.MayOpen) {
		return values
	}
	return j.open(nil, values, 0)
}

func (j *judging) open(out, values []leaves.Leaf, depth int) []leaves.Leaf {
	for _, l := range values {
		role := j.tool().param(l.Path).unseen.Role
		if role != meaning.Content && role != meaning.Command && depth < mostOpened {
			if in, ok := leaves.Inside(&l); ok {
				out = j.open(out, in, depth+1)
				continue
			}
		}
		out = append(out, l)
	}
	return out
}
