package redact

import "strings"

// The fewest and the most digits of a card number.
const (
	minCard = 13
	maxCard = 19
)

func manyDigits(s string) bool {
	n := 0
	for i := range len(s) {
		if digit(s[i]) {
			n++
		}
	}
	return n >= minCard
}

// maskCards removes card numbers from a run of digit groups. Groups are tried together
// and apart, because a number is often followed by others (its expiry, its check value).
func maskCards(run string) string {
	var b strings.Builder
	for i := 0; i < len(run); {
		if n := card(run[i:]); n > 0 {
			b.WriteString(Mark)
			i += n
		}
		for i < len(run) && digit(run[i]) { // the rest of a group that begins no card
			b.WriteByte(run[i])
			i++
		}
		for i < len(run) && !digit(run[i]) {
			b.WriteByte(run[i])
			i++
		}
	}
	return b.String()
}

// card is the length of the longest card number made of the first groups of s, or 0.
func card(s string) int {
	best, digits := 0, 0
	for i := range len(s) {
		if !digit(s[i]) {
			continue
		}
		if digits++; digits > maxCard {
			break
		}
		if digits >= minCard && (i+1 == len(s) || !digit(s[i+1])) && luhn(s[:i+1]) {
			best = i + 1
		}
	}
	return best
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func luhn(s string) bool {
	sum, double := 0, false
	for i := len(s) - 1; i >= 0; i-- {
		if !digit(s[i]) {
			continue
		}
		d := int(s[i] - '0')
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		double = !double
	}
	return sum%10 == 0
}
