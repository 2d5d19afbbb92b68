package redact

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// leads are the secrets whose maker gave them a beginning of their own.
func leads() []lead {
	return []lead{
		// code hosts and registries
		{"ghp_", alnum, 20}, {"gho_", alnum, 20}, {"ghu_", alnum, 20}, {"ghs_", alnum, 20}, {"ghr_", alnum, 20},
		{"github_pat_", word, 20}, {"glpat-", dotted, 16}, {"gldt-", word, 16}, {"glrt-", dotted, 16}, {"glcbt-", word, 16},
		{"glptt-", word, 16}, {"glsoat-", word, 16}, {"glft-", word, 16}, {"ATBB", alnum, 28}, {"ATATT3", padded, 40},
		{"npm_", alnum, 30}, {"pypi-", word, 40}, {"rubygems_", hex, 40}, {"dckr_pat_", word, 20}, {"dckr_oat_", word, 20},
		// clouds
		{"AIza", word, 30}, {"GOCSPX-", word, 20}, {"ya29.", dotted, 20}, {"1//0", word, 30},
		{"dop_v1_", hex, 40}, {"doo_v1_", hex, 40}, {"dor_v1_", hex, 40}, {"dapi", hex, 32}, {"tskey-", word, 16},
		{"hvs.", word, 20}, {"hvb.", word, 20}, {"hvr.", word, 20}, {"pul-", hex, 40}, {"nfp_", alnum, 30},
		{"pscale_tkn_", dotted, 30}, {"pscale_pw_", dotted, 30}, {"sbp_", hex, 36}, {"sb_secret_", word, 16}, {"HRKU-", word, 30},
		// models
		{"gsk_", alnum, 40}, {"xai-", alnum, 60}, {"pplx-", alnum, 40}, {"hf_", alnum, 30}, {"r8_", alnum, 30}, {"lsv2_", word, 30},
		// chat, mail and work
		{"xapp-", word, 20}, {"SG.", dotted, 40}, {"xkeysib-", word, 40}, {"lin_api_", alnum, 30}, {"ntn_", alnum, 40},
		{"figd_", word, 30}, {"PMAK-", word, 40}, {"NRAK-", alnum, 20}, {"glsa_", word, 30}, {"glc_", padded, 40},
		{"sntrys_", padded, 40}, {"sntryu_", alnum, 40}, {"dp.pt.", alnum, 30}, {"dp.st.", dotted, 30},
		// payment
		{"whsec_", padded, 24}, {"shpat_", hex, 30}, {"shpca_", hex, 30}, {"shppa_", hex, 30}, {"shpss_", hex, 30},
		{"sq0atp-", word, 20}, {"sq0csp-", word, 30}, {"rzp_live_", alnum, 14}, {"EAA", alnum, 80},
		{"access_token$production$", func(c byte) bool { return alnum(c) || c == '$' }, 20},
		// keys
		{"AGE-SECRET-KEY-1", alnum, 20}, {"xprv", alnum, 100}, {"b3BlbnNzaC1rZXktdjE", padded, 20},
	}
}

// patterns are looked for in this order: what spans lines and what holds other secrets
// comes first.
func patterns() []pattern {
	return []pattern{
		{
			words: "-begin", // closed by its end or, where it was cut, by the end of the text
			expr: `(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,12}-----.*?` +
				`(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,12}-----|$)`,
		},
		{words: "private-lines:", expr: `(?s)Private-Lines:\s*\d+\s.*?(?:Private-(?:MAC|Hash):\s*[0-9a-f]+|$)`},
		{
			words: "akia asia abia acca", // the id with its secret beside it
			expr:  `(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}([^A-Za-z0-9/+]{1,12}(?:[A-Za-z_ ]{0,40}[^A-Za-z0-9/+]{1,6})?)([A-Za-z0-9/+]{40,})`,
			look:  lookPair,
		},
		{words: "akia asia abia acca", expr: `(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}`},
		{
			words: "sk- sk_ pk- pk_ rk- rk_", may: startsWord("sk-", "sk_", "pk-", "pk_", "rk-", "rk_"),
			expr: `(\\[nrt]|\b)((?:sk|pk|rk)[-_](?:live|test|proj|ant|or)?[-_A-Za-z0-9]{16,})`, look: lookKey,
		},
		{words: "xox", expr: `xox[abeoprs]-[A-Za-z0-9-]{10,}`},
		{words: "eyj", expr: `eyJ[A-Za-z0-9_-]{8,}\.\.?[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){1,3}`},
		{words: ":aa", expr: `\d{8,10}:AA[A-Za-z0-9_-]{32,}`},
		{words: "hooks.slack.com", expr: `(hooks\.slack\.com/)(?:services|workflows|triggers)/[A-Za-z0-9_/-]{16,}`, keep: "${1}" + Mark},
		{words: "/api/webhooks/", expr: `(/api/webhooks/\d{10,}/)[A-Za-z0-9_-]{30,}`, keep: "${1}" + Mark},
		{words: "/webhookb2/", expr: `(/webhookb2/)[A-Za-z0-9@_/.-]{20,}`, keep: "${1}" + Mark},
		{may: twoDots, expr: `(\\[nrt]|\b)[MNO][A-Za-z0-9_-]{22,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}\b`, keep: "${1}" + Mark},
		{may: hexAfter("SK"), expr: `SK[0-9a-f]{32}\b`},
		{may: hexAfter("AC"), expr: `(AC[0-9a-f]{32}["']?[:, ]+["']?)[0-9a-f]{32}\b`, keep: "${1}" + Mark},
		{words: "key-", expr: `key-[0-9a-f]{32}\b`},
		{words: "-us1 -us2 -us3 -us4 -us5 -us6 -us7 -us8 -us9", expr: `[0-9a-f]{32,}-us\d{1,2}\b`},
		{words: "8q~", expr: `[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{31,}`},
		{words: ".atlasv1.", expr: `[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}`},
		// The first letter is left out: so the rest is a literal start in either case.
		{words: "bearer", expr: `(earer\s+)([A-Za-z0-9._~+/=-]{12,})`, look: lookBearer},
		{words: "bearer", expr: `(EARER\s+)([A-Za-z0-9._~+/=-]{12,})`, look: lookBearer},
		{words: "basic", expr: `(asic\s+)([A-Za-z0-9+/=_-]{8,})`, look: lookBasic},
		{words: "cookie", keep: "${1}" + Mark,
			expr: `(ookie\\?["']?\s*:\s*\\?["']?)[^\s;=,"'\\]+=[^\s;"'\\]*(?:;\s*[^\s;=,"'\\]+(?:=[^\s;"'\\]*)?)*`},
		{words: "://", may: hasAt, expr: `(://[^\s/:@"'<>]*:)([^\s/@"'<>\\]+)@`, look: lookUserinfo},
		{words: "://", may: hasAt, expr: `(://)[A-Za-z0-9_.~-]{20,}@`, keep: "${1}" + Mark + "@"},
		{words: "@tcp( @unix(", expr: `([A-Za-z0-9_.-]+:)[^\s@"']+(@(?:tcp|unix)\()`, keep: "${1}" + Mark + "${2}"},
		{words: "curl", expr: `(curl\b[^\r\n|;&]*?\s(?:-u|--user|--proxy-user)[ =]?\\?["']?[^\s:"'\\]+:)[^\s"'\\]+`, keep: "${1}" + Mark},
		{words: "mysql", expr: `(mysql(?:dump|admin)?\s(?:[^\r\n|;&]*?\s)?-p)[^\s"'=\\-][^\s"'\\]{3,}`, keep: "${1}" + Mark},
		{words: "sshpass", expr: `(sshpass\s+-p\s*\\?["']?)[^\s"'\\]+`, keep: "${1}" + Mark},
		{words: "login", expr: `(machine\s+\S+\s+login\s+\S+\s+password\s+)\S+`, keep: "${1}" + Mark},
	}
}

