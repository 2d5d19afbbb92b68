package relay

import (
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/outbound"
)

func publicAddress(a netip.Addr) bool { return outbound.Public(a) && !ofThisMachine(a.Unmap()) }

// readable reports whether a host is one that may be read unasked.
func (r *Relay) readable(host string) bool { return slices.Contains(r.opts.Hosts, host) }

// plainDoor serves the door for plain requests of a host, whatever other host a request names.
func (r *Relay) plainDoor(host string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { r.request(w, q, host, plainPort) })
}

// onlyReads reports whether a request only reads.
func onlyReads(q *http.Request) bool {
	return (q.Method == http.MethodGet || q.Method == http.MethodHead) && q.ContentLength == 0 && len(q.TransferEncoding) == 0 &&
		q.Header.Get("Upgrade") == "" && len(q.URL.RequestURI()) <= mostPath
}

// read reads something from a host for a command. The command asks in plain words, which are looked at; the relay asks over TLS. Of the
// request nothing is handed on but what is asked for and a few headers of a list: no body, no login, no cookie.
func (r *Relay) read(w http.ResponseWriter, q *http.Request, host string) {
	target := &url.URL{Scheme: "https", Host: host, Path: q.URL.Path, RawPath: q.URL.RawPath, RawQuery: q.URL.RawQuery}
	if !onlyReads(q) || len(target.RequestURI()) > mostPath {
		r.deny(w, r.refused(host, 80, "it may only be read"))
		return
	}
	out, err := http.NewRequestWithContext(q.Context(), q.Method, target.String(), http.NoBody)
	if err != nil {
		http.Error(w, "the address cannot be read", http.StatusBadRequest)
		return
	}
	for _, name := range readHeaders {
		if v := q.Header.Get(name); v != "" && len(v) <= 256 {
			out.Header.Set(name, v)
		}
	}
	out.Header.Set("User-Agent", "tidemark")
	res, err := r.client.RoundTrip(out) // and no redirect is followed: the command asks anew
	if err != nil {
		http.Error(w, r.refused(host, 80, reason(err)), http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	for name, values := range res.Header {
		if !slices.Contains(keptBack, name) {
			w.Header()[name] = values
		}
	}
	if at := res.Header.Get("Location"); at != "" {
		w.Header().Set("Location", r.plainly(host, at))
	}
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body) // who asked may be gone
}

// plainly is an address that the relay would read for a command which reads from a host, as the command must ask for it.
func (r *Relay) plainly(from, address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Port() != "" {
		return address
	}
	if to := strings.ToLower(u.Hostname()); to != from && !r.readable(to) {
		return address
	}
	u.Scheme = "http"
	return u.String()
}
