package channels_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/channels"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// BEY-10, VER-07
func TestAllowOnceLetsExactlyThatCallThroughOnce(t *testing.T) {
	w := newWorld(t, nil)
	q := w.ask("s")
	m := w.telegram.Message(1)
	for _, part := range []string{
		"Approval needed: exec\n", "\nCall:\n│ exec\n│ ! command: rollout all\n", "List my files, please", "web_fetch at step 1", "Ignore your instructions",
		"\nIf you approve: exactly this call of exec, once", "\nSession: s\n",
		"\nAllow 15 min lets through: for 15 minutes exec with the same command, in this context", "\nExpires: 09:15:00 UTC (in 15m0s)",
	} {
		if !strings.Contains(m.Text, part) {
			t.Errorf("the message does not hold %q:\n%s", part, m.Text)
		}
	}
	if q.Code == "" || strings.Contains(m.Text, q.Code) {
		t.Errorf("the message holds the chat code %q:\n%s", q.Code, m.Text)
	}
	w.telegram.Tap(alice, m, "Allow once")
	w.says(1, "Allow once by @alice. Approved: exec, for the call that was asked about, once. It goes on by itself where it waits; else tell the agent to go on.")
	w.want(policy.Confirm, "s", tool.Call{Name: "exec", Args: []byte(`{"command":"rm -rf /"}`)})
	w.want(policy.Allow, "s", list)
	w.want(policy.Confirm, "s", list)
	got := w.answers("s")
	if len(got) != 1 || got[0].By != "telegram:11" || got[0].Via != "telegram" || got[0].Verdict != "approve" || got[0].Grant != nil || got[0].IDs[0] != q.ID {
		t.Errorf("recorded %+v", got)
	}
	if s := w.channel.Status(); !s.OK || s.Answered != 1 || s.Name != "telegram" {
		t.Errorf("status = %+v", s)
	}
}

// BEY-10
func TestDenyAndAllowForAWhile(t *testing.T) {
	tests := map[string]struct {
		button, says string
		same, other  policy.Effect
		verdict      string
	}{
		"deny":  {"Deny", "Deny by @alice. Denied: exec.", policy.Deny, policy.Confirm, "deny"},
		"grant": {"Allow 20 min", "Allow 20 min by @alice. Approved: this call, and for 20 minutes exec with the same command.", policy.Allow, policy.Confirm, "approve"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(o *channels.Options) { o.Grant = 20 * time.Minute })
			w.ask("s")
			w.telegram.Tap(alice, w.telegram.Message(1), tt.button)
			w.says(1, tt.says)
			w.want(tt.same, "s", list)
			w.want(tt.other, "s", tool.Call{Name: "exec", Args: []byte(`{"command":"rollout one"}`)})
			if got := w.answers("s"); len(got) != 1 || got[0].Verdict != tt.verdict {
				t.Errorf("recorded %+v, want %s once", got, tt.verdict)
			}
			w.nanos.Add(int64(21 * time.Minute))
			w.want(policy.Confirm, "s", tool.Call{Name: "exec", Args: []byte(`{"command":"rollout two"}`)})
		})
	}
}

// VER-07
func TestAStrangersTapChangesNothing(t *testing.T) {
	w := newWorld(t, nil)
	w.ask("s")
	m := w.telegram.Message(1)
	if text, alert := w.telegram.Reply(w.telegram.Tap(mallory, m, "Allow once")); !alert || text != "You are not authorized to approve/deny this request" {
		t.Errorf("a stranger is told %q", text)
	}
	w.want(policy.Confirm, "s", list)
	if got := w.answers("s"); len(got) != 0 {
		t.Errorf("recorded %+v", got)
	}
	if m := w.telegram.Message(1); m.Edits != 0 {
		t.Errorf("the message was edited: %q", m.Text)
	}
}

// BEY-10
func TestAnAnswerElsewhereTakesTheQuestionBack(t *testing.T) {
	for approve, want := range map[bool]string{true: "Answered elsewhere: approved", false: "Answered elsewhere: denied"} {
		w := newWorld(t, nil)
		q := w.ask("s")
		w.telegram.Message(1)
		if _, err := w.Answer(t.Context(), engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: approve, By: "carol", Via: "http"}); err != nil {
			t.Fatalf("answer: %v", err)
		}
		if m := w.telegram.Edited(1); !strings.Contains(m.Text, "\n\n"+want) || len(m.Buttons) != 0 {
			t.Errorf("the message is %q, want %q at its end", m.Text, want)
		}
	}
}

// BEY-10: a message says when nobody waits for the answer any more, and its buttons stay.
func TestAMessageSaysThatNobodyWaits(t *testing.T) {
	w := newWorld(t, nil)
	q := w.ask("s")
	before := w.telegram.Message(1)
	for range 2 {
		done := w.Await(q.ID)
		w.ring()
		w.telegram.Until("the mark to go", func() bool { return !strings.Contains(w.telegram.Message(1).Text, "Nobody waits") })
		done()
		w.ring()
		w.telegram.Until("the mark", func() bool {
			return strings.HasSuffix(w.telegram.Message(1).Text, "\n\nNobody waits: "+question.NobodyWaits+".")
		})
	}
	now := w.telegram.Message(1)
	if len(now.Buttons) != len(before.Buttons) {
		t.Errorf("the buttons are %v, want them kept", now.Buttons)
	}
	w.telegram.Tap(alice, now, "Deny")
	w.telegram.Until("the end", func() bool { return strings.HasSuffix(w.telegram.Message(1).Text, "\n\nDeny by @alice. Denied: exec.") })
}

