package approvalproof

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
)

// The bounds of the typed secret. Its hash lies where the log does: against a program that
// can read that it is worth only what guessing costs.
const (
	rounds    = 600_000
	MinSecret = 12 // characters
	maxTyped  = 200
	maxTries  = 5 // wrong ones in tryWindow
	tryWindow = 5 * time.Minute
)

// typed checks the secret.
// Preconditions: mu is held.
func (k *Keeper) typed(said, secret string) (*event.Proof, error) {
	now := k.now()
	k.tries = slices.DeleteFunc(k.tries, func(t time.Time) bool { return now.Sub(t) > tryWindow })
	switch {
	case k.state.Secret == "":
		return nil, fmt.Errorf("%w: no secret is set yet: set one on the page Keys of the console", engine.ErrProof)
	case len(k.tries) >= maxTries:
		return nil, fmt.Errorf("%w: too many wrong secrets; wait five minutes", engine.ErrProof)
	case len(secret) > maxTyped || !same(k.state.Secret, secret):
		k.tries = append(k.tries, now)
		return nil, fmt.Errorf("%w: that is not the secret", engine.ErrProof)
	}
	return &event.Proof{Kind: string(Typed), Said: said}, nil
}

// same compares a secret with what is kept of it.
func same(kept, secret string) bool {
	salt, sum, _ := strings.Cut(kept, ".")
	again, err := hashOf(salt, secret)
	return err == nil && hmac.Equal([]byte(again), []byte(sum))
}

func hashOf(salt, secret string) (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(salt)
	if err != nil || len(raw) < 16 {
		return "", errors.New("no salt")
	}
	sum, err := pbkdf2.Key(sha256.New, secret, raw, rounds, sha256.Size)
	return base64.RawURLEncoding.EncodeToString(sum), err
}

// SetSecret sets the typed secret, or another one in its place, which takes the one before.
func (k *Keeper) SetSecret(ctx context.Context, role, by, before, secret string) error {
	if n := utf8.RuneCountInString(secret); n < MinSecret || len(secret) > maxTyped {
		return fmt.Errorf("the secret must have %d to %d characters", MinSecret, maxTyped)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var kept *event.Proof
	switch {
	case role != "approver" && role != "admin":
		return ErrRole
	case len(k.state.Keys) > 0:
		return errors.New("a passkey is enrolled: nothing typed counts beside it")
	case k.state.Secret != "":
		var err error
		if kept, err = k.typed(SaidEnrol("secret", ""), before); err != nil {
			return err
		}
	}
	var raw [16]byte
	if _, err := io.ReadFull(k.rand, raw[:]); err != nil {
		return fmt.Errorf("draw salt: %w", err)
	}
	salt := base64.RawURLEncoding.EncodeToString(raw[:])
	sum, err := hashOf(salt, secret)
	if err != nil {
		return fmt.Errorf("hash secret: %w", err)
	}
	return k.append(ctx, event.Person{Act: "secret", By: by, Via: "console", Secret: salt + "." + sum, Proof: kept})
}
