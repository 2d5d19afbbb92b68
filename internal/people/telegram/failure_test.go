package telegram_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/people/telegram"
	"github.com/tidemark/tidemark/internal/test/telegramtest"
)

// The poller goes on after every failure, more slowly, and no tap is lost over it.
//
// VER-07
func TestPollingSurvivesWhateverTelegramDoes(t *testing.T) {
	tests := map[string]struct {
		reply telegramtest.Reply
		want  string // in the status meanwhile
	}{
		"another program polls":    {telegramtest.Conflict(), "409 Conflict: terminated by other getUpdates request; make sure that only one bot instance is running (another program uses this bot"},
		"too many requests":        {telegramtest.TooMany(7), "429 Too Many Requests: retry after 7"},
		"an error of the server":   {telegramtest.Reply{Status: 500}, "500 Internal Server Error"},
		"a gateway's page":         {telegramtest.Reply{Status: 502, Body: "<html>Bad Gateway"}, "status 502"},
		"the connection drops":     {telegramtest.Reply{Drop: true}, "EOF"},
		"what is not JSON":         {telegramtest.Reply{Body: "taps: none"}, "invalid JSON"},
		"half an answer":           {telegramtest.Reply{Body: `{"ok":true,"result":[{"update_id":1,`}, "invalid JSON"},
		"another type":             {telegramtest.Reply{Body: `{"ok":true,"result":{"update_id":1}}`}, "JSON value at /result does not fit"},
		"a member twice":           {telegramtest.Reply{Body: `{"ok":false,"ok":true,"result":[]}`}, "duplicate"},
		"updates without an id":    {telegramtest.Reply{Body: `{"ok":true,"result":[{"callback_query":{"id":"x"}}]}`}, "updates without an id"},
		"a token in the answer":    {telegramtest.Reply{Body: `{"ok":false,"error_code":401,"description":"no ` + telegramtest.Token + `"}`}, "401 no ***"},
		"an endless answer":        {telegramtest.Reply{Body: strings.Repeat(" ", 9<<20)}, "more than"},
		"a redirect":               {telegramtest.Reply{Status: 302, Body: "elsewhere"}, "status 302"},
		"an answer without a word": {telegramtest.Reply{Status: 200, Body: " "}, "invalid JSON"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var bot *telegram.Bot
			var mu sync.Mutex
			var seen []telegram.Status
			w := start(t, func(o *telegram.Options) {
				o.Sleep = func(ctx context.Context, d time.Duration) error {
					mu.Lock()
					defer mu.Unlock()
					seen = append(seen, bot.Status())
					if tt.reply.Retry > 0 && d < 7*time.Second {
						t.Errorf("it waits %s, want at least the 7s it was asked for", d)
					}
					return ctx.Err()
				}
			})
			mu.Lock()
			bot = w.bot
			mu.Unlock()
			w.Script("getUpdates", tt.reply, tt.reply)
			c := w.ask(t.Context(), question())
			w.Tap(alice, w.Message(1), "Allow")
			w.want(t, c, "yes", alice)
			w.idle(t)
			mu.Lock()
			defer mu.Unlock()
			if len(seen) != 2 {
				t.Fatalf("it waited %d times, want once after each of 2 failures", len(seen))
			}
			for _, s := range seen {
				if s.OK || !strings.Contains(s.Error, tt.want) || strings.Contains(s.Error, secret) {
					t.Errorf("status = %+v, want %q", s, tt.want)
				}
			}
			if s := w.bot.Status(); !s.OK || s.Error != "" {
				t.Errorf("status afterwards = %+v, want it well again", s)
			}
		})
	}
}

// VER-07
func TestWhatCannotBeSentIsAnError(t *testing.T) {
	tests := map[string]struct {
		reply telegramtest.Reply
		want  string
	}{
		"a chat that is not there": {telegramtest.Reply{Status: 400}, "sendMessage: 400"},
		"a group that moved":       {telegramtest.Reply{Status: 400, Body: `{"ok":false,"error_code":400,"description":"x","parameters":{"migrate_to_chat_id":-100777}}`}, "its chat id is now -100777"},
		"a token that is revoked":  {telegramtest.Reply{Status: 401}, "sendMessage: 401"},
		"a bot that was blocked":   {telegramtest.Reply{Status: 403}, "sendMessage: 403"},
		"an error of the server":   {telegramtest.Reply{Status: 500}, "500 Internal Server Error"},
		"the connection drops":     {telegramtest.Reply{Drop: true}, "sendMessage: "},
		"what is not JSON":         {telegramtest.Reply{Body: "sent! " + telegramtest.Token}, "sendMessage: "},
		"no message in the answer": {telegramtest.Reply{Body: `{"ok":true,"result":{}}`}, "the answer names no message"},
		"nothing in the answer":    {telegramtest.Reply{Body: `{"ok":true}`}, "sendMessage: "},
		"a redirect":               {telegramtest.Reply{Status: 307, Body: "elsewhere"}, "sendMessage: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := start(t, nil)
			w.Script("sendMessage", tt.reply, tt.reply)
			for range 2 {
				m := question()
				m.Closed = func(telegram.Answer, error) string { t.Error("Closed was called"); return "" }
				a, err := w.bot.Ask(t.Context(), m)
				if err == nil || errors.Is(err, telegram.ErrTimeout) || !strings.Contains(err.Error(), tt.want) || a != (telegram.Answer{}) {
					t.Errorf("Ask = %+v, %v; want %q", a, err, tt.want)
				}
				if err != nil && strings.Contains(err.Error(), secret) {
					t.Errorf("the error holds the token: %v", err)
				}
			}
			w.idle(t)
			if s := w.bot.Status(); s.OK || s.Sent != 0 {
				t.Errorf("status = %+v", s)
			}
			c := w.ask(t.Context(), question())
			w.Tap(alice, w.Message(1), "Deny")
			w.want(t, c, "no", alice)
		})
	}
}

