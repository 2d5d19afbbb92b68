package auditor

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

// maxBody is the longest answer that is read, in bytes.
const maxBody = 64 << 10

// newClient is what both SDKs send through.
func newClient(o *Options, u *url.URL) *http.Client {
	client := http.Client{}
	if o.HTTP != nil {
		client = *o.HTTP
	}
	if client.Transport == nil {
		client.Transport = newTransport(u.Scheme == "http" && !o.PlainHTTP)
	}
	client.Transport = &guard{next: client.Transport}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Jar = nil
	return &client
}

func newTransport(loopbackOnly bool) *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}
	if loopbackOnly {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			if host, _, err := net.SplitHostPort(address); err != nil || !loopback(host) {
				return errors.New("plain http beyond this machine")
			}
			return nil
		}
	}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // maxBody counts what is sent
		MaxIdleConns:           16,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    5 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// guard lets through nothing but 200 with a body of bounded size. It stands below the
// SDKs, so that a status is told the same way whatever the body is, a redirect with a
// likely body is no answer, and what the endpoint wrote cannot get into an error.
type guard struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxBody)) // as much of it as there is
		return nil, &refusal{status: resp.StatusCode, after: parseRetryAfter(resp.Header), body: string(body)}
	}
	if resp.ContentLength > maxBody {
		_ = resp.Body.Close()
		return nil, errTooLarge
	}
	resp.Body = &bounded{ReadCloser: resp.Body, left: maxBody}
	return resp, nil
}

// CloseIdleConnections is what http.Client looks for.
func (g *guard) CloseIdleConnections() {
	if t, ok := g.next.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// bounded is a body that ends with an error where it is too long or its connection
// breaks, unlike one that merely ends.
type bounded struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = &unreachable{err}
	}
	return n, err
}
