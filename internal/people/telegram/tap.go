package telegram

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tg "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/tidemark/tidemark/internal/people/channels"
)

// What whoever taps in vain is told.
const (
	notAuthorized  = "You are not authorized to approve/deny this request"
	alreadyDecided = "This request was already decided"
	notOpen        = "This request is no longer open"
)

// The bounds of what a chat can make us remember or do.
const (
	maxRecent  = 1024
	maxEarly   = 16
	maxReplies = 32
)

// tap is one callback query.
type tap struct {
	id      string // of the query
	user    int64
	name    string
	chat    int64
	message int
	token   string
	button  int
}

func (t tap) answer(r *request) Answer {
	return Answer{Data: r.message.Buttons[t.button].Data, UserID: t.user, User: t.name}
}

// reply is what is shown to whoever tapped.
type reply struct {
	to    string // query
	text  string
	alert bool
}

// callbackPrefix marks our buttons. Telegram allows 64 bytes for all of it.
const callbackPrefix = "tm1."

func callbackData(token string, button int) string {
	return callbackPrefix + token + "." + strconv.Itoa(button)
}

// parseCallback reads what callbackData made, and nothing else.
func parseCallback(data string) (token string, button int, ok bool) {
	rest, ok := strings.CutPrefix(data, callbackPrefix)
	if !ok || len(data) > 64 {
		return "", 0, false
	}
	token, index, ok := strings.Cut(rest, ".")
	if !ok || token == "" || len(index) != 1 || index[0] < '0' || index[0] > '7' {
		return "", 0, false
	}
	return token, int(index[0] - '0'), true
}

func keyboard(r *request) *models.InlineKeyboardMarkup {
	k := &models.InlineKeyboardMarkup{}
	for i, button := range r.message.Buttons {
		one := models.InlineKeyboardButton{Text: channels.Label(button.Text), CallbackData: callbackData(r.token, i)}
		if i == 0 || len(r.message.Buttons) > 3 {
			k.InlineKeyboard = append(k.InlineKeyboard, nil)
		}
		row := len(k.InlineKeyboard) - 1
		k.InlineKeyboard[row] = append(k.InlineKeyboard[row], one)
	}
	return k
}

// tapped takes one tap from the queue.
func (b *Bot) tapped(t tap) {
	b.mu.Lock()
	var out []reply
	switch r := b.pending[t.token]; {
	case r == nil && slices.Contains(b.recent, t.token):
		out = []reply{{t.id, alreadyDecided, false}}
	case r == nil:
		out = []reply{{t.id, notOpen, true}}
	case r.id == 0 && !r.taken && !b.may(t.user): // a stranger must not fill the room for others
		b.status.Refused++
		out = []reply{{t.id, notAuthorized, true}}
	case r.id == 0 && !r.taken:
		if len(r.early) < maxEarly {
			r.early = append(r.early, t)
		}
	default:
		out = b.judge(r, t)
	}
	b.mu.Unlock()
	for _, o := range out {
		b.reply(o)
	}
}

// may reports whether a user may answer.
func (b *Bot) may(user int64) bool {
	return user != 0 && (len(b.allowed) == 0 || slices.Contains(b.allowed, user))
}

// judge says whether a tap counts, and what to reply if it does not.
// Preconditions: mu is held.
func (b *Bot) judge(r *request, t tap) []reply {
	switch {
	case t.button >= len(r.message.Buttons) || t.message == 0 || t.message != r.id || t.chat != r.chat:
		return []reply{{t.id, notOpen, true}}
	case !b.may(t.user):
		b.status.Refused++
		return []reply{{t.id, notAuthorized, true}}
	case r.taken:
		return []reply{{t.id, alreadyDecided, false}}
	}
	r.taken = true
	r.taps <- t // has room for the one that counts
	return nil
}

// confirm records which message a request is, and judges the taps that came before.
func (b *Bot) confirm(r *request, id int, chat int64) []reply {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.status.Sent++
	r.id, r.chat = id, chat
	var out []reply
	for _, t := range r.early {
		out = append(out, b.judge(r, t)...)
	}
	r.early = nil
	return out
}

// shut makes sure that no further tap counts, and returns the one that did in the
// meantime.
func (b *Bot) shut(r *request) (tap, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.taken = true
	select {
	case t := <-r.taps:
		return t, true
	default:
		return tap{}, false
	}
}

// reply tells somebody that a tap did not count. It is a courtesy: where many tap in
// vain, some wait in vain for the reply.
func (b *Bot) reply(o reply) {
	b.mu.Lock()
	if b.closed || b.replies >= maxReplies {
		b.mu.Unlock()
		return
	}
	b.replies++
	b.wg.Add(1)
	b.mu.Unlock()
	go func() {
		defer b.wg.Done()
		ctx, cancel := context.WithTimeout(b.life, callLimit)
		defer cancel()
		b.answerTap(ctx, o)
		b.mu.Lock()
		b.replies--
		b.mu.Unlock()
	}()
}

func (b *Bot) answerTap(ctx context.Context, o reply) {
	err := b.call(ctx, "answerCallbackQuery", func(ctx context.Context) error {
		_, err := b.api.AnswerCallbackQuery(ctx, &tg.AnswerCallbackQueryParams{
			CallbackQueryID: o.to, Text: channels.Cut(o.text, 190), ShowAlert: o.alert,
		})
		return err
	})
	if err != nil {
		b.log.Info("answer telegram tap", "error", err)
	}
}

// userName is how people call a user, safe to show.
func userName(first, name string, id int64) string {
	switch {
	case name != "":
		return "@" + channels.Cut(channels.OneLine(name), 40)
	case first != "":
		return fmt.Sprintf("%s (%d)", channels.Cut(channels.OneLine(first), 40), id)
	}
	return fmt.Sprintf("user %d", id)
}
