// Package slack asks people in a Slack channel: a message with buttons, and the one press on
// them that counts. Presses come over Socket Mode, so that nothing of ours has to be reached
// from outside.
//
// The package does network I/O, reads the clock and starts goroutines; all of them have ended
// when Run returns.
//
// Invariants:
//   - who pressed is told by Slack over our own connection, never by the message;
//   - a press in another channel than ours does not count;
//   - texts are plain_text: nothing in them is markup, a mention or a link;
//   - tokens are in no error.
package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/tidemark/tidemark/contrib/channels/line"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/people/buttons"
	"github.com/tidemark/tidemark/internal/people/channels"
)

const apiURL = "https://slack.com/api"

// Options describe a channel in Slack. All but BaseURL and Logger are required.
type Options struct {
	AppToken endpoint.Secret // xapp-…, with connections:write
	BotToken endpoint.Secret // xoxb-…, with chat:write
	Channel  string          // its id, C… or G… or D…
	Users    []string        // ids of those whose press counts
	BaseURL  string          // of the Web API; "" is Slack's own
	Logger   *slog.Logger
}

// Slack asks in one channel. It is safe for concurrent use.
type Slack struct {
	o     Options
	posts buttons.Posts
	bot   buttons.Caller
	app   buttons.Caller
	http  *http.Client

	socket line.Socket
}

var _ channels.Asker = (*Slack)(nil)

// New checks the options. It opens no connection.
func New(o Options) (*Slack, error) {
	if o.AppToken == "" || o.BotToken == "" || o.Channel == "" {
		return nil, errors.New("configure slack: app token, bot token and channel are needed")
	}
	if o.BaseURL == "" {
		o.BaseURL = apiURL
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Slack{o: o, http: outbound.Client(outbound.Options{})}
	if err := s.posts.Allow(name, o.Users); err != nil {
		return nil, err
	}
	bearer := func(token endpoint.Secret) buttons.Caller {
		return buttons.Caller{HTTP: s.http, Prepare: func(r *http.Request, _ []byte) {
			r.Header.Set("Authorization", "Bearer "+string(token))
		}}
	}
	s.bot, s.app = bearer(o.BotToken), bearer(o.AppToken)
	return s, nil
}

// name is what answers given here are recorded under.
const name = "slack"

// Ask implements channels.Asker.
func (s *Slack) Ask(ctx context.Context, p channels.Post) error { return s.posts.Ask(ctx, s, p) }

// Check asks Slack whether the bot's token is good, and says whether presses arrive.
func (s *Slack) Check(ctx context.Context) error {
	if err := s.call(ctx, s.bot, "auth.test", map[string]string{}, nil); err != nil {
		return fmt.Errorf("check slack: %w", err)
	}
	if err := s.socket.Fault(); err != nil {
		return fmt.Errorf("check slack: %w", err)
	}
	return nil
}

// sent is where a message stands.
type sent struct {
	TS string `json:"ts"`
}

// Send implements buttons.Messenger.
func (s *Slack) Send(ctx context.Context, m buttons.Message) (string, error) {
	var out sent
	err := s.call(ctx, s.bot, "chat.postMessage", s.message(m, ""), &out)
	if err == nil && out.TS == "" {
		err = errors.New("the answer names no message")
	}
	return out.TS, err
}

// Edit implements buttons.Messenger.
func (s *Slack) Edit(ctx context.Context, place string, m buttons.Message) error {
	return s.call(ctx, s.bot, "chat.update", s.message(m, place), nil)
}

// call asks a method of the Web API, whose refusals come with status 200.
func (s *Slack) call(ctx context.Context, c buttons.Caller, method string, in, out any) error {
	var raw answer
	if err := c.Call(ctx, http.MethodPost, s.o.BaseURL+"/"+method, in, &raw); err != nil {
		return fmt.Errorf("slack %s: %w", method, err)
	}
	if !raw.OK {
		return fmt.Errorf("slack %s: %s%s", method, channels.Cut(channels.OneLine(raw.Error), 100), hint(raw.Error))
	}
	switch to := out.(type) {
	case *sent:
		to.TS = raw.TS
	case *string:
		*to = raw.URL
	}
	return nil
}

// answer is what of the answers of the Web API is used.
type answer struct {
	OK    bool   `json:"ok"`
	Error string `json:"error"`
	TS    string `json:"ts"`
	URL   string `json:"url"`
}

// hint says what to do about an error of Slack's.
func hint(code string) string {
	return map[string]string{
		"not_in_channel":    ": invite the bot into the channel",
		"channel_not_found": ": give the channel's id, and invite the bot",
		"invalid_auth":      ": is the token right?",
		"not_authed":        ": is the token right?",
		"missing_scope":     ": the bot needs chat:write, the app token connections:write",
	}[code]
}

// The bounds of a message: blocks of at most 3000 characters, of which there are at most 50.
const (
	maxBlock = 2900
	maxText  = 24_000
)

// message is a post in Block Kit.
func (s *Slack) message(m buttons.Message, ts string) map[string]any {
	var blocks []any
	rest := m.Text(maxText)
	for rest != "" {
		part := rest
		if runes := []rune(rest); len(runes) > maxBlock {
			part = string(runes[:maxBlock])
			if at := strings.LastIndexByte(part, '\n'); at > 0 {
				part = part[:at+1]
			}
		}
		rest = rest[len(part):]
		if rest != "" && !strings.HasSuffix(part, "\n") {
			rest = channels.Continued + rest // a value goes on: it must not look like the beginning of a field
		}
		blocks = append(blocks, map[string]any{"type": "section", "text": plainText(strings.TrimRight(part, "\n"))})
	}
	var row []any
	for i, b := range m.Buttons {
		button := map[string]any{
			"type": "button", "text": plainText(channels.Label(b.Text)), "value": b.Data, "action_id": fmt.Sprintf("tidemark-%d", i),
		}
		if strings.HasPrefix(b.Text, "Deny") {
			button["style"] = "danger"
		}
		row = append(row, button)
	}
	if len(row) > 0 {
		blocks = append(blocks, map[string]any{"type": "actions", "elements": row})
	}
	out := map[string]any{
		"channel": s.o.Channel, "text": channels.Cut(channels.OneLine(m.Title+" "+m.Last), 300), "blocks": blocks,
		"unfurl_links": false, "unfurl_media": false, "parse": "none",
	}
	if ts != "" {
		out["ts"] = ts
	}
	return out
}

func plainText(s string) map[string]any {
	if s == "" {
		s = " "
	}
	return map[string]any{"type": "plain_text", "text": s, "emoji": false}
}
