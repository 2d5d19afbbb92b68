// Package discord asks people in a Discord channel: a message with buttons, and the one press
// on them that counts. Presses come over the gateway, so that nothing of ours has to be reached
// from outside.
//
// The package does network I/O, reads the clock and starts goroutines; all of them have ended
// when Run returns.
//
// Invariants:
//   - who pressed is told by Discord over our own connection, never by the message;
//   - a press in another channel than ours does not count;
//   - what is shown stands in a block of code: nothing in it is markup, a mention or a link;
//   - the token is in no error.
package discord

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

const apiURL = "https://discord.com/api/v10"

// Options describe a channel in Discord. All but BaseURL and Logger are required.
type Options struct {
	Token   endpoint.Secret // of the bot
	Channel string          // its id
	Users   []string        // ids of those whose press counts
	BaseURL string          // of the HTTP API; "" is Discord's own
	Logger  *slog.Logger
}

// Discord asks in one channel. It is safe for concurrent use.
type Discord struct {
	o     Options
	posts buttons.Posts
	rest  buttons.Caller
	http  *http.Client

	socket line.Socket
	resume resume // owned by Run
}

var _ channels.Asker = (*Discord)(nil)

// New checks the options. It opens no connection.
func New(o Options) (*Discord, error) {
	if o.Token == "" || o.Channel == "" {
		return nil, errors.New("configure discord: token and channel are needed")
	}
	if o.BaseURL == "" {
		o.BaseURL = apiURL
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	d := &Discord{o: o, http: outbound.Client(outbound.Options{})}
	if err := d.posts.Allow(name, o.Users); err != nil {
		return nil, err
	}
	d.rest = buttons.Caller{HTTP: d.http, Prepare: func(r *http.Request, _ []byte) {
		r.Header.Set("Authorization", "Bot "+string(o.Token))
		r.Header.Set("User-Agent", "DiscordBot (tidemark, 1)")
	}}
	return d, nil
}

// name is what answers given here are recorded under.
const name = "discord"

// Ask implements channels.Asker.
func (d *Discord) Ask(ctx context.Context, p channels.Post) error { return d.posts.Ask(ctx, d, p) }

// Check asks Discord whether the bot sees its channel, and says whether presses arrive.
func (d *Discord) Check(ctx context.Context) error {
	if err := d.call(ctx, http.MethodGet, "/channels/"+d.o.Channel, nil, nil); err != nil {
		return fmt.Errorf("check discord: %w", err)
	}
	if err := d.socket.Fault(); err != nil {
		return fmt.Errorf("check discord: %w", err)
	}
	return nil
}

func (d *Discord) call(ctx context.Context, method, path string, in, out any) error {
	err := d.rest.Call(ctx, method, d.o.BaseURL+path, in, out)
	var said *buttons.StatusError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &said) && said.Status == http.StatusUnauthorized:
		return fmt.Errorf("discord: %w: is the token right?", err)
	case errors.As(err, &said) && (said.Status == http.StatusForbidden || said.Status == http.StatusNotFound):
		return fmt.Errorf("discord: %w: the bot must see the channel and may write there", err)
	}
	return fmt.Errorf("discord: %w", err)
}

// Send implements buttons.Messenger.
func (d *Discord) Send(ctx context.Context, m buttons.Message) (string, error) {
	var out struct {
		ID string `json:"id"`
	}
	err := d.call(ctx, http.MethodPost, "/channels/"+d.o.Channel+"/messages", message(m), &out)
	if err == nil && out.ID == "" {
		err = errors.New("discord: the answer names no message")
	}
	return out.ID, err
}

// Edit implements buttons.Messenger.
func (d *Discord) Edit(ctx context.Context, place string, m buttons.Message) error {
	return d.call(ctx, http.MethodPatch, "/channels/"+d.o.Channel+"/messages/"+place, message(m), nil)
}

// maxText is the longest text of an embed, less the fence around it.
const maxText = 4000

// message is a post as Discord shows it. A fence of code is the one place where nothing is
// markup; what could end it is another sign of the same look.
func message(m buttons.Message) map[string]any {
	text := strings.ReplaceAll(m.Text(maxText), "`", "ˋ")
	rows := []any{}
	var row []any
	for _, b := range m.Buttons {
		style := 2 // grey
		if strings.HasPrefix(b.Text, "Deny") {
			style = 4 // red
		}
		row = append(row, map[string]any{"type": 2, "style": style, "label": channels.Label(b.Text), "custom_id": b.Data})
	}
	if len(row) > 0 {
		rows = append(rows, map[string]any{"type": 1, "components": row})
	}
	return map[string]any{
		"embeds": []any{map[string]any{"description": "```\n" + text + "\n```"}}, "components": rows,
		"allowed_mentions": map[string]any{"parse": []string{}},
	}
}
