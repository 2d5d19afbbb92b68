package valueindex

// next reads one token. It is false at the end; gap then holds the operators that
// stand behind the last one.
func (l *lexer) next() bool {
	if l.units {
		return l.unit()
	}
	l.gap = 0
	c, ok := l.chunk()
	if !ok {
		return false
	}
	l.tok = token{start: c.lo, end: c.hi, gap: l.gap}
	raw := l.src[c.lo:c.hi]
	switch {
	case c.shape == hasLetter:
		if m := month(raw); m == 0 || !l.monthDay(m) {
			l.lower(raw)
		}
	case c.shape&(hasDigit|hasHigh|hasAt|hasScheme) == hasDigit && l.figure(c, raw):
	default:
		l.canon(c, raw)
	}
	return true
}

// lower sets a plain word of ASCII.
func (l *lexer) lower(raw []byte) {
	l.buf = l.buf[:0]
	for _, b := range raw {
		if b-'A' < 26 {
			b |= 0x20
		}
		l.buf = append(l.buf, b)
	}
	l.tok.text = l.buf
}

// set makes the token what is in the buffer.
func (l *lexer) set(k Kind) bool {
	l.tok.text, l.tok.kind = l.buf, k
	return true
}

// figure recognises what starts from digits: dates, times, amounts, phones, accounts.
func (l *lexer) figure(c chunk, raw []byte) bool {
	b := raw[0]
	switch {
	case roles[b] == digit && c.shape == hasDigit|hasLetter && !suffixed(raw):
		return false
	case roles[b] == digit:
		return l.dated(c, raw) || l.dayMonth(raw) || l.clocked(c, raw) || l.phone(c, raw) || l.number(raw)
	case b == '+':
		return l.phone(c, raw)
	case b == '$' || b == '-':
		return l.number(raw)
	case roles[b] == letter && len(raw) >= 4:
		return l.account(c, raw)
	}
	return false
}

// suffixed reports digits with two letters behind them: 26th, 3pm. Other mixtures of
// both are names.
func suffixed(raw []byte) bool {
	n := len(raw)
	return n >= 3 && n <= 4 && roles[raw[n-1]] == letter && roles[raw[n-2]] == letter
}

// dated recognises a day, alone or with a time behind a T.
func (l *lexer) dated(c chunk, raw []byte) bool {
	if len(raw) < 8 || c.shape&(hasDash|hasSlash|hasDot) == 0 {
		return false
	}
	if len(raw) > 11 && (raw[10] == 'T' || raw[10] == 't') {
		d, ok := parseDate(raw[:10])
		if _, isTime := parseClock(raw[11:]); !ok || !isTime {
			return false
		}
		l.tok.end, l.pos = c.lo+10, c.lo+11
		l.buf = d.append(l.buf[:0])
		return l.set(Date)
	}
	d, ok := parseDate(raw)
	if !ok {
		return false
	}
	l.buf = d.append(l.buf[:0])
	return l.set(Date)
}

// clocked recognises a time of day, "3 pm" included.
func (l *lexer) clocked(c chunk, raw []byte) bool {
	if c.shape&(hasColon|hasLetter) != 0 {
		if t, ok := parseClock(raw); ok {
			l.clockHalf(&t)
			l.buf = t.append(l.buf[:0])
			return l.set(Time)
		}
		return false
	}
	if c.shape != hasDigit || len(raw) > 2 {
		return false
	}
	t := clock{hour: atoi(raw)}
	if !l.clockHalf(&t) {
		return false
	}
	l.buf = t.append(l.buf[:0])
	return l.set(Time)
}

// clockHalf takes an "am" or "pm" that stands behind a time.
func (l *lexer) clockHalf(t *clock) bool {
	if b := l.peek() | 0x20; t.half || b != 'a' && b != 'p' {
		return false
	}
	pos, gap := l.pos, l.gap
	if c, ok := l.chunk(); ok {
		if h := half(l.src[c.lo:c.hi]); h != 0 && t.set(h) {
			l.tok.end = c.hi
			return true
		}
	}
	l.pos, l.gap = pos, gap
	return false
}

// peek is the byte that follows behind at most two spaces or commas; 0 for none.
func (l *lexer) peek() byte {
	for i := l.pos; i < len(l.src) && i <= l.pos+2; i++ {
		if b := l.src[i]; b != ' ' && b != ',' {
			return b
		}
	}
	return 0
}

// monthDay recognises "May 26th, 2024" from its month on.
func (l *lexer) monthDay(m int) bool {
	if roles[l.peek()] != digit {
		return false
	}
	pos, gap := l.pos, l.gap
	c, ok := l.chunk()
	day := 0
	if ok {
		day = ordinal(l.src[c.lo:c.hi])
	}
	if day == 0 {
		l.pos, l.gap = pos, gap
		return false
	}
	l.tok.end = c.hi
	d := dateOf{month: m, day: day}
	l.year(&d)
	l.buf = d.append(l.buf[:0])
	return l.set(Date)
}

// dayMonth recognises "26 May 2024" and "26th of May" from the day on.
func (l *lexer) dayMonth(raw []byte) bool {
	day := ordinal(raw)
	if day == 0 || roles[l.peek()] != letter {
		return false
	}
	pos, gap := l.pos, l.gap
	c, ok := l.chunk()
	if ok && string(l.src[c.lo:c.hi]) == "of" {
		c, ok = l.chunk()
	}
	m := 0
	if ok && c.shape == hasLetter {
		m = month(l.src[c.lo:c.hi])
	}
	if m == 0 {
		l.pos, l.gap = pos, gap
		return false
	}
	l.tok.end = c.hi
	d := dateOf{month: m, day: day}
	l.year(&d)
	l.buf = d.append(l.buf[:0])
	return l.set(Date)
}

// year takes the four digits of a year that stand behind a day and a month.
func (l *lexer) year(d *dateOf) {
	if roles[l.peek()] != digit {
		return
	}
	pos, gap := l.pos, l.gap
	if c, ok := l.chunk(); ok && c.shape == hasDigit && c.hi-c.lo == 4 {
		d.year = atoi(l.src[c.lo:c.hi])
		l.tok.end = c.hi
		return
	}
	l.pos, l.gap = pos, gap
}
