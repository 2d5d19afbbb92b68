package oidc

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// ticket ties what comes back to the browser that set out. Everything that a sign-in needs is
// derived from it under a key of this process, so that nothing has to be kept for whoever sets
// out: anybody may, as often as they like.
type ticket struct {
	text     string // as the cookie has it
	raw      []byte
	redirect string
	until    time.Time
	key      []byte
}

// A ticket is what was drawn, and when it is over. The state is a MAC of both: whoever makes one up has
// no state for it.
const (
	drawn      = 32
	ticketSize = drawn + 8
)

func (p *Provider) newTicket(redirect string) (*ticket, error) {
	raw := make([]byte, drawn, ticketSize)
	if _, err := io.ReadFull(p.o.Rand, raw); err != nil {
		return nil, fmt.Errorf("draw ticket: %w", err)
	}
	until := p.o.Now().Add(Life)
	raw = binary.BigEndian.AppendUint64(raw, uint64(until.Unix()))
	return &ticket{text: base64.RawURLEncoding.EncodeToString(raw), raw: raw, redirect: redirect, until: until, key: p.key}, nil
}

// readTicket reads a cookie back that is not over. Whether it is one of ours the state says.
func (p *Provider) readTicket(text, redirect string) (*ticket, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != ticketSize {
		return nil, ErrStale
	}
	until := time.Unix(int64(binary.BigEndian.Uint64(raw[drawn:])), 0)
	if !p.o.Now().Before(until) {
		return nil, ErrStale
	}
	return &ticket{text: text, raw: raw, redirect: redirect, until: until, key: p.key}, nil
}

// mac derives a value for one purpose, and for one place to come back to.
func (t *ticket) mac(purpose string) []byte {
	h := hmac.New(sha256.New, t.key)
	h.Write(t.raw) // of one length, always
	h.Write([]byte(purpose + " " + t.redirect))
	return h.Sum(nil)
}

func (t *ticket) state() string    { return base64.RawURLEncoding.EncodeToString(t.mac("state")) }
func (t *ticket) nonce() string    { return base64.RawURLEncoding.EncodeToString(t.mac("nonce")) }
func (t *ticket) verifier() string { return base64.RawURLEncoding.EncodeToString(t.mac("verifier")) }

// use takes a ticket for one code; ErrStale: somebody came back with it before.
func (p *Provider) use(ctx context.Context, t *ticket) error {
	if p.book != nil {
		first, err := p.book.Use(ctx, t.text, t.until)
		if err == nil && !first {
			err = ErrStale
		}
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for text, until := range p.used {
		if !p.o.Now().Before(until) {
			delete(p.used, text)
		}
	}
	if _, was := p.used[t.text]; was {
		return ErrStale
	}
	p.used[t.text] = t.until
	return nil
}

// giveBack makes a ticket good again. Only what the provider took stays, so that nobody fills the
// list who cannot sign in.
func (p *Provider) giveBack(ctx context.Context, t *ticket) error {
	if p.book != nil {
		return p.book.GiveBack(context.WithoutCancel(ctx), t.text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.used, t.text)
	return nil
}

// same compares secrets.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
