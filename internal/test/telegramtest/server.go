// Package telegramtest is a Bot API server for tests: it speaks the real protocol over a
// real socket, keeps a queue of updates as Telegram does, and misbehaves as told.
//
// It does network I/O on the loopback interface and ends with its test. Invariants:
//   - an update is delivered until a call of getUpdates with a higher offset confirms it;
//   - of two calls of getUpdates at once, the older one ends with 409 Conflict;
//   - every request is kept, in the order of arrival.
package telegramtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Token is the only bot token the server takes. Its second half is a secret no log or
// error may show.
const Token = "123456:TEST-token_that-must-not-leak"

// Chat is the id of the chat the bot is in.
const Chat int64 = -1001234567

// Patience is how long a test waits for what must come.
const Patience = 3 * time.Minute

// Request is one call the server got.
type Request struct {
	Method string
	Fields map[string]string // values that are not strings are JSON
}

// Message is a message the bot sent.
type Message struct {
	ID      int
	Chat    int64
	Text    string // as it reads now
	Buttons []Button
	Edits   int
}

// Button is one button of a message, as long as it has any.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// Server is a scripted Bot API.
type Server struct {
	t    testing.TB
	http *httptest.Server
	quit chan struct{}

	mu       sync.Mutex
	changed  chan struct{}      // guarded by mu; closed and renewed at every change
	requests []Request          // guarded by mu
	calls    map[string][]int   // guarded by mu; by method, places in requests
	messages []*Message         // guarded by mu
	updates  []queued           // guarded by mu
	nextID   int64              // guarded by mu; of updates
	taps     int                // guarded by mu
	poll     chan struct{}      // guarded by mu; ends the call of getUpdates under way
	scripts  map[string][]Reply // guarded by mu
	down     bool               // guarded by mu
}

type queued struct {
	id   int64
	json string
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{
		t: t, quit: make(chan struct{}), changed: make(chan struct{}),
		calls: map[string][]int{}, nextID: 700, scripts: map[string][]Reply{},
	}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		close(s.quit)
		s.http.Close()
	})
	return s
}

// URL is the base URL of the API.
func (s *Server) URL() string { return s.http.URL }

// Down makes the server drop every connection, from now on or no longer.
func (s *Server) Down(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
	if s.poll != nil && down {
		close(s.poll)
		s.poll = nil
	}
	s.change()
}

// Script makes the next calls of a method end with the replies, one each.
func (s *Server) Script(method string, replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts[method] = append(s.scripts[method], replies...)
}

// Requests are the calls of the method so far; an empty one means all.
func (s *Server) Requests(method string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.requests), func(r Request) bool { return method != "" && r.Method != method })
}

// Wait waits until the method was called n times, and returns the last of those calls.
func (s *Server) Wait(method string, n int) Request {
	s.t.Helper()
	var got Request
	s.Until(fmt.Sprintf("call %d of %s", n, method), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.calls[method]) < n {
			return false
		}
		got = s.requests[s.calls[method][n-1]]
		return true
	})
	return got
}

// Message waits for the n-th message the bot sends, counted from 1.
func (s *Server) Message(n int) Message {
	s.t.Helper()
	return s.when(n, "is sent", func(Message) bool { return true })
}

// Edited waits until the n-th message has been edited.
func (s *Server) Edited(n int) Message {
	s.t.Helper()
	return s.when(n, "is edited", func(m Message) bool { return m.Edits > 0 })
}

func (s *Server) when(n int, what string, is func(Message) bool) Message {
	s.t.Helper()
	var got Message
	s.Until(fmt.Sprintf("message %d %s", n, what), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.messages) < n || !is(*s.messages[n-1]) {
			return false
		}
		got = *s.messages[n-1]
		got.Buttons = slices.Clone(got.Buttons)
		return true
	})
	return got
}

// Until waits for a condition that depends on the server's state.
func (s *Server) Until(what string, is func() bool) {
	s.t.Helper()
	late := time.NewTimer(Patience)
	defer late.Stop()
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if is() {
			return
		}
		select {
		case <-changed:
		case <-late.C:
			s.t.Fatalf("telegram: waited in vain: %s", what)
		}
	}
}

// User is somebody in the chat.
type User struct {
	ID   int64
	Name string
}

// Tap presses the button that reads text, and returns the id of the callback query.
func (s *Server) Tap(u User, m Message, text string) string {
	s.t.Helper()
	i := slices.IndexFunc(m.Buttons, func(b Button) bool { return b.Text == text })
	if i < 0 {
		s.t.Fatalf("telegram: message %d has no button %q: %v", m.ID, text, m.Buttons)
	}
	return s.Callback(u, m.Chat, m.ID, m.Buttons[i].Data)
}

// Callback queues a callback query, whether or not such a button exists.
func (s *Server) Callback(u User, chat int64, message int, data string) string {
	s.mu.Lock()
	s.taps++
	id := fmt.Sprintf("q%d", s.taps)
	s.mu.Unlock()
	s.Push(fmt.Sprintf(`"callback_query":{"id":%s,"from":{"id":%d,"is_bot":false,"first_name":%s,"username":%s},`+
		`"message":{"message_id":%d,"date":1,"chat":{"id":%d,"type":"supergroup"},"text":"…"},"chat_instance":"1","data":%s}`,
		quote(id), u.ID, quote(u.Name), quote(strings.ToLower(u.Name)), message, chat, quote(data)))
	return id
}

// Push queues an update with the given members besides its id.
func (s *Server) Push(members string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextID++
	s.updates = append(s.updates, queued{s.nextID, fmt.Sprintf(`{"update_id":%d,%s}`, s.nextID, members)})
	s.change()
}

// Renumber makes the next update have this id, as Telegram does after a quiet week.
func (s *Server) Renumber(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.updates, s.nextID = nil, id-1
}

// Drained waits until every update was fetched and confirmed.
func (s *Server) Drained() {
	s.t.Helper()
	s.Until("all updates are confirmed", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.updates) == 0
	})
}

// Reply waits for the answer to a callback query: its text, and whether it is an alert.
func (s *Server) Reply(query string) (text string, alert bool) {
	s.t.Helper()
	s.Until("answer to "+query, func() bool {
		for _, r := range s.Requests("answerCallbackQuery") {
			if r.Fields["callback_query_id"] == query {
				text, alert = r.Fields["text"], r.Fields["show_alert"] == "true"
				return true
			}
		}
		return false
	})
	return text, alert
}

// change wakes everybody who waits.
// Preconditions: mu is held.
func (s *Server) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func quote(s string) string {
	b, err := strictjson.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
