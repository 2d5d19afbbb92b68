package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/policy"
)

// maxManage bounds the bodies of the management API, which are a few words; maxText those with
// a policy or a conversation.
const (
	maxManage = 64 << 10
	maxText   = 1 << 20
)

// limitOf is how large a body of a route may be.
func limitOf(path string) int64 {
	if path == "/v1/try" || strings.HasPrefix(path, "/v1/policy/") {
		return maxText
	}
	return maxManage
}

// management is the management API: huma makes the handlers and the document from the
// same types.
type management struct {
	*API
	huma huma.API
}

// newRoutes adds every route there is.
func (a *API) newRoutes(o Options) *routes {
	t := newRouter(a)
	m := &management{API: a, huma: huma.NewAPI(document(o.Version), humago.NewAdapter(bodyChecks{t}, ""))}
	m.huma.UseMiddleware(func(c huma.Context, next func(huma.Context)) { next(badRequests{c}) })
	m.healthRoutes()
	m.sessionRoutes()
	m.approvalRoutes()
	m.writeRoutes()
	m.labelRoutes()
	m.auditRoutes()
	m.policyRoutes()
	m.draftRoutes()
	m.hostRoutes()
	m.consoleRoutes()
	m.peopleRoutes()
	m.machineRoutes()
	m.lookBackRoutes()
	m.mcpRoutes()
	m.boxRoutes()
	m.readingRoutes()
	for _, n := range hook.Names() {
		t.HandleFunc("POST "+hookPath+string(n), a.serveHook)
	}
	t.HandleFunc("POST "+hookPath+"{hook}", a.serveHook)
	t.HandleFunc("GET /v1/events", a.streamEvents)
	t.HandleFunc("GET /v1/approvals/stream", a.streamApprovals)
	t.HandleFunc("POST "+pins.Path, a.servePins)
	t.HandleFunc("GET /metrics", a.metrics.handler().ServeHTTP)
	describe(m.huma.OpenAPI())
	// The most costly part of a start, and few ask for it.
	spec := sync.OnceValues(func() ([]byte, error) { return json.Marshal(m.huma.OpenAPI()) })
	t.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		body, err := spec()
		if err != nil {
			a.writeProblem(w, "", a.explain(r.Context(), fmt.Errorf("write API document: %w", err)))
			return
		}
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(body) // a client that is gone cannot be told
	})
	return t
}

// document is the empty API document and how bodies are read and written.
func document(version string) huma.Config {
	registry := huma.NewMapRegistry("#/components/schemas/", schemaName)
	registry.RegisterTypeAlias(reflect.TypeFor[strictjson.Value](), reflect.TypeFor[any]())
	registry.RegisterTypeAlias(reflect.TypeFor[hook.Tool](), reflect.TypeFor[any]())
	registry.RegisterTypeAlias(reflect.TypeFor[policy.Effect](), reflect.TypeFor[string]())
	registry.RegisterTypeAlias(reflect.TypeFor[audit.Hash](), reflect.TypeFor[string]())
	format := huma.Format{Marshal: strictjson.Write, Unmarshal: strictjson.Unmarshal}
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Tidemark", Version: apiVersion, Extensions: map[string]any{"x-program-version": version},
				Description: "A reference monitor for AI agents: hooks of the agent loop, and what people need to watch and answer it.",
			},
			Components: &huma.Components{
				Schemas:         registry,
				SecuritySchemes: map[string]*huma.SecurityScheme{bearer: {Type: "http", Scheme: "bearer"}},
			},
		},
		Formats:       map[string]huma.Format{"application/json": format, "json": format},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{asProblem},
	}
}

// schemaName keeps types of one name in different packages apart.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	pkg := path.Base(t.PkgPath())
	if t.Name() == "" || pkg == "httpapi" || pkg == "engine" || pkg == "question" || pkg == "explain" {
		return name
	}
	return strings.ToUpper(pkg[:1]) + pkg[1:] + name
}

// reply is an answer that is nothing but its body.
type reply[T any] struct{ Body T }

// operation describes a route for the document.
type operation struct{ method, path, id, summary string }

// route adds a route whose input and output are described by their types.
func route[I, T any](m *management, o operation, serve func(ctx context.Context, in *I) (T, error)) {
	op := huma.Operation{
		OperationID: o.id, Method: o.method, Path: o.path, Summary: o.summary, MaxBodyBytes: limitOf(o.path),
	}
	describeOperation(m.huma.OpenAPI(), &op)
	huma.Register(m.huma, op, func(ctx context.Context, in *I) (*reply[T], error) {
		out, err := serve(ctx, in)
		if err != nil {
			return nil, m.explain(ctx, err)
		}
		return &reply[T]{Body: out}, nil
	})
}

// bodyChecks is the router with the checks that huma leaves out.
type bodyChecks struct{ *routes }

// HandleFunc adds a route that refuses bodies by their headers first.
func (b bodyChecks) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	b.routes.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if (r.Method == http.MethodPost || r.Method == http.MethodPut) && r.ContentLength != 0 {
			if p := checkBody(r, limitOf(r.URL.Path)); p != nil {
				b.api.writeProblem(w, "", p)
				return
			}
		}
		h(w, r)
	})
}

// badRequests answers 400 where huma would answer 422: this API has one word for a
// request that does not fit.
type badRequests struct{ humaContext }

type humaContext = huma.Context

// SetStatus implements huma.Context.
func (c badRequests) SetStatus(code int) { c.humaContext.SetStatus(oneWord(code)) }

func oneWord(status int) int {
	if status == http.StatusUnprocessableEntity {
		return http.StatusBadRequest
	}
	return status
}

// asProblem turns huma's own errors into ours. They name the field and leave its value
// out: it may be a secret in the wrong place.
func asProblem(_ huma.Context, _ string, v any) (any, error) {
	e, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	detail := e.Detail
	for i, d := range e.Errors {
		if sep := "; "; d != nil {
			if i == 0 {
				sep = ": "
			}
			detail += sep + strings.TrimPrefix(d.Location+": ", ": ") + d.Message
		}
	}
	kind := "bad-request"
	switch status := oneWord(e.Status); {
	case status == http.StatusRequestEntityTooLarge:
		kind = "too-large"
	case status == http.StatusUnsupportedMediaType:
		kind = "media-type"
	case status >= http.StatusInternalServerError:
		return internal(), nil
	}
	return newProblem(oneWord(e.Status), kind, detail), nil
}
