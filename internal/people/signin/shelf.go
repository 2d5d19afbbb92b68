package signin

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/store/shelf"
)

// What ids on the shelf begin with: of who is signed in, of tickets of a provider, and of what a proof was asked for with.
const (
	deskShelf   = "desk/"
	TicketShelf = "ticket/"
	NonceShelf  = "nonce/"
)

// SignedOutWord is what servers tell each other when somebody was signed out.
const SignedOutWord = "signed out"

// sharedBook is who is signed in, beside the log. What stands there is sealed, each for its place: nobody who reads the database learns
// a code, and nobody who writes it signs anybody in.
type sharedBook struct {
	store  Shelf
	sealed cipher.AEAD
}

// NewSharedBook makes a Book of a shelf, sealed by a key that all servers of the log have.
func NewSharedBook(store Shelf, key []byte) (Book, error) {
	block, err := aes.NewCipher(datafolder.Derive(key, "sign-ins"))
	if err != nil {
		return nil, err
	}
	sealed, err := cipher.NewGCMWithRandomNonce(block)
	return &sharedBook{store, sealed}, err
}

// Turn implements Book.
func (b *sharedBook) Turn(ctx context.Context, change func(there map[string][]byte) (put []Entry, gone []string)) error {
	left := false
	err := b.store.Reshelve(ctx, deskShelf, time.Now().UnixNano(), func(there map[string][]byte) ([]shelf.Place, []string, error) {
		opened := make(map[string][]byte, len(there))
		for id, body := range there {
			opened[strings.TrimPrefix(id, deskShelf)] = b.open(id, body)
		}
		put, gone := change(opened)
		places := make([]shelf.Place, 0, len(put))
		for _, e := range put {
			id := deskShelf + e.ID
			//nolint:gosec // the cipher draws its own nonce
			places = append(places, shelf.Place{ID: id, Body: b.sealed.Seal(nil, nil, e.Body, []byte(id)), Until: e.Until.UnixNano()})
		}
		for i := range gone {
			left = left || IsSession(gone[i])
			gone[i] = deskShelf + gone[i]
		}
		return places, gone, nil
	})
	if err == nil && left {
		// It is done, told or not: others find it with the next request, and with the next connection to the database.
		_ = b.store.Tell(ctx, SignedOutWord)
	}
	return err
}

// Look implements Book.
func (b *sharedBook) Look(ctx context.Context, id string) ([]byte, error) {
	body, err := b.store.Lookup(ctx, deskShelf+id, time.Now().UnixNano())
	if err != nil || body == nil {
		return nil, err
	}
	return b.open(deskShelf+id, body), nil
}

// open is what was sealed for a place; nil where it was not, or by somebody else.
func (b *sharedBook) open(id string, body []byte) []byte {
	text, err := b.sealed.Open(nil, nil, body, []byte(id))
	if err != nil {
		return nil
	}
	return text
}

// usedOnce is what works once, at whichever server.
type usedOnce struct {
	store  Shelf
	begins string
}

// NewUsedOnce makes one, whose places begin so.
func NewUsedOnce(store Shelf, begins string) usedOnce { return usedOnce{store, begins} }

// Use implements approvalproof.Used and oidc.Used.
func (u usedOnce) Use(ctx context.Context, what string, until time.Time) (first bool, err error) {
	return u.store.Use(ctx, shelf.Place{ID: u.place(what), Until: until.UnixNano()}, time.Now().UnixNano())
}

// GiveBack implements oidc.Used.
func (u usedOnce) GiveBack(ctx context.Context, what string) error {
	id := u.place(what)
	return u.store.Reshelve(ctx, id, time.Now().UnixNano(), func(map[string][]byte) ([]shelf.Place, []string, error) {
		return nil, []string{id}, nil
	})
}

func (u usedOnce) place(what string) string {
	hash := sha256.Sum256([]byte(what))
	return u.begins + hex.EncodeToString(hash[:])
}

// Shelf is what servers of one log have in common for a while.
type Shelf interface {
	Use(ctx context.Context, p shelf.Place, now int64) (first bool, err error)
	Lookup(ctx context.Context, id string, now int64) (body []byte, err error)
	Reshelve(ctx context.Context, begins string, now int64,
		change func(there map[string][]byte) (put []shelf.Place, gone []string, err error)) error
	Tell(ctx context.Context, word string) error
}
