package judge

import (
	"context"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/handles"
	"github.com/tidemark/tidemark/internal/mcp/wire"
	"github.com/tidemark/tidemark/tool"
)

// Results of some tools are kept from the agent (holdResults): its client is shown a handle, and two tools more in the listing of the
// server, by which values come out of what is kept, or all of it. Those two are answered here and never reach the server.

// ownTools are what clients are told of them.
const ownTools = `{"name":"` + handles.ExtractTool + `","description":` +
	`"Have one value read out of a result that is kept as tidemark:rN, without reading it. The shape says what may come out: ` +
	`{\"kind\":\"number\",\"min\":0,\"max\":100}, {\"kind\":\"boolean\"}, {\"kind\":\"date\"}, {\"kind\":\"time\"}, ` +
	`{\"kind\":\"datetime\"}, {\"kind\":\"choice\",\"of\":[\"a\",\"b\"]}, {\"kind\":\"row\"} for the position of an entry, ` +
	`{\"kind\":\"list\",\"each\":SHAPE,\"most\":5} or {\"kind\":\"object\",\"fields\":{\"name\":SHAPE}}.",` +
	`"inputSchema":{"type":"object","properties":{"handle":{"type":"string"},"question":{"type":"string"},"shape":{"type":"object"}},` +
	`"required":["handle","question","shape"]},"annotations":{"readOnlyHint":true}},` +
	`{"name":"` + handles.ShowTool + `","description":"Read a result that is kept as tidemark:rN, whole. What others wrote is in the ` +
	`conversation from then on, and calls that act may need the user's yes.","inputSchema":{"type":"object",` +
	`"properties":{"handle":{"type":"string"}},"required":["handle"]},"annotations":{"readOnlyHint":true}}`

// expand puts into a call what its handles stand for; why is the refusal.
func (e *Engine) expand(a *Ask) (kept []engine.Kept, why string) {
	_, name, _ := strings.Cut(a.Call.Name, "__")
	if e.Desk == nil || handles.IsTool(name) {
		return nil, ""
	}
	call, kept, err := e.Desk.Expand(a.Place.Session, a.Call)
	if err != nil {
		return nil, "The call did not run: " + err.Error() + "."
	}
	a.Call = call
	return kept, ""
}

// own answers a call of one of our own tools; nil: it is any other.
func (e *Engine) own(ctx context.Context, a *Ask) (*handles.Answer, error) {
	_, name, _ := strings.Cut(a.Call.Name, "__")
	if e.Desk == nil || !handles.IsTool(name) {
		return nil, nil
	}
	if err := e.join(ctx, a.Place); err != nil {
		return nil, err
	}
	return e.Desk.Answer(ctx, a.Place.ref(), name, a.Call.Args)
}

// heldBack records what a call brings, and passes on what is shown instead of it where it is kept from the agent.
func (c *Conn) heldBack(ctx context.Context, m *wire.Message, r *request, came Came) ([]byte, error) {
	passed, err := c.o.Port.Observe(ctx, came)
	switch {
	case err != nil:
		return m.Raw, err
	case passed.Shown != "":
		return r.says(&handles.Answer{Text: passed.Shown, Failed: came.Result.Error}), nil
	case passed.Labels == tool.Labels{} || passed.Labels == came.Result.Labels || len(m.Result) == 0 || m.Result[0] != '{':
		return m.Raw, nil
	}
	return labelled(m, passed.Labels)
}

// mayCall says why a tool may not be called. One of our own is none of the server's.
func (c *Conn) mayCall(ctx context.Context, name string) (refusal string, err error) {
	if handles.IsTool(name) && c.o.Memory.holds() {
		return "", nil
	}
	return c.o.Pins.Call(ctx, c.o.Server, name)
}

// says answers a call ourselves.
func (r *request) says(a *handles.Answer) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), r.id...)
	b = append(b, `,"result":{`...)
	if r.modern {
		b = append(b, `"resultType":"complete",`...)
	}
	b = appendText(append(b, `"content":[{"type":"text","text":`...), a.Text)
	b = append(b, `}]`...)
	if a.Failed {
		b = append(b, `,"isError":true`...)
	}
	return append(b, "}}"...)
}

// withArguments is a call with other arguments.
func withArguments(m *wire.Message, forward, args []byte) ([]byte, error) {
	params, err := wire.Put(m.Params, "arguments", args)
	if err != nil {
		return nil, err
	}
	return wire.Put(forward, "params", params)
}

// keepHeld remembers whose results are kept from agents.
func (m *Memory) keepHeld(names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held = names
}

// holds reports whether any result of the server is kept from agents.
func (m *Memory) holds() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.held) > 0
}

// withOwn is a page of tools as clients see it where results are kept from agents: with our own on the first page, and without the form
// of results that nobody will see.
func (m *Memory) withOwn(result []byte, cursor string) ([]byte, error) {
	m.mu.Lock()
	held := m.held
	m.mu.Unlock()
	if len(held) == 0 {
		return result, nil
	}
	var page struct {
		Tools []strictjson.Value `json:"tools"`
	}
	if err := strictjson.Unmarshal(result, &page); err != nil {
		return nil, err
	}
	out := []byte{'['}
	for _, t := range page.Tools {
		name := wire.Text(t, "name")
		if handles.IsTool(tool.Name(name)) {
			continue
		}
		if slices.Contains(held, name) {
			cut, err := wire.Cut(t, "outputSchema")
			if err != nil {
				return nil, err
			}
			t = cut
		}
		out = append(append(out, t...), ',')
	}
	if cursor == "" {
		out = append(out, ownTools...)
	}
	return wire.Put(result, "tools", append(slices.Clip([]byte(strings.TrimRight(string(out), ","))), ']'))
}
