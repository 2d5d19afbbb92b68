// Package serverproof lets a client find out that what listens at an address is the server it
// means before it tells it anything: a port that a server has left can be anybody's.
//
// Both know a secret. The client sends a nonce; the server answers with one of its own, the
// address it listens on, and a keyed hash over all three. The address is part of it so that
// nobody in between can hand on the proof of a server elsewhere. What is proven is the
// connection: whatever is sent on it afterwards reaches that server.
//
// Answer and Check are pure; Dial does I/O. Invariants:
//   - before the proof nothing is sent but the nonce, and the secret is never sent;
//   - an answer that is late, too long, of another form or followed by anything is no proof.
package serverproof

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Path is where a server is asked, and Header what carries the client's nonce.
const (
	Path   = "/v1/proof"
	Header = "X-Tidemark-Nonce"
	// KeyHeader names the secret that the client has, where there are several.
	KeyHeader = "X-Tidemark-Key"
	// AskHeader names a question of a client's own making. The answer bears the same name: one that bears another's, or none, answers
	// something else.
	AskHeader = "X-Tidemark-Ask"
)

// Answer is what a server says to a nonce.
type Answer struct {
	Nonce string `json:"nonce" doc:"the server's own, 32 bytes in hexadecimal digits"`
	At    string `json:"at" doc:"the address the server listens on, as it announced it"`
	Proof string `json:"proof" doc:"HMAC-SHA256 over both nonces and the address; the key is the SHA-256 of the agent token"`
}

// Key is what both sides make of the secret they share.
type Key [sha256.Size]byte

// KeyOf is the key of a secret.
func KeyOf(secret string) Key { return sha256.Sum256([]byte(secret)) }

// Name tells keys apart, and nobody finds a key by it.
func (k Key) Name() string {
	sum := sha256.Sum256(k[:])
	return hex.EncodeToString(sum[:8])
}

// ErrNonce is returned for a nonce that is none.
var ErrNonce = errors.New("want a nonce of 32 bytes in hexadecimal digits in " + Header)

// NewNonce draws a nonce.
func NewNonce() (string, error) {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("draw nonce: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// IsAsk reports whether a text may stand as the name of a question: what comes back with an answer is nothing that anybody could write.
func IsAsk(s string) bool { return isNonce(s) }

// Show answers a client's nonce.
func (k Key) Show(nonce, at string) (Answer, error) {
	if !isNonce(nonce) {
		return Answer{}, ErrNonce
	}
	own, err := NewNonce()
	if err != nil {
		return Answer{}, err
	}
	return Answer{Nonce: own, At: at, Proof: hex.EncodeToString(k.sum(nonce, own, at))}, nil
}

// Holds reports whether an answer to nonce was made with the same secret.
func (k Key) Holds(nonce string, a Answer) bool {
	got, err := hex.DecodeString(a.Proof)
	return err == nil && isNonce(nonce) && isNonce(a.Nonce) && hmac.Equal(got, k.sum(nonce, a.Nonce, a.At))
}

// sum is over parts of which all but the last have a fixed length, so that they cannot be
// cut in another way.
func (k Key) sum(client, server, at string) []byte {
	mac := hmac.New(sha256.New, k[:])
	_, _ = mac.Write([]byte("tidemark server proof 1\n" + client + server + at)) // it never fails
	return mac.Sum(nil)
}

func isNonce(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == 32
}
