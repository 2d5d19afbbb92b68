package buttons_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/buttons"
	"github.com/tidemark/tidemark/internal/people/webhook"
	"github.com/tidemark/tidemark/internal/test/chattest"
)

func ends(with string) func(chattest.Message) bool {
	return func(m chattest.Message) bool { return len(m.Buttons) == 0 && strings.Contains(m.Text, with) }
}

// BEY-10: in every chat a question is shown whole, one press of somebody who may decides it, and
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
				m.chat.Press(m.alice, shown, "Deny")
				if told := m.chat.Told(i + 1); !strings.Contains(told, buttons.AlreadyDecided) {
					t.Errorf("a second press is told %q", told)
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

// BEY-10: one queue: of all who press at once one decides, and everybody is told who it was.
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

// A webhook takes an answer that is signed, fresh and plain, once.
func TestAnAnswerByWebhookIsSignedAndCountsOnce(t *testing.T) {
	m := members(t)[0]
	h := m.chat.(*chattest.Webhook)
	w := newWorld(t)
	w.join(m)
	w.ask("s")
	data := h.Message(1).Buttons[0].Data
	good := `{"answer":"` + data + `","by":"alice"}`
	now := time.Now()
	for name, tt := range map[string]struct {
		body   string
		at     time.Time
		secret string
		status int
	}{
		"another secret":         {good, now, "another-secret-of-some-length", 401},
		"too old":                {good, now.Add(-6 * time.Minute), chattest.WebhookSecret, 401},
		"from the future":        {good, now.Add(6 * time.Minute), chattest.WebhookSecret, 401},
		"no JSON":                {`{`, now, chattest.WebhookSecret, 400},
		"more than was asked":    {`{"answer":"x","by":"a","approve":true}`, now, chattest.WebhookSecret, 400},
		"nobody":                 {`{"answer":"` + data + `","by":""}`, now, chattest.WebhookSecret, 400},
		"a name that draws":      {`{"answer":"` + data + `","by":"a\nb"}`, now, chattest.WebhookSecret, 400},
		"a question of nobody's": {`{"answer":"nothing.0","by":"alice"}`, now, chattest.WebhookSecret, 409},
		"a choice there is not":  {`{"answer":"` + data[:len(data)-1] + `9","by":"alice"}`, now, chattest.WebhookSecret, 409},
		"far too long":           {`{"answer":"` + strings.Repeat("x", 20_000) + `","by":"alice"}`, now, chattest.WebhookSecret, 400},
	} {
		if status, text := h.Bring(tt.body, tt.at, tt.secret); status != tt.status {
			t.Errorf("%s: got %d %s, want %d", name, status, text, tt.status)
		}
	}
	if got := w.answers("s"); len(got) != 0 {
		t.Fatalf("recorded %+v, want nothing", got)
	}
	if status, text := h.Bring(good, now, chattest.WebhookSecret); status != 200 {
		t.Fatalf("got %d %s", status, text)
	}
	for range 2 { // the same request again
		if status, _ := h.Bring(good, now, chattest.WebhookSecret); status != 409 {
			t.Errorf("played again: got %d, want 409", status)
		}
	}
	h.Until(1, "the end", ends("Allow once by alice"))
	if got := w.answers("s"); len(got) != 1 {
		t.Errorf("recorded %+v, want one", got)
	}
}

// Whoever knows the secret, and not the key, answers nothing as somebody in Slack: neither an administrator of this server nor
// an agent that read its settings.
func TestTheSecretAloneAnswersInNobodysName(t *testing.T) {
	m := members(t)[1]
	h := m.chat.(*chattest.Webhook)
	w := newWorld(t)
	w.join(m)
	w.ask("s")
	data := h.Message(1).Buttons[0].Data
	body := `{"answer":"` + data + `","by":"UALICE","name":"@alice"}`
	good := h.Key
	_, other, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	for _, key := range []ed25519.PrivateKey{nil, other} {
		h.Key = key
		if status, text := h.Bring(body, time.Now(), chattest.WebhookSecret); status != 401 || !strings.Contains(text, "signed by the key") {
			t.Errorf("got %d %s, want 401", status, text)
		}
	}
	h.Key = good
	if status, _ := h.Bring(body, time.Now(), "another-secret-of-some-length"); status != 401 {
		t.Errorf("the key without the secret: got %d, want 401", status)
	}
	if status, text := h.Bring(body, time.Now(), chattest.WebhookSecret); status != 200 {
		t.Fatalf("got %d %s", status, text)
	}
	h.Until(1, "the end", ends("Allow once by @alice"))
	if got := w.answers("s"); len(got) != 1 || got[0].By != "slack:UALICE" {
		t.Errorf("recorded %+v, want one by slack:UALICE", got)
	}
}

// A name under which answers are recorded is one of those that rules can tell from accounts of this server's own.
func TestAWebhookHasNoNameOfOthers(t *testing.T) {
	public, _, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	for name, fine := range map[string]bool{
		"": true, "webhook": true, "ntfy": true, "slack": true, "discord": true, "webhook-pager": true,
		"telegram": false, "approver": false, "admin": false, "owner": false, "console": false, "Slack": false, "webhook-": false,
		"webhook-a:b": false, "webhook-a/../b": false, "slack:UALICE": false, "pager": false,
	} {
		_, err := webhook.New(webhook.Options{Name: name, URL: "https://pager.example/x", Secret: chattest.WebhookSecret, Key: public})
		if (err == nil) != fine {
			t.Errorf("the name %q: %v", name, err)
		}
		_, err = webhook.New(webhook.Options{Name: name, URL: "https://pager.example/x", Secret: chattest.WebhookSecret})
		if want := fine && name != "slack" && name != "discord"; (err == nil) != want {
			t.Errorf("the name %q without a key: %v", name, err)
		}
	}
}
