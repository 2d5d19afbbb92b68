package mandate

import (
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
	out, other := open, false
	for _, w := range said {
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
		}
		if n, err := strconv.Atoi(w); err == nil && n == day.Day() {
			out = agrees
		}
	}
	if other && out == open {
		return denies
	}
	return out
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
