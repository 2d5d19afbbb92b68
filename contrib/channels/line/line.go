// Package line keeps the connections over which presses arrive from a chat: one connection from
// when it is made to its end, and a new one for as long as presses are wanted.
//
// It does network I/O and starts goroutines; all of them have ended when Hold and Keep return.
package line

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Line is one connection over which presses arrive, from when it is made to its end.
type Line struct {
	Conn  *websocket.Conn
	Name  string // how errors call it
	Limit int64  // bytes of a message

	end    context.CancelCauseFunc
	beside sync.WaitGroup
}

// Ended is why a line is over that nobody here has ended.
type Ended struct {
	Code  websocket.StatusCode // with which the service closed it; less than 0: it did not
	cause error
}

func (e *Ended) Error() string { return e.cause.Error() }

// Hold reads a line to its end, message by message, and closes it. begin, which may be nil, is called before the first; take says
// whether the line is over, and why: without a reason the service wants another one.
func Hold[M any](ctx context.Context, l *Line, begin func(context.Context), take func(context.Context, *M) (over bool, err error)) error {
	defer func() { _ = l.Conn.CloseNow() }() // it is over either way
	l.Conn.SetReadLimit(l.Limit)
	ctx, l.end = context.WithCancelCause(ctx)
	defer l.beside.Wait()
	defer l.end(nil)
	if begin != nil {
		begin(ctx)
	}
	for {
		_, raw, err := l.Conn.Read(ctx)
		if err != nil {
			cause := errors.Join(context.Cause(ctx), errors.New("the connection ended"))
			return &Ended{websocket.CloseStatus(err), fmt.Errorf("%s: %w", l.Name, cause)}
		}
		var m M
		if err := strictjson.Unmarshal(raw, &m); err != nil {
			return fmt.Errorf("%s: a message cannot be read", l.Name)
		}
		if over, err := take(ctx, &m); over {
			return err
		}
	}
}

// Every asks something now and then while the line is held, and gives it up for the first error.
func (l *Line) Every(ctx context.Context, span time.Duration, ask func() error) {
	l.beside.Go(func() {
		tick := time.NewTicker(span)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := ask(); err != nil {
				l.End(err)
				return
			}
		}
	})
}

// End gives a line up that is held.
func (l *Line) End(why error) { l.end(why) }

// Send writes a message.
func (l *Line) Send(ctx context.Context, message any) error {
	raw, err := strictjson.Marshal(message)
	if err != nil {
		return fmt.Errorf("%s: %w", l.Name, err)
	}
	return l.Conn.Write(ctx, websocket.MessageText, raw)
}
