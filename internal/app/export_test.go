package app

import (
	"net/http"
	"time"

	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/people/signin"
	"github.com/tidemark/tidemark/internal/store/postgres"
)

// Paced is for tests: bodies come within a time, and so many of a peer may be slow.
func Paced(next http.Handler, limit time.Duration, most int) http.Handler {
	return paced(next, pace{whole: limit, bytes: 1 << 20, piece: limit, slow: min(limit/8, 50*time.Millisecond), most: most})
}

// DeskBook is what servers have in common of who is signed in.
func DeskBook(store *postgres.Store, key []byte) (signin.Book, error) { return newDeskBook(store, key) }

// Alarm tells people of a host as the watch over hosts does.
func (a *App) Alarm(about, text string) {
	if a.alarms.Raise(about, text, time.Now()) {
		a.moved()
	}
}

// MemoryLine is what doctor says of memory.
func MemoryLine(cfg *config.Config, given int64) string { return memoryLine(cfg, given) }
