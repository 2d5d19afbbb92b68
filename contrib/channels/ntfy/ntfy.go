// Package ntfy tells people's phones about questions through an ntfy server, and takes the
// answers that their buttons publish to a second topic.
//
// The package does network I/O and reads the clock.
//
// Invariants:
//   - ntfy does not say who pressed: whoever can read the topic can answer. So nothing is
//     approved here unless the operator says that the topic is theirs alone;
//   - a button carries the unguessable token of one question, and counts once;
//   - the token that reads topics is in no message and in no error.
package ntfy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/tidemark/tidemark/contrib/channels/line"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/people/buttons"
	"github.com/tidemark/tidemark/internal/people/channels"
)

// Options describe a topic. Topic is required.
type Options struct {
	Server  string          // "" is https://ntfy.sh
	Topic   string          // where questions are published
	Answers string          // where buttons publish; "": no buttons, only the link
	Token   endpoint.Secret // to publish and to read; "": none
	// AnswerToken lets buttons publish to Answers. It is in every message.
	AnswerToken endpoint.Secret
	// Approve says that whoever can read the topic may approve, not only deny.
	Approve bool
	Logger  *slog.Logger
}

const (
	defaultServer = "https://ntfy.sh"
	// maxBytes is how long a message may be before ntfy makes a file of it.
	maxBytes = 4000
)

// Topics are named by these characters.
var topicForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Ntfy asks in one topic. It is safe for concurrent use.
type Ntfy struct {
	o      Options
	posts  buttons.Posts
	call   buttons.Caller
	http   *http.Client
	socket line.Socket
	since  string // owned by Run; the latest answer that was seen
}

var _ channels.Asker = (*Ntfy)(nil)

