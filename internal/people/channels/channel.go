// Package channels carries the monitor's open questions to people elsewhere (a chat, for
// one) and their answers back as votes.
//
// It reads the clock and starts goroutines, one for each question that is shown; all of
// them have ended when Run returns. Whom it asks and what it asks about come through its
// interfaces.
//
// Invariants:
//   - a vote names exactly the question that was shown; the monitor alone decides whether
//     it still counts;
//   - no answer, a late one or one that could not be recorded approves nothing;
//   - a question that is closed elsewhere is taken back, and the message says so;
//   - a question that cannot be shown is tried again for as long as it is open;
//   - what the auditor blocked is not pushed: asking for it takes the owner's own step.
package channels

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/backoff"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/policy"
)

// Monitor is the queue of questions.
type Monitor interface {
	Questions(ctx context.Context) ([]engine.Question, error)
	Question(ctx context.Context, session, id string) (engine.Question, error)
	Answer(ctx context.Context, v engine.Vote) (engine.Outcome, error)
}

// Wake tells when to look again.
type Wake interface {
	// QuestionsChanged is closed the next time a question is asked or answered. It is taken before
	// the questions are read, so that none is missed.
	QuestionsChanged() <-chan struct{}
}

// Field is one named value of a question.
type Field = struct{ Name, Value string }

// Button is one choice; Data is what comes back.
type Button = struct{ Text, Data string }

// Post is a question as it is shown to people.
type Post struct {
	ID      string // of the question
	Title   string
	Fields  []Field
	Buttons []Button
	Link    string // where it can be answered in a browser; empty where nowhere
	Expires time.Time
	// Info is what rules about people look at, for whoever tells each person apart.
	Info func(now time.Time) engine.QuestionInfo

	// Shown is called when people can see it.
	Shown func()
	// Settle is called once at the end: with the choice, who made it (to record, and as people
	// call them), or with an empty choice if nobody did. What it returns is shown in the
	// buttons' place.
	Settle func(choice, by, name string) string
	// Notes are what is to stand below the question from now on, each in the place of the one
	// before; an empty one takes it away.
	Notes <-chan string
}

// Asker shows a question to people.
type Asker interface {
	// Ask shows a post until a button is pressed or ctx ends. An error means that nothing was
	// shown; then Settle is not called.
	Ask(ctx context.Context, p Post) error
}

// Options describe a channel. Name, Monitor, Wake and Asker are required.
type Options struct {
	Name    string // recorded with every vote: telegram
	Monitor Monitor
	Wake    Wake
	Asker   Asker
	// Grant is how long "Allow N min" lets calls of the tool through, in whole minutes: 0
	// means 15 minutes, less than 0 that it is not offered.
	Grant time.Duration
	Limit int // questions shown at once; 0 means 64
	// Approves reports whether an answer given here can approve now; nil: it can. Where it
	// cannot, people are offered to deny, and the link.
	Approves func() bool
	// Pushed reports whether a question is shown here now, and when that may change (zero:
	// never); nil: all are. One that is shown stays.
	Pushed func(q *engine.Question, now time.Time) (bool, time.Time)
	// Link is where a question can be answered in a browser; nil: nowhere.
	Link   func(id string) string
	Logger *slog.Logger // nil discards
	Now    func() time.Time
	// Sleep waits for d or the end of ctx, whose error it returns. nil is a timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Channel delivers questions.
type Channel struct {
	o     Options
	freed chan struct{} // there is room for another question
	next  time.Time     // owned by Run; when a question becomes due; zero: none will
	wg    sync.WaitGroup

	mu     sync.Mutex
	open   map[string]*delivery // guarded by mu; by question
	active int                  // guarded by mu; deliveries that have not ended
	status Status               // guarded by mu
}

// delivery is one question on its way.
type delivery struct {
	question engine.Question
	cancel   context.CancelCauseFunc
	notes    chan string // holds the latest that was not shown yet
	noted    string      // owned by look; the latest
	ended    bool        // guarded by Channel.mu; it stays known while the question is open
}

// note has something stand below the question. Only look calls it.
func (d *delivery) note(text string) {
	if d.noted == text {
		return
	}
	d.noted = text
	select {
	case <-d.notes: // it is old news
	default:
	}
	d.notes <- text
}

// noteOf is what is to be said of a question that is open.
func noteOf(q *engine.Question) string {
	if q.Abandoned {
		return "Nobody waits: " + question.NobodyWaits + "."
	}
	return ""
}

// New checks the options.
func New(o Options) (*Channel, error) {
	switch {
	case o.Name == "":
		return nil, errors.New("new channel: no name")
	case o.Monitor == nil || o.Wake == nil || o.Asker == nil:
		return nil, fmt.Errorf("new channel %s: no monitor, wake or asker", o.Name)
	case o.Grant > 0 && o.Grant < time.Minute || o.Grant > maxGrant:
		return nil, fmt.Errorf("new channel %s: a grant lasts 1 minute to %s", o.Name, maxGrant)
	}
	if o.Grant == 0 {
		o.Grant = 15 * time.Minute
	}
	o.Grant = o.Grant.Truncate(time.Minute)
	o.Limit = cmp.Or(max(o.Limit, 0), 64)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	c := &Channel{o: o, freed: make(chan struct{}, 1), open: map[string]*delivery{}}
	c.status.Name, c.status.OK = o.Name, true
	return c, nil
}

// Run delivers questions until ctx ends, and waits for what is under way.
func (c *Channel) Run(ctx context.Context) {
	defer c.wg.Wait()
	wait := newBackOff()
	for ctx.Err() == nil {
		changed := c.o.Wake.QuestionsChanged()
		if err := c.look(ctx); err != nil && ctx.Err() == nil {
			c.failed("read questions", err)
			_ = c.o.Sleep(ctx, wait.Next())
			continue
		}
		wait.Reset()
		soon, cancel := context.WithCancel(ctx)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-c.freed:
		case <-c.later(soon):
		}
		cancel()
	}
}

