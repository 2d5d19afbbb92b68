// Package chats is Slack, Discord and ntfy, as far as questions are asked there: each speaks its
// real protocol over a socket, and refuses what the real one would.
package chats

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/test/chattest"
)

// The tokens and the channel of the workspace.
const (
	SlackApp     = "xapp-1-A111-222-secret"
	SlackBot     = "xoxb-111-222-secret"
	SlackChannel = "C0APPROVE"
)

// Slack is a workspace: Web API and Socket Mode.
type Slack struct {
	*chattest.Wall
	send  chan string
	drop  chan string // reasons to end the socket
	Acked chan string // envelopes that were acknowledged
	Opens chan struct{}
}

// NewSlack starts one.
func NewSlack(t *testing.T) *Slack {
	s := &Slack{send: make(chan string, 16), drop: make(chan string), Acked: make(chan string, 64), Opens: make(chan struct{}, 64)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /auth.test", s.method(SlackBot, func(map[string]any) map[string]any { return nil }))
	mux.HandleFunc("POST /apps.connections.open", s.method(SlackApp, func(map[string]any) map[string]any {
		return map[string]any{"url": strings.Replace(s.URL(), "http", "ws", 1) + "/socket?ticket=secret"}
	}))
	mux.HandleFunc("POST /chat.postMessage", s.method(SlackBot, func(in map[string]any) map[string]any {
		m, fault := slackMessage(in)
		if fault != "" {
			return map[string]any{"error": fault}
		}
		m.ID = fmt.Sprintf("1700000000.%06d", s.Count()+1)
		s.Post(m)
		return map[string]any{"ts": m.ID, "channel": SlackChannel}
	}))
	mux.HandleFunc("POST /chat.update", s.method(SlackBot, func(in map[string]any) map[string]any {
		m, fault := slackMessage(in)
		if fault == "" && !s.Edit(fmt.Sprint(in["ts"]), func(was *chattest.Message) { was.Text, was.Buttons = m.Text, m.Buttons }) {
			fault = "message_not_found"
		}
		if fault != "" {
			return map[string]any{"error": fault}
		}
		return nil
	}))
	mux.HandleFunc("POST /chat.postEphemeral", s.method(SlackBot, func(in map[string]any) map[string]any {
		s.Tell(fmt.Sprint(in["text"]))
		return nil
	}))
	mux.HandleFunc("GET /socket", s.socket)
	s.Wall = chattest.NewWall(t, mux)
	return s
}

// method is one of the Web API: it answers 200 whatever happens, and says ok or what is wrong.
func (s *Slack) method(token string, run func(map[string]any) map[string]any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var in map[string]any
		out := map[string]any{"error": "invalid_auth"}
		if r.Header.Get("Authorization") == "Bearer "+token {
			if strictjson.Unmarshal(raw, &in) != nil {
				out = map[string]any{"error": "invalid_json"}
			} else {
				out = run(in)
			}
		}
		if out == nil {
			out = map[string]any{}
		}
		if out["error"] != nil {
			s.Refuse(fmt.Sprint(r.URL.Path, ": ", out["error"]))
		}
		out["ok"] = out["error"] == nil
		chattest.Reply(w, http.StatusOK, out)
	}
}

// slackMessage reads Block Kit, and refuses what Slack would.
func slackMessage(in map[string]any) (m chattest.Message, fault string) {
	blocks, _ := in["blocks"].([]any)
	if in["channel"] != SlackChannel {
		return m, "channel_not_found"
	}
	if len(blocks) == 0 || len(blocks) > 50 {
		return m, "invalid_blocks"
	}
	ids := map[any]bool{}
	for _, b := range blocks {
		block, _ := b.(map[string]any)
		switch block["type"] {
		case "section":
			text, _ := block["text"].(map[string]any)
			s, _ := text["text"].(string)
			if text["type"] != "plain_text" || s == "" || len([]rune(s)) > 3000 {
				return m, "invalid_blocks"
			}
			m.Text += s + "\n"
		case "actions":
			elements, _ := block["elements"].([]any)
			for _, e := range elements {
				button, _ := e.(map[string]any)
				text, _ := button["text"].(map[string]any)
				value, _ := button["value"].(string)
				label, _ := text["text"].(string)
				if button["type"] != "button" || text["type"] != "plain_text" || label == "" || len(label) > 75 || len(value) > 2000 ||
					ids[button["action_id"]] || button["action_id"] == nil {
					return m, "invalid_blocks"
				}
				ids[button["action_id"]] = true
				m.Buttons = append(m.Buttons, chattest.Button{Label: label, Data: value})
			}
		default:
			return m, "invalid_blocks"
		}
	}
	m.Text = strings.TrimRight(m.Text, "\n")
	return m, ""
}

func (s *Slack) socket(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("ticket") != "secret" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		s.Refuse(err.Error())
		return
	}
	defer func() { _ = conn.CloseNow() }()
	ctx := r.Context()
	if conn.Write(ctx, websocket.MessageText, []byte(`{"type":"hello","num_connections":1,"connection_info":{"app_id":"A1"}}`)) != nil {
		return
	}
	s.Opens <- struct{}{}
	read := make(chan string)
	go func() {
		defer close(read)
		for {
			_, raw, err := conn.Read(ctx)
			if err != nil {
				return
			}
			var ack struct {
				ID string `json:"envelope_id"`
			}
			if strictjson.Unmarshal(raw, &ack) != nil || ack.ID == "" {
				s.Refuse("an acknowledgement without an id")
			}
			read <- ack.ID
		}
	}()
	for {
		select {
		case text := <-s.send:
			_ = conn.Write(ctx, websocket.MessageText, []byte(text)) // a client that went is seen below
		case reason := <-s.drop:
			if reason != "" {
				_ = conn.Write(ctx, websocket.MessageText, []byte(`{"type":"disconnect","reason":"`+reason+`"}`))
			}
			return
		case id, ok := <-read:
			if !ok {
				return
			}
			s.Acked <- id
		}
	}
}

// Drop ends the socket, with Slack's reason or, if it is empty, without a word.
func (s *Slack) Drop(reason string) { s.drop <- reason }

// Press presses a button in somebody's name and waits for the acknowledgement.
func (s *Slack) Press(user string, m chattest.Message, label string) {
	s.T.Helper()
	s.PressIn(SlackChannel, user, chattest.DataOf(s.T, m, label))
}

// PressIn is a press in some channel.
func (s *Slack) PressIn(channel, user, data string) {
	s.T.Helper()
	raw, err := strictjson.Marshal(map[string]any{
		"type": "interactive", "envelope_id": "env-" + data[len(data)-4:], "accepts_response_payload": false,
		"payload": map[string]any{
			"type":      "block_actions",
			"user":      map[string]any{"id": user, "username": strings.ToLower(user), "name": strings.ToLower(user), "team_id": "T1"},
			"container": map[string]any{"type": "message", "message_ts": "1", "channel_id": channel, "is_ephemeral": false},
			"actions":   []any{map[string]any{"action_id": "tidemark-0", "block_id": "b", "value": data, "type": "button"}},
		},
	})
	if err != nil {
		s.T.Fatal(err)
	}
	s.send <- string(raw)
	<-s.Acked
}
