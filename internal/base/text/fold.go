package text

import (
	"unicode"
	"unicode/utf8"
)

// IndexFold is where part, which is in small letters, first stands in s, whatever case s has it in: s[start:end] is
// it. Start is -1 where it does not. A letter and its small form may be of different length, so an index into
// strings.ToLower(s) is none into s.
func IndexFold(s, part string) (start, end int) {
	for at := 0; ; {
		if n := prefixFold(s[at:], part); n >= 0 {
			return at, at + n
		}
		if at == len(s) {
			return -1, -1
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
}

// prefixFold is how many bytes at the beginning of s are part in small letters; -1: it does not begin so.
func prefixFold(s, part string) int {
	rest := s
	for _, want := range part {
		got, size := utf8.DecodeRuneInString(rest)
		if size == 0 || unicode.ToLower(got) != want {
			return -1
		}
		rest = rest[size:]
	}
	return len(s) - len(rest)
}
