package httpapi

import (
	"context"
	"net"
	"net/http"

	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/event"
)

func (m *management) healthRoutes() {
	route(m, operation{http.MethodGet, "/healthz", "healthz", "Is the process alive?"}, m.healthz)
	route(m, operation{http.MethodGet, serverproof.Path, "proof", "Show that this is the server, before a client tells it anything"},
		m.proof)
	route(m, operation{http.MethodGet, "/readyz", "readyz", "Can calls be decided now?"}, m.readyz)
	route(m, operation{http.MethodGet, "/v1/version", "version", "Which API does this server speak?"}, m.speaks)
	route(m, operation{
		http.MethodPost, "/v1/stop", "stopAll", "Stop everything: every call is denied, at every door and server, until it is resumed",
	}, m.stopAll)
	route(m, operation{http.MethodPost, "/v1/resume", "resume", "Let calls be judged again after a stop"}, m.resume)
}

type health struct {
	Status string `json:"status"`
	Policy string `json:"policy,omitzero" doc:"version of the policy in force"`
}

// apiVersion is of the hooks and of what agents read. The first number changes where a client
// that knows the old one would misunderstand; the second where something was added.
const apiVersion = "1.1"

type speaks struct {
	API     string `json:"api" doc:"version of the API: a client understands every second number of the first one it knows"`
	Version string `json:"version" doc:"of the program"`
}

func (m *management) speaks(context.Context, *struct{}) (speaks, error) {
	return speaks{API: apiVersion, Version: m.version}, nil
}

func (m *management) healthz(context.Context, *struct{}) (health, error) {
	return health{Status: "ok"}, nil
}

// readyz asks the store whether it can be written: without it every call is refused.
func (m *management) readyz(ctx context.Context, _ *struct{}) (health, error) {
	set := m.monitor.Policy()
	if set == nil {
		return health{}, unavailable("no policy is loaded")
	}
	if err := m.log.Ping(ctx); err != nil {
		return health{}, m.logged(ctx, err, unavailable("the log cannot be written"))
	}
	return health{Status: "ready", Policy: set.Version()}, nil
}

// stopState is whether everything is stopped.
type stopState struct {
	Stopped *event.Stopped `json:"stopped,omitempty" doc:"by whom, since when and why; absent: nothing is stopped"`
}

// stopAll takes no proof: it only narrows.
func (m *management) stopAll(ctx context.Context, in *struct {
	Body struct {
		Reason string `json:"reason,omitempty" maxLength:"300" doc:"why, for agents and people"`
	}
}) (out stopState, err error) {
	out.Stopped, err = m.monitor.Stop(ctx, in.Body.Reason, by(ctx), via)
	return out, err
}

func (m *management) resume(ctx context.Context, _ *struct{}) (out stopState, err error) {
	if err := m.proven(); err != nil {
		return out, err
	}
	if err := m.monitor.Resume(ctx, by(ctx), via); err != nil {
		return out, err
	}
	out.Stopped, err = m.monitor.Stopped(ctx)
	return out, err
}

type proofInput struct {
	Nonce string `header:"X-Tidemark-Nonce" doc:"32 random bytes in hexadecimal digits"`
	Key   string `header:"X-Tidemark-Key" doc:"of a token of its own: 16 hexadecimal digits of the SHA-256 of its SHA-256"`
}

// proof answers a client that wants to know whom it speaks to before it shows its token.
func (m *management) proof(ctx context.Context, in *proofInput) (serverproof.Answer, error) {
	key := m.keys.proof(in.Key)
	if key == nil {
		return serverproof.Answer{}, notFound("there is no agent token to prove anything with")
	}
	at := m.metAt(ctx)
	if at == "" { // nobody announced it: where the client has reached it
		if local, ok := ctx.Value(http.LocalAddrContextKey).(net.Addr); ok {
			at = "http://" + local.String()
		}
	}
	answer, err := key.Show(in.Nonce, at)
	if err != nil {
		return serverproof.Answer{}, badRequest(err.Error())
	}
	return answer, nil
}
