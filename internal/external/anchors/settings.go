package anchors

import (
	"time"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/outbound"
)

// minSecret is how long a secret must be.
const minSecret = 16

// Read reads a section that says where the head of the log is written down.
func Read(r *endpoint.Reader, n *configfile.Node) *Options {
	o := &Options{}
	r.Fields(n, map[string]func(*configfile.Node){
		"file": func(n *configfile.Node) { o.File, _ = r.Text(n) },
		"url": func(n *configfile.Node) {
			v, ok := r.Text(n)
			if !ok {
				return
			}
			if u, err := outbound.URL(v); err != nil {
				r.Hintf(n.Pos, "write it as https://host/path", "%s: %v", n.Path, err)
			} else if err := outbound.Exposed(u); err != nil {
				r.Hintf(n.Pos, "use https, or an address of this machine", "%s: %v", n.Path, err)
			}
			o.URL = v
		},
		"secret": func(n *configfile.Node) {
			v, ok := r.Secret(n)
			if ok && len(v) < minSecret {
				r.Errorf(n.Pos, "%s needs %d characters", n.Path, minSecret)
			}
			o.Secret = v
		},
	}, configfile.Former{Name: "everyMinutes", Now: configfile.Nothing, Read: func(n *configfile.Node) {
		v, _ := r.Int(n, 1, 24*60)
		o.Every = time.Duration(v) * time.Minute
	}})
	if !o.Any() && n.Get("file") == nil && n.Get("url") == nil {
		r.Errorf(n.Pos, "%s needs file, url or both", n.Path)
	}
	return o
}
