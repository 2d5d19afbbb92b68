package discord

import (
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
)

// Read reads a section that describes a channel in Discord.
func Read(r *endpoint.Reader, n *configfile.Node) *Options {
	o := &Options{}
	r.Fields(n, map[string]func(*configfile.Node){
		"botToken": func(n *configfile.Node) { o.Token, _ = r.Secret(n) },
		"channel":  func(n *configfile.Node) { o.Channel = id(r, n) },
		"users": func(n *configfile.Node) {
			for _, item := range r.Items(n) {
				o.Users = append(o.Users, id(r, item))
			}
		},
		"baseUrl": func(n *configfile.Node) { o.BaseURL = strings.TrimSuffix(r.Address(n), "/") },
	})
	r.Needs(n, "botToken", "channel", "users")
	return o
}

// id is a number, in quotes or not.
func id(r *endpoint.Reader, n *configfile.Node) string {
	if n.Kind == configfile.Int && n.Int > 0 {
		return strconv.FormatInt(n.Int, 10)
	}
	v, ok := r.Text(n)
	if _, err := strconv.ParseUint(v, 10, 64); ok && err != nil {
		r.Hintf(n.Pos, "turn developer mode on, and copy the id", "%s must be an id of Discord's, which is a number", n.Path)
		return ""
	}
	return v
}
