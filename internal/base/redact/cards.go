package redact

import (
	"regexp"
	"strconv"
	"strings"
)

// The fewest and the most digits of a card number, and the most gaps between them: a
// row of small numbers is no card.
const (
	minCard = 13
	maxCard = 19
	maxGaps = 5
)

// runs are groups of digits with single blanks or dashes between. An escaped line break
// before them ends in a letter.
var runs = regexp.MustCompile(`(?:\\[nrt]|\b)\d(?:[ -]?\d){12,}\b`)

func manyDigits(s string) bool {
	n := 0
	for i := range len(s) {
		if digit(s[i]) {
			n++
		} else if n >= minCard {
			return true
		} else if s[i] != ' ' && s[i] != '-' {
			n = 0
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
	if !issued(s) {
		return 0
	}
	best, digits, gaps := 0, 0, 0
	for i := range len(s) {
		if !digit(s[i]) {
			if gaps++; gaps > maxGaps {
				break
			}
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

// issued reports whether somebody issues cards with such a beginning. Times in
// milliseconds and most row numbers begin otherwise; one in ten would pass the check
// digit.
func issued(s string) bool {
	if len(s) < 2 {
		return false
	}
	switch second := s[1]; s[0] {
	case '2':
		return second >= '2' && second <= '7'
	case '3':
		return second == '0' || second >= '4' && second <= '9'
	default:
		return s[0] >= '4' && s[0] <= '6'
	}
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

// cardNumber reports whether a JSON number is a card number, however it is written.
func cardNumber(number string) bool {
	number = strings.TrimPrefix(number, "-")
	if strings.ContainsAny(number, ".eE") {
		f, err := strconv.ParseFloat(number, 64)
		if err != nil || f < 1e12 || f >= 1e19 {
			return false
		}
		number = strconv.FormatFloat(f, 'f', 0, 64)
	}
	return len(number) <= maxCard && card(number) == len(number)
}
