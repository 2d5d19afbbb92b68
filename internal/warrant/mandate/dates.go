package mandate

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// agreement is what words say of a day or a time.
type agreement uint8

const (
	denies agreement = iota // they name another
	open                    // they name none that could be checked: nobody here tells the time
	agrees
)

// dateSays is what words say of a value; known is false where it is no day and no time.
func dateSays(value, words string) (says agreement, known bool) {
	day, hour, minute, ok := moment(value)
	if !ok {
		return denies, false
	}
	said := wordsOf(words)
	says = open
	if !day.IsZero() {
		if says = daySays(day, said); says == denies {
			return denies, true
		}
	}
	if hour < 0 || !day.IsZero() && hour == 0 && minute == 0 {
		return says, true
	}
	if clocked(said, hour, minute) {
		return agrees, true
	}
	if hasNumber(said) && (day.IsZero() || says == open) {
		return denies, true
	}
	return says, true
}

// agreed reports whether words name a day or a time.
func agreed(value, words string) bool {
	says, known := dateSays(value, words)
	return known && says == agrees
}

// daySays is what words say of a day: by the day of the week, the month, and the day of the month.
func daySays(day time.Time, said []string) agreement {
	out, other, hit, numbered := open, false, false, false
	for i, w := range said {
		if t, err := time.Parse("2006-01-02", w); err == nil {
			if other = true; t.Equal(day.Truncate(24 * time.Hour)) {
				out = agrees
			}
		}
		if d, ok := weekdays[w]; ok {
			if d != int(day.Weekday()) {
				return denies
			}
			out = agrees
		}
		if m, ok := months[w]; ok && m != int(day.Month()) {
			return denies
		} else if ok {
			numbered = numbered || i > 0 && dayOfMonth(said[i-1]) || i+1 < len(said) && dayOfMonth(said[i+1])
		}
		if n, err := strconv.Atoi(w); err == nil && n == day.Day() {
			out, hit = agrees, true
		}
	}
	if numbered && !hit {
		return denies // the Friday that is the 20th of a month is no other Friday of it
	}
	if other && out == open {
		return denies
	}
	return out
}

// dayOfMonth reports whether a word is the number of a day.
func dayOfMonth(w string) bool {
	n, err := strconv.Atoi(strings.TrimRight(w, "."))
	return err == nil && n >= 1 && n <= 31
}

// moment reads a day, a time, or both.
func moment(value string) (day time.Time, hour, minute int, ok bool) {
	value = strings.TrimSuffix(strings.TrimSpace(value), "Z")
	if len(value) > 19 && (value[19] == '+' || value[19] == '-' || value[19] == '.') {
		value = value[:19]
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, value); err == nil {
			return t, t.Hour(), t.Minute(), true
		}
	}
	if t, err := time.Parse("2006-01-02", value); err == nil {
		return t, -1, 0, true
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, value); err == nil {
			return time.Time{}, t.Hour(), t.Minute(), true
		}
	}
	return time.Time{}, -1, 0, false
}

// clocked reports whether words say a time of the day.
func clocked(said []string, hour, minute int) bool {
	for i, w := range said {
		h, m, ok := clock(w)
		if !ok {
			continue
		}
		if i > 0 && halves[said[i-1]] != 0 {
			m = 30
			if halves[said[i-1]] < 0 {
				h-- // halb sieben is 6:30
			}
		}
		if m == minute && (h == hour || h+12 == hour) {
			return true
		}
	}
	return false
}

// halves are words that say half an hour after, or before, the hour that they stand before.
var halves = counted("halves")

// clock reads a time as people write it: 8, 8.30, 8:30, 18h30, 7am.
func clock(w string) (hour, minute int, ok bool) {
	if n, has := numbers[w]; has {
		w = n
	}
	w = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(w, "am"), "uhr"), "pm")
	h, m, split := strings.Cut(strings.NewReplacer(".", ":", "h", ":", "時", ":").Replace(w), ":")
	hour, err := strconv.Atoi(h)
	if err != nil || hour > 24 {
		return 0, 0, false
	}
	if split && m != "" {
		if minute, err = strconv.Atoi(m); err != nil || minute > 59 {
			return 0, 0, false
		}
	}
	return hour, minute, true
}

func hasNumber(said []string) bool {
	for _, w := range said {
		if _, _, ok := clock(w); ok {
			return true
		}
	}
	return false
}

// dated reports whether a value is a day or a time.
func dated(value string) bool {
	_, _, _, ok := moment(value)
	return ok
}

// Moments are the days and times that words say, as marks that are compared: of a day of the week, of a month, of a date, of a time.
type Moments struct {
	weekdays map[int]bool
	days     map[[2]int]bool // month and day
	times    map[[2]int]bool
	counts   map[int]bool // small numbers, by which days may lie apart
	years    map[int]bool // of dates with a year
}

// Any reports whether words say a day or a time.
func (m *Moments) Any() bool { return len(m.weekdays)+len(m.days)+len(m.times) > 0 }

// MomentsIn are the days and times that words say.
func MomentsIn(words string) Moments {
	m := Moments{map[int]bool{}, map[[2]int]bool{}, map[[2]int]bool{}, map[int]bool{}, map[int]bool{}}
	if day, hour, minute, ok := moment(words); ok {
		if !day.IsZero() {
			m.weekdays[int(day.Weekday())], m.days[[2]int{int(day.Month()), day.Day()}], m.years[day.Year()] = true, true, true
		}
		if hour > 0 || hour == 0 && (minute > 0 || day.IsZero()) {
			m.times[[2]int{hour, minute}] = true
		}
		return m
	}
	said := wordsOf(words)
	for i, w := range said {
		if y := yearAt(said, i); y > 0 {
			m.years[y] = true
		}
		if d, ok := weekdays[w]; ok {
			m.weekdays[d] = true
		}
		if t, err := time.Parse("2006-01-02", w); err == nil {
			m.days[[2]int{int(t.Month()), t.Day()}] = true
		}
		if mon, ok := months[w]; ok {
			m.near(said, i, mon)
		}
		if hour, minute, ok := clock(w); ok && (strings.ContainsAny(w, ":時") || Clocked(w) || i+1 < len(said) && Clocked(said[i+1])) {
			m.times[[2]int{hour % 24, minute}] = true
		}
		if n, err := strconv.Atoi(numberOf(w)); err == nil && n > 0 && n <= 31 {
			m.counts[n] = true
		}
	}
	return m
}

