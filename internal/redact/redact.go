// Package redact removes secrets from text before it is stored, shown or sent. It
// is pure. It errs on the side of removing too much.
package redact

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mark replaces what was removed.
const Mark = "[REDACTED]"

// A Redactor holds compiled patterns; it is safe for concurrent use.
type Redactor struct {
	patterns []pattern
}

type pattern struct {
	may  func(lower string) bool // cheap: whether the expression is worth trying
	re   *regexp.Regexp
	keep string              // replacement
	mask func(string) string // instead of keep, where a match needs a second look
}

// New compiles the built-in patterns.
func New() *Redactor {
	p := func(may func(string) bool, expr, keep string) pattern {
		return pattern{may: may, re: regexp.MustCompile(expr), keep: keep}
	}
	return &Redactor{patterns: []pattern{
		p(has("-----begin"), `(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)`, Mark),
		p(has("sk-", "sk_", "pk-", "pk_", "rk-", "rk_"), `\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or)?[-_A-Za-z0-9]{16,}`, Mark),
		p(has("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), `gh[pousr]_[A-Za-z0-9]{20,}`, Mark),
		p(has("github_pat_", "glpat-", "npm_"), `github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|npm_[A-Za-z0-9]{30,}`, Mark),
		p(has("xox"), `xox[abeprs]-[A-Za-z0-9-]{10,}`, Mark),
		p(has("akia", "asia"), `(?:AKIA|ASIA)[0-9A-Z]{16}`, Mark),
		p(has("aiza"), `AIza[0-9A-Za-z_-]{30,}`, Mark),
		p(has("eyj"), `eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`, Mark),
		p(has("bearer", "basic"), `(?i)((?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{12,}`, "${1}"+Mark),
		p(has("@"), `(://[^\s/:@]*:)[^\s/@]+@`, "${1}"+Mark+"@"),
		p(has("passw", "secret", "token", "key"),
			`(?i)((?:passw(?:or)?d|secret|token|api[_-]?key|access[_-]?key)[a-z0-9_-]*\\?["']?\s*[:=]\s*\\?["']?)[^\s"',;\\]{6,}`, "${1}"+Mark),
		{may: manyDigits, re: regexp.MustCompile(`\b\d(?:[ -]?\d){12,}\b`), mask: maskCards},
	}}
}

func has(words ...string) func(string) bool {
	return func(lower string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(lower, w) })
	}
}

// Text is s without secrets.
func (r *Redactor) Text(s string) string {
	lower := strings.ToLower(s)
	for _, p := range r.patterns {
		switch {
		case !p.may(lower):
		case p.mask != nil:
			s = p.re.ReplaceAllStringFunc(s, p.mask)
		default:
			s = p.re.ReplaceAllString(s, p.keep)
		}
	}
	return s
}

// tail is how many characters more are looked at than are shown, so that a secret that
// begins before the cut is recognised.
const tail = 256

// Preview is the first n characters of content on one line, without secrets and
// without characters that could confuse a terminal or a page. It is cleaned first: a
// secret with an invisible character inside must not come out whole.
func (r *Redactor) Preview(content []byte, n int) string {
	s, all := oneLine(content, n+tail)
	s = r.Text(s)
	if !all {
		s = dropTail(s)
	}
	return strings.TrimRight(first(s, n), " ")
}

// oneLine is the first n characters of text on one line: blanks and controls become one
// blank, invisible characters go, what is not UTF-8 is marked. It reports whether that
// is all of the text; a text of blanks without end is given up on.
func oneLine(text []byte, n int) (line string, all bool) {
	window := text[:min(len(text), 8*n)]
	var b strings.Builder
	b.Grow(min(len(window), n))
	blank := true // none at the start
	i := 0
	for count := 0; i < len(window) && count < n; {
		c, size := utf8.DecodeRune(window[i:])
		i += size
		switch {
		case c > ' ' && c < 0x7f:
			b.WriteByte(byte(c))
			blank, count = false, count+1
		case c == ' ' || unicode.IsControl(c) || unicode.In(c, unicode.Zl, unicode.Zp):
			if !blank {
				b.WriteByte(' ')
				blank, count = true, count+1
			}
		case unicode.Is(unicode.Cf, c):
			// direction overrides, zero widths and tags make a preview say what the text does not
		default:
			b.WriteRune(c)
			blank, count = false, count+1
		}
	}
	return b.String(), i == len(text)
}

// dropTail takes the last word away: it may be the beginning of a secret whose end was
// not looked at.
func dropTail(s string) string {
	cut := max(strings.LastIndexByte(s, ' '), len(s)-tail, 0)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

func first(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
