package question

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// spelled is how the names of hosts in a value are written on the wire, where that is not as
// they look: a Cyrillic а is not an a. Empty: they are what they look like.
func spelled(value string) string {
	changed := false
	words := strings.FieldsFunc(value, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r) && r != '.' && r != '-'
	})
	var out []string
	for _, w := range words {
		if !strings.Contains(strings.Trim(w, "."), ".") {
			continue
		}
		labels := strings.Split(w, ".")
		here := false
		for i, l := range labels {
			if code, ok := punycode(strings.ToLower(l)); ok {
				labels[i], here = "xn--"+code, true
			}
		}
		if here {
			changed = true
			out = append(out, strings.Join(labels, "."))
		}
	}
	if !changed {
		return ""
	}
	return strings.Join(out, ", ")
}

// The parameters of RFC 3492.
const (
	punyBase, punyMin, punyMax   = 36, 1, 26
	punySkew, punyDamp, punyBias = 38, 700, 72
)

// punycode is a label in ASCII (RFC 3492); false for one that is ASCII already, or too long to be one.
func punycode(label string) (string, bool) {
	runes := []rune(label)
	var b strings.Builder
	for _, r := range runes {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		}
	}
	basic := b.Len()
	if basic == len(runes) || len(runes) > 63 {
		return "", false
	}
	if basic > 0 {
		b.WriteByte('-')
	}
	n, delta, bias, done := rune(utf8.RuneSelf), 0, punyBias, basic
	for done < len(runes) {
		next := rune(unicode.MaxRune)
		for _, r := range runes {
			if r >= n && r < next {
				next = r
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, r := range runes {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			punyDigits(&b, delta, bias)
			bias = punyAdapt(delta, done+1, done == basic)
			delta = 0
			done++
		}
		delta++
		n++
	}
	return b.String(), true
}

func punyDigits(b *strings.Builder, q, bias int) {
	const digits = "abcdefghijklmnopqrstuvwxyz0123456789"
	for k := punyBase; ; k += punyBase {
		t := min(max(k-bias, punyMin), punyMax)
		if q < t {
			b.WriteByte(digits[q])
			return
		}
		b.WriteByte(digits[t+(q-t)%(punyBase-t)])
		q = (q - t) / (punyBase - t)
	}
}

func punyAdapt(delta, points int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / points
	k := 0
	for ; delta > (punyBase-punyMin)*punyMax/2; k += punyBase {
		delta /= punyBase - punyMin
	}
	return k + (punyBase-punyMin+1)*delta/(delta+punySkew)
}
