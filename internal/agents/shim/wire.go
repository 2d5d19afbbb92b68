package shim

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/tidemark/tidemark/internal/base/serverproof"
)

// wire is one connection to the server, for one goroutine. A process that asks a question or two
// and ends has no use for a pool of connections, and would wait for the pool's goroutines to be
// scheduled several times for each answer.
type wire struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	conn net.Conn
	in   *bufio.Reader
}

// errOther is for an answer that was not given to what was asked on this connection.
var errOther = errors.New("the answer is not one to this question (from a server of an earlier version: start tidemark serve anew)")

// do sends a request and reads the answer, at most limit bytes of it and one more. After a fault
// the connection is not used again. A request that bears a name takes an answer of that name alone.
func (w *wire) do(req *http.Request, limit int64) (status int, body []byte, err error) {
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}
	if err := w.open(ctx, req.URL.Host); err != nil {
		return 0, nil, err
	}
	conn := w.conn                                                                   // which may be gone when the context ends
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // ends what it waits for
	status, body, keep, err := w.exchange(req, limit)
	if !stop() || err != nil || !keep || int64(len(body)) > limit {
		err = errors.Join(err, ctx.Err())
		w.close()
	}
	return status, body, err
}

// open connects, if it is not done yet.
func (w *wire) open(ctx context.Context, host string) error {
	if w.conn != nil {
		return nil
	}
	conn, err := w.dial(ctx, "tcp", host)
	if err != nil {
		return err
	}
	w.conn, w.in = conn, bufio.NewReader(conn)
	return nil
}

func (w *wire) exchange(req *http.Request, limit int64) (status int, body []byte, keep bool, err error) {
	if err := req.Write(w.conn); err != nil {
		return 0, nil, false, err
	}
	res, err := http.ReadResponse(w.in, req)
	if err != nil {
		return 0, nil, false, err
	}
	body, err = io.ReadAll(io.LimitReader(res.Body, limit+1))
	if res.StatusCode == http.StatusOK && res.Header.Get(serverproof.AskHeader) != req.Header.Get(serverproof.AskHeader) {
		err = errors.Join(err, errOther) // a refusal of any kind keeps its own words
	}
	return res.StatusCode, body, !res.Close, errors.Join(err, res.Body.Close())
}

// close ends the connection; a second time it does nothing.
func (w *wire) close() {
	if w.conn != nil {
		_ = w.conn.Close() // nothing is owed on it
		w.conn, w.in = nil, nil
	}
}
