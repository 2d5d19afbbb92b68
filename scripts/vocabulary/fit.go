package main

import "slices"

// rounds is how often the words are moved; they hardly move after that.
const rounds = 10

// pull is how much all its relations together may count against a word's own company.
const pull = 1.5

// fit draws words that mean the same together and opposites apart, each word staying near
// where its own company put it (retrofitting, Faruqui et al. 2015).
func (v *vectors) fit(n *net) {
	links := make([][]link, len(v.rows))
	for i, to := range n.links {
		for j, w := range to {
			links[i] = append(links[i], link{to: j, weight: w})
		}
		total := 0.0
		for _, w := range to {
			total += max(w, 0)
		}
		for k := range links[i] {
			if links[i][k].weight > 0 {
				links[i][k].weight *= pull / max(pull, total)
			}
		}
		slices.SortFunc(links[i], func(a, b link) int { return a.to - b.to }) // sums depend on the order
	}
	first := make([][]float64, len(v.rows))
	for i, row := range v.rows {
		unit(row)
		first[i] = slices.Clone(row)
	}
	for range rounds {
		next := make([][]float64, len(v.rows))
		for i, row := range first {
			moved := slices.Clone(row)
			for _, l := range links[i] {
				for k, x := range v.rows[l.to] {
					moved[k] += l.weight * x
				}
			}
			unit(moved)
			next[i] = moved
		}
		v.rows = next
	}
}
