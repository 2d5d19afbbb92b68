package serverproof

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// ErrStranger is returned where something else than the server listens.
var ErrStranger = errors.New("what listens there could not show that it is this data folder's server, so nothing was told to it " +
	"(it is another program, a server of an earlier version, or one with other tokens: start tidemark serve anew)")

// limit is how long a server may take to show who it is, where the context says nothing.
const limit = 5 * time.Second

// maxAnswer bounds what is read before anything is proven.
const maxAnswer = 4 << 10

// Dialer is for the transport of a client: each connection it makes is proven first. url is
// the address as the server announced it.
func Dialer(secret, url string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return DialerAt(secret, url, "")
}

// DialerAt is Dialer, which goes through the socket at a path; "": to the address.
func DialerAt(secret, url, socket string) func(ctx context.Context, network, address string) (net.Conn, error) {
	key := KeyOf(secret)
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if secret == "" {
			return nil, errors.New("there is no secret to prove the server with")
		}
		to := address
		if socket != "" {
			network, to = "unix", socket
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, network, to)
		if err != nil {
			return nil, err
		}
		if err := key.Challenge(ctx, conn, address, url); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return conn, nil
	}
}

// Challenge asks on a new connection, and leaves it as if nothing had been. The server must name one of the places at which it may be
// met: its address as it announced it, or the key that the connection ends at.
func (k Key) Challenge(ctx context.Context, conn net.Conn, address string, places ...string) error {
	until := time.Now().Add(limit)
	if d, ok := ctx.Deadline(); ok && d.Before(until) {
		until = time.Time{} // the context ends it, and then it is no stranger that is slow
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // ends what it waits for
	defer stop()
	if err := conn.SetDeadline(until); err != nil {
		return err
	}
	nonce, err := NewNonce()
	if err != nil {
		return err
	}
	answer, err := k.exchange(conn, address, nonce)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%w: %w", ErrStranger, err)
	case !k.Holds(nonce, answer):
		return ErrStranger
	case answer.At == "" || !slices.Contains(places, answer.At):
		return fmt.Errorf("%w: the server listens at %s and not at %s: somebody stands between",
			ErrStranger, answer.At, strings.Join(places, " or "))
	}
	return conn.SetDeadline(time.Time{})
}

// exchange sends the nonce and reads the answer, to its last byte and no further.
func (k Key) exchange(conn net.Conn, address, nonce string) (Answer, error) {
	const ask = "GET " + Path + " HTTP/1.1\r\nHost: %s\r\n" + Header + ": %s\r\n" + KeyHeader + ": %s\r\n\r\n"
	if _, err := fmt.Fprintf(conn, ask, address, nonce, k.Name()); err != nil {
		return Answer{}, err
	}
	in := bufio.NewReaderSize(io.LimitReader(conn, maxAnswer), maxAnswer)
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		return Answer{}, errors.New("its answer cannot be read")
	}
	defer func() { _ = res.Body.Close() }() // the connection is ours
	if res.StatusCode != http.StatusOK || res.ContentLength < 0 || res.Close {
		return Answer{}, fmt.Errorf("it answered %d", res.StatusCode)
	}
	raw, err := io.ReadAll(res.Body)
	if err != nil || in.Buffered() > 0 {
		return Answer{}, errors.New("its answer cannot be read")
	}
	var a Answer
	if err := strictjson.Unmarshal(raw, &a); err != nil {
		return Answer{}, errors.New("its answer cannot be read")
	}
	return a, nil
}
