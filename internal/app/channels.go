package app

import (
	"time"

	"github.com/tidemark/tidemark/internal/people/channels"
	"github.com/tidemark/tidemark/internal/people/webpush"
)

// openPush makes what tells browsers. They are this server's own, however many servers there are.
func (a *App) openPush() error {
	c := a.config.Channels.Push
	if c == nil {
		return nil
	}
	c.Path, c.Now, c.Record, c.Who = a.opts.Paths.Push(), time.Now, a.keys.Record, &a.config.Approvals.Who
	var err error
	if a.push, err = webpush.New(*c); err != nil {
		return err
	}
	a.external.PerServer.Add(&channels.Way{
		Name: "push", Detail: "notices in browsers, without buttons", Asker: a.push, Run: a.push.Run, Check: a.push.Check,
		Denies: true, Due: a.push.Due,
	})
	return nil
}
