package approvalproof

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// nonceLife is how long a person may take to touch their key.
const nonceLife = 5 * time.Minute

const maxNonces = 4096

// nonces are what was handed out to be signed, each of which counts once. The zero value has none.
type nonces struct {
	until map[string]time.Time // handed out here, until when they are good
	key   []byte               // of those that any server takes
	used  Used                 // what of those was signed; nil: this server is alone
}

// Used is where servers note what was signed and must not be again.
type Used interface {
	// Use notes a nonce until its time is over, and reports whether nobody has before.
	Use(ctx context.Context, nonce string, until time.Time) (first bool, err error)
}

// Share lets what one server handed out be signed at another: those with the same key know each other's. It is called before
// the first of them.
func (k *Keeper) Share(key []byte, used Used) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.nonces.key, k.nonces.used = key, used
}

// What a nonce that servers share is made of: something drawn, when it is over, and a MAC of both.
const (
	drawn      = 16
	signedPart = drawn + 8
	macSize    = 16
)

// draw makes a nonce that counts once.
func (n *nonces) draw(rand io.Reader, now time.Time) (string, error) {
	var raw [32]byte
	if _, err := io.ReadFull(rand, raw[:]); err != nil {
		return "", fmt.Errorf("draw challenge: %w", err)
	}
	if n.used != nil {
		out := binary.BigEndian.AppendUint64(raw[:drawn:drawn], uint64(now.Add(nonceLife).Unix()))
		return base64.RawURLEncoding.EncodeToString(append(out, n.mac(out)...)), nil
	}
	for old, until := range n.until {
		if now.After(until) {
			delete(n.until, old)
		}
	}
	if len(n.until) >= maxNonces {
		return "", errors.New("too many proofs are asked for at once; try again in a minute")
	}
	if n.until == nil {
		n.until = map[string]time.Time{}
	}
	nonce := base64.RawURLEncoding.EncodeToString(raw[:])
	n.until[nonce] = now.Add(nonceLife)
	return nonce, nil
}

func (n *nonces) mac(what []byte) []byte {
	h := hmac.New(sha256.New, n.key)
	h.Write(what)
	return h.Sum(nil)[:macSize]
}

// spend takes a nonce that was handed out and is not too old.
func (n *nonces) spend(nonce string, now time.Time) bool {
	if n.used != nil {
		return n.spendShared(nonce, now)
	}
	until, ok := n.until[nonce]
	delete(n.until, nonce)
	return ok && now.Before(until)
}

// lookLimit is how long it may take to find out whether a nonce was used at another server.
const lookLimit = 5 * time.Second

// spendShared is spend, of a nonce that any server may have handed out. Where nobody can know whether it was used, it was.
func (n *nonces) spendShared(nonce string, now time.Time) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(nonce)
	if err != nil || len(raw) != signedPart+macSize || !hmac.Equal(n.mac(raw[:signedPart]), raw[signedPart:]) {
		return false
	}
	until := time.Unix(int64(binary.BigEndian.Uint64(raw[drawn:signedPart])), 0)
	if !now.Before(until) {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
	defer cancel()
	first, err := n.used.Use(ctx, nonce, until)
	return err == nil && first
}
