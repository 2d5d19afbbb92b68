package webhook

import (
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
)

// Read reads a section that describes a webhook.
func Read(r *endpoint.Reader, n *configfile.Node) *Options {
	o := &Options{}
	r.Fields(n, map[string]func(*configfile.Node){
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
	})
	r.Needs(n, "url", "secret")
	return o
}
