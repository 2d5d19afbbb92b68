package board_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/people/asking"
	"github.com/tidemark/tidemark/internal/people/discord"
	"github.com/tidemark/tidemark/internal/people/ntfy"
	"github.com/tidemark/tidemark/internal/people/slack"
	"github.com/tidemark/tidemark/internal/people/webhook"
	"github.com/tidemark/tidemark/internal/test/chattest"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/store/memory"
	"github.com/tidemark/tidemark/store/notify"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a monitor whose questions are asked in chats.
type world struct {
	*testing.T
	*tidemark.Monitor
	feed *notify.Store
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, feed: notify.New(memory.New())}
	var err error
	w.Monitor, err = tidemark.New(tidemark.Options{Policy: policy.Default(), Store: w.feed, Now: time.Now, Rand: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// member is a channel under test: who asks, and the chat it asks in.
type member struct {
	name  string
	asker interface {
		asking.Asker
		Run(context.Context)
		Check(context.Context) error
	}
	chat  chattest.Chat
	alice string // as the chat knows her
	by    string // as she is recorded
}

// members are all of them.
func members(t *testing.T) []member {
	t.Helper()
	s, d, h, n := chattest.NewSlack(t), chattest.NewDiscord(t), chattest.NewWebhook(t), chattest.NewNtfy(t)
	inSlack, err := slack.New(slack.Options{
		AppToken: chattest.SlackApp, BotToken: chattest.SlackBot, Channel: chattest.SlackChannel, Users: []string{"UALICE"}, BaseURL: s.URL(),
	})
	must(t, err)
	inDiscord, err := discord.New(discord.Options{Token: chattest.DiscordBot, Channel: chattest.DiscordChannel, Users: []string{"11"}, BaseURL: d.URL()})
	must(t, err)
	hooked, err := webhook.New(webhook.Options{URL: h.URL(), Secret: chattest.WebhookSecret})
	must(t, err)
	h.Answers = hooked
	phone, err := ntfy.New(ntfy.Options{Server: n.URL(), Topic: chattest.NtfyTopic, Answers: chattest.NtfyAnswers, Token: chattest.NtfyToken, Approve: true})
	must(t, err)
	return []member{
		{"slack", inSlack, s, "UALICE", "slack:UALICE"},
		{"discord", inDiscord, d, "11", "discord:11"},
		{"webhook", hooked, h, "alice", "webhook:alice"},
		{"ntfy", phone, n, "", "ntfy:" + chattest.NtfyTopic},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// join has a channel ask the questions of the world; all has ended when the test does.
func (w *world) join(m member) *asking.Channel {
	w.Helper()
	c, err := asking.New(asking.Options{Name: m.name, Monitor: w, Wake: w.feed, Asker: m.asker})
	must(w.T, err)
	ctx, stop := context.WithCancel(context.Background())
	ears, deafen := context.WithCancel(context.Background())
	var asks, listens sync.WaitGroup
	asks.Go(func() { c.Run(ctx) })
	listens.Go(func() { m.asker.Run(ears) })
	w.Cleanup(func() {
		stop()
		asks.Wait()
		deafen()
		listens.Wait()
		http.DefaultClient.CloseIdleConnections()
	})
	return c
}

var exec = tool.Call{Name: "exec", Args: []byte(`{"command":"rollout *all* <!channel> @everyone ` + "```" + ` [x](https://evil.example)"}`)}

// ask has a call held in a session.
func (w *world) ask(session string) tidemark.Question { w.Helper(); return w.asks(session, exec) }

// asks is ask about another call.
func (w *world) asks(session string, call tool.Call) tidemark.Question {
	w.Helper()
	ref, message := tidemark.Ref{Session: session}, "List my files, please"
	_, err := w.Begin(w.Context(), tidemark.Turn{Ref: ref, Sender: trust.Sender{Provider: "chat", ID: "1", IsOwner: true}, Message: &message})
	must(w.T, err)
	fetch := tool.Call{Name: "web_fetch", Args: []byte(`{"url":"https://evil.example"}`)}
	_, err = w.Decide(w.Context(), ref, fetch)
	must(w.T, err)
	_, err = w.Observe(w.Context(), tidemark.Observation{Ref: ref, Result: tool.Result{Name: "web_fetch", Args: fetch.Args, Content: []byte("Ignore it")}})
	must(w.T, err)
	v, err := w.Decide(w.Context(), ref, call)
	if err != nil || v.Held == nil {
		w.Fatalf("got %s, %v; want it held", v.Effect, err)
	}
	return *v.Held
}

// answers are what was recorded in a session.
func (w *world) answers(session string) []event.Answer {
	w.Helper()
	var out []event.Answer
	for e, err := range w.Events(w.Context(), session) {
		must(w.T, err)
		if e.Kind == event.Answered {
			out = append(out, *e.Answer)
		}
	}
	return out
}
