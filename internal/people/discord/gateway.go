package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/people/asking"
	"github.com/tidemark/tidemark/internal/people/board"
)

const maxFrame = 4 << 20

// The operations of the gateway.
const (
	opDispatch  = 0
	opHeartbeat = 1
	opIdentify  = 2
	opResume    = 6
	opReconnect = 7
	opInvalid   = 9
	opHello     = 10
	opHeard     = 11
)

// resume is what it takes to go on where a connection ended, so that no press is lost.
type resume struct {
	url, session string
	seq          int64
}

// frame is what comes over the gateway.
type frame struct {
	Op   int              `json:"op"`
	Data strictjson.Value `json:"d"`
	Seq  *int64           `json:"s"`
	Type string           `json:"t"`
}

// Run listens for presses until ctx ends.
func (d *Discord) Run(ctx context.Context) {
	defer d.http.CloseIdleConnections()
	d.socket.Keep(ctx, d.o.Logger, d.listen)
}

// listen holds one connection. nil means that Discord wants another one.
func (d *Discord) listen(ctx context.Context, well func()) error {
	conn, err := d.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }() // it is over either way
	conn.SetReadLimit(maxFrame)
	ctx, cancel := context.WithCancelCause(ctx)
	l := &line{d: d, conn: conn, end: cancel, well: well}
	l.heard.Store(true)
	defer l.beats.Wait()
	defer cancel(nil)
	for {
		_, raw, err := conn.Read(ctx)
		if err != nil {
			if code := websocket.CloseStatus(err); code >= 4000 && code != 4000 && code != 4008 && code != 4009 {
				d.resume = resume{} // it would be refused again
				return fmt.Errorf("discord gateway: refused with %d%s", code, refusals[code])
			}
			return fmt.Errorf("discord gateway: %w", errors.Join(context.Cause(ctx), errors.New("the connection ended")))
		}
		var f frame
		if err := strictjson.Unmarshal(raw, &f); err != nil {
			return errors.New("discord gateway: a message cannot be read")
		}
		if f.Seq != nil {
			d.resume.seq = *f.Seq
			l.seq.Store(*f.Seq)
		}
		if over, err := l.take(ctx, &f); over {
			return err
		}
	}
}

// refusals are why Discord ends a connection for good.
var refusals = map[websocket.StatusCode]string{
	4004: ": is the token right?", 4013: ": the intents are not valid", 4014: ": the intents are not allowed",
}

// line is one connection.
type line struct {
	d     *Discord
	conn  *websocket.Conn
	end   context.CancelCauseFunc
	well  func()
	seq   atomic.Int64
	heard atomic.Bool // the latest heartbeat was answered
	beats sync.WaitGroup
}

// maxInterval is the longest time between beats, in milliseconds, that a gateway can want.
const maxInterval = 10 * 60 * 1000

// take carries out one message. It reports whether the connection is over.
func (l *line) take(ctx context.Context, f *frame) (over bool, err error) {
	switch f.Op {
	case opHello:
		var hello struct {
			Interval int64 `json:"heartbeat_interval"`
		}
		if err := strictjson.Unmarshal(f.Data, &hello); err != nil || hello.Interval <= 0 || hello.Interval > maxInterval {
			return true, errors.New("discord gateway: a greeting without an interval")
		}
		l.beats.Go(func() { l.beat(ctx, time.Duration(hello.Interval)*time.Millisecond) })
		return false, l.greet(ctx)
	case opHeartbeat:
		return false, l.send(ctx, opHeartbeat, l.seq.Load())
	case opHeard:
		l.heard.Store(true)
	case opReconnect:
		return true, nil
	case opInvalid:
		if string(f.Data) != "true" {
			l.d.resume = resume{}
		}
		return true, errors.New("discord gateway: the session is not valid any more")
	case opDispatch:
		return false, l.dispatched(ctx, f)
	}
	return false, nil
}

