package slack

import (
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
)

// Read reads a section that describes a channel in Slack.
func Read(r *endpoint.Reader, n *configfile.Node) *Options {
	o := &Options{}
	r.Fields(n, map[string]func(*configfile.Node){
		"appToken": func(n *configfile.Node) { o.AppToken = token(r, n, "xapp-", "an app-level token") },
		"botToken": func(n *configfile.Node) { o.BotToken = token(r, n, "xoxb-", "a bot token") },
		"channel": func(n *configfile.Node) {
			v, ok := r.Text(n)
			if ok && strings.Trim(v, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
				r.Hintf(n.Pos, "it is in the channel's details, and begins with C, G or D",
					"%s must be the id of a channel, not its name", n.Path)
			}
			o.Channel = v
		},
		"users": func(n *configfile.Node) {
			for _, item := range r.Texts(n) {
				if len(item.Text) < 2 || strings.Trim(item.Text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
					r.Hintf(item.Pos, "it is in their profile: copy member ID", "%s must be the id of a user, such as U012AB3CD", item.Path)
				}
				o.Users = append(o.Users, item.Text)
			}
		},
		"baseUrl": func(n *configfile.Node) { o.BaseURL = strings.TrimSuffix(r.Address(n), "/") },
	})
	r.Needs(n, "appToken", "botToken", "channel", "users")
	return o
}

func token(r *endpoint.Reader, n *configfile.Node, prefix, what string) endpoint.Secret {
	v, ok := r.Secret(n)
	if ok && !strings.HasPrefix(string(v), prefix) {
		r.Errorf(n.Pos, "%s is not %s: those begin with %s", n.Path, what, prefix)
	}
	return v
}