// look starts what is to be delivered and takes back what is no longer open. A session
// that cannot be read does not hold up the others, and none of its questions is taken
// back.
func (c *Channel) look(ctx context.Context) error {
	c.next = time.Time{}
	list, err := c.o.Monitor.Questions(ctx)
	pending := map[string]bool{}
	for _, q := range list {
		if q.State == "pending" && q.Kind != policy.KindIntentBlock {
			pending[q.ID] = true
			if c.due(&q) {
				c.begin(ctx, q)
			}
		}
	}
	for _, d := range c.deliveries() {
		if !pending[d.question.ID] {
			c.recheck(ctx, d)
		}
	}
	return err
}

// due reports whether a question is to be shown here now, and notes when to look again.
func (c *Channel) due(q *engine.Question) bool {
	c.mu.Lock()
	shown := c.open[q.ID] != nil
	c.mu.Unlock()
	if c.o.Pushed == nil || shown {
		return true
	}
	now, next := c.o.Pushed(q, c.o.Now())
	if !now && !next.IsZero() && (c.next.IsZero() || next.Before(c.next)) {
		c.next = next
	}
	return now
}

// later is closed when a question becomes due that is not yet; nil: none will.
func (c *Channel) later(ctx context.Context) <-chan struct{} {
	if c.next.IsZero() {
		return nil
	}
	due := make(chan struct{})
	wait := max(c.next.Sub(c.o.Now()), time.Millisecond)
	c.wg.Go(func() {
		defer close(due)
		_ = c.o.Sleep(ctx, wait) // its end is a reason to look too
	})
	return due
}

// begin starts to deliver a question that is new, if there is room.
func (c *Channel) begin(ctx context.Context, q engine.Question) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.open[q.ID]; d != nil {
		d.note(noteOf(&q))
		return
	}
	if c.active >= c.o.Limit {
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	d := &delivery{question: q, cancel: cancel, notes: make(chan string, 1)}
	d.note(noteOf(&q))
	q.Abandoned = false // it is a note, which can be taken away again
	c.open[q.ID] = d
	c.active++
	c.wg.Go(func() {
		defer cancel(nil)
		c.deliver(ctx, q, d.notes)
		c.mu.Lock()
		d.ended = true
		c.active--
		c.mu.Unlock()
		select {
		case c.freed <- struct{}{}:
		default: // it is told already
		}
	})
}

func (c *Channel) deliveries() []*delivery {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]*delivery, 0, len(c.open))
	for _, d := range c.open {
		out = append(out, d)
	}
	return out
}

// recheck ends the delivery of a question that is not listed as open, once it is certain.
func (c *Channel) recheck(ctx context.Context, d *delivery) {
	q, err := c.o.Monitor.Question(ctx, d.question.Session, d.question.ID)
	if err == nil && q.State == "pending" || err != nil && !errors.Is(err, engine.ErrNotFound) {
		return
	}
	d.cancel(&over{elsewhere(q)})
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.ended {
		delete(c.open, d.question.ID)
	}
}

func newBackOff() *backoff.Growing {
	return &backoff.Growing{First: time.Second, Most: 30 * time.Second}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
