package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/tidemark/tidemark/contrib/channels/line"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/people/buttons"
	"github.com/tidemark/tidemark/internal/people/channels"
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
	l := &link{Line: &line.Line{Conn: conn, Name: "discord gateway", Limit: maxFrame}, d: d, well: well}
	l.heard.Store(true)
	err = line.Hold(ctx, l.Line, nil, l.take)
	var ended *line.Ended
	if errors.As(err, &ended) && ended.Code > 4000 && ended.Code != 4008 && ended.Code != 4009 {
		d.resume = resume{} // it would be refused again
		return fmt.Errorf("discord gateway: refused with %d%s", ended.Code, refusals[ended.Code])
	}
	return err
}

// refusals are why Discord ends a connection for good.
var refusals = map[websocket.StatusCode]string{
	4004: ": is the token right?", 4013: ": the intents are not valid", 4014: ": the intents are not allowed",
}

// line is one connection.
type link struct {
	*line.Line
	d     *Discord
	well  func()
	seq   atomic.Int64
	heard atomic.Bool // the latest heartbeat was answered
}

// maxInterval is the longest time between beats, in milliseconds, that a gateway can want.
const maxInterval = 10 * 60 * 1000

// take carries out one message. It reports whether the connection is over.
func (l *link) take(ctx context.Context, f *frame) (over bool, err error) {
	if f.Seq != nil {
		l.d.resume.seq = *f.Seq
		l.seq.Store(*f.Seq)
	}
	switch f.Op {
	case opHello:
		var hello struct {
			Interval int64 `json:"heartbeat_interval"`
		}
		if err := strictjson.Unmarshal(f.Data, &hello); err != nil || hello.Interval <= 0 || hello.Interval > maxInterval {
			return true, errors.New("discord gateway: a greeting without an interval")
		}
		l.Every(ctx, time.Duration(hello.Interval)*time.Millisecond, func() error { return l.beat(ctx) })
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
func (l *link) greet(ctx context.Context) error {
	if r := l.d.resume; r.session != "" {
		return l.send(ctx, opResume, map[string]any{"token": string(l.d.o.Token), "session_id": r.session, "seq": r.seq})
	}
	return l.send(ctx, opIdentify, map[string]any{
		"token": string(l.d.o.Token), "intents": 0,
		"properties": map[string]string{"os": "linux", "browser": "tidemark", "device": "tidemark"},
	})
}

func (l *link) send(ctx context.Context, op int, data any) error {
	if err := l.Send(ctx, map[string]any{"op": op, "d": data}); err != nil {
		l.End(errors.New("nothing can be sent"))
	}
	return nil
}

// beat tells the gateway that we are there, and gives it up when it did not answer the last time.
func (l *link) beat(ctx context.Context) error {
	if !l.heard.Swap(false) {
		return errors.New("the gateway is silent")
	}
	return l.send(ctx, opHeartbeat, l.seq.Load())
}

// dispatched is an event.
func (l *link) dispatched(ctx context.Context, f *frame) error {
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
	ctx, cancel := context.WithTimeout(ctx, buttons.CallLimit)
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
	conn, err := line.Dial(ctx, d.http, strings.TrimSuffix(address, "/")+"/?v=10&encoding=json")
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
	refusal := buttons.NotOpen
	if p.Channel == d.o.Channel {
		shown := "@" + channels.Cut(channels.OneLine(who.Name), 40)
		refusal = d.posts.Press(buttons.Press{Data: p.Data.CustomID, By: name + ":" + who.ID, Name: shown})
	}
	reply := map[string]any{"type": 6} // the message is edited soon
	if refusal != "" {
		reply = map[string]any{"type": 4, "data": map[string]any{"content": refusal, "flags": 64}} // seen by them alone
	}
	ctx, cancel := context.WithTimeout(ctx, buttons.CallLimit)
	defer cancel()
	path := "/interactions/" + url.PathEscape(p.ID) + "/" + url.PathEscape(p.Token) + "/callback"
	if err := d.call(ctx, http.MethodPost, path, reply, nil); err != nil {
		d.o.Logger.Info("answer a press in discord", "error", err)
	}
}
