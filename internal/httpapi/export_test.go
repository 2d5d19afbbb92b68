package httpapi

import (
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
)

// Patterns lists the routes that are served.
func (a *API) Patterns() []string { return slices.Clone(a.routes.served) }

// KeepAlive sets how often an idle event stream shows a sign of life.
func (a *API) KeepAlive(d time.Duration) { a.keepAlive = d }

// Blocks reports whether the answer made with the permit blocks the call.
func Blocks(p *engine.Permit, call tool.Call) (bool, error) {
	answer, err := release(p, call, nil, nil)
	return answer.wire().Block, err
}

// FieldsText is what describes the fields of the document.
func FieldsText() string { return fieldsText }