// Telegram delivered the message but we never learnt of it: its buttons mean nothing.
func TestAMessageWeDoNotKnowOfCannotApprove(t *testing.T) {
	w := start(t, nil)
	held := make(chan struct{})
	w.Script("sendMessage", telegramtest.Reply{Do: true, Hold: held, Drop: true})
	c := w.ask(t.Context(), question())
	tapped := w.Tap(alice, w.Message(1), "Allow")
	w.Drained()
	close(held)
	if r := receive(t, c); r.err == nil {
		t.Errorf("Ask = %+v, want an error", r)
	}
	if text, _ := w.Reply(tapped); text != "This request is no longer open" {
		t.Errorf("the tap is told %q", text)
	}
}

// VER-07
func TestAPauseTelegramAsksForIsKept(t *testing.T) {
	w := start(t, nil)
	w.Script("sendMessage", telegramtest.TooMany(7), telegramtest.TooMany(3))
	c := w.ask(t.Context(), question())
	w.Script("editMessageText", telegramtest.TooMany(5))
	w.Tap(alice, w.Message(1), "Allow")
	w.want(t, c, "yes", alice)
	w.Edited(1)
	var rounded []time.Duration
	for _, d := range w.slept() {
		rounded = append(rounded, d.Round(time.Second))
	}
	if len(rounded) < 2 || rounded[0] != 7*time.Second {
		t.Errorf("it waited %v, want 7s first", rounded)
	}
	if got := len(w.Requests("sendMessage")); got != 3 {
		t.Errorf("%d messages tried, want 3", got)
	}
}

func TestAPauseThatIsTooLongIsAnErrorAtOnce(t *testing.T) {
	w := start(t, nil)
	for range 2 {
		w.Script("sendMessage", telegramtest.TooMany(7200))
		_, err := w.bot.Ask(t.Context(), question())
		var failed *telegram.Error
		if !errors.As(err, &failed) || failed.Code != http.StatusTooManyRequests || errors.Is(err, telegram.ErrTimeout) {
			t.Errorf("Ask = %v, want 429", err)
		}
	}
	if got := w.slept(); len(got) != 0 {
		t.Errorf("it waited %v for a pause that cannot end in time", got)
	}
}

func TestAnEditThatFailsIsTriedAgain(t *testing.T) {
	w := start(t, nil)
	w.Script("editMessageText", telegramtest.Reply{Status: 500}, telegramtest.Reply{Drop: true}, telegramtest.Reply{Body: "{"})
	c := w.ask(t.Context(), question())
	w.Tap(alice, w.Message(1), "Allow")
	w.want(t, c, "yes", alice)
	if end := w.Edited(1); len(end.Buttons) != 0 || end.Edits != 1 {
		t.Errorf("in the end: %+v", end)
	}
	if got := len(w.Requests("editMessageText")); got != 4 {
		t.Errorf("%d edits tried, want 4", got)
	}
}

// Updates of other kinds, old taps and taps of other programs are acknowledged; none of
// them holds up the queue.
func TestUpdatesThatAreNotOursAreAcknowledged(t *testing.T) {
	w := start(t, nil)
	w.Push(`"message":{"message_id":1,"date":1,"chat":{"id":5,"type":"private"},"text":"hello"}`)
	w.Push(`"callback_query":{"id":["odd"]}`)
	w.Push(`"callback_query":{"id":""}`)
	w.Push(`"callback_query":null`)
	old := w.Callback(alice, telegramtest.Chat, 3, "tm1.LONGAGOLONGAGOLONGAGOLONGA.0")
	foreign := w.Callback(alice, telegramtest.Chat, 3, "vote:42")
	c := w.ask(t.Context(), question())
	for _, query := range []string{old, foreign} {
		if text, alert := w.Reply(query); text != "This request is no longer open" || !alert {
			t.Errorf("%s is told %q", query, text)
		}
	}
	w.Drained()
	w.Tap(alice, w.Message(1), "Allow")
	w.want(t, c, "yes", alice)
}

// Telegram numbers its updates anew after a quiet week; it keeps none longer than a day.
func TestNewNumbersAreNotMissed(t *testing.T) {
	var mu sync.Mutex
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	w := start(t, func(o *telegram.Options) { o.Now = clock })
	for n := 1; n <= 2; n++ {
		m := question()
		m.Expires = clock().Add(time.Hour)
		c := w.ask(t.Context(), m)
		w.Tap(alice, w.Message(n), "Allow")
		w.want(t, c, "yes", alice)
		w.idle(t)
		w.Renumber(3)
		mu.Lock()
		now = now.Add(8 * 24 * time.Hour)
		mu.Unlock()
	}
	offsets := []string{}
	for _, r := range w.Requests("getUpdates") {
		offsets = append(offsets, r.Fields["offset"])
	}
	if !slices.Contains(offsets[1:], "0") {
		t.Errorf("offsets = %v, want a new start", offsets)
	}
}

// VER-07
func TestADeadTelegramFailsFastAndLeaksNothing(t *testing.T) {
	w := start(t, func(o *telegram.Options) { o.BaseURL = "http://127.0.0.1:1" })
	for range 2 {
		_, err := w.bot.Ask(t.Context(), question())
		if err == nil || !strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), secret) {
			t.Errorf("Ask = %v, want a refused connection and no token", err)
		}
		if err := w.bot.Check(t.Context()); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("Check = %v", err)
		}
	}
	w.idle(t)
}
