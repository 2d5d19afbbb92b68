package proxy

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/llm/sigv4"
)

// Upstream is a provider, or a program that speaks like one.
type Upstream struct {
	Name      string // one that is named like its API stands under /name, others under /llm/name
	API       string // openai, anthropic, gemini, vertex or bedrock: where its key goes and how its errors look
	BaseURL   string
	Key       string     // put in place of the client's; "" passes the client's own on
	KeyHeader string     // where the key goes; "" is as the API has it
	Sign      *sigv4.Key // requests are signed with it, in place of the client's own signature; nil: they are not
	Handshake bool       // a request must carry a line of our plugin
	Hooks     bool       // a request must belong to a session that the agent's hooks report

	// What the operator vouches for: it carries no tool calls, and passes unjudged.
	PassPaths []endpoint.Pattern
	PassNames []string // members and types of answers
}

// upstream is an Upstream with its connections.
type upstream struct {
	Upstream
	prefix    string
	base      *url.URL
	provider  provider
	transport http.RoundTripper
	sent      sent
}

func newUpstream(u Upstream, l Limits) (*upstream, error) {
	base, err := url.Parse(u.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, fmt.Errorf("upstream %s: base URL is not usable", u.Name)
	}
	base.Path = strings.TrimRight(base.Path, "/")
	out := &upstream{Upstream: u, prefix: "llm/" + u.Name, base: base, transport: newTransport(l)}
	var known bool
	if out.provider, known = providers[u.API]; !known {
		return nil, fmt.Errorf("upstream %s: unknown API %q", u.Name, u.API)
	}
	if u.Name == u.API {
		out.prefix = u.Name
	}
	if u.KeyHeader != "" {
		if out.provider, known = out.provider.keyedBy(u.KeyHeader); !known {
			return nil, fmt.Errorf("upstream %s: no key goes into the header %q", u.Name, u.KeyHeader)
		}
	}
	return out, nil
}

// lends reports whether requests go out with a key of ours.
func (u *upstream) lends() bool { return u.Key != "" || u.Sign != nil }

// keyedBy is a provider whose key goes into another header than usual.
func (p provider) keyedBy(header string) (provider, bool) {
	p.header, p.scheme = http.CanonicalHeaderKey(header), ""
	if p.header == "Authorization" {
		p.scheme = "Bearer "
	}
	return p, slices.Contains(keyHeaders, p.header)
}

// publicOpenAI is where every path begins with a version. Servers that speak like it need
// not have one.
const publicOpenAI = "api.openai.com"

// path is where something of the upstream's stands. Clients differ in whether the address
// they are given has the version in it, and so do people who write one into a file: it
// stands there once.
func (u *upstream) path(rest string) string {
	first, after, more := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	if more && version.MatchString(first) {
		if second, _, _ := strings.Cut(after, "/"); second == first {
			rest = "/" + after
		}
		if strings.HasSuffix(u.base.Path, "/"+first) {
			rest = strings.TrimPrefix(rest, "/"+first)
		}
		return u.base.Path + rest
	}
	at := u.base.Path[strings.LastIndexByte(u.base.Path, '/')+1:]
	begins := u.API == "anthropic" || u.base.Host == publicOpenAI && u.base.Path == ""
	if begins && !version.MatchString(at) && first != "" && !slices.Contains(before, first) {
		return u.base.Path + "/v1" + rest
	}
	return u.base.Path + rest
}

// newTransport keeps connections for many streams at once. Answers are never unpacked
// behind our back: what passes, passes as it came.
func newTransport(l Limits) *http.Transport {
	dialer := &net.Dialer{Timeout: l.Dial, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: direct(dialer), ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: l.Dial, ResponseHeaderTimeout: l.Header, ExpectContinueTimeout: time.Second,
		MaxIdleConns: 1024, MaxIdleConnsPerHost: 512, IdleConnTimeout: 90 * time.Second,
		DisableCompression: true, WriteBufferSize: 64 << 10, ReadBufferSize: 16 << 10,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

// hopByHop are the headers that concern one connection only.
var hopByHop = []string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// copyHeaders copies what concerns more than one connection. Headers of ours are between us
// and the client: none goes out, and no provider speaks in our name.
func copyHeaders(to, from http.Header) {
	var listed []string
	for _, v := range from["Connection"] {
		for name := range strings.SplitSeq(v, ",") {
			listed = append(listed, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	for name, values := range from {
		if !slices.Contains(hopByHop, name) && !slices.Contains(listed, name) && !strings.HasPrefix(name, ownHeaders) {
			to[name] = values
		}
	}
}

// outgoing makes the request for the provider, without its body. Nothing of ours is in it.
func (u *upstream) outgoing(r *http.Request, rest string, v visitor) (*http.Request, *problem) {
	target := *u.base
	target.Path = u.path(rest)
	target.RawQuery = r.URL.RawQuery
	h := make(http.Header, len(r.Header)+2)
	copyHeaders(h, r.Header)
	if _, named := h["User-Agent"]; !named {
		h["User-Agent"] = []string{""} // none came, none goes
	}
	if call, ok := cloudCallOf(target.Path); ok && u.API == "bedrock" {
		target.Path, target.RawPath = call.path()
	}
	switch {
	case u.Sign != nil:
		for _, name := range slices.Concat(sigv4.Headers, keyHeaders) {
			h.Del(name)
		}
	case u.Key == "" && signsItself(r.Header):
		return nil, newProblem(http.StatusUnauthorized, whySigned)
	case u.Key != "":
		for _, name := range keyHeaders {
			delete(h, name)
		}
		target.RawQuery = withoutKey(target.RawQuery)
		h.Set(u.provider.header, u.provider.scheme+u.Key)
	case v.ours:
		return nil, newProblem(http.StatusUnauthorized,
			"the key is Tidemark's own token, and this upstream has no keyEnv from which the provider's could be taken")
	}
	out := &http.Request{Method: r.Method, URL: &target, Host: target.Host, Header: h, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	return out.WithContext(r.Context()), nil
}
