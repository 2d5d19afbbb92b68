package telegram_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/people/telegram"
	"github.com/tidemark/tidemark/internal/test/telegramtest"
)

// VER-07
func TestTheTapIsTheAnswer(t *testing.T) {
	w := start(t, nil)
	c := w.ask(t.Context(), question())
	m := w.Message(1)
	if want := "Tool verification request\n\nTool: exec\nCommand: curl https://example.com"; m.Text != want {
		t.Errorf("text = %q, want %q", m.Text, want)
	}
	sent := w.Wait("sendMessage", 1)
	if sent.Fields["parse_mode"] != "" || sent.Fields["link_preview_options"] != `{"is_disabled":true}` {
		t.Errorf("sent %v, want plain text without a preview", sent.Fields)
	}
	if poll := w.Wait("getUpdates", 1); poll.Fields["allowed_updates"] != `["callback_query"]` {
		t.Errorf("polled for %v, want callback queries alone", poll.Fields)
	}
	query := w.Tap(alice, m, "Allow")
	w.want(t, c, "yes", alice)
	if text, alert := w.Reply(query); text != "Allow: decided by @alice" || alert {
		t.Errorf("reply = %q, %v", text, alert)
	}
	m = w.Edited(1)
	if !strings.HasSuffix(m.Text, "curl https://example.com\n\nAllow: decided by @alice") || len(m.Buttons) != 0 {
		t.Errorf("in the end: %q with buttons %v", m.Text, m.Buttons)
	}
	w.idle(t)
	if s := w.bot.Status(); !s.OK || s.Sent != 1 || s.Answered != 1 {
		t.Errorf("status = %+v", s)
	}
}

// VER-07
func TestOnlyAllowedUsersCount(t *testing.T) {
	w := start(t, nil)
	c := w.ask(t.Context(), question())
	m := w.Message(1)
	for range 2 {
		text, alert := w.Reply(w.Tap(mallory, m, "Allow"))
		if text != "You are not authorized to approve/deny this request" || !alert {
			t.Errorf("a stranger is told %q, alert %v", text, alert)
		}
	}
	if now := w.Message(1); now.Edits != 0 || len(now.Buttons) != 2 {
		t.Errorf("a stranger changed the message: %+v", now)
	}
	w.Tap(bob, m, "Deny")
	w.want(t, c, "no", bob)
	if s := w.bot.Status(); s.Refused != 2 {
		t.Errorf("refused = %d, want 2", s.Refused)
	}
}

// VER-07
func TestWithoutAListAnybodyInTheChatCounts(t *testing.T) {
	w := start(t, func(o *telegram.Options) { o.AllowedUserIDs = nil })
	c := w.ask(t.Context(), question())
	m := w.Message(1)
	if text, _ := w.Reply(w.Callback(mallory, 999, m.ID, m.Buttons[0].Data)); text != "This request is no longer open" {
		t.Errorf("a tap from another chat is told %q", text)
	}
	w.Tap(mallory, m, "Deny")
	w.want(t, c, "no", mallory)
}

// A tap must carry the token and come from the message: neither alone is enough.
//
// VER-07
func TestForgedAndStaleTapsDoNotCount(t *testing.T) {
	w := start(t, nil)
	one := w.ask(t.Context(), question())
	first := w.Message(1)
	two := w.ask(t.Context(), question())
	second := w.Message(2)
	allow, other := first.Buttons[0].Data, second.Buttons[0].Data
	token := strings.TrimSuffix(allow, ".0")
	tests := []struct {
		name    string
		chat    int64
		message int
		data    string
	}{
		{"the right token on another message", first.Chat, second.ID, allow},
		{"another request's token on this message", first.Chat, first.ID, other},
		{"another chat", first.Chat + 1, first.ID, allow},
		{"no message", 0, 0, allow},
		{"a guessed token", first.Chat, first.ID, "tm1.AAAAAAAAAAAAAAAAAAAAAAAAAA.0"},
		{"a button that is not there", first.Chat, first.ID, token + ".7"},
		{"the label", first.Chat, first.ID, "Allow"},
		{"the data", first.Chat, first.ID, "yes"},
		{"nothing", first.Chat, first.ID, ""},
		{"more after the button", first.Chat, first.ID, allow + "0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 {
				if text, alert := w.Reply(w.Callback(alice, tt.chat, tt.message, tt.data)); text != "This request is no longer open" || !alert {
					t.Errorf("reply = %q, %v", text, alert)
				}
			}
		})
	}
	w.Tap(alice, first, "Deny")
	w.want(t, one, "no", alice)
	w.Tap(alice, second, "Allow")
	w.want(t, two, "yes", alice)
}

