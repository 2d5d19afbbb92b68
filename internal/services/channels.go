package services

import (
	"log/slog"
	"net/http"
	"slices"

	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/people/channels"
	"github.com/tidemark/tidemark/internal/people/webhook"
)

// openChannels makes the channels of a file. Nothing is contacted yet.
func (o *Set) openChannels(cfg *config.Config, logger *slog.Logger) error {
	if t := cfg.Telegram; t != nil && t.Enabled {
		bot, err := o.bot(t, logger)
		if err != nil {
			return err
		}
		o.Channels.Add(&channels.Way{Name: "telegram", Detail: "questions with buttons", Asker: bot.Channel(), Check: bot.Check})
	}
	for _, c := range cfg.Channels.Webhooks {
		w, err := webhook.New(c)
		if err != nil {
			return err
		}
		o.webhooks = append(o.webhooks, w)
		o.Channels.Add(&channels.Way{Name: w.Name(), Detail: w.Detail(), Asker: w, Run: w.Run, Check: w.Check})
	}
	return nil
}

// Answers is where programs outside bring answers; everything else goes on to next.
func (o *Set) Answers(next http.Handler) http.Handler {
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
