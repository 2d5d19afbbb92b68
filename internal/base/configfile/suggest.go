package configfile

import (
	"slices"
	"unicode"
)

// Suggest is a hint naming the known word closest to the one given, or "".
func Suggest(word string, known []string) string {
	if best := closest(word, known); best != "" {
		return "did you mean " + best + "?"
	}
	return ""
}

// closest is the known word fewest edits away, at most a third of its length;
// among equals the first in the alphabet, so that messages do not change.
func closest(word string, known []string) string {
	if len(word) > 64 {
		return ""
	}
	known = slices.Sorted(slices.Values(known))
	best, least := "", 0
	folded := fold(word)
	for _, k := range known {
		limit, other := max(len(k)/3, 1), fold(k)
		if max(len(folded), len(other))-min(len(folded), len(other)) > limit {
			continue // each is an edit
		}
		n := edits(folded, other)
		if n <= limit && (best == "" || n < least) {
			best, least = k, n
		}
	}
	return best
}

// fold makes the spellings people mix up the same.
func fold(s string) []rune {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if r != '_' && r != '-' {
			out = append(out, unicode.ToLower(r))
		}
	}
	return out
}

// edits is how many characters must be added, dropped, changed or swapped with
// their neighbour to make b of a.
func edits(a, b []rune) int {
	before, row := []int(nil), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
