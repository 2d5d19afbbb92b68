package buttons_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"net/http"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

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

// members are two programs: one that knows the secret, and one that has a key besides.
func members(t *testing.T) []member {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	h, k := chattest.NewWebhook(t), chattest.NewWebhook(t)
	k.Key = key
	plain, err := webhook.New(webhook.Options{URL: h.URL(), Secret: chattest.WebhookSecret})
	must(t, err)
	inSlack, err := webhook.New(webhook.Options{Name: "slack", URL: k.URL(), Secret: chattest.WebhookSecret, Key: public})
	must(t, err)
	h.Answers, k.Answers = plain, inSlack
	return []member{{"webhook", plain, h, "alice", "webhook:alice"}, {"slack", inSlack, k, "UALICE", "slack:UALICE"}}
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
