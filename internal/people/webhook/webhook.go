// Package webhook tells a program of the operator's about questions, and takes its answers:
// signed requests both ways, with one secret. What the program does with a question (another
// chat, a pager, a ticket) is its own; whom it lets answer, it vouches for.
//
// The package does network I/O and reads the clock; it starts no goroutine.
//
// Invariants:
//   - a request either way counts only with an HMAC-SHA256 over its time and its body, and
//     only within the window around that time;
//   - an answer names a choice of a question that is open by an unguessable token, and counts
//     once: the same request again changes nothing;
//   - nothing is answered by following a link.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/people/asking"
	"github.com/tidemark/tidemark/internal/people/board"
)

// Path is where answers are taken.
const Path = "/people/webhook"

// window is how far the time of a request may be off.
const window = 5 * time.Minute

// MinSecret is how long a secret must be.
const MinSecret = 16

// Options describe a webhook. URL and Secret are required.
type Options struct {
	URL    string
	Secret endpoint.Secret
	Now    func() time.Time // nil is time.Now
}

// Webhook asks a program. It is safe for concurrent use.
type Webhook struct {
	o     Options
	board board.Board
	out   board.Caller
}

var _ asking.Asker = (*Webhook)(nil)

// New checks the options.
func New(o Options) (*Webhook, error) {
	u, err := outbound.URL(o.URL)
	if err == nil {
		err = outbound.Exposed(u)
	}
	if err == nil && len(o.Secret) < MinSecret {
		err = fmt.Errorf("the secret needs %d characters", MinSecret)
	}
	if err != nil {
		return nil, fmt.Errorf("configure webhook: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	w := &Webhook{o: o, board: board.Board{Anybody: true}}
	w.out = board.Caller{
		HTTP: outbound.Client(outbound.Options{LocalOnly: u.Scheme == "http"}),
		Prepare: func(r *http.Request, body []byte) {
			timestamp, signature := hook.Sign([]byte(o.Secret), o.Now(), body)
			r.Header.Set(hook.HeaderTimestamp, timestamp)
			r.Header.Set(hook.HeaderSignature, signature)
		},
	}
	return w, nil
}

// Ask implements asking.Asker.
func (w *Webhook) Ask(ctx context.Context, p asking.Post) error { return w.board.Ask(ctx, w, p) }

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
}

func (w *Webhook) tell(ctx context.Context, n notice) error {
	n.Version = 1
	ctx, cancel := context.WithTimeout(ctx, board.CallLimit)
	defer cancel()
	if err := w.out.Call(ctx, http.MethodPost, w.o.URL, n, nil); err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	return nil
}

// Send implements board.Wall.
func (w *Webhook) Send(ctx context.Context, m board.Message) (string, error) {
	n := notice{Type: "question", ID: m.ID, Title: m.Title, Link: m.Link, Expires: m.Expires}
	for _, f := range m.Fields {
		n.Fields = append(n.Fields, field(f))
	}
	for _, b := range m.Buttons {
		n.Choices = append(n.Choices, choice{b.Text, b.Data})
	}
	return m.ID, w.tell(ctx, n)
}

// Edit implements board.Wall.
func (w *Webhook) Edit(ctx context.Context, place string, m board.Message) error {
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
	var in struct {
		Answer string `json:"answer"`
		By     string `json:"by"`
	}
	if err := strictjson.UnmarshalKnown(raw, &in); err != nil {
		return http.StatusBadRequest, "want {answer, by}: " + err.Error()
	}
	if in.By == "" || len(in.By) > 100 || asking.OneLine(in.By) != in.By {
		return http.StatusBadRequest, "by must say in a few plain words who answered"
	}
	if refusal := w.board.Press(board.Press{Data: in.Answer, By: "webhook:" + in.By, Name: in.By}); refusal != "" {
		return http.StatusConflict, refusal
	}
	return http.StatusOK, "taken"
}

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
