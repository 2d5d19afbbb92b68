// Package webhook tells a program of the operator's about questions, and takes its answers:
// signed requests both ways, with one secret. What the program does with a question (another
// chat, a pager, a ticket) is its own; whom it lets answer, it vouches for. Slack, Discord and
// ntfy are asked in so, by the program in contrib/channels.
//
// The package does network I/O and reads the clock; it starts no goroutine.
//
// Invariants:
//   - a request either way counts only with an HMAC-SHA256 over its time and its body, and
//     only within the window around that time;
//   - where the webhook has a key, an answer counts only with a signature by it besides: whoever
//     knows the secret, as this server does, cannot answer in somebody's name;
//   - an answer names a choice of a question that is open by an unguessable token, and counts
//     once: the same request again changes nothing;
//   - nothing is answered by following a link.
package webhook

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/people/buttons"
	"github.com/tidemark/tidemark/internal/people/channels"
)

// Path is where answers are taken: those of the webhook Plain here, of any other below it, by its name.
const Path = "/people/webhook"

// HeaderProof holds the signature by the key: hex, over the timestamp, a dot and the body.
const HeaderProof = "X-Tidemark-Proof"

// window is how far the time of a request may be off.
const window = 5 * time.Minute

// MinSecret is how long a secret must be.
const MinSecret = 16

// Plain is the name of a webhook that has none of its own.
const Plain = "webhook"

// proved are the names whose accounts rules for people take for somebody's outside: a program that answers under one of
// them has a key.
var proved = []string{"slack", "discord"}

// named are all names there are, besides those that begin with "webhook-". Others could be taken for accounts of this
// server's own (approver:ada), or of another channel.
var named = append([]string{Plain, "ntfy"}, proved...)

// Options describe a webhook. URL and Secret are required.
type Options struct {
	Name   string // under which its answers are recorded; "": Plain
	URL    string
	Secret endpoint.Secret
	Key    ed25519.PublicKey // of whom answers must be; nil: the secret alone signs them
	Now    func() time.Time  // nil is time.Now
}

// form is how names of programs of one's own look.
var form = regexp.MustCompile(`^webhook-[a-z0-9-]{1,40}$`)

// check says what is wrong with a name.
func (o *Options) check() error {
	switch {
	case !slices.Contains(named, o.Name) && !form.MatchString(o.Name):
		return fmt.Errorf("%q is no name of a webhook: there are %s and webhook-…, in small letters", o.Name, strings.Join(named, ", "))
	case o.Key == nil && slices.Contains(proved, o.Name):
		return fmt.Errorf("what is answered as %s counts as that person's, so the program must sign it with a key of its own", o.Name)
	}
	return nil
}

// Webhook asks a program. It is safe for concurrent use.
type Webhook struct {
	o     Options
	posts buttons.Posts
	out   buttons.Caller
}

var _ channels.Asker = (*Webhook)(nil)

