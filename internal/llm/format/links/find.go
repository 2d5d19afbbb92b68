package links

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// find is where the first address of a word begins: one with a scheme, one that begins with "//" or "www.", a mail address as
// a link, or a host with something behind it. Hosts without a scheme are taken for links by some programs only.
func find(s string) (int, bool) {
	at := -1
	earliest := func(i int) {
		if i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if i := strings.Index(s, "://"); i >= 0 {
		earliest(schemeStart(s, i))
	}
	earliest(bareSlashes(s))
	earliest(prefixed(s, "www."))
	earliest(prefixed(s, "mailto:"))
	earliest(prefixed(s, "xmpp:"))
	earliest(hostIn(s))
	return at, at >= 0
}

// schemeStart is where the scheme begins that ends at end.
func schemeStart(s string, end int) int {
	i := end
	for i > 0 && (letter(s[i-1]) || strings.IndexByte("0123456789+.-", s[i-1]) >= 0) {
		i--
	}
	for i < end && !letter(s[i]) {
		i++
	}
	return i
}

// bareSlashes is where an address without a scheme begins: "//" and a host.
func bareSlashes(s string) int {
	for from := 0; ; {
		i := strings.Index(s[from:], "//")
		if i < 0 {
			return -1
		}
		i += from
		host := strings.TrimLeft(s[i:], "/")
		if end := strings.IndexAny(host, `/\?#:`); end >= 0 {
			host = host[:end]
		}
		if strings.IndexByte(host, '.') > 0 || strings.ContainsAny(host, "。．｡") || strings.HasPrefix(host, "[") {
			return i
		}
		from = i + len(s[i:]) - len(strings.TrimLeft(s[i:], "/"))
	}
}

// prefixed is where a prefix stands in a word that goes on behind it.
func prefixed(s, prefix string) int {
	low := s
	if strings.ContainsFunc(s, unicode.IsUpper) {
		low = lowerASCII(s)
	}
	for from := 0; ; {
		i := strings.Index(low[from:], prefix)
		if i < 0 {
			return -1
		}
		i += from
		end := i + len(prefix)
		if end < len(s) && !trails(first(s[end:])) {
			return i // in the middle of a word too: some program takes it from there
		}
		from = end
	}
}

func first(s string) rune { r, _ := utf8.DecodeRuneInString(s); return r }

func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// hostIn is where a host begins that has a path or a query, or so many names that one of them may be anything.
func hostIn(s string) int {
	if strings.IndexByte(s, '.') < 0 {
		return -1
	}
	start := -1
	before := rune(' ')
	for i, r := range s + " " {
		part := r == '.' || r == '-' || r == '_' && start >= 0 || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		switch {
		case part && start < 0 && strings.ContainsRune("/@", before): // of a path, or of a mail address
		case part && start < 0:
			start = i
		case !part && start >= 0:
			if i <= len(s) && leads(s[start:min(i, len(s))], s[min(i, len(s)):]) {
				return start
			}
			start = -1
		}
		if !part || start >= 0 {
			before = r
		}
	}
	return -1
}

// leads reports whether what may be a host carries something away.
func leads(host, rest string) bool {
	labels := strings.Split(strings.Trim(host, "."), ".")
	end := labels[len(labels)-1]
	leading := strings.HasPrefix(host, ".") // of a name beyond ASCII, which was shown already
	if len(labels) < 2 && !leading || !topLevel(end) && !numeric(labels) {
		return false
	}
	if port := strings.TrimLeft(strings.TrimPrefix(rest, ":"), "0123456789"); strings.HasPrefix(rest, ":") && port != rest[1:] {
		rest = port
	}
	if len(rest) > 1 && (rest[0] == '/' || rest[0] == '?' || rest[0] == '\\') && !trails(first(rest[1:])) {
		return true
	}
	if len(labels) < 3 {
		return false
	}
	for _, l := range labels[:len(labels)-2] {
		if len(l) > 20 || countries[end] || endings[end] || strings.ContainsAny(l, "0123456789-_") && !numeric(labels) {
			return true
		}
	}
	return false
}

// topLevel reports whether a name may be the last one of a host.
func topLevel(name string) bool {
	switch n := utf8.RuneCountInString(name); {
	case n < 2:
		return false
	case n == 2 && name[0] < utf8.RuneSelf:
		return countries[lowerASCII(name)]
	case strings.HasPrefix(lowerASCII(name), "xn--"):
		return true
	}
	return strings.IndexFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) < 0
}

// numeric reports whether a host is four numbers.
func numeric(labels []string) bool {
	if len(labels) != 4 {
		return false
	}
	for _, l := range labels {
		if l == "" || len(l) > 3 || strings.Trim(l, "0123456789") != "" {
			return false
		}
	}
	return true
}

// countries are the top-level domains of two letters.
var countries = words(`ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz
	ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gd ge gf
	gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr
	kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni
	nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sk sl sm sn so sr ss
	st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw`)

// endings are longer ones that programs know without a scheme.
var endings = words(`com org net edu gov mil int biz info name pro shop dev app xyz online site top cloud page link live tech store
	space website icu club click web host press fun example test`)

func words(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[w] = true
	}
	return out
}
