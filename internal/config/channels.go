package config

import (
	"slices"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/people/webhook"
	"github.com/tidemark/tidemark/internal/people/webpush"
)

// Channels is the `channels` section: where questions are asked besides here. nil: not there.
type Channels struct {
	Webhooks []webhook.Options
	Push     *webpush.Options // of it what the file can say
}

// moved are channels that this program spoke itself. Their sections go unchanged into the file of the program that does now.
var moved = []string{"slack", "discord", "ntfy"}

func (d *decoder) channels(n *configfile.Node) Channels {
	var c Channels
	if n == nil {
		return c
	}
	rest := *n
	rest.Keys = slices.DeleteFunc(slices.Clone(n.Keys), func(k configfile.Key) bool { return slices.Contains(moved, k.Name) })
	for _, k := range n.Keys {
		if slices.Contains(moved, k.Name) {
			d.Hintf(k.Pos, "move this section into the file of that program, and name the program here: webhook: {name: "+k.Name+
				", url: …, secret: …} (docs/contrib.md)", "channels.%s is asked in by tidemark-channels, a program of its own, now", k.Name)
		}
	}
	r := d.reader()
	d.Fields(&rest, map[string]func(*configfile.Node){
		"webhook": func(n *configfile.Node) { c.Webhooks = webhook.Read(r, n) },
		"push":    func(n *configfile.Node) { c.Push = webpush.Read(r, n) },
	})
	return c
}
