package valueindex

import (
	"bytes"
	"math"
	"unicode/utf8"
)

// link sets an http or https address without what does not change where it leads: the
// scheme, "www.", a default port, a slash at the end, parameters that only count
// visitors. Other schemes stay as they are.
func (l *lexer) link(c chunk) bool {
	var rest int
	var port string
	switch {
	case bytes.HasPrefix(l.buf, []byte("http://")):
		rest, port = len("http://"), ":80"
	case bytes.HasPrefix(l.buf, []byte("https://")):
		rest, port = len("https://"), ":443"
	default:
		return l.set(URL)
	}
	l.buf = append(l.buf[:0], l.buf[rest:]...)
	end := authority(l.buf)
	if p := portless(l.buf[:end]); string(l.buf[p:end]) == port {
		l.buf, end = append(l.buf[:p], l.buf[end:]...), p
	}
	l.site(c, bytes.LastIndexByte(l.buf[:end], '@')+1, end)
	return l.set(URL)
}

// authority is where the host, its port and its user end.
func authority(s []byte) int {
	for i, b := range s {
		if b == '/' || b == '?' || b == '#' || b == '\\' {
			return i
		}
	}
	return len(s)
}

// site cleans host and path of a link without its scheme; the host stands between from and to.
func (l *lexer) site(c chunk, from, to int) {
	l.buf = plainHost(l.buf, from, to)
	if c.shape&hasQuery != 0 || bytes.IndexByte(l.buf, '?') >= 0 {
		l.buf = untracked(l.buf)
	}
	for len(l.buf) > 1 && l.buf[len(l.buf)-1] == '/' {
		l.buf = l.buf[:len(l.buf)-1]
	}
}

// plainHost takes "www." off the host in s[from:to] and reads its punycode.
func plainHost(s []byte, from, to int) []byte {
	host := s[from:to]
	cut := bytes.TrimPrefix(host, []byte("www."))
	if bytes.IndexByte(cut, '.') < 0 {
		cut = host
	}
	if len(cut) == len(host) && !bytes.Contains(host, []byte("xn--")) {
		return s
	}
	tail := append([]byte(nil), s[to:]...)
	var out []byte
	for i, label := range bytes.Split(cut, []byte(".")) {
		if i > 0 {
			out = append(out, '.')
		}
		out = appendLabel(out, label)
	}
	return append(append(s[:from], out...), tail...)
}

// appendLabel adds one label of a host, punycode as what it stands for. One that
// decodes to plain ASCII or not at all stays as it is: it is not what it pretends.
func appendLabel(out, label []byte) []byte {
	if code, ok := bytes.CutPrefix(label, []byte("xn--")); ok {
		if runes, ok := punycode(code); ok {
			if text := fold(nil, runes); !ascii(text) && bytes.IndexByte(text, '.') < 0 {
				return append(out, text...)
			}
		}
	}
	return append(out, label...)
}

func ascii(s []byte) bool {
	for _, b := range s {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Parameters of punycode, RFC 3492 section 5.
const (
	punyBase, punyMin, punyMax = 36, 1, 26
	punySkew, punyDamp         = 38, 700
	punyBias, punyFirst        = 72, 0x80
	punyLongest                = 63
)

// punycode decodes one label, RFC 3492 section 6.2.
func punycode(code []byte) ([]byte, bool) {
	if len(code) > punyLongest {
		return nil, false
	}
	var out []rune
	if i := bytes.LastIndexByte(code, '-'); i >= 0 {
		out, code = []rune(string(code[:i])), code[i+1:]
	}
	n, at, bias := punyFirst, 0, punyBias
	for len(code) > 0 {
		old, weight := at, 1
		for k := punyBase; ; k += punyBase {
			if len(code) == 0 {
				return nil, false
			}
			d := punyDigit(code[0])
			code = code[1:]
			if d < 0 || weight > math.MaxInt32/punyBase || at > math.MaxInt32-d*weight {
				return nil, false
			}
			at += d * weight
			t := min(max(k-bias, punyMin), punyMax)
			if d < t {
				break
			}
			weight *= punyBase - t
		}
		bias = punyAdapt(at-old, len(out)+1, old == 0)
		n += at / (len(out) + 1)
		at %= len(out) + 1
		if n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
			return nil, false
		}
		out = append(out[:at], append([]rune{rune(n)}, out[at:]...)...)
		at++
	}
	return []byte(string(out)), true
}

func punyDigit(b byte) int {
	switch {
	case b >= 'a' && b <= 'z':
		return int(b - 'a')
	case roles[b] == digit:
		return int(b-'0') + 26
	}
	return -1
}

func punyAdapt(delta, size int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / size
	k := 0
	for delta > (punyBase-punyMin)*punyMax/2 {
		delta /= punyBase - punyMin
		k += punyBase
	}
	return k + (punyBase-punyMin+1)*delta/(delta+punySkew)
}

// trackers are parameters that count visitors and change nothing else.
var trackers = lists.Set("trackers")

// trackerLongest bounds what may be dropped: a long value carries something out.
const trackerLongest = 100

// untracked drops the parameters that only count visitors.
func untracked(s []byte) []byte {
	q := bytes.IndexByte(s, '?')
	if q < 0 {
		return s
	}
	end := len(s)
	if f := bytes.IndexByte(s[q:], '#'); f >= 0 {
		end = q + f
	}
	tail := append([]byte(nil), s[end:]...)
	query := append([]byte(nil), s[q+1:end]...)
	out, sep := s[:q], byte('?')
	for _, pair := range bytes.Split(query, []byte("&")) {
		if len(pair) == 0 || tracks(pair) {
			continue
		}
		out = append(append(out, sep), pair...)
		sep = '&'
	}
	return append(out, tail...)
}

func tracks(pair []byte) bool {
	name, value, _ := bytes.Cut(pair, []byte("="))
	if len(value) > trackerLongest {
		return false
	}
	return bytes.HasPrefix(name, []byte("utm_")) || trackers[string(name)]
}
