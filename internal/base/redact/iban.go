package redact

import "strings"

// ibanLengths are the countries whose account numbers are IBANs, with the length of one: a
// number that passes its check there is an account, whatever its digits look like.
const ibanLengths = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 " +
	"FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 " +
	"LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 " +
	"SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20"

// ibanSizes is the list above by country.
var ibanSizes = func() map[string]int {
	out := map[string]int{}
	for f := range strings.FieldsSeq(ibanLengths) {
		out[f[:2]] = int(f[2]-'0')*10 + int(f[3]-'0')
	}
	return out
}()

// maskDigits removes card numbers from text. Account numbers in it stay: one in ten IBANs
// has digits that pass for a card's, and people name the accounts they mean.
func maskDigits(s string) string {
	var b strings.Builder
	from := 0
	for i := 0; i+4 <= len(s); i++ {
		if s[i] < 'A' || s[i] > 'Z' || i > 0 && alnum(s[i-1]) {
			continue
		}
		if n := iban(s[i:]); n > 0 {
			b.WriteString(runs.ReplaceAllStringFunc(s[from:i], maskCards))
			b.WriteString(s[i : i+n])
			i += n - 1
			from = i + 1
		}
	}
	if from == 0 {
		return runs.ReplaceAllStringFunc(s, maskCards)
	}
	b.WriteString(runs.ReplaceAllStringFunc(s[from:], maskCards))
	return b.String()
}

// iban is the length of the IBAN that s begins with, blanks and dashes included, or 0.
func iban(s string) int {
	size := ibanSizes[s[:2]]
	if size == 0 || !digit(s[2]) || !digit(s[3]) {
		return 0
	}
	rest, n, i := 0, 0, 0 // rest of the number that the letters and digits spell
	for ; i < len(s) && n < size; i++ {
		c := s[i]
		switch {
		case alnum(c) && c < 'a':
			if n >= 4 {
				rest = spell(rest, c)
			}
			n++
		case (c == ' ' || c == '-') && n >= 4 && alnum(s[i-1]):
		default:
			return 0
		}
	}
	if n < size || i < len(s) && alnum(s[i]) {
		return 0
	}
	for j := range 4 { // the country and the check digits come last
		rest = spell(rest, s[j])
	}
	if rest != 1 {
		return 0
	}
	return i
}

// spell appends a letter, as the number it stands for, or a digit, modulo 97.
func spell(rest int, c byte) int {
	if digit(c) {
		return (rest*10 + int(c-'0')) % 97
	}
	return (rest*100 + int(c-'A') + 10) % 97
}
