package oidc

import (
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
)

// Read reads the section that describes a provider.
func Read(r *endpoint.Reader, n *configfile.Node) *Options {
	o := &Options{}
	text := func(to *string) func(*configfile.Node) { return func(n *configfile.Node) { *to, _ = r.Text(n) } }
	r.Fields(n, map[string]func(*configfile.Node){
		"issuer": func(n *configfile.Node) {
			v, ok := r.Text(n)
			if _, err := issuerURL(v); ok && err != nil {
				r.Hintf(n.Pos, "write it as the provider does in its tokens: https://sso.example/realm", "%s: %v", n.Path, err)
			}
			o.Issuer = v
		},
		"clientId":     text(&o.ClientID),
		"clientSecret": func(n *configfile.Node) { o.Secret, _ = r.Secret(n) },
		"scopes": func(n *configfile.Node) {
			for _, item := range r.Texts(n) {
				o.Scopes = append(o.Scopes, item.Text)
			}
		},
		"claim": text(&o.Claim),
		"name":  text(&o.NameFrom),
		"roles": func(n *configfile.Node) { o.Roles = readRoles(r, n) },
	})
	r.Needs(n, "issuer", "clientId", "roles")
	return o
}

// readRoles reads who gets which role; the highest comes first, whatever the file's order.
func readRoles(r *endpoint.Reader, n *configfile.Node) []Role {
	values := map[string][]string{}
	field := func(role string) func(*configfile.Node) {
		return func(n *configfile.Node) {
			for _, item := range r.Texts(n) {
				values[role] = append(values[role], item.Text)
			}
		}
	}
	r.Fields(n, map[string]func(*configfile.Node){
		"admin": field("admin"), "approver": field("approver"), "viewer": field("reader"),
	}, configfile.Former{Name: "reader", Now: "viewer", Read: field("reader")})
	var out []Role
	for _, role := range []string{"admin", "approver", "reader"} {
		if len(values[role]) > 0 {
			out = append(out, Role{Name: role, Values: values[role]})
		}
	}
	if len(out) == 0 {
		r.Hintf(n.Pos, "as in approver: [sec-team], with a value of the claim", "%s gives nobody a role: nobody could sign in", n.Path)
	}
	return out
}
