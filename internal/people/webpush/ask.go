package webpush

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/people/channels"
)

var _ channels.Asker = (*Sender)(nil)

// The pace of telling many, and of trying again.
const (
	atOnce   = 16
	tryAgain = 15 * time.Second
	endTime  = 15 * time.Second
)

// Ask implements channels.Asker: it tells whoever is asked, those later who are asked later, and all of them
// when it is over. Nothing is answered here.
func (s *Sender) Ask(ctx context.Context, p channels.Post) error {
	told := map[string]entry{} // by address
	shown := false
	for {
		next, err := s.round(ctx, p, told)
		if err != nil && len(told) == 0 {
			return err
		}
		if len(told) > 0 && !shown {
			shown = true
			if p.Shown != nil {
				p.Shown()
			}
		}
		var later <-chan time.Time // nil: nobody is told later
		if !next.IsZero() {
			later = s.o.After(max(next.Sub(s.o.Now()), time.Second))
		}
		if !s.wait(ctx, p.Notes, later) {
			s.end(ctx, p, told, p.Settle("", "", ""))
			return nil
		}
	}
}

// wait reports whether it is time to look again; false: the question is over. What a note says is read in
// the console.
func (s *Sender) wait(ctx context.Context, notes <-chan string, later <-chan time.Time) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-notes:
		case <-later:
			return true
		}
	}
}

// round tells those who are due, adds them to told, and says when to go on; zero: never.
func (s *Sender) round(ctx context.Context, p channels.Post, told map[string]entry) (next time.Time, err error) {
	due, next := s.due(p.Info(s.o.Now()), told)
	m := message{ID: p.ID, Title: "A question waits", Body: "Open it to see what it is about."}
	if s.o.ShowTool {
		m.Title = channels.Cut(channels.OneLine(p.Title), 120)
	}
	reached, err := s.tell(ctx, due, m, p.Expires.Sub(s.o.Now()))
	for _, e := range reached {
		told[e.Endpoint] = e
	}
	if again := s.o.Now().Add(tryAgain); err != nil && (next.IsZero() || again.Before(next)) {
		next = again
	}
	return next, err
}

// end says to those who were told that nothing waits any more.
func (s *Sender) end(ctx context.Context, p channels.Post, told map[string]entry, how string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	m := message{ID: p.ID, Title: "Nothing to do", Body: "The question was answered, or its time is over.", Over: true}
	if s.o.ShowTool {
		m.Title, m.Body = channels.Cut(channels.OneLine(p.Title), 120), channels.Cut(channels.OneLine(how), 200)
	}
	var list []entry
	for _, e := range s.book.live(s.o.Now()) { // whoever left meanwhile is told nothing
		if _, was := told[e.Endpoint]; was {
			list = append(list, e)
		}
	}
	_, _ = s.tell(ctx, list, m, p.Expires.Sub(s.o.Now())) // Check says what could not be said
}

// tell sends a message to browsers, forgets those that are gone, and returns those that it reached. A
// question that ends meanwhile does not stop it: what was shown for all that could not be taken back.
func (s *Sender) tell(ctx context.Context, list []entry, m message, keep time.Duration) (reached []entry, err error) {
	ctx = context.WithoutCancel(ctx)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var gone []string
	slots := make(chan struct{}, atOnce)
	for _, e := range list {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			failed := s.send(ctx, &e.Subscription, m, keep)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(failed, errGone):
				gone = append(gone, e.Endpoint)
			case failed != nil:
				err = failed
			default:
				reached = append(reached, e)
			}
		})
	}
	wg.Wait()
	if len(list) > 0 {
		s.note(err)
	}
	for _, endpoint := range gone {
		_ = s.leave(ctx, endpoint) // it is gone either way, and asked again at the next question
	}
	return reached, err
}

// leave forgets a browser whose service says that it is gone.
func (s *Sender) leave(ctx context.Context, endpoint string) error {
	gone, err := s.book.drop(func(e *entry) bool { return e.Endpoint == endpoint })
	for i := range gone {
		err = errors.Join(err, s.o.Record(ctx, event.Person{Act: "notices-off", Via: "push", Detail: gone[i].detail() + ": it is gone"}))
	}
	return err
}
