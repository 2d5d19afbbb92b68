package telegram_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/internal/people/telegram"
)

// VER-07
func TestAThousandRequestsShareOnePoller(t *testing.T) {
	const n = 1000
	w := start(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			m := question()
			m.Fields = []telegram.Field{{"Tool", fmt.Sprint(i)}}
			m.Buttons = []telegram.Button{{"Allow", fmt.Sprint("yes ", i)}, {"Deny", fmt.Sprint("no ", i)}}
			a, err := w.bot.Ask(ctx, m)
			switch {
			case i%10 == 0 && !errors.Is(err, context.Canceled):
				t.Errorf("request %d, which nobody answers: %+v, %v", i, a, err)
			case i%10 > 0 && (err != nil || a.Data != fmt.Sprint("yes ", i)):
				t.Errorf("request %d: %+v, %v", i, a, err)
			}
		})
	}
	for sent := 1; sent <= n; sent++ { // in whatever order they come
		if m := w.Message(sent); !strings.HasSuffix(m.Text, "0") {
			w.Tap(alice, m, "Allow")
		}
	}
	w.Wait("editMessageText", n-n/10)
	cancel()
	all.Wait()
	w.Wait("editMessageText", n)
	w.idle(t)
	if s := w.bot.Status(); s.Sent != n || s.Answered != n-n/10 || !s.OK {
		t.Errorf("status = %+v", s)
	}
}

// The poller ends with the last request and starts with the next, one after the other.
func TestPollersDoNotOverlap(t *testing.T) {
	w := start(t, nil)
	for n := 1; n <= 30; n++ {
		c := w.ask(t.Context(), question())
		w.Tap(alice, w.Message(n), "Deny")
		w.want(t, c, "no", alice)
	}
	w.idle(t)
	if got := len(w.Requests("editMessageText")); got != 30 {
		t.Errorf("%d messages were edited, want 30", got)
	}
}

// A tap and the end of a request at the same moment give one outcome, and the message
// says the same as the answer.
func TestATapAtTheLastMomentHasOneOutcome(t *testing.T) {
	w := start(t, nil)
	for n := 1; n <= 40; n++ {
		m := question()
		ctx, cancel := context.WithCancel(t.Context())
		c := w.ask(ctx, m)
		w.Tap(alice, w.Message(n), "Allow")
		go cancel()
		r := receive(t, c)
		want := "Closed: no answer is needed any more"
		if r.err == nil {
			want = "Allow: decided by @alice"
		} else if !errors.Is(r.err, context.Canceled) {
			t.Fatalf("Ask = %+v", r)
		}
		if end := w.Edited(n); end.Text != telegram.Render(m, want) {
			t.Fatalf("Ask = %+v, but the message says %q", r, end.Text)
		}
	}
}
