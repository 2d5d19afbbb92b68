// Package alarm keeps what was noticed about the hosts of agents and must be told at once, until a person has seen it.
//
// Invariants:
//   - the same thing is told once, until it is over;
//   - that somebody has seen it opens nothing.
package alarm

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"
)

// Alarm is something about an agent's host that its owner must know at once: it stopped asking, or what makes it ask was changed.
type Alarm struct {
	ID    string    `json:"id" doc:"stands for exactly this"`
	About string    `json:"about" doc:"the session, or the agent"`
	Text  string    `json:"text" doc:"what was noticed"`
	Since time.Time `json:"since" doc:"when it was noticed"`
}

// Book is what was noticed and nobody has seen yet. It is safe for concurrent use; the zero Book is empty.
type Book struct {
	mu   sync.Mutex
	open []Alarm // guarded by mu; oldest first
	seen []Alarm // guarded by mu; a person has said so of these
}

// maxOpen bounds what is kept: whoever can raise many has raised one.
const maxOpen = 64

const prefix = "host-"

// Is reports whether an id is that of an alarm.
func Is(id string) bool { return strings.HasPrefix(id, prefix) }

// Raise notes an alarm, and reports whether it is news.
func (b *Book) Raise(about, text string, now time.Time) bool {
	sum := sha256.Sum256([]byte(about + "\x00" + text))
	id := prefix + hex.EncodeToString(sum[:8])
	b.mu.Lock()
	defer b.mu.Unlock()
	same := func(o Alarm) bool { return o.ID == id }
	if len(b.open) >= maxOpen || slices.ContainsFunc(b.open, same) || slices.ContainsFunc(b.seen, same) {
		return false
	}
	b.open = append(b.open, Alarm{id, about, text, now.UTC()})
	return true
}

// Open lists what nobody has seen yet, oldest first.
func (b *Book) Open() []Alarm {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Alarm{}, b.open...)
}

// Seen takes an alarm away because a person says so: the same one is not told again while it is so. It opens nothing. False: there
// is none.
func (b *Book) Seen(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.IndexFunc(b.open, func(o Alarm) bool { return o.ID == id })
	if at < 0 {
		return false
	}
	if len(b.seen) >= maxOpen {
		b.seen = b.seen[1:]
	}
	b.seen = append(b.seen, b.open[at])
	b.open = slices.Delete(b.open, at, at+1)
	return true
}

// Still takes away what is no longer so of all that is said about something, and reports whether there was any. If it is so again,
// that is news, also where a person had seen it before.
func (b *Book) Still(about string, texts []string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	over := func(o Alarm) bool { return o.About == about && !slices.Contains(texts, o.Text) }
	n := len(b.open)
	b.open, b.seen = slices.DeleteFunc(b.open, over), slices.DeleteFunc(b.seen, over)
	return len(b.open) < n
}
