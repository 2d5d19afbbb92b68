package app

import (
	"github.com/tidemark/tidemark/internal/people/signin"
	"github.com/tidemark/tidemark/store/postgres"
)

// Paced is for tests.
var Paced = paced

// DeskBook is what servers have in common of who is signed in.
func DeskBook(store *postgres.Store, key []byte) (signin.Book, error) { return newDeskBook(store, key) }
