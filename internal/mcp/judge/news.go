package judge

import (
	"context"
	"time"

	"github.com/tidemark/tidemark/internal/mcp/wire"
)

// Telling clients that what they may see of a server's tools is more than it was: a person has accepted something.
// Only a client that listens is told, in the way in which its server would.

const (
	listenMethod    = "subscriptions/listen"
	subscriptionKey = "io.modelcontextprotocol/subscriptionId"
	changedMethod   = "notifications/tools/list_changed"
)

// retryNews is how long nobody is asked after nobody could be.
const retryNews = 5 * time.Second

// Listens reports whether the client of the older revisions is told: its server has said that it tells of changes, and
// the client is ready for them.
func (c *Conn) Listens() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tells && c.ready
}

// hears notes what the greeting of a server says of changes.
func (c *Conn) hears(method string, result []byte) {
	if method == "initialize" && string(wire.Get(result, "capabilities", "tools", "listChanged")) == "true" {
		c.mu.Lock()
		c.tells = true
		c.mu.Unlock()
	}
}

// isReady notes that the client has been greeted.
func (c *Conn) isReady() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ready && c.begun != nil {
		close(c.begun)
	}
	c.ready = true
}

// beginning is closed once the client has been greeted.
func (c *Conn) beginning() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun == nil {
		c.begun = make(chan struct{})
		if c.ready {
			close(c.begun)
		}
	}
	return c.begun
}

// Listener is the message by which a listening client is told, if a request listens for changes of tools.
func Listener(m *wire.Message) (news []byte, ok bool) {
	if m == nil || m.Kind() != wire.Request || m.Method != listenMethod ||
		string(wire.Get(m.Params, "notifications", "toolsListChanged")) != "true" {
		return nil, false
	}
	b := append([]byte(`{"jsonrpc":"2.0","method":"`+changedMethod+`","params":{"_meta":{"`+subscriptionKey+`":`), m.ID...)
	return append(b, "}}}"...), true
}

// Changed is the message for clients of the older revisions.
func Changed() []byte { return []byte(`{"jsonrpc":"2.0","method":"` + changedMethod + `"}`) }

// Watch calls tell each time a person has accepted something of the server, until ctx ends. It waits outside the path of
// calls, and who cannot be asked is asked again.
func (c *Conn) Watch(ctx context.Context, tell func()) {
	seen, lost := -1, false
	for ctx.Err() == nil {
		n, err := c.o.Pins.Await(ctx, c.o.Server, seen)
		if err != nil {
			lost = true
			select {
			case <-ctx.Done():
			case <-time.After(retryNews):
			}
			continue
		}
		if lost { // a monitor that started anew has not heard what the server says
			c.o.Memory.forgetAll()
			lost = c.offerNow(ctx, Place{}) != nil
		}
		if seen >= 0 && n != seen {
			tell()
		}
		seen = n
	}
}

// News tells a client on a connection of its own of what was accepted, from its first word on.
func (c *Conn) News(ctx context.Context, say Say) {
	select {
	case <-ctx.Done():
		return
	case <-c.beginning():
	}
	c.Watch(ctx, func() {
		var out [][]byte
		if c.Listens() {
			out = append(out, Changed())
		}
		c.mu.Lock()
		for _, r := range c.open {
			if r.news != nil && r.sent {
				out = append(out, r.news)
			}
		}
		c.mu.Unlock()
		for _, message := range out {
			_ = say(message) // a client that is gone is noticed elsewhere
		}
	})
}
