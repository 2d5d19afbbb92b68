package app

import (
	"time"

	"github.com/tidemark/tidemark/internal/people/signin"
	"github.com/tidemark/tidemark/store/postgres"
)

// Paced is for tests.
var Paced = paced

// DeskBook is what servers have in common of who is signed in.
func DeskBook(store *postgres.Store, key []byte) (signin.Book, error) { return newDeskBook(store, key) }

// Alarm tells people of a host as the watch over hosts does.
func (a *App) Alarm(about, text string) {
	if a.alarms.Raise(about, text, time.Now()) {
		a.moved()
	}
}
