package relay

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/mcp/wire"
)

// client is the side of an exchange that waits for the answer. An answer is one JSON text, or a stream
// that may have begun before the upstream was asked.
type client struct {
	w       http.ResponseWriter
	control *http.ResponseController
	streams bool // it takes a stream

	mu    sync.Mutex
	begun bool // guarded by mu; a stream is under way
	ended bool // guarded by mu; nothing more is written
	last  time.Time
}

var errEnded = errors.New("the answer has ended")

// header sets a header of the answer, unless it has begun.
func (c *client) header(name, value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.begun && !c.ended {
		c.w.Header().Set(name, value)
	}
}

// start begins the stream.
func (c *client) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin()
	_ = c.control.Flush() // a client that is gone is noticed elsewhere
}

// Preconditions: mu is held.
func (c *client) begin() {
	if c.begun || c.ended {
		return
	}
	c.begun = true
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	c.w.WriteHeader(http.StatusOK)
}

// say writes one message of ours into the stream.
func (c *client) say(message []byte) error {
	if !c.streams {
		return errors.New("the client takes no stream")
	}
	return c.event(&wire.Event{Name: "message", Data: message})
}

// event writes one event.
func (c *client) event(ev *wire.Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return errEnded
	}
	c.begin()
	c.last = time.Now()
	if ev.Data != nil {
		ev.Data = wire.Escape(ev.Data)
	}
	if err := ev.Write(c.w); err != nil {
		return err
	}
	return c.control.Flush()
}

// alive writes a comment where nothing was written for a while.
func (c *client) alive() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || !c.begun || time.Since(c.last) < keepAlive/2 {
		return nil
	}
	if _, err := c.w.Write([]byte(":\n\n")); err != nil {
		return err
	}
	return c.control.Flush()
}

// answer writes the whole answer: as JSON, or as the last event of a stream that has begun.
func (c *client) answer(status int, body []byte) {
	c.mu.Lock()
	streaming := c.begun
	c.mu.Unlock()
	if streaming {
		if body != nil {
			_ = c.event(&wire.Event{Name: "message", Data: body}) // a client that is gone cannot be told
		}
		c.end()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.ended = true
	if body != nil {
		c.w.Header().Set("Content-Type", "application/json")
		c.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	if status < 200 || status > 599 {
		status = http.StatusBadGateway // no client knows what it means
	}
	c.w.WriteHeader(status)
	_, _ = c.w.Write(body) // a client that is gone cannot be told
}

// end lets nothing more be written: whoever still holds the client may be late.
func (c *client) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
}
