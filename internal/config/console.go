package config

import (
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/people/oidc"
)

// Console is the `console` section.
type Console struct {
	OIDC *oidc.Options // where people can sign in; nil: by tokens and links alone
}

func (d *decoder) console(n *configfile.Node) Console {
	var c Console
	if n == nil {
		return c
	}
	r := d.reader()
	d.Fields(n, map[string]func(*configfile.Node){
		"oidc": func(n *configfile.Node) { c.OIDC = oidc.Read(r, n) },
	})
	return c
}
