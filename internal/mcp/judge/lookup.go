package judge

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/mcp/wire"
	"github.com/tidemark/tidemark/tool"
)

// Ends are both sides of a connection, for what the gate says itself while a request waits. Nil: that side cannot be reached.
type Ends struct {
	Client Say
	// Server sends a message of ours to the server and returns its answer.
	Server func(ctx context.Context, message []byte) (*wire.Message, error)
}

// lookUpTime bounds how long a call waits for what we look up before it: without it the agent's own look-ups count.
const lookUpTime = 5 * time.Second

// lookUps are the look-ups that the monitor wants made at the server of a call, once for each message.
func (e *Engine) lookUps(ctx context.Context, a *Ask) ([]tool.Call, error) {
	server, _, ok := strings.Cut(a.Call.Name, "__")
	if !ok || !a.Looks {
		return nil, nil
	}
	list, err := e.Monitor.LookUps(ctx, a.Place.ref(), tool.Name(server))
	var out []tool.Call
	for _, l := range list {
		if err := l.Permit.Redeem(l.Call); err != nil {
			return nil, err
		}
		out = append(out, l.Call)
	}
	return out, err
}

// rule asks the monitor about a call. What it wants looked up first is asked of the server, and then the call is asked about again.
func (c *Conn) rule(ctx context.Context, r *request, ask Ask) (Ruling, error) {
	ask.Looks = r.ends.Server != nil && r.method == callMethod
	ruling, err := c.o.Port.Decide(ctx, ask)
	if err != nil || len(ruling.LookUps) == 0 {
		return ruling, err
	}
	limit, cancel := context.WithTimeout(ctx, lookUpTime)
	defer cancel()
	for _, call := range ruling.LookUps {
		if err := c.lookUp(limit, r, call); err != nil {
			return Ruling{}, err
		}
	}
	ask.Looks = false
	return c.o.Port.Decide(ctx, ask)
}

// lookUp makes one call of ours, and records what it brings. That it failed is recorded too; then nothing was looked up.
func (c *Conn) lookUp(ctx context.Context, r *request, call tool.Call) error {
	res := tool.Result{CallID: call.ID, Name: call.Name, Args: call.Args, Error: true}
	if content, err := c.askServer(ctx, r, call); err != nil {
		c.o.Logger.LogAttrs(ctx, slog.LevelInfo, "mcp: a look-up failed",
			slog.String("server", c.o.Server.Name), slog.String("error", err.Error()))
	} else {
		res.Content, res.Error = content, false
	}
	_, err := c.o.Port.Observe(context.WithoutCancel(ctx), Came{Place: r.place, Result: res})
	return err
}

// askServer makes a call of ours. Its id is none that a client has, and of what the client says with each request only what the newer
// revisions want goes with it.
func (c *Conn) askServer(ctx context.Context, r *request, call tool.Call) ([]byte, error) {
	name, mine := strings.CutPrefix(call.Name, c.o.Server.Name+"__")
	if !mine {
		return nil, errors.New("it is a tool of another server")
	}
	refusal, err := c.o.Pins.Call(ctx, c.o.Server, name)
	if err != nil || refusal != "" {
		return nil, errors.Join(err, errors.New("the tool may not be called"))
	}
	body := struct {
		JSONRPC string `json:"jsonrpc"`
		ID      string `json:"id"`
		Method  string `json:"method"`
		Params  struct {
			Name      string                      `json:"name"`
			Arguments strictjson.Value            `json:"arguments"`
			Meta      map[string]strictjson.Value `json:"_meta,omitzero"`
		} `json:"params"`
	}{JSONRPC: "2.0", ID: "tidemark-" + c.o.Memory.newID(), Method: callMethod}
	body.Params.Name, body.Params.Arguments, body.Params.Meta = name, strictjson.Value(call.Args), r.revision
	message, err := strictjson.Marshal(body)
	if err != nil {
		return nil, err
	}
	m, err := r.ends.Server(ctx, message)
	switch {
	case err != nil:
		return nil, err
	case m.Result == nil:
		return nil, errors.New("the server refused")
	}
	if structured := wire.Get(m.Result, "structuredContent"); len(structured) > 0 && string(wire.Get(m.Result, "isError")) != "true" {
		return structured, nil
	}
	got := outcomeOf(m)
	if got.failed || got.task != "" || got.kind != "" && got.kind != "complete" {
		return nil, errors.New("the server did not answer")
	}
	return got.content, nil
}

// revision is what each request of the newer revisions says of itself; nil: of the older ones.
func revision(meta wire.Object) map[string]strictjson.Value {
	var out map[string]strictjson.Value
	for _, key := range []string{versionKey, capabilityKey, clientKey} {
		if v := meta.Get(key); len(v) > 0 {
			if out == nil {
				out = map[string]strictjson.Value{}
			}
			out[key] = slices.Clone(v)
		}
	}
	return out
}