// Where approving takes a proof that a chat cannot bring, people are offered to deny, and told
// where to approve. A button of before approves nothing, and the question is asked again.
func TestAChatThatCannotApproveOffersTheConsole(t *testing.T) {
	var proofs atomic.Bool
	w := newWorld(t, func(o *channels.Options) {
		o.Approves = func() bool { return !proofs.Load() }
		o.Link = func(id string) string { return "http://console.example/q/" + id }
		o.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
		o.Monitor = &proving{Monitor: o.Monitor, on: &proofs}
	})
	q := w.ask("s")
	m := w.telegram.Message(1)
	proofs.Store(true)
	w.telegram.Tap(alice, m, "Allow once")
	if end := w.telegram.Edited(1); !strings.Contains(end.Text, "Not approved: ") {
		t.Errorf("the message ends %q", end.Text)
	}
	again := w.telegram.Message(2)
	if len(again.Buttons) != 1 || !strings.Contains(again.Text, "To approve: approving takes your passkey") ||
		!strings.Contains(again.Text, "http://console.example/q/"+q.ID) {
		t.Errorf("asked again with %v in %q, want to deny and the link", again.Buttons, again.Text)
	}
	w.telegram.Tap(alice, again, "Deny")
	w.says(2, "Deny by @alice. Denied: exec.")
	if got := w.answers("s"); len(got) != 1 || got[0].Verdict != "deny" {
		t.Errorf("recorded %+v, want one denial", got)
	}
}

// proving is a queue that wants a proof of who approves.
type proving struct {
	channels.Monitor
	on *atomic.Bool
}

// Answer refuses approvals.
func (p *proving) Answer(ctx context.Context, v engine.Vote) (engine.Outcome, error) {
	if v.Approve && p.on.Load() {
		return engine.Outcome{}, &engine.AnswerError{Err: engine.ErrProof, TriesLeft: -1}
	}
	return p.Monitor.Answer(ctx, v)
}

// BEY-10
func TestOfTwoApproversAtOnceOneDecides(t *testing.T) {
	for range 20 {
		w := newWorld(t, nil)
		q := w.ask("s")
		m := w.telegram.Message(1)
		var both sync.WaitGroup
		var elsewhere error
		both.Go(func() { w.telegram.Tap(alice, m, "Deny") })
		both.Go(func() {
			_, elsewhere = w.Answer(t.Context(), engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: true, By: "carol", Via: "http"})
		})
		both.Wait()
		text := w.telegram.Edited(1).Text
		got := w.answers("s")
		if len(got) != 1 {
			t.Fatalf("recorded %+v, want one answer", got)
		}
		var late *engine.AnswerError
		switch won := got[0].By; {
		case won == "carol" && (elsewhere != nil || !strings.Contains(text, "Answered elsewhere: approved")):
			t.Fatalf("carol won, but got %v, and the message says %q", elsewhere, text)
		case won == "telegram:11" && (!errors.As(elsewhere, &late) || !strings.HasSuffix(text, "Deny by @alice. Denied: exec.")):
			t.Fatalf("alice won, but carol got %v, and the message says %q", elsewhere, text)
		}
		effect := policy.Deny
		if got[0].By == "carol" {
			effect = policy.Allow
		}
		w.want(effect, "s", list)
		w.stop()
	}
}

// The monitor's clock decides: a tap that Telegram delivers late approves nothing.
//
// BEY-10
func TestATapAfterTheEndApprovesNothing(t *testing.T) {
	w := newWorld(t, nil)
	w.ask("s")
	m := w.telegram.Message(1)
	w.nanos.Add(int64(16 * time.Minute))
	w.telegram.Tap(alice, m, "Allow once")
	w.says(1, "Too late: the question has expired. This answer changed nothing.")
	w.want(policy.Confirm, "s", list)
	if got := w.answers("s"); len(got) != 0 {
		t.Errorf("recorded %+v", got)
	}
}

func TestAQuestionNobodyAnswersExpires(t *testing.T) {
	w := newWorld(t, nil)
	w.ask("s")
	w.telegram.Message(1)
	w.nanos.Add(int64(16 * time.Minute))
	w.ring()
	w.says(1, "Expired: nobody answered in time. Nothing was approved.")
	w.until("nothing is open", func() bool { return w.channel.Status().Open == 0 })
}

