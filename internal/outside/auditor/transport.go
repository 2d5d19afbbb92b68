package auditor

import (
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/tidemark/tidemark/internal/base/outbound"
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
		client.Transport = outbound.Transport(outbound.Options{LocalOnly: u.Scheme == "http" && !o.PlainHTTP})
	}
	client.Transport = &guard{next: client.Transport}
	client.CheckRedirect = outbound.Stay
	client.Jar = nil
	return &client
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
