// Package bridge shows in one chat what a Tidemark server tells its webhook, and brings the
// answers back: signed requests both ways (docs/people.md, "The webhook").
//
// It starts a goroutine for each question that is shown; all of them have ended when Run
// returns.
//
// Invariants:
//   - a request of the server counts only with its signature, and only within the window
//     around its time;
//   - who pressed is told by the chat, never by the server's request, and is part of what is
//     signed on the way back;
//   - a choice that this chat may not give is not shown there;
//   - a question whose answer could not be brought is shown again.
package bridge

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/people/buttons"
	"github.com/tidemark/tidemark/internal/people/channels"
	"github.com/tidemark/tidemark/internal/people/webhook"
)

// Chat is where questions are shown: Slack, Discord, ntfy.
type Chat interface {
	channels.Asker
	Run(ctx context.Context)         // listens for presses until ctx ends
	Check(ctx context.Context) error // whether it can be reached, and presses arrive
}

// Options describe a bridge. All but Proof, DenyOnly, Logger and Now are required.
type Options struct {
	Name     string // of the webhook in the server's file, and of the chat: slack
	Server   string // address of the server: http://127.0.0.1:8417
	Secret   string // of the webhook
	Proof    ed25519.PrivateKey
	Chat     Chat
	DenyOnly bool // nothing is approved in this chat
	Logger   *slog.Logger
	Now      func() time.Time
}

// The bounds of a bridge.
const (
	window   = 5 * time.Minute // how far the time of a request may be off
	maxBody  = 1 << 20
	maxOpen  = 256
	outcome  = 10 * time.Second // how long the server may take to say what became of an answer
	afterEnd = time.Minute      // how long a question is shown beyond its end, which the server tells
)

// Bridge shows questions in one chat. It is safe for concurrent use.
type Bridge struct {
	o   Options
	out buttons.Caller

	mu    sync.Mutex
	open  map[string]*shown // guarded by mu; by question
	ctx   context.Context   // guarded by mu; of Run; nil: it has not begun
	tasks sync.WaitGroup
}

// shown is one question in the chat.
type shown struct {
	notes  chan string // the latest that was not shown yet
	closed chan string // how it ended, once
	end    context.CancelFunc
}

