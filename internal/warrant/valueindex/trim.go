package valueindex

import "bytes"

// trim takes off the marks that belong to the sentence, not to the word. What it takes
// off at the end is read again, for the operators in it.
func (l *lexer) trim(c *chunk) bool {
	if c.shape&^(hasLetter|hasDigit) == 0 {
		return true
	}
	whole := *c
	for c.lo < c.hi && leading(l.src[c.lo]) {
		c.lo++
	}
	open := c.shape&hasScheme != 0 && bytes.IndexByte(l.src[c.lo:c.hi], '(') >= 0
	for c.hi > c.lo {
		b := l.src[c.hi-1]
		if !trailing(b) && (b != ')' || open) {
			break
		}
		c.hi--
	}
	if *c != whole && c.shape&(hasScheme|hasAt|hasSlash|hasQuery) == 0 {
		l.reshape(c)
	}
	return c.hi > c.lo
}

// reshape looks again at a chunk that lost its marks: "22." is a number.
func (l *lexer) reshape(c *chunk) {
	c.shape &^= hasDot | hasDash | hasColon | hasComma | hasOther
	for i := c.lo; i < c.hi; i++ {
		switch b := l.src[i]; {
		case b == '.':
			c.shape |= hasDot
		case b == '-':
			c.shape |= hasDash
		case b == ':':
			c.shape |= hasColon
		case b == ',':
			c.shape |= hasComma
		case roles[b] == soft:
			c.shape |= hasOther
		}
	}
}

func leading(b byte) bool {
	switch b {
	case '!', '?', '^', ':', '%', '#':
		return true
	}
	return false
}

func trailing(b byte) bool {
	switch b {
	case '.', ':', '!', '?', '%', '^', '#', '$', '@', '\\', '/', '-', '~', ',', ';', '=', '&', '\'', '*', ']', '}':
		return true
	}
	return false
}
