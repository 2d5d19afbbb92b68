package proxy

import (
	"context"
	"log/slog"
	"time"
)

// What a request and its answer bring counts at once, and is written together a moment later.
// Nothing is let through on it before: a decision writes what waits along with itself, and the
// end of an answer with calls in it waits until all of it is written. What a crash takes comes
// back with the next request, as something that nobody saw.

// flushAfter is how long what a conversation brought may wait to be written.
const flushAfter = 20 * time.Millisecond

// flush writes what waits of a session.
func (p *Proxy) flush(session string) {
	ctx := context.Background()
	if err := p.o.Monitor.Flush(ctx, session); err != nil { // it still waits, and nothing more may before it is written
		p.o.Logger.LogAttrs(ctx, slog.LevelError, "conversation not recorded yet", slog.String("error", err.Error()))
	}
}