// greet says who we are, or where we were. Nothing but presses is wanted, which come unasked.
func (l *line) greet(ctx context.Context) error {
	if r := l.d.resume; r.session != "" {
		return l.send(ctx, opResume, map[string]any{"token": string(l.d.o.Token), "session_id": r.session, "seq": r.seq})
	}
	return l.send(ctx, opIdentify, map[string]any{
		"token": string(l.d.o.Token), "intents": 0,
		"properties": map[string]string{"os": "linux", "browser": "tidemark", "device": "tidemark"},
	})
}

func (l *line) send(ctx context.Context, op int, data any) error {
	raw, err := strictjson.Marshal(map[string]any{"op": op, "d": data})
	if err != nil {
		return fmt.Errorf("discord gateway: %w", err)
	}
	if err := l.conn.Write(ctx, websocket.MessageText, raw); err != nil {
		l.end(errors.New("nothing can be sent"))
	}
	return nil
}

// beat tells the gateway that we are there, and gives it up when it does not answer.
func (l *line) beat(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !l.heard.Swap(false) {
			l.end(errors.New("the gateway is silent"))
			return
		}
		_ = l.send(ctx, opHeartbeat, l.seq.Load()) // a failure ends the connection
	}
}

// dispatched is an event.
func (l *line) dispatched(ctx context.Context, f *frame) error {
	switch f.Type {
	case "READY":
		var ready struct {
			Session string `json:"session_id"`
			URL     string `json:"resume_gateway_url"`
		}
		if err := strictjson.Unmarshal(f.Data, &ready); err != nil {
			return errors.New("discord gateway: a greeting cannot be read")
		}
		l.d.resume.session, l.d.resume.url = ready.Session, ready.URL
		fallthrough
	case "RESUMED":
		l.well()
	case "INTERACTION_CREATE":
		var p interaction
		if err := strictjson.Unmarshal(f.Data, &p); err == nil {
			l.d.pressed(ctx, &p)
		}
	}
	return nil
}

// connect asks Discord where to listen, or goes back to where it was.
func (d *Discord) connect(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, board.CallLimit)
	defer cancel()
	address := d.resume.url
	if address == "" {
		var out struct {
			URL string `json:"url"`
		}
		if err := d.call(ctx, http.MethodGet, "/gateway/bot", nil, &out); err != nil {
			return nil, err
		}
		address = out.URL
	}
	conn, err := board.Dial(ctx, d.http, strings.TrimSuffix(address, "/")+"/?v=10&encoding=json")
	if err != nil {
		d.resume.url = "" // ask again where it is
	}
	return conn, err
}

// interaction is a press, as far as it is used.
type interaction struct {
	ID      string `json:"id"`
	Token   string `json:"token"`
	Type    int    `json:"type"` // 3: a component of a message
	Channel string `json:"channel_id"`
	Member  struct {
		User user `json:"user"`
	} `json:"member"` // in a server
	User user `json:"user"` // in a direct message
	Data struct {
		CustomID string `json:"custom_id"`
	} `json:"data"`
}

type user struct {
	ID   string `json:"id"`
	Name string `json:"username"`
}

// pressed takes a press and answers it: Discord shows a failure otherwise.
func (d *Discord) pressed(ctx context.Context, p *interaction) {
	if p.Type != 3 {
		return
	}
	who := p.Member.User
	if who.ID == "" {
		who = p.User
	}
	refusal := board.NotOpen
	if p.Channel == d.o.Channel {
		shown := "@" + asking.Cut(asking.OneLine(who.Name), 40)
		refusal = d.board.Press(board.Press{Data: p.Data.CustomID, By: name + ":" + who.ID, Name: shown})
	}
	reply := map[string]any{"type": 6} // the message is edited soon
	if refusal != "" {
		reply = map[string]any{"type": 4, "data": map[string]any{"content": refusal, "flags": 64}} // seen by them alone
	}
	ctx, cancel := context.WithTimeout(ctx, board.CallLimit)
	defer cancel()
	path := "/interactions/" + url.PathEscape(p.ID) + "/" + url.PathEscape(p.Token) + "/callback"
	if err := d.call(ctx, http.MethodPost, path, reply, nil); err != nil {
		d.o.Logger.Info("answer a press in discord", "error", err)
	}
}
