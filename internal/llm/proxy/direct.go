package proxy

import (
	"context"
	"io"
	"net"
)

// A transport copies a request body through a small buffer of its own. To an upstream
// without TLS a conversation of megabytes goes out of our buffer straight away instead, in
// as few writes as the connection takes.

// directConn is a connection that asks a body to write itself.
type directConn struct{ net.Conn }

// bodyWriter is a body that can write itself, up to so many bytes.
type bodyWriter interface {
	writeTo(w io.Writer, most int64) (int64, error)
}

// ReadFrom implements io.ReaderFrom.
func (c directConn) ReadFrom(r io.Reader) (int64, error) {
	if l, ok := r.(*io.LimitedReader); ok {
		if body, ok := l.R.(bodyWriter); ok {
			n, err := body.writeTo(c.Conn, l.N)
			l.N -= n
			return n, err
		}
	}
	if from, ok := c.Conn.(io.ReaderFrom); ok {
		return from.ReadFrom(r)
	}
	return io.Copy(struct{ io.Writer }{c.Conn}, r)
}

// direct makes a dialer's connections such ones.
func direct(d *net.Dialer) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return directConn{conn}, nil
	}
}
