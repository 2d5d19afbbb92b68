package bridge_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/contrib/channels/bridge"
	"github.com/tidemark/tidemark/contrib/channels/chats"
	"github.com/tidemark/tidemark/contrib/channels/discord"
	"github.com/tidemark/tidemark/contrib/channels/ntfy"
	"github.com/tidemark/tidemark/contrib/channels/slack"
	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/buttons"
	"github.com/tidemark/tidemark/internal/people/channels"
	"github.com/tidemark/tidemark/internal/test/chattest"
	"github.com/tidemark/tidemark/tool"
)

func ends(with string) func(chattest.Message) bool {
	return func(m chattest.Message) bool { return len(m.Buttons) == 0 && strings.Contains(m.Text, with) }
}

// In every chat a question is shown whole, one press of somebody who may decides it, and
// the log says who it was.
func TestAQuestionIsAskedAndAnswered(t *testing.T) {
	for _, m := range members(t) {
		t.Run(m.name, func(t *testing.T) {
			w := newWorld(t)
			c := w.join(m)
			for i, choice := range []struct{ label, verdict, ending string }{
				{"Allow once", "approve", "Allow once by"}, {"Deny", "deny", "Deny by"}, {"Allow 15 min", "approve", "Allow 15 min by"},
			} {
				session := choice.label
				w.ask(session)
				shown := m.chat.Message(i + 1)
				for _, part := range []string{"exec", "rollout *all*", "List my files, please", "Ignore it", "exactly this call of exec, once"} {
					if !strings.Contains(shown.Text, part) {
						t.Errorf("the question lacks %q:\n%s", part, shown.Text)
					}
				}
				if got := shown.Labels(); got != "Allow once, Allow 15 min, Deny" {
					t.Errorf("the buttons are %s", got)
				}
				m.chat.Press(m.alice, shown, choice.label)
				m.chat.Until(i+1, "the end", ends(choice.ending))
				got := w.answers(session)
				if len(got) != 1 || got[0].Verdict != choice.verdict || got[0].By != m.by || got[0].Via != m.name {
					t.Errorf("recorded %+v, want %s by %s", got, choice.verdict, m.by)
				}
				if m.name != "ntfy" { // which tells nobody
					m.chat.Press(m.alice, shown, "Deny")
					if told := m.chat.Told(i + 1); !strings.Contains(told, buttons.AlreadyDecided) {
						t.Errorf("a second press is told %q", told)
					}
				}
			}
			if err := m.asker.Check(t.Context()); err != nil {
				t.Errorf("Check: %v", err)
			}
			if s := c.Status(); s.Answered != 3 || s.Delivered != 3 {
				t.Errorf("the status is %+v", s)
			}
			if faults := m.chat.Faults(); len(faults) > 0 {
				t.Errorf("it was refused: %q", faults)
			}
		})
	}
}

// A press of somebody who may not, or in another channel, decides nothing, and they are told.
func TestAStrangersPressIsRefused(t *testing.T) {
	for _, m := range members(t)[:2] {
		t.Run(m.name, func(t *testing.T) {
			w := newWorld(t)
			w.join(m)
			w.ask("s")
			shown := m.chat.Message(1)
			m.chat.Press("UMALLORY", shown, "Allow once")
			if told := m.chat.Told(1); told != buttons.NotAllowed {
				t.Errorf("a stranger is told %q", told)
			}
			m.chat.(interface {
				PressIn(channel, user, data string)
			}).PressIn("C0OTHER", m.alice, shown.Buttons[0].Data)
			m.chat.(interface {
				PressIn(channel, user, data string)
			}).PressIn("C0OTHER", m.alice, "made-up.0")
			if told := m.chat.Told(3); told != buttons.NotOpen {
				t.Errorf("a press elsewhere is told %q", told)
			}
			if got := w.answers("s"); len(got) != 0 {
				t.Errorf("recorded %+v, want nothing", got)
			}
			m.chat.Press(m.alice, shown, "Deny")
			m.chat.Until(1, "the end", ends("Deny by"))
		})
	}
}

// One queue: of all who press at once one decides, and everybody is told who it was.
func TestWhoeverAnswersFirstDecides(t *testing.T) {
	all := members(t)
	w := newWorld(t)
	for _, m := range all {
		w.join(m)
	}
	for round := range 3 {
		session := string(rune('a' + round))
		w.ask(session)
		shown := make([]chattest.Message, len(all))
		for i, m := range all {
			shown[i] = m.chat.Message(round + 1)
		}
		var pressing sync.WaitGroup
		for i, m := range all {
			pressing.Go(func() { m.chat.Press(m.alice, shown[i], []string{"Allow once", "Deny"}[i%2]) })
		}
		pressing.Wait()
		for _, m := range all {
			m.chat.Until(round+1, "an end in "+m.name, func(m chattest.Message) bool { return len(m.Buttons) == 0 })
		}
		got := w.answers(session)
		if len(got) != 1 {
			t.Fatalf("recorded %+v, want one answer", got)
		}
		for _, m := range all {
			end := m.chat.Message(round + 1)
			own := m.by == got[0].By
			if said := strings.Contains(end.Text, "elsewhere: "+map[string]string{"approve": "approved", "deny": "denied"}[got[0].Verdict]+" by "+got[0].By); !own && !said {
				t.Errorf("%s ends with %q, want who answered: %s", m.name, end.Text[strings.LastIndex(end.Text, "\n")+1:], got[0].By)
			}
		}
	}
}

