package proxy

import (
	"bytes"
	"crypto/sha256"
	"io"
	"net/http"
)

// A token of ours in the body of a request would be told to a provider: an agent may have
// read the file it stands in. Agents' tokens are known as they are, people's by their form
// and their hash.

const (
	tokenBegin  = "tm-"
	tokenDigits = 48
	longToken   = 512 // more than any token
)

// inBody reports whether a token of ours stands in a piece of a body.
func (c *callers) inBody(b []byte) bool {
	for _, t := range c.bare {
		if bytes.Contains(b, t) {
			return true
		}
	}
	for {
		i := bytes.Index(b, []byte(tokenBegin))
		if i < 0 {
			return false
		}
		b = b[i:]
		if n := tokenEnd(b); n > 0 && c.ours(b[:n]) {
			return true
		}
		b = b[len(tokenBegin):]
	}
}

// tokenEnd is how long the token is that b begins with, in the form of those we make: a role
// and digits. It is 0 where there is none.
func tokenEnd(b []byte) int {
	i := len(tokenBegin)
	for i < len(b) && b[i] >= 'a' && b[i] <= 'z' {
		i++
	}
	if i == len(tokenBegin) || i >= len(b) || b[i] != '-' || len(b) < i+1+tokenDigits {
		return 0
	}
	for _, d := range b[i+1 : i+1+tokenDigits] {
		if (d < '0' || d > '9') && (d < 'a' || d > 'f') {
			return 0
		}
	}
	return i + 1 + tokenDigits
}

// ours reports whether a token is one of those that count now.
func (c *callers) ours(token []byte) bool {
	sum := sha256.Sum256(token)
	if sum == c.agent {
		return true
	}
	for _, other := range c.others {
		if sum == other {
			return true
		}
	}
	return false
}

const whyStray = "a token of Tidemark's own stands in the request, so it was not sent to the provider. " +
	"Take it out of the conversation (a file or a command's output may have brought it) and make new ones: tidemark token new"

// guarded is a body that ends with an error before a token of ours is out.
type guarded struct {
	io.ReadCloser
	from    io.Reader
	callers *callers
	held    []byte // read and not given out yet
	failed  error
}

// Read implements io.Reader. The end of what came in is kept back until what follows it is
// known: a token may begin there.
func (g *guarded) Read(b []byte) (int, error) {
	for {
		ready := len(g.held)
		if g.failed == nil {
			ready = max(0, ready-longToken)
		}
		if ready > 0 || len(b) == 0 {
			n := copy(b, g.held[:ready])
			g.held = append(g.held[:0], g.held[n:]...)
			return n, nil
		}
		if g.failed != nil {
			return 0, g.failed
		}
		var piece [16 << 10]byte
		n, err := g.from.Read(piece[:])
		g.held = append(g.held, piece[:n]...)
		if g.failed = err; g.callers.inBody(g.held) {
			g.held, g.failed = nil, newProblem(http.StatusForbidden, whyStray)
		}
	}
}
