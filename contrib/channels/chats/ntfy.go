package chats

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/test/chattest"
)

// The topics and the token of the server.
const (
	NtfyTopic   = "approvals-k3j2"
	NtfyAnswers = "answers-9f8e"
	NtfyToken   = "tk_secret"
)

// Ntfy is a server of that kind. What was published is not changed: how a question ended is
// another message, which is shown here below the one it is about.
type Ntfy struct {
	*chattest.Wall
	answers chan string
	Opens   chan struct{}
}

// NewNtfy starts one.
func NewNtfy(t *testing.T) *Ntfy {
	n := &Ntfy{answers: make(chan string, 16), Opens: make(chan struct{}, 16)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/health", func(w http.ResponseWriter, _ *http.Request) {
		chattest.Reply(w, http.StatusOK, map[string]bool{"healthy": true})
	})
	mux.HandleFunc("POST /{$}", n.publish)
	mux.HandleFunc("POST /"+NtfyAnswers, func(_ http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		n.answers <- string(raw)
	})
	mux.HandleFunc("GET /"+NtfyAnswers+"/json", n.stream)
	n.Wall = chattest.NewWall(t, mux)
	return n
}

type ntfyAction struct {
	Action  string            `json:"action"`
	Label   string            `json:"label"`
	URL     string            `json:"url"`
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Clear   bool              `json:"clear"`
}

func (n *Ntfy) publish(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var in struct {
		Topic    string       `json:"topic"`
		Title    string       `json:"title"`
		Message  string       `json:"message"`
		Priority int          `json:"priority"`
		Click    string       `json:"click"`
		Actions  []ntfyAction `json:"actions"`
	}
	if err := strictjson.UnmarshalKnown(raw, &in); err != nil || in.Topic != NtfyTopic || len(in.Message) > 4096 || len(in.Actions) > 3 ||
		r.Header.Get("Authorization") != "Bearer "+NtfyToken {
		n.Refuse("a message that is refused: " + string(raw))
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if strings.Contains(string(raw), NtfyToken) {
		n.Refuse("the token is in a message")
	}
	if in.Priority == 2 { // news of the latest
		n.Edit(fmt.Sprint(n.Count()), func(m *chattest.Message) { m.Text, m.Buttons = m.Text+"\n\n"+in.Message, nil })
		chattest.Reply(w, http.StatusOK, map[string]string{"id": "x"})
		return
	}
	m := chattest.Message{ID: fmt.Sprint(n.Count() + 1), Text: in.Message}
	for _, a := range in.Actions {
		if a.Action == "http" && (a.Method != http.MethodPost || a.URL != n.URL()+"/"+NtfyAnswers) {
			n.Refuse("a button that leads elsewhere")
		}
		if a.Action == "http" {
			m.Buttons = append(m.Buttons, chattest.Button{Label: a.Label, Data: a.Body})
		}
	}
	n.Post(m)
	chattest.Reply(w, http.StatusOK, map[string]string{"id": m.ID, "event": "message"})
}

func (n *Ntfy) stream(w http.ResponseWriter, r *http.Request) {
	flush := func(text string) {
		_, _ = io.WriteString(w, text+"\n") // a client that went is seen below
		_ = http.NewResponseController(w).Flush()
	}
	flush(`{"id":"a","time":1,"event":"open","topic":"` + NtfyAnswers + `"}`)
	n.Opens <- struct{}{}
	for i := 0; ; i++ {
		select {
		case text := <-n.answers:
			raw, _ := strictjson.Marshal(map[string]any{
				"id": fmt.Sprint("m", i), "time": 2, "event": "message", "topic": NtfyAnswers, "message": text,
			})
			flush(string(raw))
		case <-r.Context().Done():
			return
		}
	}
}

// Press does what the app does with a button: it posts its body.
func (n *Ntfy) Press(_ string, m chattest.Message, label string) {
	n.T.Helper()
	res, err := http.Post(n.URL()+"/"+NtfyAnswers, "text/plain", strings.NewReader(chattest.DataOf(n.T, m, label)))
	if err != nil {
		n.T.Fatal(err)
	}
	_ = res.Body.Close() // nothing is in it
}
