package toolinfo

import "strings"

// refine lets the value speak where name and schema did not name somebody: an address is
// one whatever the parameter is called.
func (m *Meaning) refine(p Param, value any) Param {
	if s, ok := value.(string); ok {
		switch {
		case p.Decides && m.Act != Delete && isAudience(s):
			p.Role, p.Kind, p.Why = Target, Audience, lookWhy[Audience]
			return p
		case (p.Role == Amount || p.Role == Unclear) && looksID(s):
			p.Role, p.Kind, p.Object, p.Why = Selector, ID, m.Act != Read, lookWhy[ID]
			return p
		}
	}
	switch p.Role {
	case Unclear, Selector, Control:
	default:
		return p
	}
	k := kindOf(value)
	if k == Plain {
		return p
	}
	switch m.Act {
	case Read:
		if k != URL || p.Kind == Text {
			return p
		}
	case Delete:
		return p
	}
	p.Role, p.Kind, p.Object = Target, k, false
	p.Why = lookWhy[k]
	return p
}

var lookWhy = map[Kind]string{
	Email: "a target: its value is an e-mail address",
	URL:   "a target: its value is a URL",
	IBAN:  "a target: its value is a bank account",
	Phone: "a target: its value is a phone number",

	Audience: "a target: its value is an audience",
	ID:       "a selector: its value looks like an id",
}

// isAudience reports whether a value stands for people nobody can list.
func isAudience(s string) bool {
	for w := range audiences {
		if strings.EqualFold(s, w) {
			return true
		}
	}
	return false
}

// looksID wants letters and digits together in one word, as keys of records have them: a
// prefix and a run of both, or a run that is hexadecimal.
func looksID(s string) bool {
	if len(s) < 10 || len(s) > 128 {
		return false
	}
	letters, digits := 0, 0
	for _, c := range []byte(s) {
		switch {
		case isDigit(c):
			digits++
		case isAlpha(c):
			letters++
		case c != '_' && c != '-' && c != ':':
			return false
		}
	}
	return digits >= 2 && letters >= 2 && !looksIBAN(s)
}

// kindOf is the look of a value; of a list, that of the first that looks like somebody.
func kindOf(value any) Kind {
	switch v := value.(type) {
	case string:
		return look(v)
	case []any:
		for _, e := range v {
			if s, ok := e.(string); ok {
				if k := look(s); k != Plain {
					return k
				}
			}
		}
	}
	return Plain
}

const maxLook = 2048

func look(s string) Kind {
	s = strings.TrimSpace(s)
	switch {
	case len(s) < 3 || len(s) > maxLook:
		return Plain
	case looksURL(s):
		return URL
	case looksEmail(s):
		return Email
	case looksIBAN(s):
		return IBAN
	case looksPhone(s):
		return Phone
	}
	return Plain
}

func looksURL(s string) bool {
	i := strings.Index(s, "://")
	if i <= 0 && !strings.EqualFold(s[:min(4, len(s))], "www.") && !strings.EqualFold(s[:min(7, len(s))], "mailto:") ||
		strings.ContainsAny(s, " \n\t") {
		return false
	}
	if i > 0 {
		for _, c := range []byte(s[:i]) {
			if !isAlpha(c) && !isDigit(c) && c != '+' && c != '-' && c != '.' {
				return false
			}
		}
		return len(s) > i+3 && !strings.EqualFold(s[:i], "file")
	}
	return len(s) > 7 && strings.EqualFold(s[:4], "www.") || len(s) > 7 && strings.EqualFold(s[:7], "mailto:")
}

// looksEmail also takes a name in front: "Ann <ann@x.example>".
func looksEmail(s string) bool {
	if i := strings.LastIndexByte(s, '<'); i >= 0 && strings.HasSuffix(s, ">") {
		s = s[i+1 : len(s)-1]
	}
	at := strings.LastIndexByte(s, '@')
	return at > 0 && strings.IndexByte(s[at:], '.') > 1 && !strings.HasSuffix(s, ".") && !strings.ContainsAny(s, " \n\t/:()")
}

// looksIBAN wants two letters, two digits, and 11 to 30 more letters and digits.
func looksIBAN(s string) bool {
	n, digits := 0, 0
	for _, c := range []byte(s) {
		switch {
		case c == ' ' || c == '-':
			continue
		case n < 2 && !isAlpha(c), n >= 2 && n < 4 && !isDigit(c), !isAlpha(c) && !isDigit(c):
			return false
		}
		if isDigit(c) {
			digits++
		}
		n++
	}
	return n >= 15 && n <= 34 && digits >= 8
}

// looksPhone wants the international form: other numbers are too much like any number.
func looksPhone(s string) bool {
	if s[0] != '+' {
		return false
	}
	digits := 0
	for _, c := range []byte(s[1:]) {
		switch {
		case isDigit(c):
			digits++
		case !strings.ContainsRune(" -.()/", rune(c)):
			return false
		}
	}
	return digits >= 7 && digits <= 15
}

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
