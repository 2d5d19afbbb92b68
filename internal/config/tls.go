package config

import (
	"net"
	"net/url"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
)

// TLS is the `server.tls` section: a second address, for other machines.
type TLS struct {
	Listen string
	Names  []string // under which it is reached, without port
	Cert   string   // files of a certificate and its key; "": one of its own making, in the data folder
	Key    string
}

func (d *decoder) tls(n *configfile.Node) *TLS {
	t := &TLS{}
	d.Fields(n, map[string]func(*configfile.Node){
		"listen": func(n *configfile.Node) {
			v, ok := d.Text(n)
			if _, _, err := net.SplitHostPort(v); ok && err != nil {
				d.Hintf(n.Pos, "write it as 0.0.0.0:8418", "server.tls.listen is not host:port")
				return
			}
			t.Listen = v
		},
		"names": func(n *configfile.Node) {
			for _, h := range d.Texts(n) {
				if h.Text == "" || strings.ContainsAny(h.Text, "/*@ ") || strings.Contains(h.Text, "://") || ported(h.Text) {
					d.Hintf(h.Pos, "write it as tidemark.example", "server.tls.names: %q is not a host name", h.Text)
					continue
				}
				t.Names = append(t.Names, h.Text)
			}
		},
		"cert": func(n *configfile.Node) { t.Cert, _ = d.Text(n) },
		"key":  func(n *configfile.Node) { t.Key, _ = d.Text(n) },
	})
	switch {
	case t.Listen == "":
		d.Hintf(n.Pos, `write listen: "0.0.0.0:8418"`, "server.tls says no address to listen on")
	case len(t.Names) == 0:
		d.Hintf(n.Pos, "write names: [tidemark.example], as other machines write it", "server.tls says no name under which it is reached")
	case (t.Cert == "") != (t.Key == ""):
		d.Hintf(n.Pos, "give both, or none for a key of its own",
			"server.tls has a certificate without its key, or a key without its certificate")
	}
	return t
}

func ported(host string) bool {
	_, _, err := net.SplitHostPort(host)
	return err == nil
}

func (d *decoder) publicAddress(n *configfile.Node) string {
	v, ok := d.Text(n)
	if !ok {
		return ""
	}
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		d.Hintf(n.Pos, "write it as https://tidemark.example", "server.address is no https address of a server")
		return ""
	}
	return strings.TrimRight(v, "/")
}

// Hosts are all names that clients may use besides the loopback ones.
func (s *Server) Hosts() []string {
	out := append([]string{}, s.AllowedHosts...)
	if u, err := url.Parse(s.Address); err == nil && u.Host != "" {
		out = append(out, u.Host)
	}
	if s.TLS != nil {
		out = append(out, s.TLS.Names...)
	}
	return out
}
