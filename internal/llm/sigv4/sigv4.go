// Package sigv4 signs requests to Amazon's services (Signature Version 4). It does no I/O, and the caller
// gives the time. A signature covers the host, the path and the body, so that whoever stands between
// a client and the service has to sign anew.
package sigv4

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Key is who signs, and for what.
type Key struct {
	ID, Secret string
	Token      string // of a session; "" for a key that lasts
	Region     string
	Service    string
}

const (
	algorithm  = "AWS4-HMAC-SHA256"
	dateHeader = "X-Amz-Date"
)

// Headers are those that a signature is made of. What a client put there is for another host.
var Headers = []string{"Authorization", dateHeader, "X-Amz-Security-Token", "X-Amz-Content-Sha256", "X-Amz-Signature", "X-Amz-Credential"}

// Sign puts a signature of the request and its body into the request's header, in place of any other.
func (k Key) Sign(r *http.Request, body []byte, now time.Time) {
	for _, name := range Headers {
		r.Header.Del(name)
	}
	at := now.UTC().Format("20060102T150405Z")
	r.Header.Set(dateHeader, at)
	if k.Token != "" {
		r.Header.Set("X-Amz-Security-Token", k.Token)
	}
	names, headers := canonicalHeaders(r)
	sum := sha256.Sum256(body)
	request := strings.Join([]string{
		r.Method, Encode(r.URL.EscapedPath(), "/"), canonicalQuery(r.URL.RawQuery), headers, names, hex.EncodeToString(sum[:]),
	}, "\n")
	scope := strings.Join([]string{at[:8], k.Region, k.Service, "aws4_request"}, "/")
	hashed := sha256.Sum256([]byte(request))
	signed := mac(k.derived(at[:8]), strings.Join([]string{algorithm, at, scope, hex.EncodeToString(hashed[:])}, "\n"))
	const form = algorithm + " Credential=%s/%s, SignedHeaders=%s, Signature=%x"
	r.Header.Set("Authorization", fmt.Sprintf(form, k.ID, scope, names, signed))
}

// derived is the key for one day, region and service.
func (k Key) derived(day string) []byte {
	out := mac([]byte("AWS4"+k.Secret), day)
	for _, part := range []string{k.Region, k.Service, "aws4_request"} {
		out = mac(out, part)
	}
	return out
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// canonicalHeaders are the headers that are signed: the host, and those that nothing on the way changes.
func canonicalHeaders(r *http.Request) (names, lines string) {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	values := map[string]string{"host": host}
	for name, v := range r.Header {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-amz-") || name == "content-type" {
			trimmed := make([]string, len(v))
			for i := range v {
				trimmed[i] = strings.Join(strings.Fields(v[i]), " ")
			}
			values[name] = strings.Join(trimmed, ",")
		}
	}
	all := make([]string, 0, len(values))
	for name := range values {
		all = append(all, name)
	}
	slices.Sort(all)
	var b strings.Builder
	for _, name := range all {
		b.WriteString(name + ":" + values[name] + "\n")
	}
	return strings.Join(all, ";"), b.String()
}

// canonicalQuery is a query with its names in order, written in one way.
func canonicalQuery(raw string) string {
	if raw == "" {
		return ""
	}
	var pairs []string
	for part := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(part, "=")
		pairs = append(pairs, Encode(unescaped(name), "")+"="+Encode(unescaped(value), ""))
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}

func unescaped(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// Encode writes a text the way Amazon's services want to have it in an address: every byte in hex but
// letters, digits, - . _ ~ and what is kept.
func Encode(s, kept string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~"+kept, c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}