// numberOf is a number that is said in words as figures.
func numberOf(w string) string {
	if n, ok := numbers[w]; ok {
		return n
	}
	return w
}

// near notes the days of a month that stand beside its name: 4 April, April 4, 4 de abril.
func (m *Moments) near(said []string, at, month int) {
	for _, k := range []int{at - 1, at + 1, at - 2} {
		if k < 0 || k >= len(said) || k == at-2 && !functional[said[at-1]] {
			continue
		}
		if n, err := strconv.Atoi(said[k]); err == nil && n > 0 && n <= 31 {
			m.days[[2]int{month, n}] = true
		}
	}
}

// clockSigns are words behind the number of an hour.
var clockSigns = []string{"am", "pm", "uhr", "o'clock", "o’clock", "h"}

// Clocked reports whether a text begins or ends with a sign that its number is a time.
func Clocked(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	word, _, _ := strings.Cut(text, " ")
	word = strings.TrimRight(strings.TrimLeft(word, "0123456789.:"), ".,;!?")
	for _, s := range clockSigns {
		if word == s {
			return true
		}
	}
	return false
}

// yearAt is the year that a word says: of a date in figures, or behind a month and its day; 0: none.
func yearAt(said []string, i int) int {
	w := said[i]
	if m := endsInYear.FindStringSubmatch(w); m != nil {
		y, _ := strconv.Atoi(m[1])
		return y
	}
	if m := beginsWithYear.FindStringSubmatch(w); m != nil {
		y, _ := strconv.Atoi(m[1])
		return y
	}
	y, err := strconv.Atoi(w)
	if err != nil || len(w) != 4 || y < 1900 || y > 2999 {
		return 0
	}
	for k := max(0, i-3); k < i; k++ {
		if months[said[k]] != 0 {
			return y
		}
	}
	return 0
}

var (
	endsInYear     = regexp.MustCompile(`^\d{1,2}[./-]\d{1,2}[./-](\d{4})$`)
	beginsWithYear = regexp.MustCompile(`^(\d{4})[./-]\d{1,2}[./-]\d{1,2}$`)
)

// Clash reports whether words say a time or a year, and a value has another, where nothing in them says that it lies before or after.
// Where a value says its zone, the time may be the same.
func (m *Moments) Clash(v *Moments, value, words string) bool {
	if len(m.years) > 0 && len(v.years) > 0 && !meets(v.years, m.years) {
		return true
	}
	said := wordsOf(words)
	_, hour, minute, ok := moment(value)
	shifted := slices.ContainsFunc(said, func(w string) bool { return shifting[w] })
	if !ok || hour < 0 || len(m.times) == 0 || zoned.MatchString(value) || shifted {
		return false
	}
	return !m.times[[2]int{hour, minute}] && !m.times[[2]int{hour - 12, minute}]
}

var (
	zoned    = regexp.MustCompile(`(?:Z|[+-]\d\d:?\d\d)$`)
	shifting = lists.Set("shifting") // words that say that something lies before or after a time
)

// Say reports whether words say a day or a time; known is false where they say none that could deny it. A day that lies as many days, or
// weeks, behind one that they say as some number of theirs is one of which they say nothing.
func (m *Moments) Say(v *Moments, words string) (says, known bool) {
	said := true
	if len(v.weekdays)+len(v.days) > 0 && len(m.weekdays)+len(m.days) > 0 {
		known = true
		switch {
		case len(v.days) > 0 && len(m.days) > 0:
			if said = meets(v.days, m.days); !said && m.apart(v) {
				return false, false
			}
		case len(v.weekdays) > 0 && len(m.weekdays) > 0:
			said = meets(v.weekdays, m.weekdays)
		default:
			known = false
		}
	}
	if len(v.times) > 0 && len(m.times) > 0 {
		known = true
		timed := false
		for t := range v.times {
			timed = timed || clocked(wordsOf(words), t[0], t[1]) || m.times[t]
		}
		said = said && timed
	}
	return said && known, known
}

func meets[K comparable](a, b map[K]bool) bool {
	for k := range a {
		if b[k] {
			return true
		}
	}
	return false
}

// apart reports whether a day lies behind one of the words by a number that they say.
func (m *Moments) apart(v *Moments) bool {
	for d := range v.days {
		for from := range m.days {
			a := time.Date(2000, time.Month(from[0]), from[1], 0, 0, 0, 0, time.UTC)
			b := time.Date(2000, time.Month(d[0]), d[1], 0, 0, 0, 0, time.UTC)
			days := int(b.Sub(a).Hours()) / 24
			for n := range m.counts {
				if days > 0 && n != from[1] && (days == n || days == n-1 || days == 7*n) {
					return true
				}
			}
		}
	}
	return false
}

// Figure reports whether a value is a number, with a currency or a unit at most.
func Figure(value string) bool { return figureOnly.MatchString(value) }

var figureOnly = regexp.MustCompile(`^(?:\p{Sc}|[A-Z]{3} )?\s?-?\d+(?:[.,]\d+)*\s?(?:\p{Sc}|%|[A-Za-z]{1,3})?$`)
