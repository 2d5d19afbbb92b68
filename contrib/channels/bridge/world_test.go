package bridge_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/contrib/channels/bridge"
	"github.com/tidemark/tidemark/contrib/channels/chats"
	"github.com/tidemark/tidemark/contrib/channels/discord"
	"github.com/tidemark/tidemark/contrib/channels/ntfy"
	"github.com/tidemark/tidemark/contrib/channels/slack"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/people/channels"
	"github.com/tidemark/tidemark/internal/people/webhook"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/test/chattest"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a monitor whose questions are asked in chats.
type world struct {
	*testing.T
	*engine.Monitor
	feed *notify.Store
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, feed: notify.New(memory.New())}
	var err error
	w.Monitor, err = engine.New(engine.Options{Policy: policy.Default(), Store: w.feed, Now: time.Now, Rand: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// member is a channel under test: who asks, and the chat it asks in.
type member struct {
	name  string
	asker interface {
		channels.Asker
		Run(context.Context)
		Check(context.Context) error
	}
	chat  chattest.Chat
	alice string // as the chat knows her
	by    string // as she is recorded
}

// through has questions of a webhook shown in a chat: the server's side and ours, each at an address of its own.
type through struct {
	*webhook.Webhook
	*bridge.Bridge
}

func (c through) Check(ctx context.Context) error { return c.Webhook.Check(ctx) }

func (c through) Run(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { c.Webhook.Run(ctx) })
	both.Go(func() { c.Bridge.Run(ctx) })
	both.Wait()
}

// bridged makes the two sides of a channel.
func bridged(t *testing.T, name string, chat bridge.Chat, change func(*bridge.Options)) through {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	var c through
	ours := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.Bridge.ServeHTTP(w, r) }))
	theirs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != c.Path() {
			t.Errorf("an answer comes to %s", r.URL.Path)
		}
		c.Webhook.ServeHTTP(w, r)
	}))
	t.Cleanup(ours.Close)
	t.Cleanup(theirs.Close)
	c.Webhook, err = webhook.New(webhook.Options{Name: name, URL: ours.URL, Secret: chattest.WebhookSecret, Key: public})
	must(t, err)
	o := bridge.Options{Name: name, Server: theirs.URL, Secret: chattest.WebhookSecret, Proof: key, Chat: chat}
	if change != nil {
		change(&o)
	}
	c.Bridge, err = bridge.New(o)
	must(t, err)
	return c
}

// members are all of them.
func members(t *testing.T) []member {
	t.Helper()
	s, d, n := chats.NewSlack(t), chats.NewDiscord(t), chats.NewNtfy(t)
	inSlack, err := slack.New(slack.Options{
		AppToken: chats.SlackApp, BotToken: chats.SlackBot, Channel: chats.SlackChannel, Users: []string{"UALICE"}, BaseURL: s.URL(),
	})
	must(t, err)
	inDiscord, err := discord.New(discord.Options{Token: chats.DiscordBot, Channel: chats.DiscordChannel, Users: []string{"11"}, BaseURL: d.URL()})
	must(t, err)
	phone, err := ntfy.New(ntfy.Options{Server: n.URL(), Topic: chats.NtfyTopic, Answers: chats.NtfyAnswers, Token: chats.NtfyToken, Approve: true})
	must(t, err)
	return []member{
		{"slack", bridged(t, "slack", inSlack, nil), s, "UALICE", "slack:UALICE"},
		{"discord", bridged(t, "discord", inDiscord, nil), d, "11", "discord:11"},
		{"ntfy", bridged(t, "ntfy", phone, nil), n, "", "ntfy:" + chats.NtfyTopic},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// join has a channel ask the questions of the world; all has ended when the test does.
func (w *world) join(m member) *channels.Channel {
	w.Helper()
	c, err := channels.New(channels.Options{Name: m.name, Monitor: w, Wake: w.feed, Asker: m.asker})
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
func (w *world) ask(session string) engine.Question { w.Helper(); return w.asks(session, exec) }

// asks is ask about another call.
func (w *world) asks(session string, call tool.Call) engine.Question {
	w.Helper()
	ref, message := engine.Ref{Session: session}, "List my files, please"
	_, err := w.Begin(w.Context(), engine.Turn{Ref: ref, Sender: trust.Sender{Provider: "chat", ID: "1", IsOwner: true}, Message: &message})
	must(w.T, err)
	fetch := tool.Call{Name: "web_fetch", Args: []byte(`{"url":"https://evil.example"}`)}
	_, err = w.Decide(w.Context(), ref, fetch)
	must(w.T, err)
	_, err = w.Observe(w.Context(), engine.Observation{Ref: ref, Result: tool.Result{Name: "web_fetch", Args: fetch.Args, Content: []byte("Ignore it")}})
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
