package app

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/people/signin"
	"github.com/tidemark/tidemark/internal/store/postgres"
)

// What ids on the shelf begin with.
const (
	deskShelf   = "desk/"
	ticketShelf = "ticket/"
	nonceShelf  = "nonce/"
)

// signedOutWord is what servers tell each other when somebody was signed out.
const signedOutWord = "signed out"

// shareSignIns has other servers of the log know who is signed in here, and finish what was begun here: a plain load balancer
// sends a browser to any of them.
func (a *App) shareSignIns(key []byte) (signin.Book, error) {
	if a.shared == nil {
		return nil, nil
	}
	book, err := newDeskBook(a.waited(), key)
	if err != nil {
		return nil, fmt.Errorf("share sign-ins: %w", err)
	}
	a.keys.Share(keyed(key, "proofs"), usedOnce{a.waited(), nonceShelf})
	if a.external.provider != nil {
		a.external.provider.Share(keyed(key, "tickets"), usedOnce{a.waited(), ticketShelf})
	}
	return book, nil
}

// deskBook is who is signed in, beside the log. What stands there is sealed, each for its place: nobody who reads the database learns
// a code, and nobody who writes it signs anybody in.
type deskBook struct {
	store  shelf
	sealed cipher.AEAD
}

func newDeskBook(store shelf, key []byte) (*deskBook, error) {
	block, err := aes.NewCipher(keyed(key, "sign-ins"))
	if err != nil {
		return nil, err
	}
	sealed, err := cipher.NewGCMWithRandomNonce(block)
	return &deskBook{store, sealed}, err
}

// Turn implements signin.Book.
func (b *deskBook) Turn(ctx context.Context, change func(there map[string][]byte) (put []signin.Entry, gone []string)) error {
	left := false
	err := b.store.Reshelve(ctx, deskShelf, time.Now().UnixNano(), func(there map[string][]byte) ([]postgres.Place, []string, error) {
		opened := make(map[string][]byte, len(there))
		for id, body := range there {
			opened[strings.TrimPrefix(id, deskShelf)] = b.open(id, body)
		}
		put, gone := change(opened)
		places := make([]postgres.Place, 0, len(put))
		for _, e := range put {
			id := deskShelf + e.ID
			//nolint:gosec // the cipher draws its own nonce
			places = append(places, postgres.Place{ID: id, Body: b.sealed.Seal(nil, nil, e.Body, []byte(id)), Until: e.Until.UnixNano()})
		}
		for i := range gone {
			left = left || signin.IsSession(gone[i])
			gone[i] = deskShelf + gone[i]
		}
		return places, gone, nil
	})
	if err == nil && left {
		// It is done, told or not: others find it with the next request, and with the next connection to the database.
		_ = b.store.Tell(ctx, signedOutWord)
	}
	return err
}

// Look implements signin.Book.
func (b *deskBook) Look(ctx context.Context, id string) ([]byte, error) {
	body, err := b.store.Lookup(ctx, deskShelf+id, time.Now().UnixNano())
	if err != nil || body == nil {
		return nil, err
	}
	return b.open(deskShelf+id, body), nil
}

// open is what was sealed for a place; nil where it was not, or by somebody else.
func (b *deskBook) open(id string, body []byte) []byte {
	text, err := b.sealed.Open(nil, nil, body, []byte(id))
	if err != nil {
		return nil
	}
	return text
}

// usedOnce is what works once, at whichever server.
type usedOnce struct {
	store  shelf
	begins string
}

// Use implements approvalproof.Used and oidc.Used.
func (u usedOnce) Use(ctx context.Context, what string, until time.Time) (first bool, err error) {
	return u.store.Use(ctx, postgres.Place{ID: u.place(what), Until: until.UnixNano()}, time.Now().UnixNano())
}

// GiveBack implements oidc.Used.
func (u usedOnce) GiveBack(ctx context.Context, what string) error {
	id := u.place(what)
	return u.store.Reshelve(ctx, id, time.Now().UnixNano(), func(map[string][]byte) ([]postgres.Place, []string, error) {
		return nil, []string{id}, nil
	})
}

func (u usedOnce) place(what string) string {
	hash := sha256.Sum256([]byte(what))
	return u.begins + hex.EncodeToString(hash[:])
}
