package slack

import (
	"context"
	"errors"
	"time"

	"github.com/coder/websocket"

	"github.com/tidemark/tidemark/contrib/channels/line"
	"github.com/tidemark/tidemark/internal/people/buttons"
	"github.com/tidemark/tidemark/internal/people/channels"
)

const (
	maxFrame  = 1 << 20
	pingEvery = 30 * time.Second
)

// Run listens for presses until ctx ends.
func (s *Slack) Run(ctx context.Context) {
	defer s.http.CloseIdleConnections()
	s.socket.Keep(ctx, s.o.Logger, s.listen)
}

// envelope is what comes over the socket.
type envelope struct {
	Type    string  `json:"type"` // hello, interactive, disconnect
	ID      string  `json:"envelope_id"`
	Reason  string  `json:"reason"`
	Payload payload `json:"payload"`
}

// payload is a press, as far as it is used.
type payload struct {
	Type string `json:"type"` // block_actions
	User struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Username string `json:"username"`
	} `json:"user"`
	Container struct {
		Channel string `json:"channel_id"`
	} `json:"container"`
	Actions []struct {
		Value string `json:"value"`
	} `json:"actions"`
}

// listen holds one connection. nil means that Slack wants another one.
func (s *Slack) listen(ctx context.Context, well func()) error {
	conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	l := &line.Line{Conn: conn, Name: "slack socket", Limit: maxFrame}
	begin := func(ctx context.Context) {
		l.Every(ctx, pingEvery, func() error {
			ask, cancel := context.WithTimeout(ctx, buttons.CallLimit)
			defer cancel()
			if l.Conn.Ping(ask) != nil {
				return errors.New("the socket is silent")
			}
			return nil
		})
	}
	return line.Hold(ctx, l, begin, func(ctx context.Context, e *envelope) (over bool, err error) {
		switch e.Type {
		case "hello":
			well()
		case "disconnect":
			return true, nil
		}
		if e.ID != "" {
			if err := l.Send(ctx, map[string]string{"envelope_id": e.ID}); err != nil {
				return true, errors.New("slack socket: a press could not be acknowledged")
			}
		}
		if e.Type == "interactive" {
			s.pressed(ctx, &e.Payload)
		}
		return false, nil
	})
}

// connect asks Slack where to listen.
func (s *Slack) connect(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, buttons.CallLimit)
	defer cancel()
	var address string
	if err := s.call(ctx, s.app, "apps.connections.open", map[string]string{}, &address); err != nil {
		return nil, err
	}
	return line.Dial(ctx, s.http, address)
}

// pressed takes a press, and tells whoever pressed in vain.
func (s *Slack) pressed(ctx context.Context, p *payload) {
	if p.Type != "block_actions" || len(p.Actions) != 1 {
		return
	}
	shown := channels.Cut(channels.OneLine(p.User.Name), 40)
	if shown == "" {
		shown = channels.Cut(channels.OneLine(p.User.Username), 40)
	}
	refusal := buttons.NotOpen
	if p.Container.Channel == s.o.Channel {
		refusal = s.posts.Press(buttons.Press{Data: p.Actions[0].Value, By: name + ":" + p.User.ID, Name: "@" + shown})
	}
	if refusal == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, buttons.CallLimit)
	defer cancel()
	err := s.call(ctx, s.bot, "chat.postEphemeral", map[string]string{
		"channel": p.Container.Channel, "user": p.User.ID, "text": refusal,
	}, nil)
	if err != nil {
		s.o.Logger.Info("answer a press in slack", "error", err)
	}
}
