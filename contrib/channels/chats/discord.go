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

// The token and the channel of the server.
const (
	DiscordBot     = "MTIz.secret.token"
	DiscordChannel = "4242"
)

// Discord is a server of that kind: HTTP API and gateway.
type Discord struct {
	*chattest.Wall
	send     chan frame
	drop     chan string
	Greeted  chan string   // how each connection introduced itself: identify or resume
	Answered chan struct{} // presses that were answered
	Beats    chan struct{} // heartbeats, as far as there is room
	Every    int           // milliseconds between them; set before anybody connects
}

type frame struct {
	Op   int    `json:"op"`
	Data any    `json:"d"`
	Seq  *int64 `json:"s,omitempty"`
	Type string `json:"t,omitzero"`
}

// NewDiscord starts one.
func NewDiscord(t *testing.T) *Discord {
	d := &Discord{send: make(chan frame, 16), drop: make(chan string), Greeted: make(chan string, 64), Answered: make(chan struct{}, 64)}
	d.Beats, d.Every = make(chan struct{}, 4), 41_250
	mux := http.NewServeMux()
	mux.HandleFunc("GET /gateway/bot", d.method(func(*http.Request, map[string]any) (int, any) {
		return http.StatusOK, map[string]any{"url": d.gatewayURL(), "shards": 1}
	}))
	mux.HandleFunc("GET /channels/{id}", d.method(func(r *http.Request, _ map[string]any) (int, any) {
		return here(r), map[string]any{"id": DiscordChannel}
	}))
	mux.HandleFunc("POST /channels/{id}/messages", d.method(func(r *http.Request, in map[string]any) (int, any) {
		m, ok := discordMessage(in)
		if !ok {
			return http.StatusBadRequest, map[string]any{"code": 50035, "message": "Invalid Form Body"}
		}
		m.ID = fmt.Sprint(9000 + d.Count())
		if here(r) == http.StatusOK {
			d.Post(m)
		}
		return here(r), map[string]any{"id": m.ID, "channel_id": DiscordChannel}
	}))
	mux.HandleFunc("PATCH /channels/{id}/messages/{message}", d.method(func(r *http.Request, in map[string]any) (int, any) {
		m, ok := discordMessage(in)
		if !ok || !d.Edit(r.PathValue("message"), func(was *chattest.Message) { was.Text, was.Buttons = m.Text, m.Buttons }) {
			return http.StatusNotFound, map[string]any{"code": 10008, "message": "Unknown Message"}
		}
		return http.StatusOK, map[string]any{"id": r.PathValue("message")}
	}))
	mux.HandleFunc("POST /interactions/{id}/{token}/callback", d.method(func(_ *http.Request, in map[string]any) (int, any) {
		if data, _ := in["data"].(map[string]any); in["type"] == float64(4) && data["flags"] == float64(64) {
			d.Tell(fmt.Sprint(data["content"]))
		} else if in["type"] != float64(6) {
			return http.StatusBadRequest, map[string]any{"code": 50035}
		}
		d.Answered <- struct{}{}
		return http.StatusNoContent, nil
	}))
	mux.HandleFunc("GET /ws/", d.gateway)
	d.Wall = chattest.NewWall(t, mux)
	return d
}

func (d *Discord) gatewayURL() string { return strings.Replace(d.URL(), "http", "ws", 1) + "/ws" }

func here(r *http.Request) int {
	if r.PathValue("id") != DiscordChannel {
		return http.StatusNotFound
	}
	return http.StatusOK
}

func (d *Discord) method(run func(*http.Request, map[string]any) (int, any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var in map[string]any
		status, out := http.StatusUnauthorized, any(map[string]any{"message": "401: Unauthorized", "code": 0})
		switch {
		case r.Header.Get("Authorization") != "Bot "+DiscordBot:
		case len(raw) > 0 && strictjson.Unmarshal(raw, &in) != nil:
			status = http.StatusBadRequest
		default:
			status, out = run(r, in)
		}
		if status >= 400 {
			d.Refuse(fmt.Sprint(r.Method, " ", r.URL.Path, ": ", status))
		}
		if status == http.StatusNoContent {
			w.WriteHeader(status)
			return
		}
		chattest.Reply(w, status, out)
	}
}

