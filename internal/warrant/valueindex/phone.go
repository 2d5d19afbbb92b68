package valueindex

// phone sets a phone number without its separators. It needs a sign that it is one: a
// plus, a leading zero with more groups, or dashes in the usual places.
func (l *lexer) phone(c chunk, raw []byte) bool {
	digits, dashes := 0, 0
	out := l.buf[:0]
	for i, b := range raw {
		switch {
		case b == '+' && i == 0:
			out = append(out, b)
		case roles[b] == digit:
			out = append(out, b)
			digits++
		case b == '-' || b == '.' && raw[0] == '+':
			dashes++
		default:
			return false
		}
	}
	l.buf = out
	if dashes == 0 && (raw[0] == '+' || raw[0] == '0' && len(raw) > 2) {
		digits = l.groups(digits)
	}
	plain := raw[0] != '+' && l.tok.end == c.hi
	if digits < 7 || digits > 15 || plain && (dashes < 2 || digits < 10) {
		l.tok.end, l.pos = c.hi, c.hi
		return false
	}
	return l.set(Phone)
}

// groups adds the groups of digits that follow, as long as they fit one number.
func (l *lexer) groups(digits int) int {
	for range 5 {
		if roles[l.peek()] != digit || l.src[l.pos] == ',' {
			break
		}
		pos, gap := l.pos, l.gap
		c, ok := l.chunk()
		size := 0
		if ok && c.shape&^(hasDigit|hasDash) == 0 {
			for _, b := range l.src[c.lo:c.hi] {
				if roles[b] == digit {
					size++
				}
			}
		}
		if size < 2 || digits+size > 15 {
			l.pos, l.gap = pos, gap
			break
		}
		for _, b := range l.src[c.lo:c.hi] {
			if roles[b] == digit {
				l.buf = append(l.buf, b)
			}
		}
		digits += size
		l.tok.end = c.hi
	}
	return digits
}