// New checks the options.
func New(o Options) (*Bridge, error) {
	u, err := outbound.URL(o.Server)
	if err == nil {
		err = outbound.Exposed(u)
	}
	if err == nil && len(o.Secret) < webhook.MinSecret {
		err = fmt.Errorf("the secret needs %d characters", webhook.MinSecret)
	}
	if err != nil {
		return nil, fmt.Errorf("configure %s: %w", o.Name, err)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	b := &Bridge{o: o, open: map[string]*shown{}}
	b.out = buttons.Caller{HTTP: outbound.Client(outbound.Options{LocalOnly: u.Scheme == "http"}), Prepare: b.sign}
	return b, nil
}

// sign signs an answer with the secret, and with the key where there is one.
func (b *Bridge) sign(r *http.Request, body []byte) {
	timestamp, signature := hook.Sign([]byte(b.o.Secret), b.o.Now(), body)
	r.Header.Set(hook.HeaderTimestamp, timestamp)
	r.Header.Set(hook.HeaderSignature, signature)
	if b.o.Proof != nil {
		r.Header.Set(webhook.HeaderProof, hex.EncodeToString(ed25519.Sign(b.o.Proof, webhook.Proved(timestamp, body))))
	}
}

// Run listens for presses until ctx ends. Questions come to ServeHTTP.
func (b *Bridge) Run(ctx context.Context) {
	ears, deafen := context.WithCancel(context.WithoutCancel(ctx))
	defer deafen()
	b.mu.Lock()
	b.ctx = ctx
	b.mu.Unlock()
	var listening sync.WaitGroup
	listening.Go(func() { b.o.Chat.Run(ears) })
	<-ctx.Done()
	b.mu.Lock()
	b.ctx = nil
	b.mu.Unlock()
	b.tasks.Wait() // every message says how it ended
	deafen()
	listening.Wait()
	b.out.HTTP.CloseIdleConnections()
}

// notice is what the server tells.
type notice struct {
	Version int    `json:"version"`
	Type    string `json:"type"`
	ID      string `json:"id"`
	Title   string `json:"title"`
	Fields  []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"fields"`
	Choices []struct {
		Text   string `json:"text"`
		Answer string `json:"answer"`
		Kind   string `json:"kind"`
	} `json:"choices"`
	Link    string    `json:"link"`
	Expires time.Time `json:"expiresAt"`
	Note    string    `json:"note"`
}

// ServeHTTP takes what the server tells.
func (b *Bridge) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	if err := b.take(r); err != nil {
		var said *refusal
		status := http.StatusBadGateway
		if errors.As(err, &said) {
			status = said.status
		}
		b.o.Logger.Warn("a request of the server", "channel", b.o.Name, "error", err)
		http.Error(out, err.Error(), status)
		return
	}
	out.WriteHeader(http.StatusNoContent)
}

// refusal is a request that is not taken.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

func (b *Bridge) take(r *http.Request) error {
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil || len(raw) > maxBody {
		return &refusal{http.StatusBadRequest, "the request cannot be read"}
	}
	if err := hook.VerifySignature([]byte(b.o.Secret), r.Header.Get, raw, b.o.Now(), window); err != nil {
		return &refusal{http.StatusUnauthorized, err.Error()}
	}
	var n notice
	if err := strictjson.Unmarshal(raw, &n); err != nil || n.Version != 1 {
		return &refusal{http.StatusBadRequest, "this program speaks version 1 of the webhook: is it as new as the server?"}
	}
	switch n.Type {
	case "ping":
		return b.o.Chat.Check(r.Context())
	case "question":
		return b.show(r.Context(), &n)
	case "note", "closed":
		b.news(&n)
		return nil
	}
	return &refusal{http.StatusBadRequest, "what came is of no type that is known here"}
}

// news tells a question what stands below it, or how it ended. Of one that is not shown here nothing can be told.
func (b *Bridge) news(n *notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.open[n.ID]
	if s == nil {
		return
	}
	if n.Type == "note" {
		latest(s.notes, n.Note)
		return
	}
	latest(s.closed, n.Note)
	delete(b.open, n.ID)
	s.end()
}

// latest puts a text in the place of one that nobody has read.
func latest(to chan string, text string) {
	select {
	case <-to:
	default:
	}
	to <- text
}

// show shows a question, and returns when people can see it or it is known that they cannot.
func (b *Bridge) show(ctx context.Context, n *notice) error {
	visible, failed := make(chan struct{}), make(chan error, 1)
	s := &shown{notes: make(chan string, 1), closed: make(chan string, 1)}
	b.mu.Lock()
	switch old := b.open[n.ID]; {
	case b.ctx == nil:
		b.mu.Unlock()
		return errors.New("this program is being stopped")
	case old != nil: // the server asks anew, with other answers
		latest(old.closed, "It is asked again.")
		old.end()
	case len(b.open) >= maxOpen:
		b.mu.Unlock()
		return errors.New("too many questions are open")
	}
	var shows context.Context
	shows, s.end = context.WithDeadline(b.ctx, n.Expires.Add(afterEnd))
	b.open[n.ID] = s
	b.tasks.Add(1)
	b.mu.Unlock()
	go func() {
		defer b.tasks.Done()
		defer b.gone(n.ID, s)
		p := b.post(n, s)
		p.Shown = sync.OnceFunc(func() { close(visible) })
		failed <- b.ask(shows, p, s)
	}()
	select {
	case <-visible:
		return nil
	case err := <-failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// gone forgets a question.
func (b *Bridge) gone(id string, s *shown) {
	s.end()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open[id] == s {
		delete(b.open, id)
	}
}

// ask shows a question until it is over, again where an answer could not be brought.
func (b *Bridge) ask(ctx context.Context, p channels.Post, s *shown) error {
	for {
		var lost error
		p.Settle = func(choice, by, name string) (text string) {
			text, lost = b.settle(ctx, s, choice, by, name)
			return text
		}
		err := b.o.Chat.Ask(ctx, p)
		if err != nil || lost == nil || ctx.Err() != nil {
			return err
		}
		b.o.Logger.Warn("an answer could not be brought to the server", "channel", b.o.Name, "error", lost)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// post is a question as the chat shows it.
func (b *Bridge) post(n *notice, s *shown) channels.Post {
	p := channels.Post{ID: n.ID, Title: n.Title, Link: n.Link, Expires: n.Expires, Notes: s.notes}
	for _, f := range n.Fields {
		p.Fields = append(p.Fields, channels.Field(f))
	}
	for _, c := range n.Choices {
		if !b.o.DenyOnly || c.Kind == "deny" {
			p.Buttons = append(p.Buttons, channels.Button{Text: c.Text, Data: c.Answer})
		}
	}
	if len(p.Buttons) < len(n.Choices) {
		p.Fields = append(p.Fields, channels.Field{Name: "To approve", Value: "nothing is approved here. " + where(n.Link)})
	}
	return p
}

func where(link string) string {
	if link == "" {
		return "Use the console (tidemark console)."
	}
	return "Use the console: " + link
}

// settle brings an answer to the server, and says what became of the question.
func (b *Bridge) settle(ctx context.Context, s *shown, choice, by, name string) (string, error) {
	if choice == "" {
		return ended(s), nil
	}
	body := struct {
		Answer string `json:"answer"`
		By     string `json:"by"`
		Name   string `json:"name,omitzero"`
	}{choice, strings.TrimPrefix(by, b.o.Name+":"), name}
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), buttons.CallLimit)
	defer cancel()
	err := b.out.Call(whole, http.MethodPost, b.o.Server+b.path(), body, nil)
	var said *buttons.StatusError
	switch {
	case err == nil, errors.As(err, &said) && said.Status == http.StatusConflict:
	default:
		return "Not confirmed: the answer could not be brought to the server. If the question is still open, it is asked again.", err
	}
	select {
	case text := <-s.closed:
		return text, nil
	case <-time.After(outcome):
	}
	if err != nil {
		return "This question is already decided. This answer changed nothing.", nil
	}
	return "The server has the answer, and has not said yet what became of it.", nil
}

// ended says why a question got no answer here.
func ended(s *shown) string {
	select {
	case text := <-s.closed:
		return text
	default:
		return "The program that asks here was stopped. If the question is still open, answer it in the console."
	}
}

// path is where the server takes the answers of this webhook.
func (b *Bridge) path() string {
	if b.o.Name == webhook.Plain {
		return webhook.Path
	}
	return webhook.Path + "/" + b.o.Name
}
