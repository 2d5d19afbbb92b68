package pins

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Path is where a server's door answers questions of relays about definitions.
const Path = "/v1/pins"

// Question is what a relay in another process asks about a server.
type Question struct {
	Ask    string `json:"ask" doc:"tools: a page of tools/list; list: of another listing; hello: a greeting; call: of a tool; changed"`
	Server Server `json:"server"`
	Cursor string `json:"cursor,omitzero"`
	Method string `json:"method,omitzero" doc:"list: of which"`
	Result string `json:"result,omitzero" doc:"the JSON of the result, as it came"`
	Tool   string `json:"tool,omitzero"`
	Wait   int    `json:"wait,omitzero" doc:"changed: seconds, at most 60"`
	Seen   int    `json:"seen,omitzero" doc:"changed: the seen of the last answer"`
}

// Reply is the answer.
type Reply struct {
	Same    bool   `json:"same,omitzero" doc:"the result may be shown as it is"`
	Result  string `json:"result,omitzero" doc:"else what may be shown"`
	Refusal string `json:"refusal,omitzero" doc:"why the tool may not be called"`
	Seen    int    `json:"seen,omitzero" doc:"changed: how often something of the server was accepted"`
}

// maxWait is how long a relay may wait at the door.
const maxWait = time.Minute

// Answer answers a relay.
func (k *Keeper) Answer(ctx context.Context, q Question) (Reply, error) {
	shown := func(out []byte, err error) (Reply, error) {
		if string(out) == q.Result {
			return Reply{Same: err == nil}, err
		}
		return Reply{Result: string(out)}, err
	}
	switch q.Ask {
	case "tools":
		return shown(k.List(ctx, q.Server, q.Cursor, []byte(q.Result)))
	case "hello":
		return shown(k.Hello(ctx, q.Server, []byte(q.Result)))
	case "list":
		same, err := k.Same(ctx, q.Server, q.Method, []byte(q.Result))
		return Reply{Same: same}, err
	case "call":
		refusal, err := k.Call(ctx, q.Server, q.Tool)
		return Reply{Refusal: refusal}, err
	case "changed":
		n, err := k.await(ctx, q.Server, q.Seen, min(time.Duration(q.Wait)*time.Second, maxWait))
		return Reply{Seen: n}, err
	}
	return Reply{}, ErrQuestion
}

// Await implements Port.
func (k *Keeper) Await(ctx context.Context, s Server, seen int) (int, error) {
	return k.await(ctx, s, seen, maxWait)
}

// await waits until more was accepted of a server than somebody knows.
func (k *Keeper) await(ctx context.Context, s Server, seen int, wait time.Duration) (int, error) {
	over := time.NewTimer(wait)
	defer over.Stop()
	changed := k.next(s)
	if n, err := k.times(ctx, s); n != seen || err != nil {
		return n, err
	}
	select {
	case <-changed:
	case <-over.C: // what was accepted at another server is found now
	case <-ctx.Done():
		return seen, ctx.Err()
	}
	return k.times(ctx, s)
}

// times is how often something of a server was accepted.
func (k *Keeper) times(ctx context.Context, s Server) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.look(ctx)
	return k.known(s).Times, err
}

// ErrQuestion is returned for a question nobody knows.
var ErrQuestion = errors.New("ask must be tools, hello, list, call or changed")

// Remote asks the Keeper of a running server. It is safe for concurrent use.
type Remote struct {
	// Send posts in to a path of the server and decodes the answer into out.
	Send func(ctx context.Context, method, path string, in, out any) error
}

func (r Remote) ask(ctx context.Context, q Question) (Reply, error) {
	var out Reply
	err := r.Send(ctx, http.MethodPost, Path, q, &out)
	return out, err
}

func (r Remote) shown(ctx context.Context, q Question) ([]byte, error) {
	a, err := r.ask(ctx, q)
	switch {
	case err != nil:
		return nil, err
	case a.Same:
		return []byte(q.Result), nil
	case a.Result == "":
		return nil, errors.New("ask about definitions: the server gave no answer")
	}
	return []byte(a.Result), nil
}

// List is like Keeper.List.
func (r Remote) List(ctx context.Context, s Server, cursor string, result []byte) ([]byte, error) {
	return r.shown(ctx, Question{Ask: "tools", Server: s, Cursor: cursor, Result: string(result)})
}

// Hello is like Keeper.Hello. Where nobody can be asked the greeting passes without instructions:
// then an agent is told at its first call what is wrong, and not that there is no server.
func (r Remote) Hello(ctx context.Context, s Server, result []byte) ([]byte, error) {
	out, err := r.shown(ctx, Question{Ask: "hello", Server: s, Result: string(result)})
	if err == nil {
		return out, nil
	}
	_, bare, err := greeting(result)
	return bare, err
}

// Same is like Keeper.Same.
func (r Remote) Same(ctx context.Context, s Server, method string, result []byte) (bool, error) {
	a, err := r.ask(ctx, Question{Ask: "list", Server: s, Method: method, Result: string(result)})
	return a.Same && err == nil, err
}

// Call is like Keeper.Call.
func (r Remote) Call(ctx context.Context, s Server, tool string) (string, error) {
	a, err := r.ask(ctx, Question{Ask: "call", Server: s, Tool: tool})
	return a.Refusal, err
}

// Await is like Keeper.Await.
func (r Remote) Await(ctx context.Context, s Server, seen int) (int, error) {
	const wait = 20 // seconds: shorter than clients wait for an answer
	a, err := r.ask(ctx, Question{Ask: "changed", Server: s, Wait: wait, Seen: seen})
	return a.Seen, err
}

// Port is what both offer.
type Port interface {
	List(ctx context.Context, s Server, cursor string, result []byte) ([]byte, error)
	Hello(ctx context.Context, s Server, result []byte) ([]byte, error)
	Same(ctx context.Context, s Server, method string, result []byte) (bool, error)
	Call(ctx context.Context, s Server, tool string) (refusal string, err error)
	Await(ctx context.Context, s Server, seen int) (int, error)
}

// For is a Port for callers that have a type of their own for servers.
type For[S ~struct {
	Name    string
	Command []string
	URL     string
}] struct{ Port Port }

// List asks the Port.
func (f For[S]) List(ctx context.Context, s S, cursor string, result []byte) ([]byte, error) {
	return f.Port.List(ctx, Server(s), cursor, result)
}

// Hello asks the Port.
func (f For[S]) Hello(ctx context.Context, s S, result []byte) ([]byte, error) {
	return f.Port.Hello(ctx, Server(s), result)
}

// Same asks the Port.
func (f For[S]) Same(ctx context.Context, s S, method string, result []byte) (bool, error) {
	return f.Port.Same(ctx, Server(s), method, result)
}

// Call asks the Port.
func (f For[S]) Call(ctx context.Context, s S, tool string) (refusal string, err error) {
	return f.Port.Call(ctx, Server(s), tool)
}

// Await asks the Port.
func (f For[S]) Await(ctx context.Context, s S, seen int) (int, error) {
	return f.Port.Await(ctx, Server(s), seen)
}