// An answer given elsewhere, the end of the question's time and a caller that has gone are said in every chat.
func TestAMessageSaysWhatBecameOfItsQuestion(t *testing.T) {
	for _, m := range members(t) {
		t.Run(m.name, func(t *testing.T) {
			w := newWorld(t)
			w.join(m)
			q := w.ask("s")
			m.chat.Message(1)
			w.Await(q.ID)()
			w.feed.QuestionsMoved()
			m.chat.Until(1, "the note", func(m chattest.Message) bool { return strings.Contains(m.Text, "Nobody waits") })
			_, err := w.Answer(t.Context(), engine.Vote{Session: "s", IDs: []string{q.ID}, By: "carol", Via: "http"})
			must(t, err)
			m.chat.Until(1, "the end", ends("Answered elsewhere: denied by carol"))
		})
	}
}

// A lost connection is made anew, as the service wants it, and no press is lost after that.
func TestALostConnectionIsMadeAnew(t *testing.T) {
	t.Run("slack", func(t *testing.T) {
		m := members(t)[0]
		s := m.chat.(*chats.Slack)
		w := newWorld(t)
		w.join(m)
		<-s.Opens
		for i, reason := range []string{"refresh_requested", "warning", ""} {
			s.Drop(reason)
			<-s.Opens
			w.ask(string(rune('a' + i)))
			s.Press(m.alice, s.Message(i+1), "Deny")
			s.Until(i+1, "the end", ends("Deny by @ualice"))
		}
	})
	t.Run("discord", func(t *testing.T) {
		m := members(t)[1]
		d := m.chat.(*chats.Discord)
		w := newWorld(t)
		w.join(m)
		if how := <-d.Greeted; how != "identify" {
			t.Errorf("the first connection began with %s", how)
		}
		for i, how := range []string{"reconnect", ""} {
			d.Drop(how)
			if how := <-d.Greeted; how != "resume" {
				t.Errorf("it came back with %s, want it to go on where it was", how)
			}
			w.ask(string(rune('a' + i)))
			d.Press(m.alice, d.Message(i+1), "Deny")
			d.Until(i+1, "the end", ends("Deny by @user11"))
		}
	})
}

// Discord is told that we are there for as long as we are.
func TestDiscordHearsAHeartbeat(t *testing.T) {
	m := members(t)[1]
	d := m.chat.(*chats.Discord)
	d.Every = 50
	newWorld(t).join(m)
	for range 3 {
		<-d.Beats
	}
}

// What a service refuses is said with what to do about it, and without a token.
func TestARefusedTokenIsSaidAndNotRepeated(t *testing.T) {
	s, d := chats.NewSlack(t), chats.NewDiscord(t)
	inSlack, err := slack.New(slack.Options{AppToken: "xapp-wrong", BotToken: "xoxb-wrong", Channel: "C1", Users: []string{"U1"}, BaseURL: s.URL()})
	must(t, err)
	inDiscord, err := discord.New(discord.Options{Token: "wrong-token", Channel: chats.DiscordChannel, Users: []string{"1"}, BaseURL: d.URL()})
	must(t, err)
	for _, c := range []interface{ Check(context.Context) error }{inSlack, inDiscord} {
		err := c.Check(t.Context())
		if err == nil || !strings.Contains(err.Error(), "is the token right?") || strings.Contains(err.Error(), "wrong") {
			t.Errorf("Check: %v", err)
		}
	}
	if _, err := slack.New(slack.Options{AppToken: "a", BotToken: "b", Channel: "C1"}); err == nil {
		t.Error("a channel in which nobody may answer was accepted")
	}
	if _, err := discord.New(discord.Options{Token: "a", Channel: "1"}); err == nil {
		t.Error("a channel in which nobody may answer was accepted")
	}
}

// A value that is longer than a block of Slack's goes on in the next, and cannot pass for a field there.
func TestALongValueBeginsNoFieldOfItsOwn(t *testing.T) {
	m := members(t)[0]
	w := newWorld(t)
	w.join(m)
	const lie = "If you approve: nothing, this is a test. "
	w.asks("s", tool.Call{Name: "exec", Args: []byte(`{"command":"rollout all; # ` + strings.Repeat(lie, 300) + `"}`)})
	shown, lines := m.chat.Message(1), 0
	for line := range strings.SplitSeq(shown.Text, "\n") {
		if !strings.Contains(line, "this is a test") || strings.Contains(line, "rollout all") {
			continue // or where the value begins, behind its label
		}
		if lines++; !strings.HasPrefix(line, channels.Continued) {
			t.Errorf("a block begins with %.60q", line)
		}
	}
	if lines == 0 {
		t.Fatalf("the value is in %d further blocks; the test needs one:\n%s", lines, shown.Text)
	}
}

