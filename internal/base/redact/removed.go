package redact

import "strings"

// The bounds of what Removed tells.
const (
	maxRemoved = 32   // pieces
	maxPiece   = 4096 // bytes of one
)

// Removed are the pieces that Text takes out of s, each alone, with the word it is part of,
// and with its line: whoever looks for the value again may have any of them. They are
// found by what Text leaves, so that the two cannot disagree; where what is left could
// stand in several places, a piece may be cut wrong, and is still something s holds.
func (r *Redactor) Removed(s string) []string {
	left := r.Text(s)
	if left == s {
		return nil
	}
	parts := strings.Split(left, Mark)
	if !strings.HasPrefix(s, parts[0]) {
		if s = visible(s); !strings.HasPrefix(s, parts[0]) {
			return nil
		}
	}
	var out []string
	from := len(parts[0])
	for i, part := range parts[1:] {
		end := len(s)
		switch last := i == len(parts)-2; {
		case last && !strings.HasSuffix(s[from:], part):
			return out
		case last:
			end -= len(part)
		case part == "":
			continue // two of them side by side
		default:
			at := strings.Index(s[from:], part)
			if at < 0 {
				return out
			}
			end = from + at
		}
		if out = appendPiece(out, s, from, end); len(out) >= maxRemoved {
			return out[:maxRemoved]
		}
		from = end + len(part)
	}
	return out
}

// appendPiece adds a piece, its word and its line.
func appendPiece(out []string, s string, from, to int) []string {
	around := func(ends string) string {
		lo := strings.LastIndexAny(s[:from], ends) + 1
		hi := len(s)
		if n := strings.IndexAny(s[to:], ends); n >= 0 {
			hi = to + n
		}
		return s[lo:hi]
	}
	last := ""
	for _, p := range []string{s[from:to], around(" \t\r\n\"'`<>"), around("\r\n")} {
		if p = strings.TrimSpace(p); p != "" && p != last && len(p) <= maxPiece {
			out, last = append(out, p), p
		}
	}
	return out
}
