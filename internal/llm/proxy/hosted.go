package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/conversation"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// hosted are the tools that the provider itself may run for this request, and the members of it that may make
// it look something up.
func (x *exchange) hosted() []string {
	if x.req == nil {
		return nil
	}
	var out []string
	for _, t := range x.req.Tools {
		if t.Hosted && !x.edit.NoTools && !slices.Contains(x.edit.Hide, t.Name) && !slices.Contains(out, t.Name) {
			out = append(out, t.Name)
		}
	}
	if x.rt.api.HidesHosted() {
		for _, name := range x.req.Odd {
			if !slices.Contains(x.u.PassNames, name) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// seals reports whether a tool of the provider's that ran is one which makes what it gives of the
// conversation alone: a picture, the output of code that reaches nothing. The request offered it as
// such; one that nobody offered may bring anything.
func (x *exchange) seals(name string) bool {
	if x.req == nil || x.req.Reused {
		return false
	}
	for _, t := range x.req.Tools {
		if t.Sealed && (t.Name == name || strings.HasSuffix(name, "_"+t.Name)) {
			return true
		}
	}
	return false
}

// looked reports what the provider's own tools bring where the format never says that they
// ran: whatever was offered may have been used, and the calls of this very answer stand on it.
func (x *exchange) looked(ctx context.Context) error {
	if x.visit == nil || !x.rt.api.HidesHosted() {
		return nil
	}
	for _, name := range x.hosted() {
		known, _ := x.visit.CallName(name, nil)
		worst := trust.Untrusted // nobody here sees it
		o := engine.Observation{Ref: x.ref, Result: tool.Result{Name: known}, Declared: &worst}
		if _, err := x.p.o.Monitor.Observe(ctx, o, engine.DeferWrite()); unlessSealed(err) != nil {
			return err
		}
		x.argued = true
	}
	return nil
}

// reply is how the client may refer to the answer. One that goes on in the background may
// still read anything that the provider's tools find.
func (x *exchange) reply(o result) conversation.Reply {
	r := conversation.Reply{ID: o.ID, Items: o.Items, Refused: o.Refused > 0}
	if x.req.Hints.Lasting {
		r.Conversation = x.req.Hints.Previous
	}
	unfinished := !o.Complete || o.Stop == "queued" || o.Stop == "in_progress"
	r.Unread = unfinished && len(x.hosted()) > 0
	return r
}

// maxOpening is how long a request may be that makes a conversation.
const maxOpening = 64 << 10

// opening looks whether a request makes a conversation that the provider keeps, with nothing
// in it. It leaves the request as it is.
func (x *exchange) opening() bool {
	path := strings.Trim(x.r.URL.Path, "/")
	if x.r.Method != http.MethodPost || !strings.HasSuffix(path, "/conversations") {
		return false
	}
	head, err := io.ReadAll(io.LimitReader(x.r.Body, maxOpening))
	x.r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), x.r.Body), x.r.Body}
	if err != nil || len(head) == maxOpening {
		return false
	}
	var body map[string]strictjson.Value
	if len(bytes.TrimSpace(head)) > 0 && strictjson.Unmarshal(head, &body) != nil {
		return false
	}
	for key, value := range body {
		text := string(bytes.TrimSpace(value))
		if key != "metadata" && (key != "items" || text != "[]" && text != "null") {
			return false
		}
	}
	return true
}

// filled notes that the request may put something into a conversation that the provider keeps: its path
// names one, and an operator lets it pass unread.
func (x *exchange) filled() {
	parts := strings.Split(strings.Trim(x.r.URL.Path, "/"), "/")
	if i := slices.Index(parts, "conversations"); i >= 0 && i+2 < len(parts) {
		x.p.o.Follower.Filled(x.who.tenant, parts[i+1])
	}
}

// opened notes the conversation that the answer to an opening names.
func (x *exchange) opened(resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return nil
	}
	head, err := io.ReadAll(io.LimitReader(resp.Body, maxOpening))
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), resp.Body), resp.Body}
	var made struct {
		ID string `json:"id"`
	}
	if err == nil && strictjson.Unmarshal(head, &made) == nil {
		x.p.o.Follower.Opened(x.who.tenant, made.ID)
	}
	return nil
}
