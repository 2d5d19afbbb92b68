// Package chattest is a program behind a webhook, as far as questions are asked there, and what
// it has in common with other services that show messages with buttons.
package chattest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Patience ends a test that waits for what never comes.
const Patience = time.Minute

// Button is a button of a message, with what comes back.
type Button struct{ Label, Data string }

// Message is a message as people see it now.
type Message struct {
	ID      string
	Text    string
	Buttons []Button
	Edits   int
}

// Labels are the texts of its buttons.
func (m Message) Labels() string {
	var out []string
	for _, b := range m.Buttons {
		out = append(out, b.Label)
	}
	return strings.Join(out, ", ")
}

// Chat is any service of that kind.
type Chat interface {
	// Message waits for the n-th message, counted from 1.
	Message(n int) Message
	// Until waits until the n-th message is as wanted.
	Until(n int, what string, is func(Message) bool) Message
	// Press presses a button of a message in somebody's name.
	Press(user string, m Message, label string)
	// Told waits for the n-th thing that somebody was told who pressed in vain.
	Told(n int) string
	// Faults are what it had to refuse.
	Faults() []string
}

// Wall is what all of them have in common.
type Wall struct {
	T    *testing.T
	http *httptest.Server

	mu       sync.Mutex
	messages []*Message    // guarded by mu
	told     []string      // guarded by mu
	faults   []string      // guarded by mu
	changed  chan struct{} // guarded by mu; closed at the next change
}

// NewWall starts a service that shows messages.
func NewWall(t *testing.T, h http.Handler) *Wall {
	w := &Wall{T: t, changed: make(chan struct{})}
	w.http = httptest.NewServer(h)
	t.Cleanup(func() {
		w.http.CloseClientConnections()
		w.http.Close()
	})
	return w
}

// URL is where it is.
func (w *Wall) URL() string { return w.http.URL }

// change wakes those who wait. mu is held.
func (w *Wall) change() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// Refuse notes what it had to refuse.
func (w *Wall) Refuse(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, text)
}

// Faults are what it had to refuse.
func (w *Wall) Faults() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.faults)
}

// wait waits until read reports something.
func (w *Wall) wait(what string, read func() bool) {
	w.T.Helper()
	late := time.After(Patience)
	for {
		w.mu.Lock()
		ok, changed := read(), w.changed
		w.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-late:
			w.T.Fatalf("waited in vain for %s", what)
		}
	}
}

// Message waits for the n-th message.
func (w *Wall) Message(n int) Message {
	w.T.Helper()
	return w.Until(n, "a message", func(Message) bool { return true })
}

// Until waits until the n-th message is as wanted.
func (w *Wall) Until(n int, what string, is func(Message) bool) Message {
	w.T.Helper()
	var got Message
	w.wait(what, func() bool {
		if len(w.messages) < n || !is(*w.messages[n-1]) {
			return false
		}
		got = *w.messages[n-1]
		return true
	})
	return got
}

// Told waits for the n-th thing that somebody was told.
func (w *Wall) Told(n int) string {
	w.T.Helper()
	var got string
	w.wait("word to whoever pressed", func() bool {
		if len(w.told) < n {
			return false
		}
		got = w.told[n-1]
		return true
	})
	return got
}

// Tell notes what somebody was told who pressed in vain.
func (w *Wall) Tell(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, text)
	w.change()
}

// Post shows a message.
func (w *Wall) Post(m Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.messages = append(w.messages, &m)
	w.change()
}

// Edit changes a message; it reports whether there is one.
func (w *Wall) Edit(id string, change func(*Message)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := len(w.messages) - 1 // the latest: a question that is asked again keeps its id
	for ; i >= 0 && w.messages[i].ID != id; i-- {
	}
	if i < 0 {
		return false
	}
	change(w.messages[i])
	w.messages[i].Edits++
	w.change()
	return true
}

// Count is how many messages there are.
func (w *Wall) Count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.messages)
}

// DataOf is what a button of a message sends.
func DataOf(t *testing.T, m Message, label string) string {
	t.Helper()
	for _, b := range m.Buttons {
		if b.Label == label {
			return b.Data
		}
	}
	t.Fatalf("there is no button %q among %q", label, m.Labels())
	return ""
}

// Reply answers with JSON.
func Reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = strictjson.Write(w, v) // the client may be gone
}