// New checks the options.
func New(o Options) (*Webhook, error) {
	u, err := outbound.URL(o.URL)
	if err == nil {
		err = outbound.Exposed(u)
	}
	if err == nil && len(o.Secret) < MinSecret {
		err = fmt.Errorf("the secret needs %d characters", MinSecret)
	}
	o.Name = cmp.Or(o.Name, Plain)
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return nil, fmt.Errorf("configure webhook: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	w := &Webhook{o: o, posts: buttons.Posts{Anybody: true}}
	w.out = buttons.Caller{
		HTTP: outbound.Client(outbound.Options{LocalOnly: u.Scheme == "http"}),
		Prepare: func(r *http.Request, body []byte) {
			timestamp, signature := hook.Sign([]byte(o.Secret), o.Now(), body)
			r.Header.Set(hook.HeaderTimestamp, timestamp)
			r.Header.Set(hook.HeaderSignature, signature)
		},
	}
	return w, nil
}

// Name is what answers given here are recorded under.
func (w *Webhook) Name() string { return w.o.Name }

// Path is where its answers are taken.
func (w *Webhook) Path() string {
	if w.o.Name == Plain {
		return Path
	}
	return Path + "/" + w.o.Name
}

// Ask implements channels.Asker.
func (w *Webhook) Ask(ctx context.Context, p channels.Post) error { return w.posts.Ask(ctx, w, p) }

// notice is what the program is told.
type notice struct {
	Version int       `json:"version"`
	Type    string    `json:"type"` // question, note, closed, ping
	ID      string    `json:"id,omitzero"`
	Title   string    `json:"title,omitzero"`
	Fields  []field   `json:"fields,omitzero"`
	Choices []choice  `json:"choices,omitzero"`
	Link    string    `json:"link,omitzero"`
	Expires time.Time `json:"expiresAt,omitzero"`
	Note    string    `json:"note,omitzero"` // what stands below the question now, or how it ended
}

type field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// choice is one answer: what people see, and what comes back.
type choice struct {
	Text   string `json:"text"`
	Answer string `json:"answer"`
	Kind   string `json:"kind"` // once, grant, deny
}

func (w *Webhook) tell(ctx context.Context, n notice) error {
	n.Version = 1
	ctx, cancel := context.WithTimeout(ctx, buttons.CallLimit)
	defer cancel()
	if err := w.out.Call(ctx, http.MethodPost, w.o.URL, n, nil); err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	return nil
}

// Send implements buttons.Messenger.
func (w *Webhook) Send(ctx context.Context, m buttons.Message) (string, error) {
	n := notice{Type: "question", ID: m.ID, Title: m.Title, Link: m.Link, Expires: m.Expires}
	for _, f := range m.Fields {
		n.Fields = append(n.Fields, field(f))
	}
	for i, b := range m.Buttons {
		n.Choices = append(n.Choices, choice{b.Text, b.Data, m.Post.Buttons[i].Data})
	}
	return m.ID, w.tell(ctx, n)
}

// Edit implements buttons.Messenger.
func (w *Webhook) Edit(ctx context.Context, place string, m buttons.Message) error {
	kind := "note"
	if m.Over {
		kind = "closed"
	}
	return w.tell(ctx, notice{Type: kind, ID: place, Note: m.Last})
}

// Check sends a ping, which the program need only accept.
func (w *Webhook) Check(ctx context.Context) error { return w.tell(ctx, notice{Type: "ping"}) }

// Run waits for the end of ctx: answers come to ServeHTTP.
func (w *Webhook) Run(ctx context.Context) {
	<-ctx.Done()
	w.out.HTTP.CloseIdleConnections()
}

// maxBody bounds an answer.
const maxBody = 16 << 10

// ServeHTTP takes an answer.
func (w *Webhook) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	status, text := w.take(r)
	out.Header().Set("Content-Type", "application/json")
	out.Header().Set("Cache-Control", "no-store")
	out.WriteHeader(status)
	body, _ := strictjson.Marshal(map[string]any{"accepted": status == http.StatusOK, "text": text}) // a flag and a text
	_, _ = out.Write(body)                                                                           // whoever asked may be gone
}

func (w *Webhook) take(r *http.Request) (status int, text string) {
	if r.Method != http.MethodPost {
		return http.StatusMethodNotAllowed, "an answer is posted: nothing is answered by following a link"
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil || len(raw) > maxBody {
		return http.StatusBadRequest, "the answer cannot be read"
	}
	if err := hook.VerifySignature([]byte(w.o.Secret), r.Header.Get, raw, w.o.Now(), window); err != nil {
		return http.StatusUnauthorized, err.Error()
	}
	if w.o.Key != nil && !w.proven(r.Header, raw) {
		return http.StatusUnauthorized, "it is not signed by the key of this webhook (" + HeaderProof + ")"
	}
	var in struct {
		Answer string `json:"answer"`
		By     string `json:"by"`
		Name   string `json:"name"` // as people call them; "": By
	}
	if err := strictjson.UnmarshalKnown(raw, &in); err != nil {
		return http.StatusBadRequest, "want {answer, by, name}: " + err.Error()
	}
	in.Name = cmp.Or(in.Name, in.By)
	if in.By == "" || !plain(in.By) || !plain(in.Name) {
		return http.StatusBadRequest, "by must say in a few plain words who answered"
	}
	if refusal := w.posts.Press(buttons.Press{Data: in.Answer, By: w.o.Name + ":" + in.By, Name: in.Name}); refusal != "" {
		return http.StatusConflict, refusal
	}
	return http.StatusOK, "taken"
}

// plain reports whether a text is a few plain words.
func plain(s string) bool { return len(s) <= 100 && channels.OneLine(s) == s }

// proven reports whether a request is signed by the key.
func (w *Webhook) proven(h http.Header, raw []byte) bool {
	signature, err := hex.DecodeString(h.Get(HeaderProof))
	return err == nil && ed25519.Verify(w.o.Key, Proved(h.Get(hook.HeaderTimestamp), raw), signature)
}

// Proved is what the key signs of a request.
func Proved(timestamp string, body []byte) []byte { return append([]byte(timestamp+"."), body...) }

// errURL is for settings.
var errURL = errors.New("want https, or http to this machine")

// reachable reports whether a URL will do.
func reachable(raw string) error {
	u, err := outbound.URL(raw)
	if err != nil {
		return err
	}
	if outbound.Exposed(u) != nil {
		return errURL
	}
	return nil
}

// host names a URL without what may be secret in it.
func host(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "?"
	}
	return strings.TrimSuffix(u.Host, ":443")
}

// Detail says where questions go.
func (w *Webhook) Detail() string { return "questions go to " + host(w.o.URL) }
