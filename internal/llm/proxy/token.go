package proxy

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// keyHeaders are where clients put a provider's key; Gemini's may also stand in the query.
var keyHeaders = []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key"}

const keyQuery = "key"

// callers tells who sends a request.
type callers struct {
	agent   [sha256.Size]byte
	machine func(token string) string
	others  [][sha256.Size]byte // our other tokens, which open nothing here
	secret  [sha256.Size]byte   // keeps names of tenants from being guessed back to keys
	plain   []string            // all our tokens, to be found where they have no business
	bare    [][]byte            // those that are known as they are, and not of the form we make
}

func newCallers(t Tokens) *callers {
	c := &callers{agent: sha256.Sum256([]byte(t.Agent)), secret: sha256.Sum256([]byte("tidemark llm tenant " + t.Agent))}
	c.machine = t.Machine
	c.plain = append([]string{t.Agent}, marks...)
	c.know(t.Agent)
	for _, other := range t.Others {
		digits, hashed := strings.CutPrefix(other, "sha256:")
		raw, err := hex.DecodeString(digits)
		switch {
		case other == "":
		case hashed && err == nil && len(raw) == sha256.Size:
			c.others = append(c.others, [sha256.Size]byte(raw))
		default:
			c.plain = append(c.plain, other)
			c.know(other)
			c.others = append(c.others, sha256.Sum256([]byte(other)))
		}
	}
	return c
}

// know notes a token as it is, unless its form gives it away.
func (c *callers) know(token string) {
	if !strings.HasPrefix(token, tokenBegin) || tokenEnd([]byte(token)) != len(token) {
		c.bare = append(c.bare, []byte(token))
	}
}

// marks begin tokens of people, of which only hashes are known here.
var marks = []string{"tm-reader-", "tm-owner-", "tm-approver-", "tm-admin-"}

// visitor is who sends a request, and whether the credential in it was ours.
type visitor struct {
	tenant  string
	trusted bool
	machine string // the one elsewhere that has joined with its token; empty: none's
	ours    bool   // the provider's key is our token: another must be put in its place
}

// find reads the credentials. Our own token counts wherever it stands; the others of ours
// have no business here and must not leak to a provider.
func (c *callers) find(r *http.Request) (visitor, *problem) {
	v := visitor{tenant: "anonymous"}
	if tokens, given := r.Header[tokenHeader]; given {
		if len(tokens) == 1 && c.machine != nil {
			v.machine = c.machine(tokens[0])
		}
		if v.machine == "" && (len(tokens) != 1 || !c.is(c.agent, tokens[0])) {
			return v, newProblem(http.StatusUnauthorized, "nobody has the token in "+tokenHeader)
		}
		v.trusted = true
	}
	given := credentials(r)
	for _, secret := range given {
		for _, other := range c.others {
			if c.is(other, secret) {
				return v, newProblem(http.StatusUnauthorized, "this token is not for agents; use the agent's")
			}
		}
		if c.is(c.agent, secret) {
			v.trusted, v.ours = true, true
		}
	}
	if c.strays(r) {
		return v, newProblem(http.StatusUnauthorized,
			"a token of ours stands where it would leave for the provider; send the agent's as API key or in "+tokenHeader)
	}
	switch {
	case v.machine != "":
		v.tenant = "machine-" + v.machine
	case v.trusted:
		v.tenant = "agent"
	case len(given) > 0:
		m := hmac.New(sha256.New, c.secret[:])
		for _, secret := range given {
			m.Write([]byte(secret))
			m.Write([]byte{0})
		}
		v.tenant = "key-" + hex.EncodeToString(m.Sum(nil)[:12])
	}
	return v, nil
}

func (c *callers) is(hash [sha256.Size]byte, secret string) bool {
	sum := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(sum[:], hash[:]) == 1
}

// strays reports whether a token of ours stands anywhere in what is passed on but where it
// is looked for and taken out.
func (c *callers) strays(r *http.Request) bool {
	for name, values := range r.Header {
		if strings.HasPrefix(name, ownHeaders) {
			continue // none of these leaves
		}
		for _, v := range values {
			if c.holds(v) && !c.is(c.agent, keyIn(name, v)) {
				return true
			}
		}
	}
	if c.holds(r.URL.Path) {
		return true
	}
	if !c.holds(unescaped(r.URL.RawQuery)) {
		return false
	}
	rest := r.URL.RawQuery
	if c.keyed(rest) {
		rest = withoutKey(rest)
	}
	return c.holds(unescaped(rest))
}

// keyed reports whether every key in the query that is our token is nothing else.
func (c *callers) keyed(query string) bool {
	values, err := url.ParseQuery(query)
	if err != nil {
		return false
	}
	for _, v := range values[keyQuery] {
		if c.holds(v) && !c.is(c.agent, v) {
			return false
		}
	}
	return true
}

// holds finds a token anywhere in a text, also packed as a name and password are.
func (c *callers) holds(text string) bool {
	if packed, ok := strings.CutPrefix(text, "Basic "); ok {
		if raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(packed)); err == nil {
			text += string(raw)
		}
	}
	for _, token := range c.plain {
		if strings.Contains(text, token) {
			return true
		}
	}
	return false
}

// unescaped undoes the percent signs of a query as far as there are any that can be.
func unescaped(query string) string {
	var b strings.Builder
	for i := 0; i < len(query); i++ {
		if query[i] == '%' && i+2 < len(query) {
			if raw, err := hex.DecodeString(query[i+1 : i+3]); err == nil {
				b.Write(raw)
				i += 2
				continue
			}
		}
		b.WriteByte(query[i])
	}
	return b.String()
}

// keyIn is the key in a header, without the scheme before it; "" in one that has none.
func keyIn(name, value string) string {
	if !slices.Contains(keyHeaders, name) {
		return ""
	}
	value = strings.TrimSpace(value)
	if scheme, rest, found := strings.Cut(value, " "); found && name == "Authorization" && scheme != "" {
		value = rest
	}
	return strings.TrimSpace(value)
}

// credentials are all keys of a request, without the scheme before them.
func credentials(r *http.Request) []string {
	var out []string
	for _, name := range keyHeaders {
		for _, v := range r.Header[name] {
			if v = keyIn(name, v); v != "" {
				out = append(out, signer(v))
			}
		}
	}
	for _, v := range r.URL.Query()[keyQuery] {
		if v != "" {
			out = append(out, v)
		}
	}
	return out
}

// signer is who signed a request for one of Amazon's services: the signature itself is another with
// each. Any other key is itself.
func signer(key string) string {
	if rest, ok := strings.CutPrefix(key, "Credential="); ok {
		id, _, _ := strings.Cut(rest, "/")
		return "Credential=" + id
	}
	return key
}

// withoutKey is a query without keys, otherwise as it came.
func withoutKey(query string) string {
	parts := strings.Split(query, "&")
	kept := parts[:0]
	for _, p := range parts {
		name, _, _ := strings.Cut(p, "=")
		if plain, err := url.QueryUnescape(name); err == nil && plain != keyQuery {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "&")
}
