package valueindex

import (
	"bytes"
	"path"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// canon sets a chunk that is no plain word and no figure in its one spelling.
func (l *lexer) canon(c chunk, raw []byte) {
	if c.shape&hasHigh != 0 {
		l.buf = fold(l.buf[:0], raw)
	} else {
		l.lower(raw)
	}
	switch {
	case c.shape&hasScheme != 0 && l.link(c):
	case c.shape&hasAt != 0:
		l.set(l.mail())
	case c.shape&hasSlash != 0:
		l.set(l.slashed(c))
	case c.shape&hasDot != 0:
		l.set(l.dotted(raw))
	default:
		l.set(Word)
	}
}

// fold brings text beyond ASCII into one form: NFKC, small letters, one dash. It never
// turns a character into ASCII punctuation, which could move the border between a host
// and what follows it, and never a letter of another script into a look-alike.
func fold(dst, raw []byte) []byte {
	from := 0
	var tmp [utf8.UTFMax * 8]byte
	flush := func(to int) {
		if from < to {
			dst = lowerRunes(dst, norm.NFKC.Bytes(raw[from:to]))
		}
	}
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRune(raw[i:])
		if r >= utf8.RuneSelf {
			switch {
			case dash(r):
				flush(i)
				dst, from = append(dst, '-'), i+size
			case punctuates(norm.NFKC.Append(tmp[:0], raw[i:i+size]...)):
				flush(i)
				dst, from = append(dst, raw[i:i+size]...), i+size
			}
		}
		i += size
	}
	flush(len(raw))
	return dst
}

// dash reports whether a rune is written for the ASCII hyphen.
func dash(r rune) bool {
	return r >= '\u2010' && r <= '\u2015' || r == '\u2212' || r == '\ufe58' || r == '\ufe63' || r == '\uff0d'
}

// punctuates reports whether a normal form holds ASCII that is no letter and no digit.
func punctuates(form []byte) bool {
	for _, b := range form {
		if r := roles[b]; r != letter && r != digit && r != high {
			return true
		}
	}
	return false
}

func lowerRunes(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		low := unicode.ToLower(r)
		if r == utf8.RuneError || low < utf8.RuneSelf && r >= utf8.RuneSelf {
			dst = append(dst, src[i:i+size]...)
		} else {
			dst = utf8.AppendRune(dst, low)
		}
		i += size
	}
	return dst
}

// mail says whether the chunk with an @ is an address or a handle. A plus tag stays:
// user+tag@host is another value than user@host until someone wrote it.
func (l *lexer) mail() Kind {
	at := bytes.LastIndexByte(l.buf, '@')
	switch {
	case at == 0:
		return Handle
	case at < 0 || bytes.IndexByte(l.buf, '@') != at || bytes.IndexByte(l.buf[at:], '.') < 0:
		return Word
	}
	l.buf = plainHost(l.buf, at+1, len(l.buf))
	return Email
}

// slashed tells host/path from a path of files and cleans either.
func (l *lexer) slashed(c chunk) Kind {
	first := bytes.IndexByte(l.buf, '/')
	if first > 0 && bytes.IndexByte(l.buf, '\\') < 0 && tld(l.buf[:portless(l.buf[:first])]) {
		l.site(c, 0, authority(l.buf))
		return URL
	}
	for i, b := range l.buf {
		if b == '\\' {
			l.buf[i] = '/'
		}
	}
	if unclean(l.buf) {
		l.buf = append(l.buf[:0], path.Clean(string(l.buf))...)
	}
	if c.shape&hasLetter == 0 && l.buf[0] != '/' {
		return Word // 1/2, 05/06/2024
	}
	return Path
}

func unclean(p []byte) bool {
	return bytes.Contains(p, []byte("//")) || bytes.Contains(p, []byte("./"))
}

// portless is where a port begins in a host, or its end.
func portless(host []byte) int {
	if i := bytes.LastIndexByte(host, ':'); i >= 0 {
		return i
	}
	return len(host)
}

// dotted tells a host from a file by what stands behind the last dot.
func (l *lexer) dotted(raw []byte) Kind {
	end := portless(l.buf)
	dot := bytes.LastIndexByte(l.buf[:end], '.')
	last := l.buf[dot+1 : end]
	switch {
	case files[string(last)] || dot == 0 && end == len(l.buf):
		return Path
	case !tld(l.buf[:end]) || capital(raw[bytes.LastIndexByte(raw[:portless(raw)], '.')+1:]): // what is folded may be longer
		return Word
	}
	l.buf = plainHost(l.buf, 0, len(l.buf))
	return Host
}

// capital reports a capital letter at the start: "done.Thanks" is no host.
func capital(b []byte) bool { return len(b) > 0 && b[0] >= 'A' && b[0] <= 'Z' }

// tld reports whether a name ends like a host's: letters behind a dot, or four numbers.
func tld(name []byte) bool {
	dot := bytes.LastIndexByte(name, '.')
	if dot <= 0 || len(name)-dot <= 2 {
		return dot > 0 && quad(name)
	}
	for _, b := range name[dot+1:] {
		if roles[b] != letter && roles[b] != high && b != '-' && !bytes.HasPrefix(name[dot+1:], []byte("xn--")) {
			return quad(name)
		}
	}
	return true
}

func quad(name []byte) bool {
	dots := 0
	for _, b := range name {
		if b == '.' {
			dots++
		} else if roles[b] != digit {
			return false
		}
	}
	return dots == 3
}

// files are endings that say "a file" rather than "a host".
var files = lists.Set("files")
