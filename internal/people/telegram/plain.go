package telegram

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/internal/people/channels"
)

// Verifier asks yes or no in the terms of an external verifier.
type Verifier struct{ bot *Bot }

// Verifier is the bot as an external verifier asks it.
func (b *Bot) Verifier() Verifier { return Verifier{b} }

// Check asks Telegram whether the bot can write to its chat.
func (v Verifier) Check(ctx context.Context) error { return v.bot.Check(ctx) }

// Ask shows Allow and Deny and waits for one of them. by is telegram:<user id>. An error
// means that nobody decided; it is never an approval.
func (v Verifier) Ask(ctx context.Context, title string, fields []Field, timeout time.Duration) (allow bool, by string, err error) {
	a, err := v.bot.Ask(ctx, Message{
		Title: title, Fields: fields, Expires: v.bot.now().Add(timeout),
		Buttons: []Button{{"Allow", "allow"}, {"Deny", "deny"}},
	})
	if err != nil {
		return false, "", err
	}
	return a.Data == "allow", a.by(), nil
}

// Channel asks in the terms of an approval channel.
type Channel struct{ bot *Bot }

// Channel is the bot as an approval channel asks it.
func (b *Bot) Channel() Channel { return Channel{b} }

// Ask implements channels.Asker. Who pressed is recorded as telegram:<user id>.
func (c Channel) Ask(ctx context.Context, p channels.Post) error {
	m := Message{Title: p.Title, Fields: p.Fields, Buttons: p.Buttons, Sent: p.Shown, Notes: p.Notes}
	settled := false
	m.Closed = func(a Answer, err error) string {
		settled = true
		if err != nil {
			return p.Settle("", "", "")
		}
		return p.Settle(a.Data, a.by(), a.User)
	}
	if _, err := c.bot.Ask(ctx, m); !settled {
		return err
	}
	return nil
}

func (a Answer) by() string { return fmt.Sprintf("telegram:%d", a.UserID) }
