package chattest

import (
	"crypto/ed25519"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// WebhookSecret signs both ways.
const WebhookSecret = "a-secret-of-32-characters-or-so.."

// Webhook is a program of the operator's: it checks signatures, shows questions and brings
// answers back.
type Webhook struct {
	*Wall
	Answers http.Handler       // where answers are brought; set before anything is pressed
	Key     ed25519.PrivateKey // signs answers besides; nil: the secret alone does
}

// NewWebhook starts one.
func NewWebhook(t *testing.T) *Webhook {
	w := &Webhook{}
	w.Wall = NewWall(t, http.HandlerFunc(w.take))
	return w
}

type named struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type choice struct {
	Text   string `json:"text"`
	Answer string `json:"answer"`
	Kind   string `json:"kind"`
}

func (w *Webhook) take(out http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	if err := hook.VerifySignature([]byte(WebhookSecret), r.Header.Get, raw, time.Now(), time.Minute); err != nil {
		w.Refuse(err.Error())
		out.WriteHeader(http.StatusUnauthorized)
		return
	}
	var in struct {
		Version int       `json:"version"`
		Type    string    `json:"type"`
		ID      string    `json:"id"`
		Title   string    `json:"title"`
		Fields  []named   `json:"fields"`
		Choices []choice  `json:"choices"`
		Link    string    `json:"link"`
		Expires time.Time `json:"expiresAt"`
		Note    string    `json:"note"`
	}
	if err := strictjson.UnmarshalKnown(raw, &in); err != nil || in.Version != 1 {
		w.Refuse("what came cannot be read: " + string(raw))
	}
	switch in.Type {
	case "question":
		m := Message{ID: in.ID, Text: in.Title}
		for _, f := range in.Fields {
			m.Text += "\n" + f.Name + ": " + f.Value
		}
		for _, c := range in.Choices {
			m.Buttons = append(m.Buttons, Button{c.Text, c.Answer})
		}
		w.Post(m)
	case "note", "closed":
		if !w.Edit(in.ID, func(m *Message) {
			m.Text += "\n\n" + in.Note
			if in.Type == "closed" {
				m.Buttons = nil
			}
		}) {
			w.Refuse("news of a question that was never shown")
		}
	}
	out.WriteHeader(http.StatusNoContent)
}

// Press brings an answer in somebody's name.
func (w *Webhook) Press(user string, m Message, label string) {
	w.T.Helper()
	body := `{"answer":"` + DataOf(w.T, m, label) + `","by":"` + user + `"}`
	if status, text := w.Bring(body, time.Now(), WebhookSecret); status != http.StatusOK {
		w.Tell(text)
	}
}

// Bring brings a request that was signed at some time with some secret.
func (w *Webhook) Bring(body string, at time.Time, secret string) (status int, text string) {
	timestamp, signature := hook.Sign([]byte(secret), at, []byte(body))
	r := httptest.NewRequest(http.MethodPost, "/people/webhook", strings.NewReader(body))
	r.Header.Set(hook.HeaderTimestamp, timestamp)
	r.Header.Set(hook.HeaderSignature, signature)
	if w.Key != nil {
		r.Header.Set("X-Tidemark-Proof", hex.EncodeToString(ed25519.Sign(w.Key, []byte(timestamp+"."+body))))
	}
	out := httptest.NewRecorder()
	w.Answers.ServeHTTP(out, r)
	return out.Code, out.Body.String()
}
