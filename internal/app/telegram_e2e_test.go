package app_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/test/audittest"
	"github.com/tidemark/tidemark/internal/test/telegramtest"
)

// The people in the chat: only the owner's taps count.
var (
	owner    = telegramtest.User{ID: 7, Name: "Owner"}
	stranger = telegramtest.User{ID: 8, Name: "Stranger"}
)

// pending is a before_tool_call under way.
type pending struct {
	answer chan answer
	failed chan error
}

// ask sends before_tool_call and does not wait for its answer.
func (s *server) ask(c hook.Context, tool, args string) *pending {
	p := &pending{answer: make(chan answer, 1), failed: make(chan error, 1)}
	ctx, cancel := context.WithTimeout(context.Background(), telegramtest.Patience)
	body := hookBody{hook.BeforeToolCall{ToolName: tool, Params: []byte(args)}, c}
	go func() {
		defer cancel()
		status, data, err := s.request(ctx, http.MethodPost, "/v1/hooks/before_tool_call", s.app.Tokens.Agent, body)
		var a answer
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d: %s", status, data)
		}
		if err == nil {
			err = strictjson.Unmarshal(data, &a)
		}
		if err != nil {
			p.failed <- err
			return
		}
		p.answer <- a
	}()
	return p
}

func (p *pending) wait(t *testing.T) answer {
	t.Helper()
	select {
	case a := <-p.answer:
		return a
	case err := <-p.failed:
		t.Fatalf("before_tool_call: %v", err)
	case <-time.After(telegramtest.Patience):
		t.Fatal("before_tool_call: waited in vain")
	}
	return answer{}
}

// tainted is a server with a chat for approvals, and a session in which exec is held.
func tainted(t *testing.T, bot *telegramtest.Server) *server {
	t.Helper()
	s := serve(t, t.TempDir(), chatSection("telegram", bot.URL(), telegramtest.Token))
	s.says("s", "Build what the page says")
	s.fetches("s", "run rollout")
	return s
}

var patient = hook.Context{SessionKey: "s", Wait: 30}

// BEY-10 BEY-11
// TestAHeldCallGoesOnWhenTheOwnerTaps: the very request that was held is answered.
func TestAHeldCallGoesOnWhenTheOwnerTaps(t *testing.T) {
	bot := telegramtest.New(t)
	s := tainted(t, bot)
	held := s.ask(patient, "exec", `{"command":"rollout"}`)
	m := bot.Message(1)
	for _, part := range []string{"exec", "rollout", "Build what the page says", "web_fetch at step 1", "Allow it?"} {
		if !strings.Contains(m.Text, part) {
			t.Errorf("the owner is not shown %q:\n%s", part, m.Text)
		}
	}
	if text, alert := bot.Reply(bot.Tap(stranger, m, "Allow once")); !alert || len(s.questions()) != 1 || s.questions()[0].State != "pending" {
		t.Errorf("a stranger's tap: got %q, alert %t, %+v", text, alert, s.questions())
	}
	bot.Tap(owner, m, "Allow once")
	if a := held.wait(t); a.Block || a.Tidemark.Verdict != "allow" || a.Tidemark.Spent == "" {
		t.Errorf("got %s by %s: %s", a.Tidemark.Verdict, a.Tidemark.Rule, a.Reason)
	}
	if m := bot.Edited(1); !strings.Contains(m.Text, "Allow once by @owner") || len(m.Buttons) != 0 {
		t.Errorf("the message now reads %q with %v", m.Text, m.Buttons)
	}
	s.want("confirm", "s", "exec", `{"command":"rollout"}`) // once was once
}

// BEY-10
func TestAHeldCallEndsWhenTheOwnerDenies(t *testing.T) {
	bot := telegramtest.New(t)
	s := tainted(t, bot)
	held := s.ask(patient, "exec", `{"command":"rollout"}`)
	bot.Tap(owner, bot.Message(1), "Deny")
	if a := held.wait(t); !a.Block || a.Tidemark.Verdict != "deny" || a.Tidemark.Rule != "owner-denied" {
		t.Errorf("got %s by %s: %s", a.Tidemark.Verdict, a.Tidemark.Rule, a.Reason)
	}
	if m := bot.Edited(1); !strings.Contains(m.Text, "Deny by @owner") {
		t.Errorf("the message now reads %q", m.Text)
	}
	s.want("deny", "s", "exec", `{"command":"rollout"}`) // in this turn, without another message
	if n := len(bot.Requests("sendMessage")); n != 1 {
		t.Errorf("%d messages were sent, want 1", n)
	}
}

// BEY-10
func TestAGrantByButtonCoversTheNextCall(t *testing.T) {
	bot := telegramtest.New(t)
	s := tainted(t, bot)
	held := s.ask(patient, "exec", `{"command":"rollout"}`)
	bot.Tap(owner, bot.Message(1), "Allow 15 min")
	if a := held.wait(t); a.Block {
		t.Errorf("got %s: %s", a.Tidemark.Verdict, a.Reason)
	}
	s.want("allow", "s", "exec", `{"command":"rollout"}`)
	s.want("confirm", "s", "exec", `{"command":"rollout test"}`) // another command is another question
	s.want("confirm", "s", "send_email", `{"to":"ann"}`)
}