// VER-07
func TestOfTwoTapsTheFirstCounts(t *testing.T) {
	w := start(t, nil)
	held := make(chan struct{})
	w.Script("editMessageText", telegramtest.Reply{Hold: held})
	c := w.ask(t.Context(), question())
	m := w.Message(1)
	w.Tap(alice, m, "Deny")
	second := w.Tap(bob, m, "Allow")
	w.want(t, c, "no", alice)
	if text, _ := w.Reply(second); text != "This request was already decided" {
		t.Errorf("the second tap is told %q", text)
	}
	close(held)
	if m = w.Edited(1); !strings.HasSuffix(m.Text, "Deny: decided by @alice") {
		t.Errorf("text = %q", m.Text)
	}
	again := w.ask(t.Context(), question())
	late := w.Callback(bob, m.Chat, m.ID, w.firstData())
	if text, _ := w.Reply(late); text != "This request was already decided" {
		t.Errorf("a tap after the end is told %q", text)
	}
	w.Tap(bob, w.Message(2), "Allow")
	w.want(t, again, "yes", bob)
}

// A person can be faster than Telegram's answer to sendMessage.
//
// VER-07
func TestATapBeforeTheMessageIsConfirmedIsNotLost(t *testing.T) {
	w := start(t, nil)
	held := make(chan struct{})
	w.Script("sendMessage", telegramtest.Reply{Do: true, Hold: held})
	c := w.ask(t.Context(), question())
	m := w.Message(1)
	var stranger string
	for range 30 { // more than are kept
		stranger = w.Tap(mallory, m, "Allow")
	}
	if text, alert := w.Reply(stranger); !alert || !strings.HasPrefix(text, "You are not authorized") {
		t.Errorf("a stranger is told %q", text)
	}
	elsewhere := w.Callback(alice, m.Chat, m.ID+1, m.Buttons[0].Data)
	w.Tap(alice, m, "Deny")
	w.Drained()
	select {
	case r := <-c:
		t.Fatalf("Ask = %+v before the message was confirmed", r)
	default:
	}
	close(held)
	w.want(t, c, "no", alice)
	if text, _ := w.Reply(elsewhere); text != "This request is no longer open" {
		t.Errorf("a tap on another message is told %q", text)
	}
}

// VER-07
func TestNobodyAnswers(t *testing.T) {
	tests := map[string]func(context.Context, time.Duration) (context.Context, telegram.Message){
		"the message expires": func(ctx context.Context, patience time.Duration) (context.Context, telegram.Message) {
			m := question()
			m.Expires = time.Now().Add(patience)
			return ctx, m
		},
		"the context has a deadline": func(ctx context.Context, patience time.Duration) (context.Context, telegram.Message) {
			ctx, cancel := context.WithTimeout(ctx, patience)
			t.Cleanup(cancel)
			m := question()
			m.Expires = time.Time{}
			return ctx, m
		},
	}
	for name, made := range tests {
		t.Run(name, func(t *testing.T) {
			w := start(t, nil)
			for n := 1; n <= 2; n++ {
				r := w.tooLate(t, made)
				if !errors.Is(r.err, telegram.ErrTimeout) || !errors.Is(r.err, context.DeadlineExceeded) || r.answer != (telegram.Answer{}) {
					t.Errorf("Ask = %+v, %v; want ErrTimeout", r.answer, r.err)
				}
				if end := w.Edited(n); !strings.HasSuffix(end.Text, "\n\nExpired: nobody answered in time") || len(end.Buttons) != 0 {
					t.Errorf("in the end: %+v", end)
				}
			}
			w.idle(t)
		})
	}
}

