package telegram

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	tg "github.com/go-telegram/bot"
)

// Status is how the bot fares.
type Status struct {
	OK       bool      `json:"ok"` // what was tried last of each kind of call worked
	Error    string    `json:"error,omitzero"`
	ErrorAt  time.Time `json:"errorAt,omitzero"`
	Polling  bool      `json:"polling"`
	Pending  int       `json:"pending"`
	Sent     int64     `json:"sent"`
	Answered int64     `json:"answered"`
	Expired  int64     `json:"expired"`
	Refused  int64     `json:"refused"` // taps of people who may not answer
}

// Status reports how the bot fares. It asks nobody.
func (b *Bot) Status() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.status
	s.OK, s.Polling, s.Pending = len(b.faults) == 0, b.stop != nil, len(b.pending)
	for _, f := range b.faults {
		if s.Error == "" || f.at.After(s.ErrorAt) {
			s.Error, s.ErrorAt = f.text, f.at
		}
	}
	return s
}

// note keeps the outcome of a call for Status and hands it back.
func (b *Bot) note(method string, failed *Error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case failed == nil:
		delete(b.faults, method)
		return nil
	case failed.cause != nil, method == "answerCallbackQuery":
		return failed // our own doing; or a tap that is too old to be answered
	}
	text := failed.Error()
	if failed.Code == http.StatusConflict {
		text += " (another program uses this bot: give Tidemark a bot of its own)"
	}
	b.faults[method] = fault{text, b.now()}
	return failed
}

// fault is how a method failed last.
type fault struct {
	text string
	at   time.Time
}

// count keeps the outcome of a request for Status.
func (b *Bot) count(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err == nil:
		b.status.Answered++
	case errors.Is(err, ErrTimeout):
		b.status.Expired++
	}
}

// Check asks Telegram whether the bot exists and can write to its chat.
func (b *Bot) Check(ctx context.Context) error {
	err := b.call(ctx, "getMe", func(context.Context) error {
		me, err := b.api.GetMe(ctx) // the caller's own context: nothing is left half done
		if err == nil && !me.IsBot {
			err = errors.New("the answer names no bot")
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("check telegram: %w%s", err, hint(err, http.StatusUnauthorized, ": is the bot token right?"))
	}
	err = b.call(ctx, "getChat", func(context.Context) error {
		chat, err := b.api.GetChat(ctx, &tg.GetChatParams{ChatID: b.chat})
		if err == nil && (chat == nil || chat.ID == 0) {
			err = errors.New("the answer names no chat")
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("check telegram: %w%s", err, hint(err, http.StatusBadRequest,
			": the chat must have written to the bot, or have it as a member"))
	}
	return nil
}

func hint(err error, code int, text string) string {
	var failed *Error
	if errors.As(err, &failed) && failed.Code == code {
		return text
	}
	return ""
}
