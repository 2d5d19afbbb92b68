package valueindex

import "strconv"

// atoi reads a few digits; anything else is -1.
func atoi(b []byte) int {
	if len(b) == 0 || len(b) > 9 {
		return -1
	}
	n := 0
	for _, c := range b {
		if roles[c] != digit {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// number sets an amount in its one spelling: no sign of currency, no grouping, no
// zeros behind the last digit that counts. A number that starts with a zero is a code,
// not an amount, and stays as it is.
func (l *lexer) number(raw []byte) bool {
	out := l.buf[:0]
	if len(raw) > 1 && raw[0] == '-' {
		out, raw = append(out, '-'), raw[1:]
	}
	if len(raw) > 1 && raw[0] == '$' {
		raw = raw[1:]
	}
	if roles[raw[0]] != digit || raw[0] == '0' && len(raw) > 1 && raw[1] != '.' {
		return false
	}
	dot := -1
	for _, c := range raw {
		switch {
		case c == '.' && dot < 0:
			dot = len(out)
			out = append(out, c)
		case c == ',' && dot < 0:
		case roles[c] == digit:
			out = append(out, c)
		default:
			return false
		}
	}
	if dot >= 0 {
		for out[len(out)-1] == '0' {
			out = out[:len(out)-1]
		}
		if out[len(out)-1] == '.' {
			out = out[:len(out)-1]
		}
	}
	l.buf = out
	return l.set(Number)
}

// dateOf is a day; year 0 says that none was named.
type dateOf struct{ year, month, day int }

func (d dateOf) append(b []byte) []byte {
	if d.year == 0 {
		b = append(b, '-')
	} else {
		b = pad(b, d.year, 4)
	}
	return pad(append(pad(append(b, '-'), d.month, 2), '-'), d.day, 2)
}

func pad(b []byte, n, width int) []byte {
	for limit := 10; width > 1; width-- {
		if n < limit {
			for range width - 1 {
				b = append(b, '0')
			}
			break
		}
		limit *= 10
	}
	return strconv.AppendInt(b, int64(n), 10)
}

func (d dateOf) valid() bool {
	return d.month >= 1 && d.month <= 12 && d.day >= 1 && d.day <= 31 && (d.year == 0 || d.year >= 1000 && d.year <= 9999)
}

// parseDate reads a day written with digits. Where day and month could be either, it is
// no date: both readings would be a guess.
func parseDate(raw []byte) (dateOf, bool) {
	if len(raw) < 8 || len(raw) > 10 {
		return dateOf{}, false
	}
	var part [3][]byte
	n, from := 0, 0
	var sep byte
	for i := 0; i <= len(raw); i++ {
		if i < len(raw) && roles[raw[i]] == digit {
			continue
		}
		if n == 3 || i < len(raw) && sep != 0 && raw[i] != sep {
			return dateOf{}, false
		}
		part[n] = raw[from:i]
		n, from = n+1, i+1
		if i < len(raw) {
			sep = raw[i]
		}
	}
	if n != 3 || sep != '-' && sep != '/' && sep != '.' {
		return dateOf{}, false
	}
	d := order(part, sep)
	return d, d.valid() && d.year != 0
}

// order says which of three numbers is what.
func order(part [3][]byte, sep byte) dateOf {
	a, b, c := atoi(part[0]), atoi(part[1]), atoi(part[2])
	switch {
	case len(part[0]) == 4 && len(part[1]) <= 2 && len(part[2]) <= 2:
		return dateOf{a, b, c}
	case len(part[2]) != 4 || len(part[0]) > 2 || len(part[1]) > 2:
		return dateOf{}
	case sep == '.' || a > 12 || a == b:
		return dateOf{c, b, a}
	case b > 12:
		return dateOf{c, a, b}
	}
	return dateOf{}
}

// ordinal reads the day of a month, "26" or "26th"; 0 for none.
func ordinal(raw []byte) int {
	n := len(raw)
	if n > 2 {
		switch string(raw[n-2:]) {
		case "st", "nd", "rd", "th":
			raw = raw[:n-2]
		}
	}
	if len(raw) > 2 {
		return 0
	}
	if d := atoi(raw); d >= 1 && d <= 31 {
		return d
	}
	return 0
}

var months = lists.Lines("months")[0]

// monthLetters has a bit for each letter a month starts with.
const monthLetters = 1<<('j'-'a') | 1<<('f'-'a') | 1<<('m'-'a') | 1 | 1<<('s'-'a') | 1<<('o'-'a') | 1<<('n'-'a') | 1<<('d'-'a')

// month reads the name of a month or its first letters; 0 for none.
func month(raw []byte) int {
	if len(raw) < 3 || len(raw) > 9 || monthLetters>>(raw[0]|0x20-'a')&1 == 0 {
		return 0
	}
	var low [9]byte
	for i, b := range raw {
		low[i] = b | 0x20
	}
	n := len(raw)
	for i, name := range months {
		if string(low[:3]) != name[:3] {
			continue
		}
		if n == 3 || n == 4 && string(low[:4]) == "sept" || string(low[:n]) == name {
			return i + 1
		}
	}
	return 0
}

// clock is a time of day; half says that "am" or "pm" was seen.
type clock struct {
	hour, minute, second int
	half                 bool
}

func (t clock) append(b []byte) []byte {
	b = pad(append(pad(b, t.hour, 2), ':'), t.minute, 2)
	if t.second != 0 {
		b = pad(append(b, ':'), t.second, 2)
	}
	return b
}

// set turns a time of twelve hours into one of twenty-four.
func (t *clock) set(half byte) bool {
	if t.hour < 1 || t.hour > 12 {
		return false
	}
	t.half = true
	t.hour %= 12
	if half == 'p' {
		t.hour += 12
	}
	return true
}

// half reads "am" and "pm" in their spellings as 'a' and 'p'; 0 for none.
func half(raw []byte) byte {
	switch {
	case len(raw) == 2 && raw[1]|0x20 == 'm', len(raw) == 3 && raw[1] == '.' && raw[2]|0x20 == 'm':
		if b := raw[0] | 0x20; b == 'a' || b == 'p' {
			return b
		}
	}
	return 0
}

// parseClock reads 15:04, 15:04:05 with a fraction of zeros, "Z", and "3pm".
func parseClock(raw []byte) (clock, bool) {
	if len(raw) < 3 || len(raw) > 20 {
		return clock{}, false
	}
	var pm byte
	if h := half(raw[len(raw)-2:]); h != 0 {
		pm, raw = h, raw[:len(raw)-2]
	} else if raw[len(raw)-1]|0x20 == 'z' {
		raw = raw[:len(raw)-1]
	}
	t, colons, ok := clockFields(raw)
	if !ok || t.hour > 23 || t.minute > 59 || t.second > 59 || colons == 0 && pm == 0 {
		return clock{}, false
	}
	if pm != 0 && !t.set(pm) {
		return clock{}, false
	}
	return t, true
}

// clockFields reads one to three numbers with colons between them, and counts the colons.
func clockFields(raw []byte) (t clock, colons int, ok bool) {
	field := [3]int{}
	n, from := 0, 0
	for i := 0; i <= len(raw); i++ {
		if i < len(raw) && roles[raw[i]] == digit {
			continue
		}
		if i < len(raw) && raw[i] == '.' && n == 2 && zeros(raw[i+1:]) {
			raw = raw[:i]
		} else if i < len(raw) && raw[i] != ':' {
			return clock{}, 0, false
		}
		if n == 3 || i == from || i-from > 2 {
			return clock{}, 0, false
		}
		field[n] = atoi(raw[from:i])
		n, from = n+1, i+1
		if i < len(raw) {
			colons++
		}
	}
	return clock{hour: field[0], minute: field[1], second: field[2]}, colons, true
}

func zeros(raw []byte) bool {
	for _, b := range raw {
		if b != '0' {
			return false
		}
	}
	return true
}
