package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/draw"
	"github.com/tidemark/tidemark/internal/graph"
)

// latest names the newest turn of a session's main context.
const latest = "latest"

// pictureRules keep a picture a picture wherever it is opened: it loads and runs nothing.
const pictureRules = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// picture is a graph in one of its formats.
type picture struct {
	ContentType string `header:"Content-Type"`
	Rules       string `header:"Content-Security-Policy"`
	Body        []byte
}

type graphInput struct {
	Key    string `path:"key" doc:"the session's key, percent-encoded"`
	Turn   string `path:"turn" doc:"the turn's id, percent-encoded, or latest"`
	Format string `query:"format" default:"json" enum:"json,prov,dot,svg,text" doc:"how it is written; prov is PROV-JSON"`
}

// graphRoute is apart from the others because its answer is not always JSON.
func (m *management) graphRoute() {
	doc := m.huma.OpenAPI()
	text := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	drawn := &huma.Response{
		Description: "The graph; application/json is the TurnGraph of the hook protocol.",
		Content: map[string]*huma.MediaType{
			"application/json":      {Schema: doc.Components.Schemas.Schema(reflect.TypeFor[graph.Graph](), true, "")},
			"application/prov+json": {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}},
			"image/svg+xml":         text, "text/vnd.graphviz": text, "text/plain": text,
		},
	}
	op := huma.Operation{
		Method: http.MethodGet, Path: "/v1/sessions/{key}/turns/{turn}/graph", OperationID: "turnGraph",
		Summary:   "Where a turn's content came from",
		Responses: map[string]*huma.Response{"200": drawn},
	}
	describeOperation(doc, &op)
	huma.Register(m.huma, op, func(ctx context.Context, in *graphInput) (*picture, error) {
		p, err := m.turnGraph(ctx, in)
		if err != nil {
			return nil, m.explain(ctx, err)
		}
		return p, nil
	})
}

func (m *management) turnGraph(ctx context.Context, in *graphInput) (*picture, error) {
	if err := checkPath(in.Key); err != nil {
		return nil, err
	}
	turn := in.Turn
	if turn == latest {
		turn = ""
	}
	g, err := m.monitor.Graph(ctx, in.Key, turn)
	if err != nil {
		return nil, err
	}
	return render(g, in.Format)
}

func render(g *graph.Graph, format string) (*picture, error) {
	p := &picture{Rules: pictureRules}
	var b bytes.Buffer
	var err error
	switch format {
	case "json":
		p.ContentType = "application/json"
		err = strictjson.Write(&b, g)
	case "prov":
		var raw []byte
		p.ContentType = "application/prov+json"
		raw, err = g.PROV()
		b.Write(raw)
	case "dot":
		p.ContentType = "text/vnd.graphviz; charset=utf-8"
		err = draw.DOT(&b, g)
	case "svg":
		p.ContentType = "image/svg+xml"
		err = draw.SVG(&b, g)
	case "text":
		p.ContentType = "text/plain; charset=utf-8"
		err = draw.Tree(&b, g, nil)
	default:
		err = badRequest("query.format: unknown format")
	}
	if err != nil {
		return nil, fmt.Errorf("draw graph: %w", err)
	}
	p.Body = b.Bytes()
	return p, nil
}
