package valueindex

import "bytes"

// quoted reads a string in quotes that may go on over lines further in.
func (y *yaml) quoted(key []byte, at, indent int) bool {
	q := y.src[at]
	end := at + 1
	for ; end < len(y.src); end++ {
		if y.src[end] == q {
			if q == '\'' && end+1 < len(y.src) && y.src[end+1] == q {
				end++
				continue
			}
			break
		}
		if y.src[end] == '\\' && q == '"' {
			end++
		}
	}
	if end >= len(y.src) {
		return false
	}
	text, ok := y.f.unquote(y.src[at+1:end], q, indent)
	if !ok {
		return false
	}
	y.f.leaf(key, text)
	y.next = end + 1
	tail := y.src[y.next:]
	if i := bytes.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[:i]
	}
	if len(bytes.TrimSpace(tail)) > 0 {
		return false
	}
	y.next += len(tail)
	y.next = min(y.next+1, len(y.src))
	return y.fetch() || y.done
}

// unquote decodes a quoted scalar: lines are folded, quotes and escapes read. A line
// that stands further out than its key does not belong to it.
func (f *forest) unquote(s []byte, q byte, indent int) ([]byte, bool) {
	if bytes.IndexByte(s, '\n') < 0 && bytes.IndexByte(s, '\\') < 0 && bytes.IndexByte(s, '\'') < 0 {
		return s, true
	}
	folded := make([]byte, 0, len(s))
	blank := 0
	for i := 0; ; i++ {
		end := bytes.IndexByte(s, '\n')
		line := s
		if end >= 0 {
			line = s[:end]
		}
		if i > 0 {
			if trimmed := bytes.TrimLeft(line, " "); len(trimmed) > 0 && len(line)-len(trimmed) <= indent {
				return nil, false
			}
			line = bytes.TrimLeft(line, " ")
		}
		if end >= 0 {
			line = bytes.TrimRight(line, " \r")
		}
		if i > 0 && len(line) == 0 && end >= 0 {
			blank++
		} else {
			folded = foldLine(folded, line, i, blank, q)
			blank = 0
		}
		if end < 0 {
			break
		}
		s = s[end+1:]
	}
	if q == '\'' {
		return bytes.ReplaceAll(folded, []byte("''"), []byte("'")), true
	}
	return unescape(make([]byte, 0, len(folded)), folded)
}

// foldLine adds a line to those before it: a break is a space, empty lines are breaks,
// a backslash at the end joins.
func foldLine(out, line []byte, i, blank int, q byte) []byte {
	switch {
	case i == 0:
	case q == '"' && oddBackslashes(out):
		out = out[:len(out)-1]
	case blank == 0:
		out = append(out, ' ')
	}
	for range blank {
		out = append(out, '\n')
	}
	return append(out, line...)
}

func oddBackslashes(s []byte) bool {
	n := 0
	for n < len(s) && s[len(s)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}
