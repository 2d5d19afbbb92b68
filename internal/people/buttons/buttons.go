// Package buttons keeps which questions are shown on a channel with buttons, and which press of
// a button counts. Webhooks and the chats of contrib/channels differ in how a message is sent;
// what a press means is here, once.
//
// It starts no goroutine; what it sends goes through the Messenger of the channel.
//
// Invariants:
//   - a press counts only if it carries the unguessable token of the post, and comes from
//     somebody who may answer;
//   - of the presses of a post exactly one counts, and none does after its end;
//   - when a post ends, whatever the reason, its message loses its buttons and says why.
package buttons

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/backoff"
	"github.com/tidemark/tidemark/internal/people/channels"
)

// Messenger is where messages are shown.
type Messenger interface {
	// Send shows a message and says which it is, for Edit.
	Send(ctx context.Context, m Message) (place string, err error)
	// Edit shows a message in the place of one that was sent.
	Edit(ctx context.Context, place string, m Message) error
}

// Message is a post as it is shown now. One that is over has no buttons.
type Message struct {
	channels.Post
	Buttons []channels.Button // each with the data that Press takes
	Last    string            // what stands at the end: a note while it is open, how it ended after that
	Over    bool
}

// Text is the message in plain text of at most most units.
func (m *Message) Text(most int) string { return channels.Text(m.Title, m.Fields, m.Last, most) }

// Press is a button that somebody pressed.
type Press struct {
	Data string // of the button
	By   string // to record: slack:U123
	Name string // as people call them
}

// What whoever presses in vain is told.
const (
	NotAllowed     = "You may not answer this question"
	AlreadyDecided = "This question is already decided"
	NotOpen        = "This question is no longer open"
)

// Posts keeps the posts of one channel. The zero Posts lets nobody answer.
type Posts struct {
	// Allowed are those whose press counts, as By names them.
	Allowed []string
	// Anybody says that whoever can press may: the channel itself vouches for them.
	Anybody bool

	mu     sync.Mutex
	open   map[string]*post // guarded by mu; by token
	recent []string         // guarded by mu; tokens of posts that ended of late
}

type post struct {
	buttons []channels.Button
	taken   bool       // guarded by Posts.mu
	presses chan Press // has room for the one that counts
}

const (
	maxRecent = 1024
	// editLimit bounds how long a post, and its end, are tried to be shown.
	editLimit = 15 * time.Second
	tries     = 4
)

// Allow lets users of a service press, by their ids there.
func (b *Posts) Allow(service string, users []string) error {
	if len(users) == 0 || slices.Contains(users, "") {
		return fmt.Errorf("configure %s: no user may answer", service)
	}
	for _, u := range users {
		b.Allowed = append(b.Allowed, service+":"+u)
	}
	return nil
}

// Ask implements channels.Asker on a wall.
func (b *Posts) Ask(ctx context.Context, w Messenger, p channels.Post) error {
	token := rand.Text()
	o := &post{buttons: p.Buttons, presses: make(chan Press, 1)}
	m := Message{Post: p}
	for i, button := range p.Buttons {
		m.Buttons = append(m.Buttons, channels.Button{Text: button.Text, Data: token + "." + strconv.Itoa(i)})
	}
	b.register(token, o)
	defer b.unregister(token)
	place, err := send(ctx, w, m)
	if err != nil {
		return err
	}
	if p.Shown != nil {
		p.Shown()
	}
	for {
		select {
		case press := <-o.presses:
			return b.end(ctx, w, place, m, p.Settle(o.choice(press), press.By, press.Name))
		case m.Last = <-p.Notes:
			note(ctx, w, place, m)
		case <-ctx.Done():
			if press, ok := b.shut(o); ok {
				return b.end(ctx, w, place, m, p.Settle(o.choice(press), press.By, press.Name))
			}
			return b.end(ctx, w, place, m, p.Settle("", "", ""))
		}
	}
}

// note changes what stands below a question; the buttons count as before. A service that hangs must
// not keep a press from being heard.
func note(ctx context.Context, w Messenger, place string, m Message) {
	ctx, cancel := context.WithTimeout(ctx, CallLimit)
	defer cancel()
	_ = w.Edit(ctx, place, m)
}

// send shows a message. A question that ends meanwhile does not stop it: what was shown for
// all that could not be taken back.
func send(ctx context.Context, w Messenger, m Message) (place string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), editLimit)
	defer cancel()
	return w.Send(ctx, m)
}

// choice is what a button of the post stands for.
func (o *post) choice(p Press) string {
	_, index, _ := strings.Cut(p.Data, ".")
	i, _ := strconv.Atoi(index) // Press has looked at it
	return o.buttons[i].Data
}

// end shows how a post ended. It was answered whether that can be shown or not.
func (b *Posts) end(ctx context.Context, w Messenger, place string, m Message, last string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), editLimit)
	defer cancel()
	m.Last, m.Over, m.Buttons = last, true, nil
	var pauses backoff.Growing
	for n := 1; w.Edit(ctx, place, m) != nil && n < tries; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pauses.Next()):
		}
	}
	return nil
}

// Press takes a button that somebody pressed. It returns what to tell them where it does not
// count, and nothing where it does.
func (b *Posts) Press(p Press) (refusal string) {
	token, index, _ := strings.Cut(p.Data, ".")
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.open[token]
	i, err := strconv.Atoi(index)
	switch {
	case o == nil && slices.Contains(b.recent, token):
		return AlreadyDecided
	case o == nil || err != nil || i < 0 || i >= len(o.buttons):
		return NotOpen
	case !b.Anybody && !slices.Contains(b.Allowed, p.By):
		return NotAllowed
	case o.taken:
		return AlreadyDecided
	}
	o.taken = true
	o.presses <- p
	return ""
}

func (b *Posts) register(token string, o *post) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == nil {
		b.open = map[string]*post{}
	}
	b.open[token] = o
}

func (b *Posts) unregister(token string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, token)
	b.recent = append(b.recent, token)
	b.recent = b.recent[max(0, len(b.recent)-maxRecent):]
}

// shut makes sure that no further press counts, and returns the one that did meanwhile.
func (b *Posts) shut(o *post) (Press, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o.taken = true
	select {
	case p := <-o.presses:
		return p, true
	default:
		return Press{}, false
	}
}
