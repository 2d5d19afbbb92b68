package webpush

import (
	"net"
	"net/mail"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/outbound"
)

// Read reads a section that says how browsers are told.
func Read(r *endpoint.Reader, n *configfile.Node) *Options {
	o := &Options{}
	r.Fields(n, map[string]func(*configfile.Node){
		"contact": func(n *configfile.Node) {
			v, ok := r.Text(n)
			if ok && !reachable(v) {
				r.Hintf(n.Pos, "write it as mailto:you@your.domain; Apple's service refuses names that are not real",
					"%s must be an address at which the makers of browsers can reach you", n.Path)
			}
			o.Contact = v
		},
		"show": func(n *configfile.Node) {
			i, _ := r.Choice(n, "waiting", "tool")
			o.ShowTool = i == 1
		},
		"services": func(n *configfile.Node) {
			for _, item := range r.Texts(n) {
				if !isHost(item.Text) {
					r.Hintf(item.Pos, "write it as push.example.com, or with a port", "%s must be the host of a push service", item.Path)
				}
				o.Services = append(o.Services, strings.ToLower(item.Text))
			}
		},
	})
	r.Needs(n, "contact")
	return o
}

// reachable reports whether a contact is one that services take: a mail address or an https page, of a name
// that is more than this machine's.
func reachable(contact string) bool {
	if address, ok := strings.CutPrefix(contact, "mailto:"); ok {
		a, err := mail.ParseAddress(address)
		return err == nil && a.Address == address && public(address[strings.LastIndexByte(address, '@')+1:])
	}
	u, err := outbound.URL(contact)
	return err == nil && u.Scheme == "https" && public(u.Hostname())
}

func public(host string) bool {
	return strings.Contains(host, ".") && !strings.HasSuffix(host, ".local") && !strings.HasSuffix(host, ".localhost")
}

func isHost(s string) bool {
	host := s
	if h, _, err := net.SplitHostPort(s); err == nil {
		host = h
	}
	return host != "" && !strings.ContainsAny(s, "/@?# ")
}
