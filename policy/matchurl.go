package policy

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/tidemark/tidemark/internal/base/glob"
)

// sureness says how well a value fits a pattern. Rules that improve trust need
// sure; rules that lower it (or raise sensitivity) take maybe as well.
type sureness uint8

const (
	no sureness = iota
	maybe
	sure
)

// urlPattern is scheme://host[:port][/path]. A host may begin with "*." for any
// subdomain, the path may hold * and **; without a path the whole host fits.
type urlPattern struct {
	scheme string   // http, https, or * for both
	labels []string // of the host
	port   string   // "" for the scheme's own, * for any
	path   []string // nil: any
}

func parseURLPattern(s string) (urlPattern, error) {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || scheme != "http" && scheme != "https" && scheme != "*" {
		return urlPattern{}, fmt.Errorf("URL pattern %q must begin with https://, http:// or *://", s)
	}
	host, tail, hasPath := strings.Cut(rest, "/")
	host, port, _ := strings.Cut(strings.ToLower(host), ":")
	p := urlPattern{scheme: scheme, labels: strings.Split(host, "."), port: port}
	for _, l := range p.labels {
		if l == "" || strings.ContainsAny(l, "@?#\\[]% ") || strings.Contains(l, "**") {
			return urlPattern{}, fmt.Errorf("URL pattern %q has no host a URL could have", s)
		}
	}
	if strings.ContainsAny(tail, "?#\\") {
		return urlPattern{}, fmt.Errorf("URL pattern %q: only scheme, host, port and path are compared", s)
	}
	if hasPath && tail != "" {
		p.path = strings.Split(tail, "/")
	}
	return p, nil
}

// place is a URL taken apart. plain is false for what only a lenient reading
// understands: user information, encoded separators, unusual hosts.
type place struct {
	scheme, port string
	labels, path []string
	plain        bool
}

// readURL takes an absolute http(s) URL apart; ok is false where readers could
// disagree about what it means.
func readURL(s string) (place, bool) {
	if strings.ContainsAny(s, "\\ \t\r\n") {
		return place{}, false
	}
	u, err := url.Parse(s)
	if err != nil || u.Opaque != "" || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return place{}, false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if !plainHost(host) {
		return place{}, false
	}
	port := u.Port()
	if port == "80" && u.Scheme == "http" || port == "443" && u.Scheme == "https" {
		port = ""
	}
	clean := path.Clean("/" + u.Path)
	return place{
		scheme: u.Scheme, port: port,
		labels: strings.Split(host, "."),
		path:   strings.Split(clean[1:], "/"),
		plain:  u.User == nil && u.RawPath == "" && plainPath(u.Path),
	}, true
}

func plainHost(host string) bool {
	for _, c := range []byte(host) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' && c != ':' {
			return false
		}
	}
	return host != "" && host[0] != '.' && !strings.Contains(host, "..")
}

// plainPath refuses a path that a server may read otherwise than we do: one that
// still holds an encoded separator, or climbs.
func plainPath(p string) bool {
	return !strings.ContainsAny(p, "%\\\x00;") && !strings.Contains(p, "//") && !climbs(p)
}

// climbs reports whether a segment is "..": what it leads to depends on links.
func climbs(p string) bool {
	for seg := range strings.SplitSeq(p, "/") {
		if seg == ".." {
			return true
		}
	}
	return false
}

func (p urlPattern) match(at place) sureness {
	if p.scheme != "*" && p.scheme != at.scheme || !matchHost(p.labels, at.labels) {
		return no
	}
	if p.path != nil && !glob.Path(p.path, at.path) {
		return no
	}
	if at.plain && (p.port == "*" || p.port == at.port) {
		return sure
	}
	return maybe
}

func matchHost(pattern, host []string) bool {
	if pattern[0] == "*" {
		pattern = pattern[1:]
		if len(host) <= len(pattern) {
			return false
		}
		host = host[len(host)-len(pattern):]
	}
	if len(pattern) != len(host) {
		return false
	}
	for i, l := range pattern {
		if !glob.Match(l, host[i]) {
			return false
		}
	}
	return true
}
