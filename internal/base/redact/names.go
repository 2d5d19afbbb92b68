package redact

import (
	"strings"
	"sync"
)

// naming is what a name says about the value beside it. The order is by how sure it is.
type naming uint8

const (
	plainName    naming = iota
	vagueName           // key, auth, sig: a secret if the value looks like one
	shortName           // pwd, pass: a secret or a folder or a test's outcome
	headerName          // authorization: a scheme may come first
	secretName          // token, api_key
	passwordName        // password: any value is one
)

// stems is a quick look: a name without any of these is plain.
var stems = sync.OnceValue(func() *automaton {
	return newAutomaton([][]string{{
		"pass", "pwd", "pw", "secret", "token", "key", "auth", "cred", "sig", "salt", "pat", "kennwort", "cookie",
	}})
})

// nameOf says what a name such as DB_PASSWORD, apiKey or x-api-key stands for.
func nameOf(name string) naming {
	if stems().scan(name) == (bits{}) {
		return plainName
	}
	words := wordsOf(name)
	if len(words) == 0 {
		return plainName
	}
	last := words[len(words)-1]
	before := ""
	if len(words) > 1 {
		before = words[len(words)-2]
	}
	if oneOf(last, aboutSecrets) {
		return plainName
	}
	kind := plainName
	for i, w := range words {
		if w == "token" && i > 0 && oneOf(words[i-1], plainTokens) {
			return plainName
		}
		kind = max(kind, wordNaming(w))
	}
	if kind > plainName {
		return kind
	}
	return lastNaming(last, before)
}

// wordNaming is what a single word says, wherever it stands in a name. Words may be
// written together (dbpassword) and in the plural, but one has a number of tokens: those
// are counted, not kept.
func wordNaming(w string) naming {
	if w != "tokens" {
		w = strings.TrimSuffix(w, "s")
	}
	for _, end := range []string{"password", "passwd", "passphrase", "passcode", "kennwort"} {
		if strings.HasSuffix(w, end) {
			return passwordName
		}
	}
	for _, end := range []string{"secret", "token", "apikey", "accesskey", "secretkey", "privatekey", "accountkey", "credential"} {
		if strings.HasSuffix(w, end) {
			return secretName
		}
	}
	if w == "authorization" {
		return headerName
	}
	return plainName
}

// lastNaming is what the last word of a name says, with the one before it.
func lastNaming(last, before string) naming {
	switch last {
	case "key":
		switch {
		case oneOf(before, secretKeys):
			return secretName
		case oneOf(before, plainKeys):
			return plainName
		}
		return vagueName
	case "pwd", "pass", "pw":
		return shortName
	case "auth", "salt", "cred", "creds", "signature", "sig", "pat", "cookie":
		return vagueName
	}
	return plainName
}

// Words in and around names.
const (
	// a name that ends in one of these is about a secret and does not hold it
	aboutSecrets = "id ids name names type url uri path file filename dir count limit length len size expires expiry expiration " +
		"expire ttl field label hint policy format version index header prefix suffix arn ref rotation manager provider endpoint " +
		"budget usage used max min per rate status error algorithm alg env var variable parameter param required present"
	plainTokens = "next page continuation sync start stop eos bos pad unk mask sep cls special end first last max"
	secretKeys  = "api access private secret account shared encryption encrypt signing sign master service auth license " +
		"subscription storage admin app application client root deploy webhook hmac aes jwt token developer dev prod consumer"
	plainKeys = "public pub cache primary foreign sort partition idempotency index object map group routing translation unique " +
		"composite shortcut hot arrow dict row column registry config sorting lookup natural surrogate candidate dedupe i18n"
)

func oneOf(w, list string) bool {
	if w == "" {
		return false
	}
	for x := range strings.FieldsSeq(list) {
		if x == w {
			return true
		}
	}
	return false
}

// wordsOf splits a name where its case changes and at everything that is no letter or
// digit. Digits at the end of a word do not count.
func wordsOf(name string) []string {
	var words []string
	var w []byte
	end := func() {
		if s := strings.TrimRight(string(w), "0123456789"); s != "" {
			words = append(words, s)
		}
		w = w[:0]
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'A' && c <= 'Z':
			small := i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z'
			if i > 0 && (!capital(name[i-1]) || small) {
				end()
			}
			w = append(w, c-'A'+'a')
		case alnum(c):
			w = append(w, c)
		default:
			end()
		}
	}
	end()
	return words
}

func capital(c byte) bool { return c >= 'A' && c <= 'Z' }
