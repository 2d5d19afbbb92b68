package mandate

import (
	"slices"
	"strings"
)

// A line that a server printed is one record, and its cells have no names. Words that single out the line do not say which of two cells
// that look alike is meant: react-date-picker and date-picker-react.

// betweenCells reports whether words tell a cell of a line from those that look like it: none is called by as many of them, or it alone
// has them in their order.
func (r *Records) betweenCells(rec *Record, value string, words []string) answer {
	look, mine, said := lookOf(value), cellScore(value, words), inOrder(value, words)
	result := yes
	r.work.took += len(rec.fields)
	for i := range rec.fields {
		other := rec.fields[i].text
		if other == "" || other == value || lookOf(other) != look || strings.Contains(other, value) || strings.Contains(value, other) {
			continue
		}
		switch theirs := cellScore(other, words); {
		case theirs > mine:
			return no
		case theirs == mine && mine > 0 && (!said || inOrder(other, words)):
			result = unknown
		}
	}
	return result
}

// cellScore is how many of some words a cell has.
func cellScore(cell string, words []string) int {
	n, parts := 0, pieces(cell)
	for _, w := range words {
		if holds(parts, w) {
			n++
		}
	}
	return n
}

// inOrder reports whether the words of a value stand in a row among some words, as they stand in it.
func inOrder(value string, words []string) bool {
	parts := strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune(" @.-_/+:#", c) })
	for i := 0; len(parts) > 0 && i+len(parts) <= len(words); i++ {
		if slices.EqualFunc(parts, words[i:i+len(parts)], sameWord) {
			return true
		}
	}
	return false
}
