package relay

import (
	"net"
	"net/http"
	"time"

	"github.com/tidemark/tidemark/internal/mcp/judge"
)

// Direct dials upstreams as they are configured, without credentials of their own.
type Direct struct{}

var _ judge.Transports = Direct{}

// Transport implements judge.Transports. The address is the owner's own word, so that it may be one of
// a private network; where a server sends elsewhere nobody follows.
func (Direct) Transport(judge.Server) (http.RoundTripper, error) {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 30 * time.Minute, ExpectContinueTimeout: time.Second,
		MaxIdleConns: 1024, MaxIdleConnsPerHost: 256, IdleConnTimeout: 90 * time.Second,
		DisableCompression: true, MaxResponseHeaderBytes: 256 << 10,
	}, nil
}
