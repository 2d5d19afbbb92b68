package proxy

import (
	"context"
	"net/http"
	"sync"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/handles"
	"github.com/tidemark/tidemark/internal/llm/conversation"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Results of the tools that the policy names (holdResults) are kept from the model of a client that asks for it (AUD-03). The client sends
// the header and offers our two tools as its own; what they return in it is not looked at. Every request repeats the conversation with the
// results as they came, so every request is changed here before anybody reads it: what the model gets, and what is followed, has a handle
// in the place of a result, and what came out in the place of what one of our tools returned. Streams are not touched, and nothing is
// asked twice.

// aside remembers what stands in the place of results, as long as the server lives. A result that is forgotten is read, and counts so.
type aside struct {
	mu         sync.Mutex
	young, old map[asideKey]string // guarded by mu
}

type asideKey struct {
	tenant, callID string
	was            tool.Digest
}

// maxAside is how many of a generation are remembered.
const maxAside = 1 << 14

func (a *aside) put(k asideKey, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.young == nil || len(a.young) >= maxAside {
		a.young, a.old = map[asideKey]string{}, a.young
	}
	a.young[k] = text
}

func (a *aside) get(k asideKey) (string, bool) {
	a.mu.Lock()
	text, ok := a.young[k]
	if !ok {
		text, ok = a.old[k]
	}
	_, young := a.young[k]
	a.mu.Unlock()
	if ok && !young { // it moves on
		a.put(k, text)
	}
	return text, ok
}

// wantsKept reports whether the client asks for it. Only whoever makes the request can set a header: a server whose tools the client
// offers cannot.
func (x *exchange) wantsKept() bool {
	return x.p.o.Desk != nil && first(x.r.Header, keepHeader) == "on"
}

// showKept puts into the request what stands in the place of results that came before, where the client offers our tools, each once.
func (x *exchange) showKept() error {
	if !x.wantsKept() {
		return nil
	}
	offered := map[string]int{}
	for i := range x.req.Tools {
		if t := &x.req.Tools[i]; handles.IsTool(t.Name) && !t.Hosted {
			offered[t.Name]++
		}
	}
	if x.keeps = offered[handles.ExtractTool] == 1 && offered[handles.ShowTool] == 1; !x.keeps {
		return nil
	}
	_, err := x.replace()
	return err
}

// replace changes the request, and returns what was put into it.
func (x *exchange) replace() (map[asideKey]bool, error) {
	done := map[asideKey]bool{}
	body, err := x.req.Replace(func(p *format.Part) (string, bool) {
		k := asideKey{x.who.tenant, p.CallID, conversation.SumOf(p)}
		text, ok := x.p.aside.get(k)
		done[k] = ok
		return text, ok && p.CallID != ""
	})
	if err != nil || len(body) > 0 && &body[0] == &x.req.Body[0] {
		return done, err
	}
	return done, x.read(body, x.p.cache.NewSums())
}

// putAside takes out of the request what is kept from the model since just now. What cannot be taken out goes to no model.
func (x *exchange) putAside() *problem {
	if len(x.visit.Shown) == 0 {
		return nil
	}
	var wanted []asideKey
	for _, s := range x.visit.Shown {
		k := asideKey{x.who.tenant, s.CallID, s.Was}
		x.p.aside.put(k, s.Text)
		wanted = append(wanted, k)
	}
	done, err := x.replace()
	if err != nil {
		return newProblem(http.StatusBadRequest, whyUnread+err.Error())
	}
	for _, k := range wanted {
		if !done[k] {
			const why = "a result that is kept from the model stands where it cannot be taken out, so the request was not sent"
			return newProblem(http.StatusBadRequest, why)
		}
	}
	return nil
}

// keeping is what keeps results of the caller from its model; nil: it reads them. A host that tells of results itself has read them.
func (x *exchange) keeping(c *conversation.Caller) conversation.Keeping {
	if !x.keeps || c.HostReports {
		x.keeps = false
		return nil
	}
	return keeping{x}
}

type keeping struct{ x *exchange }

var _ conversation.Keeping = keeping{}

// Tools implements conversation.Keeping.
func (keeping) Tools() []string { return []string{handles.ExtractTool, handles.ShowTool} }

// Hold implements conversation.Keeping.
func (k keeping) Hold(ctx context.Context, o engine.Observation) (string, trust.Label, error) {
	return k.x.p.o.Desk.HoldStill(ctx, o, engine.DeferWrite())
}

// Answer implements conversation.Keeping. A model that is asked with the client's own key is lent it for as long.
func (k keeping) Answer(ctx context.Context, o engine.Observation) (string, error) {
	k.x.ref = o.Ref
	defer k.x.lend()()
	a, err := k.x.p.o.Desk.Answer(ctx, o.Ref, o.Result.Name, o.Result.Args)
	if err != nil {
		return "", err
	}
	o.Result.Content, o.Result.Error = []byte(a.Text), a.Failed
	// The words are ours, or the desk has recorded what came out: of the call itself nothing more came in.
	_, _, err = k.x.p.o.Monitor.Hold(ctx, o, true, func(engine.Kept) string { return a.Text }, engine.DeferWrite())
	return a.Text, unlessSealed(err)
}

// carriesHandle says why a call does not run that names what is kept: calls pass here as they came, so the text cannot be put into it.
func (x *exchange) carriesHandle(call tool.Call) string {
	if !x.keeps || handles.IsTool(call.Name) {
		return ""
	}
	if _, kept, err := x.p.o.Desk.Expand(x.ref.Session, call); err == nil && len(kept) == 0 {
		return ""
	}
	return "The call did not run: it names what is kept, which cannot be put into a call here. " +
		"Use tidemark_extract for a value of it, or read it with tidemark_show."
}
