package app

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/alarm"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/mcp/pins"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/people/channels"
	"github.com/tidemark/tidemark/internal/people/quorum"
	"github.com/tidemark/tidemark/internal/people/webhook"
	"github.com/tidemark/tidemark/internal/people/webpush"
	"github.com/tidemark/tidemark/internal/store/notify"
)

// channel is one way in which questions reach people.
type channel struct {
	name   string
	detail string
	asker  channels.Asker
	run    func(context.Context) // what it does besides; nil: nothing
	check  func(context.Context) error
	denies bool // nothing is approved there, whatever else is said
	// due says of a question whether somebody is told there now, and when that may change; nil: the rules for
	// people say so of the channel.
	due     func(c engine.QuestionInfo) (now bool, next time.Time)
	channel *channels.Channel
}

// channelSet is the channels that run together.
type channelSet struct {
	list []*channel

	stop, deafen       context.CancelFunc // end what asks, and what listens for answers
	running, listening sync.WaitGroup
}

func (s *channelSet) add(c *channel) { s.list = append(s.list, c) }

// openChannels makes the channels of a file. Nothing is contacted yet.
func (o *external) openChannels(cfg *config.Config, logger *slog.Logger) error {
	if t := cfg.Telegram; t != nil && t.Enabled {
		bot, err := o.bot(t, logger)
		if err != nil {
			return err
		}
		o.channels.add(&channel{name: "telegram", detail: "questions with buttons", asker: bot.Channel(), check: bot.Check})
	}
	for _, c := range cfg.Channels.Webhooks {
		w, err := webhook.New(c)
		if err != nil {
			return err
		}
		o.webhooks = append(o.webhooks, w)
		o.channels.add(&channel{name: w.Name(), detail: w.Detail(), asker: w, run: w.Run, check: w.Check})
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
	a.external.perServer.add(&channel{
		name: "push", detail: "notices in browsers, without buttons", asker: a.push, run: a.push.Run, check: a.push.Check,
		denies: true, due: a.push.Due,
	})
	return nil
}

// delivery is what channels need from the server to bring questions to people.
type delivery struct {
	keys *approvalproof.Keeper
	link func(id string) string // where a question is answered in a browser
	who  *quorum.Rules
	pins *pins.Keeper
	// alarms are what was noticed about hosts.
	alarms *alarm.Book
}

// start runs the channels until shutDown is called.
func (s *channelSet) start(ctx context.Context, m *engine.Monitor, f *notify.Store, r delivery, logger *slog.Logger) error {
	ctx, stop := context.WithCancel(ctx)
	ears, deafen := context.WithCancel(context.WithoutCancel(ctx))
	s.stop, s.deafen = stop, deafen
	queue := &asked{Monitor: m, pins: r.pins, alarms: r.alarms, keys: r.keys, who: r.who, now: time.Now}
	for _, c := range s.list {
		due := c.due
		if due == nil {
			due = func(about engine.QuestionInfo) (bool, time.Time) { return r.who.Pushed(about, c.name) }
		}
		var err error
		c.channel, err = channels.New(channels.Options{
			Name: c.name, Monitor: queue, Wake: f, Asker: c.asker, Logger: logger, Link: r.link,
			Pushed: func(q *engine.Question, now time.Time) (bool, time.Time) {
				if q.Kind == channels.KindAlarm { // at once, whoever is on call
					return true, time.Time{}
				}
				return due(q.Info(now))
			},
			Approves: func() bool { return !c.denies && r.keys.Takes(c.name) },
		})
		if err != nil {
			return err
		}
		s.running.Go(func() { c.channel.Run(ctx) })
		if c.run != nil {
			s.listening.Go(func() { c.run(ears) })
		}
	}
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

// parts are the channels as the status shows them, and how to look whether each can be reached.
func (s *channelSet) parts(add func(Part, func(context.Context) error)) {
	for _, c := range s.list {
		p := Part{Name: "approvals: " + c.name, Detail: c.detail}
		if c.channel != nil {
			p.Figures = c.channel.Status()
		}
		if c.denies && c.due == nil {
			p.Detail += "; they can deny"
		}
		add(p, c.check)
	}
}

// shutDown ends the channels: first what asks, so that every message can still be edited, and
// then what listens.
func (s *channelSet) shutDown() {
	if s.stop == nil {
		return
	}
	s.stop()
	s.running.Wait()
	s.deafen()
	s.listening.Wait()
	s.stop = nil
}
