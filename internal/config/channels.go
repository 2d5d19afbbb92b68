package config

import (
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/people/discord"
	"github.com/tidemark/tidemark/internal/people/ntfy"
	"github.com/tidemark/tidemark/internal/people/slack"
	"github.com/tidemark/tidemark/internal/people/webhook"
	"github.com/tidemark/tidemark/internal/people/webpush"
)

// Channels is the `channels` section: where questions are asked besides here. nil: not there.
type Channels struct {
	Slack   *slack.Options
	Discord *discord.Options
	Webhook *webhook.Options
	Ntfy    *ntfy.Options
	Push    *webpush.Options // of it what the file can say
}

func (d *decoder) channels(n *configfile.Node) Channels {
	var c Channels
	if n == nil {
		return c
	}
	r := d.reader()
	d.Fields(n, map[string]func(*configfile.Node){
		"slack":   func(n *configfile.Node) { c.Slack = slack.Read(r, n) },
		"discord": func(n *configfile.Node) { c.Discord = discord.Read(r, n) },
		"webhook": func(n *configfile.Node) { c.Webhook = webhook.Read(r, n) },
		"ntfy":    func(n *configfile.Node) { c.Ntfy = ntfy.Read(r, n) },
		"push":    func(n *configfile.Node) { c.Push = webpush.Read(r, n) },
	})
	return c
}
