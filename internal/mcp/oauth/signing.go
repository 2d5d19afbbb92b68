package oauth

import (
	"net/http"
	"time"

	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/mcp/relay"
)

// transports are the Transports of servers that a person signs in to; the others are dialled as they
// are.
type transports struct {
	keeper *Keeper
	in     map[string]bool // by name
}

// NewTransports makes them for the servers of these names, with what was given to a data folder.
func NewTransports(data string, names ...string) judge.Transports {
	t := transports{keeper: Open(Path(data), time.Now, nil), in: map[string]bool{}}
	for _, name := range names {
		t.in[name] = true
	}
	return t
}

// Transport implements judge.Transports.
func (t transports) Transport(s judge.Server) (http.RoundTripper, error) {
	next, err := relay.Direct{}.Transport(s)
	if err != nil || !t.in[s.Name] {
		return next, err
	}
	return t.keeper.Transport(s.URL, next)
}