// New checks the options.
func New(o Options) (*Ntfy, error) {
	if o.Server == "" {
		o.Server = defaultServer
	}
	u, err := outbound.URL(o.Server)
	if err == nil {
		err = outbound.Exposed(u)
	}
	switch {
	case err != nil:
	case !topicForm.MatchString(o.Topic), o.Answers != "" && !topicForm.MatchString(o.Answers):
		err = errors.New("a topic has letters, digits, - and _, at most 64")
	case o.Answers == o.Topic:
		err = errors.New("answers need a topic of their own")
	}
	if err != nil {
		return nil, fmt.Errorf("configure ntfy: %w", err)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	n := &Ntfy{o: o, posts: buttons.Posts{Anybody: true}, http: outbound.Client(outbound.Options{LocalOnly: u.Scheme == "http"})}
	n.call = buttons.Caller{HTTP: n.http, Prepare: func(r *http.Request, _ []byte) { n.authorize(r) }}
	return n, nil
}

func (n *Ntfy) authorize(r *http.Request) {
	if n.o.Token != "" {
		r.Header.Set("Authorization", "Bearer "+string(n.o.Token))
	}
}

// Ask implements channels.Asker.
func (n *Ntfy) Ask(ctx context.Context, p channels.Post) error { return n.posts.Ask(ctx, n, p) }

// action is a button.
type action struct {
	Action  string            `json:"action"` // http, view
	Label   string            `json:"label"`
	URL     string            `json:"url"`
	Method  string            `json:"method,omitzero"`
	Headers map[string]string `json:"headers,omitzero"`
	Body    string            `json:"body,omitzero"`
	Clear   bool              `json:"clear,omitzero"`
}

// message is what is published.
type message struct {
	Topic    string   `json:"topic"`
	Title    string   `json:"title"`
	Message  string   `json:"message"`
	Priority int      `json:"priority"`
	Click    string   `json:"click,omitzero"`
	Actions  []action `json:"actions,omitzero"`
}

// Send implements buttons.Messenger.
func (n *Ntfy) Send(ctx context.Context, m buttons.Message) (string, error) {
	out := message{Topic: n.o.Topic, Title: channels.Cut(channels.OneLine(m.Title), 200), Priority: 4, Click: m.Link}
	text := m.Text(maxBytes)
	for most := maxBytes; len(text) > maxBytes; most -= 250 { // they count bytes
		text = m.Text(most)
	}
	out.Message = text
	const most = 3 // buttons of a notification
	for _, b := range m.Buttons {
		if n.o.Answers == "" || len(out.Actions) == most {
			break
		}
		a := action{
			Action: "http", Label: channels.Label(b.Text), URL: n.o.Server + "/" + n.o.Answers,
			Method: http.MethodPost, Body: b.Data, Clear: true,
		}
		if n.o.AnswerToken != "" {
			a.Headers = map[string]string{"Authorization": "Bearer " + string(n.o.AnswerToken)}
		}
		out.Actions = append(out.Actions, a)
	}
	if m.Link != "" && len(out.Actions) < most {
		out.Actions = append(out.Actions, action{Action: "view", Label: "Open", URL: m.Link})
	}
	return m.ID, n.publish(ctx, out)
}

// Edit implements buttons.Messenger. What is published cannot be changed: how a question ended is a
// message of its own, and a quiet one.
func (n *Ntfy) Edit(ctx context.Context, _ string, m buttons.Message) error {
	if m.Last == "" {
		return nil
	}
	return n.publish(ctx, message{
		Topic: n.o.Topic, Title: channels.Cut(channels.OneLine(m.Title), 200),
		Message: channels.Cut(channels.OneLine(m.Last), 500), Priority: 2,
	})
}

func (n *Ntfy) publish(ctx context.Context, m message) error {
	ctx, cancel := context.WithTimeout(ctx, buttons.CallLimit)
	defer cancel()
	if err := n.call.Call(ctx, http.MethodPost, n.o.Server, m, nil); err != nil {
		return fmt.Errorf("ntfy: %w", err)
	}
	return nil
}

// Check asks the server whether it is there, and says whether answers arrive.
func (n *Ntfy) Check(ctx context.Context) error {
	err := n.call.Call(ctx, http.MethodGet, n.o.Server+"/v1/health", nil, nil)
	if err == nil && n.o.Answers != "" {
		err = n.socket.Fault()
	}
	if err != nil {
		return fmt.Errorf("check ntfy: %w", err)
	}
	return nil
}

// Run listens for answers until ctx ends.
func (n *Ntfy) Run(ctx context.Context) {
	defer n.http.CloseIdleConnections()
	if n.o.Answers == "" {
		<-ctx.Done()
		return
	}
	n.socket.Keep(ctx, n.o.Logger, n.listen)
}

// silence is how long the stream of answers may say nothing: the server sends a line every
// 45 seconds.
const silence = 2 * time.Minute

// listen reads one stream of answers.
func (n *Ntfy) listen(ctx context.Context, well func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	address := n.o.Server + "/" + n.o.Answers + "/json"
	if n.since != "" {
		address += "?since=" + url.QueryEscape(n.since)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return errors.New("ntfy: the address cannot be asked")
	}
	n.authorize(req)
	res, err := n.http.Do(req)
	if err != nil {
		return errors.New("ntfy: the topic of answers cannot be read")
	}
	defer func() { _ = res.Body.Close() }() // it was read to its end, or is given up
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("ntfy: the topic of answers cannot be read: the service answered %d", res.StatusCode)
	}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		quiet.Reset(silence)
		var e struct {
			ID      string `json:"id"`
			Event   string `json:"event"` // open, keepalive, message
			Message string `json:"message"`
		}
		if err := strictjson.Unmarshal(lines.Bytes(), &e); err != nil {
			return errors.New("ntfy: an answer cannot be read")
		}
		switch e.Event {
		case "open":
			well()
		case "message":
			n.since = e.ID
			if refusal := n.posts.Press(buttons.Press{Data: e.Message, By: "ntfy:" + n.o.Topic, Name: "a button in ntfy"}); refusal != "" {
				n.o.Logger.Info("an answer in ntfy does not count", "because", refusal)
			}
		}
	}
	return errors.New("ntfy: the stream of answers ended")
}
