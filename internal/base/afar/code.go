package afar

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strings"
)

// Code is what a machine joins with, once: a secret that the server knows by its hash, and the key that the server has. Somebody who
// carries the code cannot be led to another server by it, and somebody on the way learns nothing from it, because it is only said to
// the holder of that key.
type Code struct {
	Secret string // as bearer
	Pin    string // the first digits of the server's pin; "": its key is the system's to vouch for
}

// The bytes of a code. 120 bits of a hash are nobody's to hit by a second key; 120 bits of a secret are nobody's to guess.
const (
	secretBytes = 15
	pinBytes    = 15
)

// unpinned stands for the key in a code that has none.
const unpinned = 0

// secretMark begins a secret of a code, so that it is never taken for a token.
const secretMark = "tmj-"

// letters are read aloud and typed: no 0, 1, 8 or 9.
var letters = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewCode draws a code of a server with this pin.
func NewCode(pin string) (Code, error) {
	if pin != "" && !isSum(pin) {
		return Code{}, errors.New("make code: the pin is none")
	}
	var b [secretBytes]byte
	if _, err := rand.Read(b[:]); err != nil {
		return Code{}, err
	}
	c := Code{Secret: secretMark + hex.EncodeToString(b[:])}
	if pin != "" {
		c.Pin = pin[:2*pinBytes]
	}
	return c, nil
}

// String is the code as a person carries it: groups of six letters.
func (c Code) String() string {
	secret, _ := hex.DecodeString(strings.TrimPrefix(c.Secret, secretMark)) // ours
	pin, _ := hex.DecodeString(c.Pin)
	if c.Pin == "" {
		pin = []byte{unpinned} // half of a code is none
	}
	all := letters.EncodeToString(append(secret, pin...))
	var b strings.Builder
	for i := 0; i < len(all); i += 6 {
		if i > 0 {
			b.WriteByte('-')
		}
		b.WriteString(all[i:min(i+6, len(all))])
	}
	return b.String()
}

// ErrCode is for what is no code, or half of one.
var ErrCode = errors.New("this is no code (want letters and digits in groups, as tidemark token invite printed them)")

// ReadCode reads a code as a person carried it.
func ReadCode(s string) (Code, error) {
	s = strings.ToUpper(strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return -1
		}
		return r
	}, s))
	raw, err := letters.DecodeString(s)
	if err != nil || letters.EncodeToString(raw) != s {
		return Code{}, ErrCode
	}
	c := Code{Secret: secretMark + hex.EncodeToString(raw[:min(len(raw), secretBytes)])}
	switch {
	case len(raw) == secretBytes+pinBytes:
		c.Pin = hex.EncodeToString(raw[secretBytes:])
	case len(raw) != secretBytes+1 || raw[secretBytes] != unpinned:
		return Code{}, ErrCode
	}
	return c, nil
}

// Meet finds out the whole pin of the server that a code is of, and its certificate. Nothing is said to another one.
func (s *Server) Meet(ctx context.Context, c Code) (pin string, cert *x509.Certificate, err error) {
	if len(c.Pin) != 2*pinBytes {
		return "", nil, ErrCode
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Address())
	if err != nil {
		return "", nil, fmt.Errorf("%w: %s: %w", ErrAway, s.Address(), unresolved(err))
	}
	defer func() { _ = raw.Close() }() // nothing is owed on it
	config := s.config()
	config.MinVersion, config.InsecureSkipVerify = tls.VersionTLS13, true //nolint:gosec // the key is compared instead
	config.VerifyConnection = func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 {
			return ErrKey
		}
		cert = state.PeerCertificates[0]
		if pin = PinOf(cert); subtle.ConstantTimeCompare([]byte(pin[:2*pinBytes]), []byte(c.Pin)) != 1 {
			return ErrKey
		}
		return nil
	}
	if err := tls.Client(raw, config).HandshakeContext(ctx); err != nil {
		return "", nil, s.unshaken(s.Address(), err)
	}
	return pin, cert, nil
}