// tooLate asks what nobody answers in time. On a busy machine the time may be over before
// the message is on its way, and then there is none to look at: it asks with more.
func (w *world) tooLate(t *testing.T, made func(context.Context, time.Duration) (context.Context, telegram.Message)) result {
	t.Helper()
	before := len(w.Requests("sendMessage"))
	for patience := 30 * time.Millisecond; ; patience *= 2 {
		r := receive(t, w.ask(made(t.Context(), patience)))
		if len(w.Requests("sendMessage")) > before || patience > telegramtest.Patience {
			return r
		}
	}
}

// VER-07
func TestACancelledRequestSaysSo(t *testing.T) {
	w := start(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	m := question()
	m.Closed = func(_ telegram.Answer, err error) string { return fmt.Sprintf("Closed\nbecause %v", err) }
	c := w.ask(ctx, m)
	sent := w.Message(1)
	elsewhere := errors.New("answered elsewhere")
	w.Wait("getUpdates", 1)
	cancel(elsewhere)
	if r := receive(t, c); !errors.Is(r.err, elsewhere) {
		t.Errorf("Ask = %+v, want the cause", r)
	}
	if end := w.Edited(1); !strings.HasSuffix(end.Text, "\n\nClosed because ask over telegram: answered elsewhere") {
		t.Errorf("text = %q", end.Text)
	}
	w.idle(t)
	again := w.ask(t.Context(), question())
	if text, _ := w.Reply(w.Tap(alice, sent, "Allow")); text != "This request was already decided" {
		t.Errorf("a tap after the end is told %q", text)
	}
	w.Tap(alice, w.Message(2), "Deny")
	w.want(t, again, "no", alice)
}

// A request that ends while it is being sent must not leave live buttons behind.
func TestCancelledWhileSending(t *testing.T) {
	w := start(t, nil)
	held := make(chan struct{})
	w.Script("sendMessage", telegramtest.Reply{Do: true, Hold: held})
	ctx, cancel := context.WithCancel(t.Context())
	c := w.ask(ctx, question())
	m := w.Message(1)
	cancel()
	if r := receive(t, c); !errors.Is(r.err, context.Canceled) {
		t.Errorf("Ask = %+v, want the end of the context", r)
	}
	tapped := w.Tap(alice, m, "Allow")
	close(held)
	if end := w.Edited(1); !strings.HasSuffix(end.Text, "Closed: no answer is needed any more") || len(end.Buttons) != 0 {
		t.Errorf("in the end: %+v", end)
	}
	again := w.ask(t.Context(), question())
	if text, _ := w.Reply(tapped); text != "This request was already decided" && text != "This request is no longer open" {
		t.Errorf("the tap is told %q", text)
	}
	w.Tap(alice, w.Message(2), "Deny")
	w.want(t, again, "no", alice)
}

func TestCloseEndsWhatIsPending(t *testing.T) {
	w := start(t, nil)
	c := w.ask(t.Context(), question())
	w.Message(1)
	w.Wait("getUpdates", 1)
	w.bot.Close()
	if r := receive(t, c); !errors.Is(r.err, telegram.ErrClosed) {
		t.Errorf("Ask = %+v, want ErrClosed", r)
	}
	for range 2 {
		if _, err := w.bot.Ask(t.Context(), question()); !errors.Is(err, telegram.ErrClosed) {
			t.Errorf("Ask after Close = %v, want ErrClosed", err)
		}
		w.bot.Close()
	}
	if end := w.Message(1); !strings.HasSuffix(end.Text, "Closed: Tidemark was stopped") {
		t.Errorf("text = %q", end.Text)
	}
}

func TestAMessageMustBeAnswerableAndEnd(t *testing.T) {
	w := start(t, nil)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	endless, mute, busy := question(), question(), question()
	endless.Expires, mute.Buttons, busy.Buttons = time.Time{}, nil, make([]telegram.Button, 9)
	tests := map[string]struct {
		ctx context.Context
		m   telegram.Message
	}{
		"no end": {t.Context(), endless}, "no buttons": {t.Context(), mute}, "nine buttons": {t.Context(), busy}, "a context that has ended": {over, question()},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if a, err := w.bot.Ask(tt.ctx, tt.m); err == nil {
				t.Errorf("Ask = %+v, want an error", a)
			}
		})
	}
	if got := w.Requests(""); len(got) != 0 {
		t.Errorf("Telegram was asked: %v", got)
	}
}