// A chat in which nothing is approved shows no such button, and nobody who reads one button can make another of it.
func TestAChatThatOnlyDeniesShowsNoApproval(t *testing.T) {
	n := chats.NewNtfy(t)
	phone, err := ntfy.New(ntfy.Options{Server: n.URL(), Topic: chats.NtfyTopic, Answers: chats.NtfyAnswers, Token: chats.NtfyToken})
	must(t, err)
	c := bridged(t, "ntfy", phone, func(o *bridge.Options) { o.DenyOnly = true })
	w := newWorld(t)
	w.join(member{name: "ntfy", asker: c})
	w.ask("s")
	shown := n.Message(1)
	if shown.Labels() != "Deny" || !strings.Contains(shown.Text, "nothing is approved here") {
		t.Fatalf("it offers %s in %q", shown.Labels(), shown.Text)
	}
	token, _, _ := strings.Cut(shown.Buttons[0].Data, ".")
	for _, other := range []string{token + ".1", token + ".2", token + ".-1"} {
		made := shown
		made.Buttons = []chattest.Button{{Label: "Allow once", Data: other}}
		n.Press("", made, "Allow once")
	}
	n.Press("", shown, "Deny")
	n.Until(1, "the end", ends("Deny by"))
	if got := w.answers("s"); len(got) != 1 || got[0].Verdict != "deny" {
		t.Errorf("recorded %+v, want one deny", got)
	}
}

// What does not come from the server is not shown, and nothing is told of it.
func TestOnlyTheServerIsListenedTo(t *testing.T) {
	m := members(t)[0]
	newWorld(t).join(m)
	question := `{"version":1,"type":"question","id":"ask-1","title":"Allow?","expiresAt":"2099-01-01T00:00:00Z","choices":[{"text":"Allow","answer":"a.0","kind":"once"}]}`
	for name, tt := range map[string]struct {
		body, secret string
		off          time.Duration
		status       int
	}{
		"another secret":     {question, "another-secret-of-some-length", 0, 401},
		"an old request":     {question, chattest.WebhookSecret, -6 * time.Minute, 401},
		"another version":    {`{"version":2,"type":"ping"}`, chattest.WebhookSecret, 0, 400},
		"an unknown type":    {`{"version":1,"type":"approve"}`, chattest.WebhookSecret, 0, 400},
		"no JSON":            {`{`, chattest.WebhookSecret, 0, 400},
		"far too long":       {strings.Repeat(" ", 2<<20), chattest.WebhookSecret, 0, 400},
		"news of no message": {`{"version":1,"type":"closed","id":"ask-9","note":"over"}`, chattest.WebhookSecret, 0, 204},
	} {
		timestamp, signature := hook.Sign([]byte(tt.secret), time.Now().Add(tt.off), []byte(tt.body))
		r := httptest.NewRequest(http.MethodPost, "/slack", strings.NewReader(tt.body))
		r.Header.Set(hook.HeaderTimestamp, timestamp)
		r.Header.Set(hook.HeaderSignature, signature)
		out := httptest.NewRecorder()
		m.asker.(through).Bridge.ServeHTTP(out, r)
		if out.Code != tt.status {
			t.Errorf("%s: got %d %s, want %d", name, out.Code, out.Body, tt.status)
		}
	}
	if faults := m.chat.Faults(); len(faults) > 0 {
		t.Errorf("something was sent: %q", faults)
	}
}

// An answer that the server could not be told of is asked for again; nothing is shown as taken.
func TestAnAnswerThatIsLostIsAskedForAgain(t *testing.T) {
	m := members(t)[0]
	s := m.chat.(*chats.Slack)
	w := newWorld(t)
	_, wrong, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	inSlack, err := slack.New(slack.Options{
		AppToken: chats.SlackApp, BotToken: chats.SlackBot, Channel: chats.SlackChannel, Users: []string{"UALICE"}, BaseURL: s.URL(),
	})
	must(t, err)
	m.asker = bridged(t, "slack", inSlack, func(o *bridge.Options) { o.Proof = wrong })
	w.join(m)
	w.ask("s")
	s.Press(m.alice, s.Message(1), "Allow once")
	s.Until(1, "the failure", ends("Not confirmed"))
	if again := s.Message(2); !strings.Contains(again.Labels(), "Deny") {
		t.Errorf("it is asked again with %s", again.Labels())
	}
	if got := w.answers("s"); len(got) != 0 {
		t.Errorf("recorded %+v, want nothing: another key signed it", got)
	}
}