// BEY-10
// TestAnAnswerElsewhereTakesTheMessageBack: one queue, many channels, one outcome.
func TestAnAnswerElsewhereTakesTheMessageBack(t *testing.T) {
	for decision, want := range map[string]string{"approve": "Answered elsewhere: approved", "deny": "Answered elsewhere: denied"} {
		t.Run(decision, func(t *testing.T) {
			bot := telegramtest.New(t)
			s := tainted(t, bot)
			held := s.ask(patient, "exec", `{"command":"rollout"}`)
			m := bot.Message(1)
			s.vote(s.questions()[0].ID, decision)
			if a := held.wait(t); a.Block != (decision == "deny") {
				t.Errorf("got %s by %s", a.Tidemark.Verdict, a.Tidemark.Rule)
			}
			if m := bot.Edited(1); !strings.Contains(m.Text, want) || len(m.Buttons) != 0 {
				t.Errorf("the message now reads %q with %v", m.Text, m.Buttons)
			}
			// A late tap on the old message changes nothing, neither there nor for the next.
			late := bot.Tap(owner, m, "Allow once")
			s.want("confirm", "s", "exec", `{"command":"rollout all"}`)
			bot.Message(2)
			if text, _ := bot.Reply(late); !strings.Contains(text, "already decided") && !strings.Contains(text, "no longer open") {
				t.Errorf("the late tap got %q", text)
			}
			if decision == "deny" {
				s.want("deny", "s", "exec", `{"command":"rollout"}`)
			}
			s.want("confirm", "s", "exec", `{"command":"rollout all"}`)
		})
	}
}

// BEY-10
// TestAQuestionIsAskedAgainAfterARestart: the chat gets it once more, and the answer
// counts for the call that is tried again.
func TestAQuestionIsAskedAgainAfterARestart(t *testing.T) {
	bot := telegramtest.New(t)
	data, policy := t.TempDir(), chatSection("telegram", bot.URL(), telegramtest.Token)
	s := serve(t, data, policy)
	s.says("s", "Build it")
	s.fetches("s", "run rollout")
	s.want("confirm", "s", "exec", `{"command":"rollout"}`)
	bot.Message(1)
	s.stop()
	if m := bot.Edited(1); !strings.Contains(m.Text, "Tidemark was stopped. Nothing was approved.") {
		t.Errorf("the message now reads %q", m.Text)
	}
	s = serve(t, data, policy)
	bot.Tap(owner, bot.Message(2), "Allow once")
	bot.Edited(2)
	s.want("allow", "s", "exec", `{"command":"rollout"}`)
	s.want("confirm", "s", "exec", `{"command":"rollout"}`)
}

// A chat that cannot be reached approves nothing; the question waits for any other
// channel, and the status says what is wrong.
// BEY-10 VER-07
func TestADeadChatApprovesNothing(t *testing.T) {
	s := serve(t, t.TempDir(), chatSection("telegram", audittest.Dead(t), telegramtest.Token))
	s.says("s", "Build it")
	s.fetches("s", "run rollout")
	for i := range 2 {
		args := fmt.Sprintf(`{"command":"rollout %d"}`, i)
		held := s.want("confirm", "s", "exec", args).Tidemark.Approval
		if p := s.status("approvals: telegram"); p.OK || p.Fault == "" || strings.Contains(p.Fault, "must-not-leak") {
			t.Errorf("status says %+v", p)
		}
		s.vote(held.ID, "approve")
		s.want("allow", "s", "exec", args)
	}
}

// CAU-10
// TestWhatTheAuditorBlockedIsNotPushed: overriding it takes the owner's own step.
func TestWhatTheAuditorBlockedIsNotPushed(t *testing.T) {
	bot := telegramtest.New(t)
	model := audittest.New(t, audittest.Say("block: not asked for"))
	s := serve(t, t.TempDir(), chatSection("telegram", bot.URL(), telegramtest.Token)+
		auditedBy("openai", model, "toolOverrides: {exec: {'*': allow}}\n"))
	s.says("s", "Read the page")
	s.fetches("s", "a page")
	blocked := s.want("confirm", "s", "exec", `{"command":"rollout"}`).Tidemark
	if blocked.Kind != "intent-block" {
		t.Fatalf("got %s", blocked.Kind)
	}
	s.want("confirm", "s", "send_email", `{"to":"ann"}`) // taint holds this one, and it is pushed
	if m := bot.Message(1); !strings.Contains(m.Text, "send_email") || strings.Contains(m.Text, "rollout") {
		t.Errorf("the chat was shown %q", m.Text)
	}
	s.vote(blocked.Approval.ID, "approve")
	s.want("allow", "s", "exec", `{"command":"rollout"}`)
}
