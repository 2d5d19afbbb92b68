package line

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/tidemark/tidemark/internal/base/backoff"
	"github.com/tidemark/tidemark/internal/base/outbound"
)

// Socket is a connection over which presses arrive, made anew for as long as it is wanted. Its
// zero value is not connected yet.
type Socket struct {
	mu        sync.Mutex
	connected bool  // guarded by mu
	fault     error // guarded by mu; of the latest connection
}

// Keep listens until ctx ends. listen holds one connection and calls well when it works; nil
// from it means that the service wants another connection at once.
func (s *Socket) Keep(ctx context.Context, logger *slog.Logger, listen func(ctx context.Context, well func()) error) {
	wait := backoff.Growing{First: 500 * time.Millisecond, Most: 30 * time.Second}
	well := func() {
		wait.Reset()
		s.note(true, nil)
	}
	for ctx.Err() == nil {
		err := listen(ctx, well)
		if err == nil || ctx.Err() != nil {
			continue
		}
		s.note(false, err)
		logger.Warn("presses do not arrive", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(wait.Next()):
		}
	}
}

func (s *Socket) note(connected bool, fault error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connected, s.fault = connected, fault
}

// Fault is why presses do not arrive; nil while they do.
func (s *Socket) Fault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.connected:
		return nil
	case s.fault == nil:
		return errors.New("presses do not arrive: not connected yet")
	}
	return errors.Join(errors.New("presses do not arrive"), s.fault)
}

// Dial opens a websocket where a service said. The address may hold a ticket, and is in no
// error.
func Dial(ctx context.Context, client *http.Client, address string) (*websocket.Conn, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "wss" && (u.Scheme != "ws" || !outbound.Local(u.Hostname())) {
		return nil, errors.New("the address to listen at is no wss address")
	}
	conn, res, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPClient: client})
	if err != nil {
		return nil, errors.New("no connection to where presses come from")
	}
	if res.Body != nil {
		_ = res.Body.Close() // the connection is the socket's now
	}
	return conn, nil
}
