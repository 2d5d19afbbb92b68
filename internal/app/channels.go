package app

import (
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/people/channels"
	"github.com/tidemark/tidemark/internal/people/webhook"
	"github.com/tidemark/tidemark/internal/people/webpush"
)

// openChannels makes the channels of a file. Nothing is contacted yet.
func (o *external) openChannels(cfg *config.Config, logger *slog.Logger) error {
	if t := cfg.Telegram; t != nil && t.Enabled {
		bot, err := o.bot(t, logger)
		if err != nil {
			return err
		}
		o.channels.Add(&channels.Way{Name: "telegram", Detail: "questions with buttons", Asker: bot.Channel(), Check: bot.Check})
	}
	for _, c := range cfg.Channels.Webhooks {
		w, err := webhook.New(c)
		if err != nil {
			return err
		}
		o.webhooks = append(o.webhooks, w)
		o.channels.Add(&channels.Way{Name: w.Name(), Detail: w.Detail(), Asker: w, Run: w.Run, Check: w.Check})
	}
	return nil
}

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
	a.external.perServer.Add(&channels.Way{
		Name: "push", Detail: "notices in browsers, without buttons", Asker: a.push, Run: a.push.Run, Check: a.push.Check,
		Denies: true, Due: a.push.Due,
	})
	return nil
}

// answers is where programs outside bring answers; everything else goes on to next.
func (o *external) answers(next http.Handler) http.Handler {
	if len(o.webhooks) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i := slices.IndexFunc(o.webhooks, func(h *webhook.Webhook) bool { return h.Path() == r.URL.Path }); i >= 0 {
			o.webhooks[i].ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
