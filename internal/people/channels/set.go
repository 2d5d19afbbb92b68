package channels

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/alarm"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/people/quorum"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/store/notify"
)

// Way is one way in which questions reach people.
type Way struct {
	Name   string
	Detail string
	Asker  Asker
	Run    func(context.Context) // what it does besides; nil: nothing
	Check  func(context.Context) error
	Denies bool // nothing is approved there, whatever else is said
	// Due says of a question whether somebody is told there now, and when that may change; nil: the rules for
	// people say so of the channel.
	Due     func(c engine.QuestionInfo) (now bool, next time.Time)
	channel *Channel
}

// Set is the channels that run together.
type Set struct {
	List []*Way

	stop, deafen       context.CancelFunc // end what asks, and what listens for answers
	running, listening sync.WaitGroup
}

// Add has a way run with the others.
func (s *Set) Add(c *Way) { s.List = append(s.List, c) }

// Needs is what channels need from the server to bring questions to people.
type Needs struct {
	Keys *approvalproof.Keeper
	Link func(id string) string // where a question is answered in a browser
	Who  *quorum.Rules
	Pins *pins.Keeper
	// Alarms are what was noticed about hosts.
	Alarms *alarm.Book
}

// Start runs the channels until ShutDown is called.
func (s *Set) Start(ctx context.Context, m *engine.Monitor, f *notify.Store, r Needs, logger *slog.Logger) error {
	ctx, stop := context.WithCancel(ctx)
	ears, deafen := context.WithCancel(context.WithoutCancel(ctx))
	s.stop, s.deafen = stop, deafen
	queue := &asked{Monitor: m, pins: r.Pins, alarms: r.Alarms, keys: r.Keys, who: r.Who, now: time.Now}
	for _, c := range s.List {
		due := c.Due
		if due == nil {
			due = func(about engine.QuestionInfo) (bool, time.Time) { return r.Who.Pushed(about, c.Name) }
		}
		var err error
		c.channel, err = New(Options{
			Name: c.Name, Monitor: queue, Wake: f, Asker: c.Asker, Logger: logger, Link: r.Link,
			Pushed: func(q *engine.Question, now time.Time) (bool, time.Time) {
				if q.Kind == KindAlarm { // at once, whoever is on call
					return true, time.Time{}
				}
				return due(q.Info(now))
			},
			Approves: func() bool { return !c.Denies && r.Keys.Takes(c.Name) },
		})
		if err != nil {
			return err
		}
		s.running.Go(func() { c.channel.Run(ctx) })
		if c.Run != nil {
			s.listening.Go(func() { c.Run(ears) })
		}
	}
	return nil
}

// StatusLine is a channel as the status shows it, and how to look whether it can be reached.
type StatusLine struct {
	Name, Detail string
	Figures      any // what its Status says; nil: it does not run
	Check        func(context.Context) error
}

// Lines are the channels as the status shows them.
func (s *Set) Lines() []StatusLine {
	out := make([]StatusLine, 0, len(s.List))
	for _, c := range s.List {
		p := StatusLine{Name: c.Name, Detail: c.Detail, Check: c.Check}
		if c.channel != nil {
			p.Figures = c.channel.Status()
		}
		if c.Denies && c.Due == nil {
			p.Detail += "; they can deny"
		}
		out = append(out, p)
	}
	return out
}

// ShutDown ends the channels: first what asks, so that every message can still be edited, and
// then what listens.
func (s *Set) ShutDown() {
	if s.stop == nil {
		return
	}
	s.stop()
	s.running.Wait()
	s.deafen()
	s.listening.Wait()
	s.stop = nil
}
