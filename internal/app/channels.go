package app

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/base/alarm"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/mcp/pins"
	"github.com/tidemark/tidemark/internal/people/asking"
	"github.com/tidemark/tidemark/internal/people/consent"
	"github.com/tidemark/tidemark/internal/people/discord"
	"github.com/tidemark/tidemark/internal/people/ntfy"
	"github.com/tidemark/tidemark/internal/people/quorum"
	"github.com/tidemark/tidemark/internal/people/slack"
	"github.com/tidemark/tidemark/internal/people/webhook"
	"github.com/tidemark/tidemark/internal/people/webpush"
	"github.com/tidemark/tidemark/store/notify"
)

// channel is one way in which questions reach people.
type channel struct {
	name   string
	detail string
	asker  asking.Asker
	run    func(context.Context) // what it does besides; nil: nothing
	check  func(context.Context) error
	denies bool // nothing is approved there, whatever else is said
	// due says of a question whether somebody is told there now, and when that may change; nil: the rules for
	// people say so of the channel.
	due    func(c tidemark.Case) (now bool, next time.Time)
	asking *asking.Channel
}

// channels are several that run together.
type channels struct {
	list []*channel

	stop, deafen       context.CancelFunc // end what asks, and what listens for answers
	running, listening sync.WaitGroup
}

func (s *channels) add(c *channel) { s.list = append(s.list, c) }

// openChannels makes the channels of a file. Nothing is contacted yet.
func (o *outside) openChannels(cfg *config.Config, logger *slog.Logger) error {
	if t := cfg.Telegram; t != nil && t.Enabled {
		bot, err := o.bot(t, logger)
		if err != nil {
			return err
		}
		o.channels.add(&channel{name: "telegram", detail: "questions with buttons", asker: bot.Channel(), check: bot.Check})
	}
	if c := cfg.Channels.Slack; c != nil {
		c.Logger = logger
		s, err := slack.New(*c)
		if err != nil {
			return err
		}
		o.channels.add(&channel{name: "slack", detail: "questions with buttons", asker: s, run: s.Run, check: s.Check})
	}
	if c := cfg.Channels.Discord; c != nil {
		c.Logger = logger
		d, err := discord.New(*c)
		if err != nil {
			return err
		}
		o.channels.add(&channel{name: "discord", detail: "questions with buttons", asker: d, run: d.Run, check: d.Check})
	}
	if c := cfg.Channels.Webhook; c != nil {
		w, err := webhook.New(*c)
		if err != nil {
			return err
		}
		o.webhook = w
		o.channels.add(&channel{name: "webhook", detail: w.Detail(), asker: w, run: w.Run, check: w.Check})
	}
	return o.openNtfy(cfg.Channels.Ntfy, logger)
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
	a.outside.own.add(&channel{
		name: "push", detail: "notices in browsers, without buttons", asker: a.push, run: a.push.Run, check: a.push.Check,
		denies: true, due: a.push.Due,
	})
	return nil
}

func (o *outside) openNtfy(c *ntfy.Options, logger *slog.Logger) error {
	if c == nil {
		return nil
	}
	c.Logger = logger
	n, err := ntfy.New(*c)
	if err != nil {
		return err
	}
	o.channels.add(&channel{name: "ntfy", detail: "questions on phones", asker: n, run: n.Run, check: n.Check, denies: !c.Approve})
	return nil
}

// reach is what channels need to know of the server around them.
type reach struct {
	keys *consent.Keeper
	link func(id string) string // where a question is answered in a browser
	who  *quorum.Rules
	pins *pins.Keeper
	// alarms are what was noticed about hosts.
	alarms *alarm.Book
}

// start brings questions to people until hush is called.
func (s *channels) start(ctx context.Context, m *tidemark.Monitor, f *notify.Store, r reach, logger *slog.Logger) error {
	ctx, stop := context.WithCancel(ctx)
	ears, deafen := context.WithCancel(context.WithoutCancel(ctx))
	s.stop, s.deafen = stop, deafen
	queue := &asked{Monitor: m, pins: r.pins, alarms: r.alarms, keys: r.keys, who: r.who, now: time.Now}
	for _, c := range s.list {
		due := c.due
		if due == nil {
			due = func(about tidemark.Case) (bool, time.Time) { return r.who.Pushed(about, c.name) }
		}
		var err error
		c.asking, err = asking.New(asking.Options{
			Name: c.name, Monitor: queue, Wake: f, Asker: c.asker, Logger: logger, Link: r.link,
			Pushed: func(q *tidemark.Question, now time.Time) (bool, time.Time) {
				if q.Kind == asking.KindAlarm { // at once, whoever is on call
					return true, time.Time{}
				}
				return due(q.Case(now))
			},
			Approves: func() bool { return !c.denies && r.keys.Takes(c.name) },
		})
		if err != nil {
			return err
		}
		s.running.Go(func() { c.asking.Run(ctx) })
		if c.run != nil {
			s.listening.Go(func() { c.run(ears) })
		}
	}
	return nil
}

// answers is where programs outside bring answers; everything else goes on to next.
func (o *outside) answers(next http.Handler) http.Handler {
	if o.webhook == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == webhook.Path {
			o.webhook.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// parts are the channels as the status shows them, and how to look whether each can be reached.
func (s *channels) parts(add func(Part, func(context.Context) error)) {
	for _, c := range s.list {
		p := Part{Name: "approvals: " + c.name, Detail: c.detail}
		if c.asking != nil {
			p.Figures = c.asking.Status()
		}
		if c.denies && c.due == nil {
			p.Detail += "; they can deny"
		}
		add(p, c.check)
	}
}

// hush ends the channels: first what asks, so that every message can still be edited, and
// then what listens.
func (s *channels) hush() {
	if s.stop == nil {
		return
	}
	s.stop()
	s.running.Wait()
	s.deafen()
	s.listening.Wait()
	s.stop = nil
}
