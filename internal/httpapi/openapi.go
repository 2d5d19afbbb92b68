package httpapi

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tidemark/tidemark/hook"
)

// bearer is the name of the security scheme.
const bearer = "bearer"

// describeOperation adds to an operation what all have in common: who may call it, and
// what a failure looks like.
func describeOperation(doc *huma.OpenAPI, op *huma.Operation) {
	if n := access()[op.Method+" "+op.Path]; n != needNothing {
		op.Security = []map[string][]string{{bearer: {}}}
		op.Description = strings.TrimSpace(op.Description + "\n\nNeeds the role " + n.String() + ".")
	}
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	if op.Responses["default"] == nil {
		op.Responses["default"] = describeBody(doc, "What went wrong.", problemType, reflect.TypeFor[Problem]())
	}
}

func describeBody(doc *huma.OpenAPI, about, contentType string, t reflect.Type) *huma.Response {
	return &huma.Response{Description: about, Content: map[string]*huma.MediaType{
		contentType: {Schema: doc.Components.Schemas.Schema(t, true, "")},
	}}
}

// describe adds the routes that huma does not serve to the document.
func describe(doc *huma.OpenAPI) {
	describeHooks(doc)
	describePins(doc)
	text := func(path, id, summary, contentType string, params ...*huma.Param) {
		op := &huma.Operation{
			Method: http.MethodGet, Path: path, OperationID: id, Summary: summary, Parameters: params,
			Responses: map[string]*huma.Response{"200": describeBody(doc, "OK", contentType, reflect.TypeFor[string]())},
		}
		describeOperation(doc, op)
		doc.AddOperation(op)
	}
	query := func(name, about string, schema *huma.Schema) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: about, Schema: schema}
	}
	word, number := &huma.Schema{Type: huma.TypeString}, &huma.Schema{Type: huma.TypeInteger}
	text("/metrics", "metrics", "Metrics for Prometheus", "text/plain")
	text("/v1/events", "streamEvents", "Every record of the log as it is committed, as server-sent events", "text/event-stream",
		query("session", "only this session", word), query("kind", "only this kind of record", word),
		query("after", "id of the last record already seen; without it the stream starts now", number),
		&huma.Param{Name: "Last-Event-ID", In: "header", Description: "the same, as browsers send it", Schema: number})
	text("/v1/approvals/stream", "streamApprovals",
		"The queue as it is (snapshot), then every question that is new or has changed (question), as server-sent events",
		"text/event-stream")
	op := &huma.Operation{
		Method: http.MethodGet, Path: "/openapi.json", OperationID: "openapi", Summary: "This document",
		Responses: map[string]*huma.Response{"200": {Description: "OK", Content: map[string]*huma.MediaType{
			"application/openapi+json": {Schema: &huma.Schema{Type: huma.TypeObject}},
		}}},
	}
	describeOperation(doc, op)
	doc.AddOperation(op)
	for _, name := range []string{"HumaErrorModel", "HumaErrorDetail"} {
		delete(doc.Components.Schemas.Map(), name) // huma's own, which never go out
	}
	describeFields(doc)
}

// envelope is the body of a hook request.
type envelope[E any] struct {
	Hook  hook.Name     `json:"hook,omitzero" doc:"the hook's name; the path's if absent"`
	Event E             `json:"event"`
	Ctx   *hook.Context `json:"ctx,omitempty" doc:"what the host knows about the run; sessionKey must be here or in the event"`
}

func describeHooks(doc *huma.OpenAPI) {
	describeHook[hook.MessageReceived, plainAnswer, Problem](doc, hook.NameMessageReceived, "Somebody spoke")
	describeHook[hook.BeforeAgentStart, agentStartAnswer, Problem](doc, hook.NameBeforeAgentStart, "A turn starts")
	describeHook[hook.ContextAssembled, plainAnswer, Problem](doc, hook.NameContextAssembled, "The context is complete")
	describeHook[hook.LoopIterationStart, plainAnswer, Problem](doc, hook.NameLoopIterationStart, "An iteration starts")
	describeHook[hook.BeforeLLMCall, llmCallAnswer, blockingProblem](doc, hook.NameBeforeLLMCall, "The model is about to be called")
	describeHook[hook.AfterLLMCall, llmAnswerAnswer, blockingProblem](doc, hook.NameAfterLLMCall, "The model has answered")
	describeHook[hook.BeforeToolCall, toolCallWire, blockingProblem](doc, hook.NameBeforeToolCall, "May this exact call run?")
	describeHook[hook.AfterToolCall, plainAnswer, Problem](doc, hook.NameAfterToolCall, "A tool has answered")
	describeHook[hook.ToolResultPersist, persistAnswer, Problem](doc, hook.NameToolResultPersist, "A result is about to be saved")
	describeHook[hook.LoopIterationEnd, plainAnswer, Problem](doc, hook.NameLoopIterationEnd, "An iteration is over")
	describeHook[hook.BeforeResponseEmit, responseEmitAnswer, blockingProblem](doc, hook.NameBeforeResponseEmit,
		"The answer is ready; seals the turn")
	describeHook[hook.MessageSending, messageSendingAnswer, cancelingProblem](doc, hook.NameMessageSending, "A message is about to leave")
	describeHook[hook.AgentEnd, plainAnswer, Problem](doc, hook.NameAgentEnd, "The turn is over")
	// Hosts add fields of their own to what they send; those are ignored.
	for name, s := range doc.Components.Schemas.Map() {
		if strings.HasPrefix(name, "Hook") || strings.HasPrefix(name, "Envelope") {
			s.AdditionalProperties = true
		}
	}
}

// describeHook adds the hook whose event is E, answered with A or failing with F.
func describeHook[E, A, F any](doc *huma.OpenAPI, name hook.Name, summary string) {
	about := "A status other than 2xx means that nothing could be decided: the host must not go on."
	if name == hook.NameBeforeToolCall {
		about += "\n\nAn approval is for the bytes of params as they came, and so is asking again: the same object with its keys " +
			"in another order, or its numbers in another spelling, is another call. A client writes them one way everywhere: " +
			"sorted keys, no blanks (RFC 8785)."
	}
	op := &huma.Operation{
		Method: http.MethodPost, Path: hookPath + string(name), OperationID: string(name), Summary: summary, Description: about,
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json": {Schema: doc.Components.Schemas.Schema(reflect.TypeFor[envelope[E]](), true, "")},
		}},
		Responses: map[string]*huma.Response{
			"200":     describeBody(doc, "The hook's result, and what the monitor knows.", "application/json", reflect.TypeFor[A]()),
			"default": describeBody(doc, "What went wrong.", problemType, reflect.TypeFor[F]()),
		},
	}
	describeOperation(doc, op)
	doc.AddOperation(op)
}
