// Package judge judges what passes between an MCP client and an MCP server: it decides about
// calls before they leave, and records what comes back before the model can read it. It
// reads no transport: the relays hand it messages, byte for byte, and carry out what it says.
//
// Invariants:
//   - a message that asks a server to do something leaves only with a Ruling that allows it;
//   - what comes back is recorded before the last byte of it is passed on;
//   - any doubt (an error of the port, of pins, of a message) refuses.
package judge

import (
	"context"
	"net/http"
)

// Server is an upstream as its owner configured it. Name is what policies and people call
// it; the other fields say what it is, so that another program under an old name is another
// server. What a server says of itself (serverInfo) is no identity.
type Server struct {
	Name    string
	Command []string // of a stdio server: the program and its arguments
	URL     string   // of an HTTP server
}

// Pins knows which definitions of a server a person has accepted. It is asked on every listing
// and before every call, and is safe for concurrent use. Whatever it cannot tell is an error, and
// then nothing of the message is passed on.
type Pins interface {
	// List is shown the result of a tools/list: the JSON object that stands in "result", one page
	// of it, as it came. It answers with what the client may be shown: the same bytes where nothing
	// is hidden, else the same object without the tools that are not accepted, with everything else
	// (cursor, _meta, ttlMs, unknown members, order, numbers) as it was. Cursor is what the
	// client asked with; "" is the first page.
	List(ctx context.Context, s Server, cursor string, result []byte) ([]byte, error)
	// Hello is shown the result of an initialize or a server/discover, for its instructions, and
	// answers like List.
	Hello(ctx context.Context, s Server, result []byte) ([]byte, error)
	// Same reports whether one page of another listing (resources, prompts) says nothing but what the server listed when
	// it was first used. Any doubt is a no: then it is content.
	Same(ctx context.Context, s Server, method string, result []byte) (bool, error)
	// Call says why a tool may not be called, for the model and its user: "" where it may. The
	// name is the one the server uses.
	Call(ctx context.Context, s Server, tool string) (refusal string, err error)
	// Await waits a while for a person to accept definitions of a server, so that clients can be told to list
	// again. It says how often that happened by now: seen is what it said before, and another number is news.
	// With a seen of less than 0 it does not wait.
	Await(ctx context.Context, s Server, seen int) (int, error)
}

// Transports dials HTTP upstreams. The RoundTripper puts the server's own credentials on
// requests (they carry none when it gets them, no cookie and no Authorization) and may renew
// them and repeat the request once after a 401: GetBody is always set. It follows no redirect
// to another origin, and bounds whom it dials.
type Transports interface {
	Transport(s Server) (http.RoundTripper, error)
}