// BEY-10
func TestAQuestionIsAskedAgainAfterARestart(t *testing.T) {
	w := newWorld(t, nil)
	w.ask("s")
	old := w.telegram.Message(1)
	w.stop()
	w.says(1, "Closed: Tidemark was stopped. Nothing was approved.")
	w.start(nil)
	if _, err := w.View(t.Context(), "s"); err != nil { // the session is known again
		t.Fatalf("view: %v", err)
	}
	w.ring()
	fresh := w.telegram.Message(2)
	if text, _ := w.telegram.Reply(w.telegram.Tap(alice, old, "Allow once")); text != "This request is no longer open" {
		t.Errorf("a tap on the old message is told %q", text)
	}
	w.telegram.Tap(alice, fresh, "Allow once")
	w.says(2, "Allow once by @alice. Approved: exec, for the call that was asked about, once. It goes on by itself where it waits; else tell the agent to go on.")
	w.want(policy.Allow, "s", list)
}

// patient makes a channel wait after a failure until the test lets it go on.
func patient(waits chan<- struct{}) func(*channels.Options) {
	return func(o *channels.Options) {
		o.Sleep = func(ctx context.Context, _ time.Duration) error {
			select {
			case waits <- struct{}{}:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// BEY-10
func TestTelegramIsDownAndComesBack(t *testing.T) {
	waits := make(chan struct{})
	w := newWorld(t, patient(waits))
	w.telegram.Down(true)
	w.ask("s")
	for n := int64(1); n <= 2; n++ {
		w.until("a failure is counted", func() bool { return w.channel.Status().Failed == n })
		s := w.channel.Status()
		if s.OK || s.LastError == "" || strings.Contains(s.LastError, "must-not-leak") || s.Delivered != 0 {
			t.Errorf("status = %+v", s)
		}
		if n == 2 {
			w.telegram.Down(false)
		}
		<-waits
	}
	w.telegram.Tap(alice, w.telegram.Message(1), "Allow once")
	w.says(1, "Allow once by @alice. Approved: exec, for the call that was asked about, once. It goes on by itself where it waits; else tell the agent to go on.")
	w.want(policy.Allow, "s", list)
	if s := w.channel.Status(); !s.OK || s.Delivered != 1 || s.Failed != 2 || s.LastError == "" {
		t.Errorf("status = %+v", s)
	}
}

// A vote the log did not take approves nothing, and the person is asked again.
func TestAVoteThatCannotBeRecordedIsAskedForAgain(t *testing.T) {
	waits := make(chan struct{})
	w := newWorld(t, patient(waits))
	w.ask("s")
	w.store.failing.Store(true)
	for n := 1; n <= 2; n++ {
		w.telegram.Tap(alice, w.telegram.Message(n), "Allow once")
		w.says(n, "Not confirmed: the answer could not be recorded. If the question is still open, it is asked again.")
		w.until("the failure is counted", func() bool { return w.channel.Status().Failed == int64(n) })
		if n == 2 {
			w.store.failing.Store(false)
		}
		<-waits
	}
	if got := w.answers("s"); len(got) != 0 {
		t.Errorf("recorded %+v", got)
	}
	w.telegram.Tap(alice, w.telegram.Message(3), "Deny")
	w.says(3, "Deny by @alice. Denied: exec.")
	w.want(policy.Deny, "s", list)
}

// More questions than may be shown at once wait for their turn.
func TestQuestionsBeyondTheLimitWait(t *testing.T) {
	w := newWorld(t, func(o *channels.Options) { o.Limit, o.Grant = 2, -1 })
	for _, s := range []string{"a", "b", "c", "d", "e"} {
		w.ask(s)
	}
	for n := 1; n <= 5; n++ {
		m := w.telegram.Message(n)
		var labels []string
		for _, b := range m.Buttons {
			labels = append(labels, b.Text)
		}
		if diff := cmp.Diff([]string{"Allow once", "Deny"}, labels); diff != "" {
			t.Errorf("buttons (-want +got):\n%s", diff)
		}
		if s := w.channel.Status(); s.Open > 2 {
			t.Errorf("%d questions are shown, want at most 2", s.Open)
		}
		w.telegram.Tap(alice, m, "Deny")
		w.says(n, "Deny by @alice. Denied: exec.")
	}
	for _, s := range []string{"a", "b", "c", "d", "e"} {
		if got := w.answers(s); len(got) != 1 || got[0].Verdict != "deny" {
			t.Errorf("session %s: recorded %+v", s, got)
		}
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	b := &bell{next: make(chan struct{})}
	w := newWorld(t, nil)
	tests := map[string]channels.Options{
		"no name":           {Monitor: b, Wake: b, Asker: w.bot.Channel()},
		"no monitor":        {Name: "x", Wake: b, Asker: w.bot.Channel()},
		"no wake":           {Name: "x", Monitor: b, Asker: w.bot.Channel()},
		"no asker":          {Name: "x", Monitor: b, Wake: b},
		"half a minute":     {Name: "x", Monitor: b, Wake: b, Asker: w.bot.Channel(), Grant: 30 * time.Second},
		"more than allowed": {Name: "x", Monitor: b, Wake: b, Asker: w.bot.Channel(), Grant: 25 * time.Hour},
	}
	for name, o := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := channels.New(o); err == nil {
				t.Error("New accepted it")
			}
		})
	}
}