// discordMessage reads embeds and components, and refuses what Discord would.
func discordMessage(in map[string]any) (m chattest.Message, ok bool) {
	embeds, _ := in["embeds"].([]any)
	mentions, _ := in["allowed_mentions"].(map[string]any)
	if parse, is := mentions["parse"].([]any); len(embeds) != 1 || !is || len(parse) != 0 {
		return m, false
	}
	embed, _ := embeds[0].(map[string]any)
	text, _ := embed["description"].(string)
	if text == "" || len([]rune(text)) > 4096 || strings.Count(text, "```") != 2 {
		return m, false
	}
	m.Text = strings.TrimSuffix(strings.TrimPrefix(text, "```\n"), "\n```")
	rows, _ := in["components"].([]any)
	for _, r := range rows {
		row, _ := r.(map[string]any)
		list, _ := row["components"].([]any)
		if row["type"] != float64(1) || len(list) == 0 || len(list) > 5 {
			return m, false
		}
		for _, c := range list {
			button, _ := c.(map[string]any)
			label, _ := button["label"].(string)
			id, _ := button["custom_id"].(string)
			if button["type"] != float64(2) || label == "" || len(label) > 80 || id == "" || len(id) > 100 || button["style"] == nil {
				return m, false
			}
			m.Buttons = append(m.Buttons, chattest.Button{Label: label, Data: id})
		}
	}
	return m, true
}

func (d *Discord) gateway(w http.ResponseWriter, r *http.Request) {
	if q := r.URL.Query(); q.Get("v") != "10" || q.Get("encoding") != "json" {
		d.Refuse("gateway: " + r.URL.RawQuery)
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		d.Refuse(err.Error())
		return
	}
	defer func() { _ = conn.CloseNow() }()
	ctx := r.Context()
	write := func(f frame) {
		raw, _ := strictjson.Marshal(f)
		_ = conn.Write(ctx, websocket.MessageText, raw) // a client that went is seen when reading
	}
	write(frame{Op: 10, Data: map[string]any{"heartbeat_interval": d.Every}})
	read := make(chan map[string]any)
	go func() {
		defer close(read)
		for {
			_, raw, err := conn.Read(ctx)
			if err != nil {
				return
			}
			var f map[string]any
			if strictjson.Unmarshal(raw, &f) != nil {
				d.Refuse("gateway: what came cannot be read")
			}
			read <- f
		}
	}()
	seq := int64(0)
	for {
		select {
		case f := <-d.send:
			seq++
			f.Seq = &seq
			write(f)
		case how := <-d.drop:
			if how == "reconnect" {
				write(frame{Op: 7})
			}
			return
		case f, ok := <-read:
			if !ok {
				return
			}
			if !d.heard(f, &seq, write) {
				_ = conn.Close(4004, "Authentication failed.")
				return
			}
		}
	}
}

// heard answers one message of the client. It reports whether it may stay.
func (d *Discord) heard(f map[string]any, seq *int64, write func(frame)) bool {
	data, _ := f["d"].(map[string]any)
	switch f["op"] {
	case float64(1):
		write(frame{Op: 11})
		select {
		case d.Beats <- struct{}{}:
		default:
		}
		return true
	case float64(2), float64(6):
		if data["token"] != DiscordBot {
			return false
		}
	default:
		d.Refuse(fmt.Sprint("gateway: op ", f["op"]))
		return true
	}
	*seq++
	if f["op"] == float64(2) {
		ready := map[string]any{"session_id": "s1", "resume_gateway_url": d.gatewayURL(), "v": 10}
		write(frame{Op: 0, Type: "READY", Seq: seq, Data: ready})
		d.Greeted <- "identify"
		return true
	}
	if data["session_id"] != "s1" || data["seq"] == nil {
		d.Refuse("gateway: a resume without a session")
	}
	write(frame{Op: 0, Type: "RESUMED", Seq: seq, Data: map[string]any{}})
	d.Greeted <- "resume"
	return true
}

// Drop ends the connection: "reconnect" with the gateway's wish, "" without a word.
func (d *Discord) Drop(how string) { d.drop <- how }

// Press presses a button in somebody's name and waits for the answer to it.
func (d *Discord) Press(user string, m chattest.Message, label string) {
	d.T.Helper()
	d.PressIn(DiscordChannel, user, chattest.DataOf(d.T, m, label))
}

// PressIn is a press in some channel.
func (d *Discord) PressIn(channel, user, data string) {
	d.send <- frame{Op: 0, Type: "INTERACTION_CREATE", Data: map[string]any{
		"id": "77", "token": "once", "type": 3, "channel_id": channel, "data": map[string]any{"custom_id": data, "component_type": 2},
		"member": map[string]any{"user": map[string]any{"id": user, "username": "user" + user}},
	}}
	<-d.Answered
}
