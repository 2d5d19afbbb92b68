package valueindex

// An account number of that shape has two letters, two digits, and 15 to 34 in all.
const (
	ibanShortest = 15
	ibanLongest  = 34
)

// account sets an account number without its spaces and dashes. The check digits are
// not looked at: what is asked is whether two texts name the same account.
func (l *lexer) account(c chunk, raw []byte) bool {
	if roles[raw[0]] != letter || roles[raw[1]] != letter || roles[raw[2]] != digit || roles[raw[3]] != digit {
		return false
	}
	out := l.buf[:0]
	group := 0
	for i, b := range raw {
		switch {
		case roles[b] == digit || roles[b] == letter:
			out = append(out, b|0x20)
			group++
		case b == '-' && group == 4 && i < len(raw)-1:
			group = 0
		default:
			return false
		}
	}
	l.buf = out
	if len(raw) == 4 {
		l.accountGroups()
	}
	if len(l.buf) < ibanShortest || len(l.buf) > ibanLongest {
		l.tok.end, l.pos = c.hi, c.hi
		return false
	}
	return l.set(IBAN)
}

// accountGroups adds the groups of four that follow, each behind one space, in capitals
// and digits as account numbers are printed.
func (l *lexer) accountGroups() {
	for l.pos+1 < len(l.src) && l.src[l.pos] == ' ' && capitalOrDigit(l.src[l.pos+1]) && len(l.buf)%4 == 0 && len(l.buf) < ibanLongest {
		pos := l.pos
		c, ok := l.chunk()
		if !ok || c.hi-c.lo > 4 || c.lo != pos+1 || !allCapital(l.src[c.lo:c.hi]) {
			l.pos = pos
			return
		}
		for _, b := range l.src[c.lo:c.hi] {
			l.buf = append(l.buf, b|0x20)
		}
		l.tok.end = c.hi
	}
}

func capitalOrDigit(b byte) bool { return b >= 'A' && b <= 'Z' || roles[b] == digit }

func allCapital(raw []byte) bool {
	for _, b := range raw {
		if !capitalOrDigit(b) {
			return false
		}
	}
	return true
}
