package postgres

import (
	"context"
	"net"
	"time"
)

// A connection whose other end is gone without a word, or behind a network that drops everything, is found out: an idle one by
// questions of the system's, one on which something was sent by what nobody acknowledged. Both take less time than a system's own
// limits, which are a quarter of an hour.
const (
	aliveIdle     = 5 * time.Second
	aliveInterval = 2 * time.Second
	aliveCount    = 3
	unheard       = 8 * time.Second // that sent bytes may stay unacknowledged
)

// dial opens a connection to the database.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: aliveIdle, Interval: aliveInterval, Count: aliveCount},
		Control:         limitUnheard,
	}
	return d.DialContext(ctx, network, address)
}
