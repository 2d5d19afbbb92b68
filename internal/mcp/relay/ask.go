package relay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidemark/tidemark/internal/mcp/wire"
)

// ask sends a message of ours to the upstream, as the client whose request waits for it would, and returns the answer. What else comes
// on its way is not for a client, and is dropped: nobody has asked for it.
func (x *exchange) ask(ctx context.Context, message []byte) (*wire.Message, error) {
	m, err := wire.Read(message)
	if err != nil {
		return nil, err
	}
	req := x.request(message).WithContext(ctx)
	for name := range req.Header {
		if strings.HasPrefix(name, paramPrefix) {
			delete(req.Header, name) // of the client's own call
		}
	}
	for name, says := range map[string]string{"Mcp-Method": m.Method, "Mcp-Name": wire.Text(m.Params, "name")} {
		if len(req.Header[name]) > 0 {
			req.Header.Set(name, says)
		}
	}
	res, err := x.u.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // it was read as far as it is needed
	switch kind := mediaType(res.Header); {
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the server answered %d", res.StatusCode)
	case kind == jsonType:
		raw, err := wire.Whole(res.Body, res.ContentLength, x.relay.o.MaxMessage)
		if err != nil {
			return nil, err
		}
		return answerTo(m, raw)
	case kind != "text/event-stream":
		return nil, errors.New("the server's answer is no message")
	}
	events := wire.NewEvents(res.Body, int(x.relay.o.MaxMessage))
	for {
		ev, err := events.Next()
		if err != nil {
			return nil, err
		}
		if len(ev.Data) == 0 {
			continue
		}
		if answer, err := answerTo(m, ev.Data); err == nil {
			return answer, nil
		}
	}
}

// answerTo reads the answer to a message.
func answerTo(m *wire.Message, raw []byte) (*wire.Message, error) {
	answer, err := wire.Read(raw)
	if err != nil {
		return nil, err
	}
	if answer.Kind() != wire.Response || answer.Key() != m.Key() {
		return nil, errors.New("it is no answer to that")
	}
	return answer, nil
}
