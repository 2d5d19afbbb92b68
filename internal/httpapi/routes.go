package httpapi

import (
	"fmt"
	"maps"
	"net/http"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/pins"
)

// access says which roles each route admits. A route that is not here admits
// administrators only.
func access() map[string]need {
	t := map[string]need{
		"GET /healthz":            needNothing,
		"GET /readyz":             needNothing,
		"GET /openapi.json":       needNothing,
		"GET " + serverproof.Path: needNothing,
		"GET /metrics":            needAny,

		"GET /v1/version":        needAny,
		"GET /v1/policy":         needAny,
		"GET /v1/status":         needReader,
		"GET /v1/explain":        needAny,
		"GET /v1/explain/matrix": needAny,
		"POST /v1/policy/reload": needAdmin,

		"POST /v1/try":            needReader,
		"GET /v1/tools":           needReader,
		"GET /v1/tools/history":   needReader,
		"GET /v1/policy/text":     needReader,
		"PUT /v1/policy/text":     needAdmin,
		"POST /v1/policy/check":   needReader,
		"POST /v1/policy/compare": needReader,
		"GET /v1/policy/draft":    needReader,

		"POST /v1/hosts/{id}/beat": needAgent,
		"POST /v1/agents":          needAgent,
		"POST /v1/readings/next":   needAgent,
		"POST /v1/readings/{id}":   needAgent,

		"GET /v1/sessions":                          needReader,
		"GET /v1/sessions/{key}":                    needReader,
		"GET /v1/sessions/{key}/begun":              needAny,
		"GET /v1/sessions/{key}/handshake":          needAgent,
		"GET /v1/sessions/{key}/turns":              needReader,
		"GET /v1/sessions/{key}/turns/{turn}/graph": needReader,
		"GET /v1/sessions/{key}/steps":              needReader,
		"POST /v1/sessions/{key}/reset-trust":       needAdmin,

		"GET /v1/approvals":        needReader,
		"GET /v1/approvals/{id}":   needAny, // an agent by its ticket: see viewApproval
		"GET /v1/approvals/stream": needReader,
		"POST /v1/approvals/{id}":  needApprover,
		"POST /v1/approvals":       needApprover,
		"GET /v1/grants":           needReader,
		"DELETE /v1/grants/{id}":   needApprover,
		"GET /v1/writes":           needReader,
		"GET /v1/writes/{id}":      needReader,
		"POST /v1/writes/{id}":     needApprover,
		"GET /v1/labels":           needReader,
		"DELETE /v1/labels":        needAdmin,
	}
	maps.Copy(t, accessOfPeople())
	for _, what := range []string{"redeem", "ended", "ask", "written"} {
		t["POST /v1/box/"+what] = needAgent
	}
	for _, n := range hook.Names() {
		t["POST "+hookPath+string(n)] = needAgent
	}
	return t
}

// accessOfPeople is access for what people look at and settle.
func accessOfPeople() map[string]need {
	return map[string]need{
		"POST /v1/readers/confirm":       needAgent,
		"POST /v1/stop":                  needAdmin,
		"POST /v1/resume":                needAdmin,
		"GET /v1/servers":                needReader,
		"GET /v1/servers/{name}":         needReader,
		"POST /v1/servers/{name}/accept": needApprover,
		"POST " + pins.Path:              needAgent,

		"POST /v1/machines": needAdmin,
		"GET /v1/machine":   needAgent,
		"POST /v1/join":     needNothing, // the code is in it

		"GET /v1/people":           needReader,
		"POST /v1/people":          needAdmin,
		"DELETE /v1/people/{name}": needAdmin,

		"POST /v1/console/links":      needReader,
		"GET /v1/console/links/{id}":  needReader,
		"POST /v1/console/links/{id}": needReader,

		"GET /v1/report":       needReader,
		"GET /v1/audit":        needReader,
		"GET /v1/audit/head":   needReader,
		"GET /v1/audit/verify": needReader,
		"GET /v1/events":       needReader,

		"POST " + hookPath + "{hook}": needAgent,
	}
}

// routes is the router: every handler behind the check of its roles.
type routes struct {
	api    *API
	mux    *http.ServeMux
	access map[string]need
	served []string // patterns
}

func newRouter(a *API) *routes {
	return &routes{api: a, mux: http.NewServeMux(), access: access()}
}

// HandleFunc adds a route. Together with ServeHTTP it makes routes a mux for huma.
func (t *routes) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	n := t.access[pattern]
	t.served = append(t.served, pattern)
	t.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		hook := hookOf(r)
		who, p := t.api.keys.admit(r, n)
		if p == nil {
			r, p = t.api.look(withCaller(r, who), pattern, who)
		}
		if p != nil {
			t.api.writeProblem(w, hook, p)
			return
		}
		h(w, r)
	})
}

// ServeHTTP hands the request to its route. The router's own refusals are plain text;
// ours are problems.
func (t *routes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && t.api.hooks[hookOf(r)] != nil {
		t.serveHook(w, r)
		return
	}
	h, pattern := t.mux.Handler(r)
	if pattern != "" {
		t.mux.ServeHTTP(w, r)
		return
	}
	var no refusal
	h.ServeHTTP(&no, r)
	p := notFound("there is nothing at this path")
	if no.status == http.StatusMethodNotAllowed {
		allow := no.header.Get("Allow")
		p = newProblem(no.status, "method", fmt.Sprintf("this path takes %s", allow)).with("Allow", allow)
	}
	t.api.writeProblem(w, hookOf(r), p)
}

// serveHook is the way of the hooks, which are called before everything an agent does:
// the same check of roles, without the router.
func (t *routes) serveHook(w http.ResponseWriter, r *http.Request) {
	who, p := t.api.keys.admit(r, needAgent)
	if p == nil {
		var ok bool
		if ok, p = t.api.keys.vouched(r, who); ok {
			r = withVouched(r)
		}
	}
	if p != nil {
		t.api.writeProblem(w, hookOf(r), p)
		return
	}
	if who.agent != "" || who.machine != "" {
		r = withCaller(r, who)
	}
	t.api.serveHook(w, r)
}

// refusal catches what the router would have said.
type refusal struct {
	header http.Header
	status int
}

func (w *refusal) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

func (w *refusal) WriteHeader(status int)      { w.status = status }
func (w *refusal) Write(b []byte) (int, error) { return len(b), nil }
