package httpapi

import (
	"slices"
	"time"
)

// Patterns lists the routes that are served.
func (a *API) Patterns() []string { return slices.Clone(a.routes.served) }

// KeepAlive sets how often an idle event stream shows a sign of life.
func (a *API) KeepAlive(d time.Duration) { a.keepAlive = d }
