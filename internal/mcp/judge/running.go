package judge

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/pins"
)

// Running is the monitor of the server that runs on a data folder, for a relay that an agent started. It
// is found when it is first asked, and again when it started anew.
func Running(p datafolder.Paths) *Remote {
	return NewRemote(func() (*Line, error) {
		if away, token, err := datafolder.JoinedTo(p); err != nil || away != nil {
			if err != nil {
				return nil, err
			}
			return &Line{Base: strings.TrimRight(away.URL, "/"), Token: token, HTTP: away.Client(token, 0)}, nil
		}
		r, err := datafolder.FindRunning(p)
		if errors.Is(err, datafolder.ErrNotRunning) {
			return nil, errors.New("no server is running, so nothing may run (start it: tidemark serve)")
		}
		if err != nil {
			return nil, err
		}
		tokens, _, err := accounts.LoadTokens(p.Tokens())
		if err != nil {
			return nil, err
		}
		// No proxy: the token and what the agent does stay on this machine. Each connection is proven to lead
		// to the server before anything is said on it.
		transport := &http.Transport{DialContext: serverproof.Dialer(tokens.Agent, r.URL),
			DisableCompression: true, MaxIdleConnsPerHost: 16}
		return &Line{Base: r.URL, Token: tokens.Agent, HTTP: &http.Client{
			Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}}, nil
	})
}

// RunningPins asks the server that runs about definitions, for a relay that an agent started.
func RunningPins(port *Remote) Pins {
	return pins.For[Server]{Port: pins.Remote{Send: func(ctx context.Context, _, path string, in, out any) error {
		return port.Post(ctx, path, in, out)
	}}}
}
