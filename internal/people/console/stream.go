package console

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/waiting"
)

// shownCard is a question as the stream tells it: the fragment is that of the page.
type shownCard struct {
	ID    string `json:"id"`
	State string `json:"state"`
	HTML  string `json:"html,omitzero"` // absent in a snapshot of the stream: the page has it, or asks

	Abandoned bool `json:"abandoned,omitzero"` // nobody waits for the answer any more
}

// news is one event of the stream.
type news struct {
	Now     int64       `json:"now"` // the server's clock, Unix milliseconds
	Waiting int         `json:"waiting"`
	Cards   []shownCard `json:"cards"`
	Floods  string      `json:"floods"`         // the sessions of which many calls wait
	Empty   string      `json:"empty,omitzero"` // what stands in the place of no cards
}

func (c *Console) newsOf(v *visit, list []engine.Question) news {
	n := news{Now: c.now().UnixMilli(), Waiting: waitingIn(list), Cards: []shownCard{}, Floods: c.floods(v, list).String()}
	shown := window(list)
	for i := range shown {
		q := &shown[i]
		n.Cards = append(n.Cards, shownCard{q.ID, q.State, c.card(v, q, false).String(), q.Abandoned})
	}
	if n.Waiting == 0 {
		n.Empty = c.nothingHeld(v).String()
	}
	return n
}

// waitingIn is how many questions of a list wait.
func waitingIn(list []engine.Question) (n int) {
	for i := range list {
		if list[i].Pending() {
			n++
		}
	}
	return n
}

// bareNews is the queue without what it looks like: whoever opens a stream has a page with it already.
func bareNews(n news) news {
	for i := range n.Cards {
		n.Cards[i].HTML = ""
	}
	return n
}

// snapshotFragment is the queue as it is now, for a tab that comes back.
func (c *Console) snapshotFragment(v *visit) {
	list, err := c.questions(v.r.Context())
	if err != nil {
		c.wrong(v, err)
		return
	}
	c.json(v, http.StatusOK, c.newsOf(v, list))
}

// cardFragment is one card as it is now, for a tab that missed what became of it.
func (c *Console) cardFragment(v *visit) {
	q, err := c.find(v.r.Context(), v.r.PathValue("id"))
	if err != nil {
		c.wrong(v, err)
		return
	}
	c.answered(v, &q, http.StatusOK, "")
}

// stream sends the queue as it is, and then every question that is new or has changed. It
// ends with the session: then the browser is told to sign in again.
func (c *Console) stream(v *visit) {
	ctx := v.r.Context()
	asked := c.feed.QuestionsChanged() // before reading, or a question could slip in between
	list, err := c.questions(ctx)
	if err != nil {
		c.wrong(v, err)
		return
	}
	s := &feed{c: c, v: v, known: map[string]engine.Question{}, control: http.NewResponseController(v.w)}
	v.w.Header().Set("Content-Type", "text/event-stream")
	v.w.Header().Set("X-Accel-Buffering", "no")
	first := bareNews(c.newsOf(v, list))
	if s.send("snapshot", first) != nil {
		return
	}
	s.know(list)
	s.waiting, s.floods = first.Waiting, first.Floods
	ticker := time.NewTicker(c.keepAlive)
	defer ticker.Stop()
	over := time.NewTimer(v.Ends().Sub(c.now()))
	defer over.Stop()
	for {
		expiry := time.NewTimer(waiting.UntilNext(list))
		select {
		case <-asked:
		case <-expiry.C:
		case <-ticker.C:
			if s.send("alive", map[string]int64{"now": c.now().UnixMilli()}) != nil {
				return
			}
		case <-over.C:
			_ = s.send("signedout", map[string]bool{}) // it ends either way
			return
		case <-v.Ended():
			_ = s.send("signedout", map[string]bool{}) // it ends either way
			return
		case <-ctx.Done():
			return
		}
		expiry.Stop()
		asked = c.feed.QuestionsChanged()
		if list, err = c.questions(ctx); err != nil || s.changes(ctx, list) != nil {
			return // the browser reconnects
		}
	}
}

// feed is one browser and what it was shown.
type feed struct {
	c       *Console
	v       *visit
	known   map[string]engine.Question // as it was shown
	waiting int                        // how many it was told wait
	floods  string                     // as they were shown
	control *http.ResponseController
}

func (f *feed) know(list []engine.Question) {
	for _, q := range window(list) {
		f.known[q.ID] = q
	}
}

// changes sends what differs from what the browser knows.
func (f *feed) changes(ctx context.Context, list []engine.Question) error {
	n := news{Now: f.c.now().UnixMilli(), Waiting: waitingIn(list), Cards: []shownCard{}, Floods: f.c.floods(f.v, list).String()}
	moved := n.Waiting != f.waiting || n.Floods != f.floods
	f.waiting, f.floods = n.Waiting, n.Floods
	open := map[string]bool{}
	shown := window(list)
	for i := range shown {
		q := &shown[i]
		open[q.ID] = true
		if was, known := f.known[q.ID]; !known || was.Abandoned != q.Abandoned || !slices.Equal(was.Agreed, q.Agreed) {
			n.Cards = append(n.Cards, shownCard{q.ID, q.State, f.c.card(f.v, q, false).String(), q.Abandoned})
		}
	}
	for id, was := range f.known {
		if open[id] {
			continue
		}
		delete(f.known, id)
		q, err := f.c.monitor.Question(ctx, was.Session, id)
		if err != nil {
			q = engine.Question{ID: id, Session: was.Session, State: "expired"}
		}
		if !q.Pending() {
			n.Cards = append(n.Cards, shownCard{ID: q.ID, State: q.State, HTML: f.c.closedCard(&q).String()})
		}
	}
	f.know(list)
	if len(n.Cards) == 0 && !moved {
		return nil
	}
	if n.Waiting == 0 {
		n.Empty = f.c.nothingHeld(f.v).String()
	}
	return f.send("questions", n)
}

// sendLimit is how long a browser may take to read an event before it is given up.
const sendLimit = 10 * time.Second

func (f *feed) send(name string, out any) error {
	body, err := strictjson.Marshal(out)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	_ = f.control.SetWriteDeadline(time.Now().Add(sendLimit)) // where it cannot be set there is none
	if _, err := fmt.Fprintf(f.v.w, "event: %s\ndata: %s\n\n", name, body); err != nil {
		return err
	}
	return f.control.Flush()
}
