package proxy

import (
	"context"
	"log/slog"
	"time"
)

// What a request brings is recorded with what its answer brings, in one piece: nothing is let
// through on it before, because a decision writes what waits along with itself. Where the
// provider takes its time, it does not wait for it.

// flushAfter is how long what a request brought may wait to be written.
const flushAfter = 20 * time.Millisecond

// flushLater writes what waits after a while, and when the exchange is over, however it ends.
// The caller calls what it returns then.
func (x *exchange) flushLater(ctx context.Context) (over func()) {
	ctx = context.WithoutCancel(ctx)
	flush := func() {
		if err := x.p.o.Monitor.Flush(ctx, x.ref.Session); err != nil { // it still waits, and the next record tries again
			x.p.o.Logger.LogAttrs(ctx, slog.LevelError, "conversation not recorded yet", slog.String("error", err.Error()))
		}
	}
	soon := time.AfterFunc(flushAfter, flush)
	return func() {
		soon.Stop()
		flush()
	}
}
