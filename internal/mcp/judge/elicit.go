package judge

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/mcp/wire"
	words "github.com/tidemark/tidemark/internal/question"
)

// Asking inside the client. The question is in the queue already, and whoever answers first has
// answered. What a form says is what the host is set up to answer: an answer that comes faster than
// a person reads is none.

// answer is what came back for a question of ours.
type answer struct{ result []byte }

const (
	fastest  = 300 * time.Millisecond
	dialogs  = 10 * time.Minute // how long a question inside the client stands
	similar  = 10 * time.Minute
	inputKey = "tidemark"
)

// canElicit reports whether the client of a request said that it can put a form to its person.
func (c *Conn) canElicit(r *request) bool {
	c.mu.Lock()
	declared := c.declared
	c.mu.Unlock()
	if r.modern {
		if r.method != callMethod && r.method != readMethod && r.method != promptMethod {
			return false // no other request may be answered with a question
		}
		declared = r.declared
	}
	form := wire.Get(declared, "elicitation")
	if form == nil {
		return false
	}
	return wire.Get(form, "form") != nil || strings.Trim(string(form), " {}\t\r\n") == ""
}

// form is the question as clients show it: three lines, and a choice whose default is no.
func form(h *Held, legacy bool) []byte {
	lines := []string{"Tidemark holds " + text.Cover(h.Lines[0], 300)}
	for _, l := range h.Lines[1:] {
		for _, part := range []string{words.Why + ": ", words.Read + ": ", words.Asked + ": "} {
			if strings.HasPrefix(l, part) {
				lines = append(lines, text.Cover(l, 300))
			}
		}
	}
	lines = lines[:min(2, len(lines))]
	lines = append(lines, "You can also answer elsewhere: tidemark approvals watch")
	params := map[string]any{
		"message": strings.Join(lines, "\n"),
		"requestedSchema": map[string]any{
			"type": "object", "required": []string{"decision"},
			"properties": map[string]any{"decision": map[string]any{
				"type": "string", "title": "Decision", "enum": []string{"once", "similar", "deny"}, "default": "deny",
				"enumNames": []string{"Allow once", "Allow similar calls for 10 minutes", "Deny"},
			}},
		},
	}
	if !legacy {
		params["mode"] = "form"
	}
	out, err := strictjson.Marshal(params)
	if err != nil { // a text that is no UTF-8 cannot be shown
		return []byte(`{"message":"Tidemark holds a call: tidemark approvals watch","requestedSchema":{"type":"object","properties":{}}}`)
	}
	return out
}

// elicit puts a held call to the client's person. In the older revisions that is a request of ours, and
// the call waits; in the newer ones it is the answer to the call, which comes again. It returns that
// answer, or nil.
func (c *Conn) elicit(ctx context.Context, r *request, h *Held, say Say) []byte {
	if r.modern {
		return c.inputRequired(r, h)
	}
	if say == nil {
		return nil
	}
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil
	}
	id := `"tidemark-` + hex.EncodeToString(b[:]) + `"`
	got := make(chan answer, 1)
	key := (&wire.Message{ID: []byte(id)}).Key()
	c.mu.Lock()
	if c.ours == nil {
		c.ours = map[string]chan answer{}
	}
	c.ours[key] = got
	c.mu.Unlock()
	asked := c.o.Now()
	message := append([]byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"elicitation/create","params":`), form(h, true)...)
	if err := say(append(message, '}')); err != nil {
		return nil
	}
	go func() {
		defer func() {
			c.mu.Lock()
			delete(c.ours, key)
			c.mu.Unlock()
		}()
		select {
		case a := <-got:
			_ = c.vote(ctx, h.ID, h.Session, a.result, c.o.Now().Sub(asked)) // the wait ends by what is recorded, not by this
		case <-ctx.Done(): // decided elsewhere, or given up
			_ = say([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`))
		}
	}()
	return nil
}

// vote carries an answer to the monitor. Anything but a clear word of a person is no answer, and the
// question stays open for whoever else is asked.
func (c *Conn) vote(ctx context.Context, id, session string, result []byte, took time.Duration) error {
	if took < fastest {
		return nil
	}
	said := Said{Question: id, Session: session}
	switch action := wire.Text(result, "action"); {
	case action == "decline":
	case action != "accept":
		return nil
	default:
		switch wire.Text(wire.Get(result, "content"), "decision") {
		case "once":
			said.Approve = true
		case "similar":
			said.Approve, said.For = true, similar
		case "deny":
		default:
			return nil
		}
	}
	return c.o.Port.Answer(ctx, said)
}

// inputRequired answers a call of the newer revisions with the question.
func (c *Conn) inputRequired(r *request, h *Held) []byte {
	now := c.o.Now()
	signed, err := c.o.Memory.sign(state{
		Question: h.ID, Session: r.place.Session, Branch: r.place.Branch, Digest: r.call.Digest(), Asked: now, Until: now.Add(dialogs),
	})
	if err != nil {
		return nil
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), r.id...)
	b = append(append(b, `,"result":{"resultType":"input_required","requestState":`...), signed...)
	b = append(append(b, `,"inputRequests":{"`+inputKey+`":{"method":"elicitation/create","params":`...), form(h, false)...)
	return append(b, "}}}}"...)
}

var errState = errors.New("the answer does not belong to this call, comes too late, or was used before")

// retried takes the answer out of a call that comes again, and gives it to the monitor. What leaves
// is the call without it.
func (c *Conn) retried(ctx context.Context, m *wire.Message, r *request, a *wire.Asked) ([]byte, error) {
	s, ok := c.o.Memory.open(a.State, r, c.o.Now())
	if !ok {
		return nil, errState
	}
	r.elicited = true
	result := wire.Get(a.Answers, inputKey)
	if err := c.vote(ctx, s.Question, s.Session, result, c.o.Now().Sub(s.Asked)); err != nil && !errors.Is(err, ErrNotHere) {
		return nil, err
	}
	params, err := wire.Cut(m.Params, "requestState", "inputResponses")
	if err != nil {
		return nil, err
	}
	return wire.Put(m.Raw, "params", params)
}
