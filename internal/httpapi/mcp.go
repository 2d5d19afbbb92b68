package httpapi

import (
	"context"
	"errors"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/pins"
)

// The routes about MCP servers: what people look at and accept, and what relays in other
// processes ask.

func (m *management) mcpRoutes() {
	route(m, operation{http.MethodGet, "/v1/servers", "listServers", "MCP servers that were seen, and what is hidden of them"},
		m.listServers)
	route(m, operation{
		http.MethodGet, "/v1/servers/{name}", "reviewServer",
		"What is hidden of an MCP server, and how it differs from what was accepted",
	}, m.reviewServer)
	route(m, operation{
		http.MethodPost, "/v1/servers/{name}/accept", "acceptDefinitions",
		"Accept definitions of an MCP server that a person has looked at",
	}, m.acceptDefinitions)
}

type serverList struct {
	Servers []pins.ServerView `json:"servers"`
}

var errNoPins = notFound("this server keeps no definitions of MCP servers")

func (m *management) listServers(ctx context.Context, _ *struct{}) (serverList, error) {
	if m.pins == nil {
		return serverList{}, errNoPins
	}
	all, err := m.pins.Servers(ctx)
	return serverList{all}, err
}

func (m *management) reviewServer(ctx context.Context, in *struct {
	Name string `path:"name" doc:"the server's name, or NAME@ID where several have it"`
	Tool string `query:"tool" doc:"only this tool"`
}) (pins.ReviewView, error) {
	if m.pins == nil {
		return pins.ReviewView{}, errNoPins
	}
	v, err := m.pins.Review(ctx, in.Name, in.Tool)
	return v, pinned(err)
}

// pinned are the answers to what cannot be accepted or found.
func pinned(err error) error {
	switch {
	case errors.Is(err, pins.ErrSeen), errors.Is(err, pins.ErrUnfit):
		return newProblem(http.StatusConflict, "definitions", err.Error())
	case errors.Is(err, pins.ErrChoice), errors.Is(err, pins.ErrQuestion), errors.Is(err, pins.ErrResult):
		return badRequest(err.Error())
	case errors.Is(err, engine.ErrNotFound):
		return notFound(err.Error())
	}
	return err
}

type acceptDone struct {
	Accepted []string `json:"accepted"`
}

func (m *management) acceptDefinitions(ctx context.Context, in *struct {
	Name string `path:"name" doc:"the server's name, or NAME@ID where several have it"`
	Body struct {
		Tool string `json:"tool,omitempty" doc:"only this tool; without it all that is hidden and can be accepted"`
		Seen string `json:"seen" doc:"the seen of the review that was looked at"`
	}
}) (acceptDone, error) {
	if m.pins == nil {
		return acceptDone{}, errNoPins
	}
	if err := m.proven(); err != nil {
		return acceptDone{}, err
	}
	names, err := m.pins.Accept(ctx, pins.Acceptance{
		Server: in.Name, Tool: in.Body.Tool, Seen: in.Body.Seen, By: by(ctx), Via: via,
	})
	return acceptDone{names}, pinned(err)
}

// notices are the open questions about definitions.
func (a *API) notices(ctx context.Context) ([]pins.Notice, error) {
	if a.pins == nil {
		return nil, nil
	}
	return a.pins.Notices(ctx)
}

// answerNotice takes an answer about a definition. Accepting takes the same proof as by any other route.
func (m *management) answerNotice(ctx context.Context, id string, accept bool, note string) (answerDone, error) {
	if m.pins == nil {
		return answerDone{}, errNoPins
	}
	if accept {
		if err := m.proven(); err != nil {
			return answerDone{}, err
		}
	}
	name, err := m.pins.Say(ctx, pins.Said{ID: id, Accept: accept, By: by(ctx), Via: via, Note: note})
	if err != nil {
		return answerDone{}, pinned(err)
	}
	return answerDone{Resolved: []string{id}, Notice: pins.Outcome(name, accept)}, nil
}

// servePins answers relays. Lists of tools are larger than anything people send, and come as
// they are; so it is no route of the management API.
func (a *API) servePins(w http.ResponseWriter, r *http.Request) {
	if a.pins == nil {
		a.writeProblem(w, "", errNoPins)
		return
	}
	buf := a.buffers.get()
	defer a.buffers.put(buf)
	if p := a.readJSON(w, r, buf); p != nil {
		a.writeProblem(w, "", p)
		return
	}
	var q pins.Question
	if err := strictjson.UnmarshalKnown(buf.Bytes(), &q); err != nil {
		a.writeProblem(w, "", badRequest(err.Error()))
		return
	}
	out, err := a.pins.Answer(r.Context(), q)
	if err != nil {
		a.writeProblem(w, "", a.explain(r.Context(), pinned(err)))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = strictjson.Write(w, out) // a relay that is gone cannot be told
}

func describePins(doc *huma.OpenAPI) {
	op := &huma.Operation{
		Method: http.MethodPost, Path: pins.Path, OperationID: "askPins",
		Summary: "What a relay may pass on of an MCP server, by what was accepted",
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json": {Schema: doc.Components.Schemas.Schema(reflect.TypeFor[pins.Question](), true, "")},
		}},
		Responses: map[string]*huma.Response{
			"200": describeBody(doc, "The answer.", "application/json", reflect.TypeFor[pins.Reply]()),
		},
	}
	describeOperation(doc, op)
	doc.AddOperation(op)
}
