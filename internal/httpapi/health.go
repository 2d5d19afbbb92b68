package httpapi

import (
	"context"
	"net/http"
)

func (m *management) healthRoutes() {
	route(m, operation{http.MethodGet, "/healthz", "healthz", "Is the process alive?"}, m.healthz)
	route(m, operation{http.MethodGet, "/readyz", "readyz", "Can calls be decided now?"}, m.readyz)
}

type health struct {
	Status string `json:"status"`
	Policy string `json:"policy,omitzero" doc:"version of the policy in force"`
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
