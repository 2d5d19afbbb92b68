package oauth

import (
	"context"
	"time"

	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/mcp/probe"
)

// Visit is how an MCP server is asked.
type Visit struct {
	Server       string // its address
	Show         func(address string) error
	ClientID     string
	ClientSecret string
	Keep         bool   // what it gives is kept
	Call         string // a tool to call without arguments; "": none
}

// Visited is what an MCP server says of itself.
type Visited struct {
	probe.Found
	SignedIn bool `json:"signedIn"`
}

// loginLimit is how long a person may take to sign in.
const loginLimit = 10 * time.Minute

// VisitServer asks an MCP server what it is, and signs in where it wants that.
func VisitServer(ctx context.Context, p datafolder.Paths, v Visit) (Visited, error) {
	ctx, cancel := context.WithTimeout(ctx, loginLimit)
	defer cancel()
	k := Open(Path(p.Data), time.Now, nil)
	found, signedIn, err := k.Visit(ctx, v.Server, Person{
		Show: v.Show, ClientID: v.ClientID, ClientSecret: v.ClientSecret, Keep: v.Keep, Call: v.Call,
	})
	return Visited{found, signedIn}, err
}

// ForgetServer drops what an MCP server gave, and says whether anything was kept.
func ForgetServer(ctx context.Context, p datafolder.Paths, server string) (bool, error) {
	return Open(Path(p.Data), time.Now, nil).Forget(ctx, server)
}
