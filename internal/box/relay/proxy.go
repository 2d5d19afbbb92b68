package relay

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The bounds of a request.
const (
	headTime = 30 * time.Second
	headSize = 32 << 10
	mostPath = 2 << 10 // of one that only reads
)

// serveHTTP serves requests at a door of the box.
func (r *Relay) serveHTTP(l net.Listener, h http.Handler) {
	l = &fewTalks{l, r.talks}
	s := &http.Server{Handler: h, ReadHeaderTimeout: headTime, MaxHeaderBytes: headSize, ErrorLog: log.New(io.Discard, "", 0)}
	done := r.keep(s)
	r.start(func() {
		defer done()
		_ = s.Serve(l) // it ends when the relay does
	})
}

// fewTalks is a door that turns away who comes when enough are there.
type fewTalks struct {
	net.Listener
	talks chan struct{}
}

// Accept takes the next one for whom there is room.
func (l *fewTalks) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.talks <- struct{}{}:
			return &talk{Conn: c, talks: l.talks}, nil
		default:
			refuse(c)
		}
	}
}

// talk is a connection that makes room when it is closed.
type talk struct {
	net.Conn
	talks chan struct{}
	once  sync.Once
}

// Close closes the connection.
func (c *talk) Close() error {
	c.once.Do(func() { <-c.talks })
	return c.Conn.Close()
}

// CloseWrite ends what is said.
func (c *talk) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// proxy serves programs that know of proxies: they name the computer and the port that they want.
func (r *Relay) proxy(w http.ResponseWriter, q *http.Request) {
	host, port, ok := wanted(q)
	switch {
	case !ok:
		http.Error(w, "this is a proxy: name a computer and a port", http.StatusBadRequest)
	case !nameable(host):
		r.deny(w, r.refused(host, port, errNotPublic.Error()))
	case q.Method == http.MethodConnect:
		r.tunnel(w, q, host, port)
	default:
		r.request(w, q, host, port)
	}
}

// request serves a plain request for a host. One that only reads is asked about as such, and made by the relay itself; a yes to it
// lets nothing else through. What sends anything is a connection.
func (r *Relay) request(w http.ResponseWriter, q *http.Request, host string, port int) {
	switch {
	case port != plainPort || !onlyReads(q):
		if port == plainPort && r.readable(host) {
			r.deny(w, r.refused(host, port, "it may only be read"))
			return
		}
		r.forward(w, q, host, port)
	case r.readable(host):
		r.read(w, q, host)
	default:
		d := r.ask(q.Context(), Ask{Verb: Read, Host: host, Port: port}, q.RemoteAddr)
		if !d.Allow {
			r.deny(w, r.refused(host, port, d.Why))
			return
		}
		r.read(w, q, host)
	}
}

// plainPort is the port of plain requests.
const plainPort = 80

func (r *Relay) deny(w http.ResponseWriter, text string) { http.Error(w, text, http.StatusForbidden) }

// wanted is the computer and the port of a request to a proxy.
func wanted(q *http.Request) (host string, port int, ok bool) {
	where := q.URL.Host
	if q.Method == http.MethodConnect {
		where = q.Host
	} else if q.URL.Scheme != "http" {
		return "", 0, false
	}
	host, text, err := net.SplitHostPort(where)
	if err != nil {
		if host, text = strings.Trim(where, "[]"), "80"; q.Method == http.MethodConnect {
			return "", 0, false
		}
	}
	n, err := strconv.ParseUint(text, 10, 16)
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host, int(n), err == nil && n > 0 && host != "" && printable(host)
}

func printable(s string) bool {
	return len(s) <= 253 && !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' })
}

// nameable reports whether a person may be asked about a host: a public name, or a public address.
func nameable(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return publicAddress(a)
	}
	return publicName(host)
}

// tunnel connects a command with a port of a computer, if that is decided.
func (r *Relay) tunnel(w http.ResponseWriter, q *http.Request, host string, port int) {
	d := r.ask(q.Context(), Ask{Verb: Connect, Host: host, Port: port}, q.RemoteAddr)
	if !d.Allow {
		r.deny(w, r.refused(host, port, d.Why))
		return
	}
	c, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer r.keep(c)()
	if _, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	if err := r.join(r.ctx, c, waiting(buffered), host, port); err != nil {
		r.refused(host, port, err.Error())
		refuse(c)
	}
}

// waiting is what was read ahead of a connection.
func waiting(b *bufio.ReadWriter) []byte {
	first, _ := b.Reader.Peek(b.Reader.Buffered()) // it is there
	return slices.Clone(first)
}

// forward hands a plain request on, if that is decided.
func (r *Relay) forward(w http.ResponseWriter, q *http.Request, host string, port int) {
	d := r.ask(q.Context(), Ask{Verb: Connect, Host: host, Port: port}, q.RemoteAddr)
	if !d.Allow {
		r.deny(w, r.refused(host, port, d.Why))
		return
	}
	(&httputil.ReverseProxy{
		Transport: r.client, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(p *httputil.ProxyRequest) {
			// whom it was decided about, and nobody else
			p.Out.URL.Scheme, p.Out.URL.Host = "http", net.JoinHostPort(host, strconv.Itoa(port))
			if p.Out.Host = p.Out.URL.Host; port == plainPort {
				p.Out.Host = host
			}
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, r.refused(host, port, reason(err)), http.StatusBadGateway)
		},
	}).ServeHTTP(w, q)
}

// reason is what is said of a computer that was not reached.
func reason(err error) string {
	if errors.Is(err, errNotPublic) {
		return errNotPublic.Error()
	}
	return "it could not be reached"
}

// transport speaks HTTP to others, through addresses that were looked at.
func (r *Relay) transport() *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			host, text, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			port, err := strconv.Atoi(text)
			if err != nil {
				return nil, err
			}
			return r.reach(ctx, host, port)
		},
		TLSClientConfig:     &tls.Config{RootCAs: r.opts.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: dialTime, ResponseHeaderTimeout: 2 * time.Minute, IdleConnTimeout: time.Minute,
		DisableCompression: true, // what the command asked for is what it gets
	}
}
