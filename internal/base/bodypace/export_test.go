package bodypace

import (
	"net/http"
	"time"
)

// Paced is for tests: bodies come within a time, and so many of a peer may be slow.
func Paced(next http.Handler, limit time.Duration, most int) http.Handler {
	return Handler(next, Pace{Whole: limit, Bytes: 1 << 20, Piece: limit, Slow: min(limit/8, 50*time.Millisecond), Most: most})
}
