package pulse

import (
	"context"
	"log/slog"
	"time"

	"github.com/tidemark/tidemark/internal/base/alarm"
)

// The times of looking whether hosts still ask.
const (
	Every = 5 * time.Second
	grace = 15 * time.Second // hooks and records are written side by side

	installedEvery = time.Minute
)

// Watch closes sessions whose host has stopped asking, and tells people so; and it tells them when a hook or the settings of an
// agent are no longer as they were installed.
type Watch struct {
	Book    *Book
	Alarms  *alarm.Book
	Close   func(ctx context.Context, session, why string) error
	Changed func() []string // what is not as it was installed
	Tell    func()          // wakes the channels
	Logger  *slog.Logger
}

// Run looks at each tick, until ctx ends.
func (w *Watch) Run(ctx context.Context, tick <-chan time.Time) {
	looked := time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick:
			w.hear(ctx, now)
			if now.Sub(looked) >= installedEvery {
				looked = now
				w.look(now)
			}
		}
	}
}

// hear closes the sessions of hosts that have stopped asking.
func (w *Watch) hear(ctx context.Context, now time.Time) {
	for _, s := range w.Book.Look(now, grace) {
		w.Logger.Error("a host has stopped asking; its session is closed to acts", "session", s.Session, "reason", s.String())
		if err := w.Close(ctx, s.Session, s.String()); err != nil {
			w.Logger.Error("close session", "session", s.Session, "error", err)
		}
		if w.Alarms.Raise(s.Session, s.String(), now) {
			w.Tell()
		}
	}
}

// look tells of hooks and settings that are not as they were installed, and no longer of those that are again.
func (w *Watch) look(now time.Time) {
	wrong, news := w.Changed(), false
	for _, why := range wrong {
		if w.Alarms.Raise(installed, why, now) {
			news = true
			w.Logger.Error("what watches an agent is not as it was installed", "reason", why, "look", "tidemark doctor")
		}
	}
	news = w.Alarms.Still(installed, wrong) || news
	if news {
		w.Tell()
	}
}

// installed is what alarms about hooks and settings are about.
const installed = "what watches your agents"