// lookPair keeps what stands between an id and what follows it, and what follows unless
// it is a secret of exactly the right length.
func lookPair(m []string) string {
	if len(m[2]) != 40 || !mixed(m[2]) {
		return Mark + m[1] + m[2]
	}
	return Mark + m[1] + Mark
}

// lookKey keeps names made of words, such as those of style classes.
func lookKey(m []string) string {
	words := strings.FieldsFunc(m[2], func(c rune) bool { return c == '-' || c == '_' })
	for _, w := range words {
		if len(w) > 12 || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
			return m[1] + Mark
		}
	}
	return m[0]
}

// lookBearer keeps ordinary words after "bearer".
func lookBearer(m []string) string {
	if len(m[2]) < 24 && strings.Trim(m[2], "abcdefghijklmnopqrstuvwxyz-.") == "" {
		return m[0]
	}
	return m[1] + Mark
}

// lookBasic keeps ordinary words after "basic": a credential is a name, a colon and a
// password in base 64.
func lookBasic(m []string) string {
	text := strings.TrimRight(m[2], "=")
	if len(text)%4 == 1 {
		text = text[:len(text)-1] // it was cut
	}
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if plain, err := e.DecodeString(text); err == nil && bytes.IndexByte(plain, ':') >= 0 {
			return m[1] + Mark
		}
	}
	return m[0]
}

// lookUserinfo keeps the port of a URL that has an @ further on.
func lookUserinfo(m []string) string {
	port := strings.TrimLeft(m[2], "0123456789")
	if len(port) < len(m[2]) && (strings.HasPrefix(port, "?") || strings.HasPrefix(port, "#")) {
		return m[0]
	}
	return m[1] + Mark + "@"
}

// mixed reports whether s has capitals, small letters and digits, as what was drawn at
// random has.
func mixed(s string) bool {
	return strings.ContainsAny(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyz") &&
		strings.ContainsAny(s, "0123456789")
}

func hasAt(s string) bool { return strings.IndexByte(s, '@') >= 0 }

// startsWord is whether one of the texts stands at the start of a word: "sk-" is in
// "task-based" too.
func startsWord(texts ...string) func(string) bool {
	return func(s string) bool {
		for _, t := range texts {
			for i := 0; ; i++ {
				at := strings.Index(s[i:], t)
				if at < 0 {
					break
				}
				i += at
				if startsAt(s, i) {
					return true
				}
			}
		}
		return false
	}
}

// hexAfter is whether 32 digits of a small hex number follow the text.
func hexAfter(text string) func(string) bool {
	return func(s string) bool {
		for i := 0; ; {
			at := strings.Index(s[i:], text)
			if at < 0 {
				return false
			}
			i += at + len(text)
			if len(s)-i >= 32 && strings.Trim(s[i:i+32], "0123456789abcdef") == "" {
				return true
			}
		}
	}
}

// twoDots is whether there are dots with six characters between them and a long word
// after: the form of a token that has no letters of its own.
func twoDots(s string) bool {
	for i := 0; ; i++ {
		at := strings.IndexByte(s[i:], '.')
		if at < 0 {
			return false
		}
		i += at
		if i+8+27 <= len(s) && s[i+7] == '.' && !strings.ContainsFunc(s[i+8:i+8+27], notWord) {
			return true
		}
	}
}

func notWord(c rune) bool { return c > 0x7f || !word(byte(c)) }
