package webhook

import (
	"cmp"
	"crypto/ed25519"
	"encoding/hex"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
)

// Read reads one webhook, or a list of them.
func Read(r *endpoint.Reader, n *configfile.Node) []Options {
	if n.Kind != configfile.List {
		return []Options{one(r, n)}
	}
	var out []Options
	taken := map[string]bool{}
	for _, item := range r.Items(n) {
		o := one(r, item)
		if name := cmp.Or(o.Name, Plain); taken[name] {
			r.Hintf(item.Pos, "give each a name: slack, discord, ntfy, or webhook-… for programs of your own",
				"%s: there is another webhook of the name %s", item.Path, name)
		}
		taken[cmp.Or(o.Name, Plain)] = true
		out = append(out, o)
	}
	return out
}

func one(r *endpoint.Reader, n *configfile.Node) Options {
	o := Options{}
	r.Fields(n, map[string]func(*configfile.Node){
		"name": func(n *configfile.Node) { o.Name, _ = r.Text(n) },
		"url": func(n *configfile.Node) {
			v, ok := r.Text(n)
			if err := reachable(v); ok && err != nil {
				r.Hintf(n.Pos, "write it as https://host/path", "%s: %v", n.Path, err)
			}
			o.URL = v
		},
		"secret": func(n *configfile.Node) {
			v, ok := r.Secret(n)
			if ok && len(v) < MinSecret {
				r.Errorf(n.Pos, "%s needs %d characters", n.Path, MinSecret)
			}
			o.Secret = v
		},
		"key": func(n *configfile.Node) {
			v, ok := r.Text(n)
			raw, err := hex.DecodeString(v)
			if ok && (err != nil || len(raw) != ed25519.PublicKeySize) {
				r.Hintf(n.Pos, "the program prints it: tidemark-channels key", "%s must be a public key (Ed25519) in hex", n.Path)
				raw = make([]byte, ed25519.PublicKeySize) // said already
			}
			o.Key = raw
		},
	})
	r.Needs(n, "url", "secret")
	named := o
	named.Name = cmp.Or(o.Name, Plain)
	if err := named.check(); err != nil {
		r.Hintf(n.Pos, "key: what tidemark-channels key prints", "%s: %v", n.Path, err)
	}
	return o
}
