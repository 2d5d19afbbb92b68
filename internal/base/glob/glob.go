// Package glob matches names against patterns a person wrote into a file. It is pure. A
// match needs no memory and at most as many steps as the product of both lengths: going
// back to the latest star is enough.
package glob

import "strings"

// Match reports whether s fits a pattern of literal characters, * (any run) and ? (any one).
func Match(pattern, s string) bool { return match(pattern, s, true) }

// Stars is Match for patterns in which ? is a character like any other.
func Stars(pattern, s string) bool { return match(pattern, s, false) }

// Has reports whether s is a pattern for Match.
func Has(s string) bool { return strings.ContainsAny(s, "*?") }

func match(pattern, s string, ones bool) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && (pattern[p] == s[i] || ones && pattern[p] == '?'):
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// Path is Match for segments: * stays inside one, ** spans any number of them.
func Path(pattern, path []string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(path) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			star, mark = p, i
			p++
		case p < len(pattern) && Match(pattern[p], path[i]):
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}
