package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/base/patience"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/uuid"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/graph"
	"github.com/tidemark/tidemark/internal/question"
)

// Problem is an error as the client sees it (RFC 9457). Nothing but what is in it
// leaves the process.
type Problem struct {
	Type     string `json:"type" doc:"which kind of problem; stable"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail,omitzero" doc:"what is wrong with this request"`
	Instance string `json:"instance,omitzero" doc:"the entry in the server's log that says more"`

	header http.Header
}

const problemType = "application/problem+json"

func newProblem(status int, kind, detail string) *Problem {
	return &Problem{Type: "urn:tidemark:problem:" + kind, Title: http.StatusText(status), Status: status, Detail: detail}
}

// with adds a header to the response.
func (p *Problem) with(name, value string) *Problem {
	if p.header == nil {
		p.header = http.Header{}
	}
	p.header.Set(name, value)
	return p
}

func (p *Problem) Error() string { return p.Detail }

// GetStatus is the status to answer with. It and the next two are what huma asks of an error.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders are headers to answer with.
func (p *Problem) GetHeaders() http.Header { return p.header }

// ContentType is the media type of the body.
func (p *Problem) ContentType(string) string { return problemType }

func badRequest(detail string) *Problem {
	return newProblem(http.StatusBadRequest, "bad-request", detail)
}

func notFound(detail string) *Problem {
	return newProblem(http.StatusNotFound, "not-found", detail)
}

// retryAfter is how many seconds a client should wait for a store that is down.
const retryAfter = "1"

// notInTime is what is said of a decision that ran out of time.
const notInTime = "the log did not answer in time (server.deadlineMs): nothing was decided, nothing may run"

func unavailable(detail string) *Problem {
	return newProblem(http.StatusServiceUnavailable, "unavailable", detail).with("Retry-After", retryAfter)
}

// explain is the one table from errors to what the client is told. An error it does not
// know shows nothing of the inside: the client gets an id, the log the rest.
func (a *API) explain(ctx context.Context, err error) *Problem {
	var known *Problem
	var answer *engine.AnswerError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, patience.ErrLate):
		return a.logged(ctx, err, unavailable(notInTime))
	case hungUp(ctx, err):
		a.logger.LogAttrs(ctx, slog.LevelInfo, "client hung up", slog.String("error", err.Error()))
		return unavailable(givenUp)
	case errors.Is(err, engine.ErrUnavailable):
		return a.logged(ctx, err, unavailable("the log cannot be written or read: nothing was decided, nothing may run"))
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return unavailable(givenUp)
	case errors.Is(err, engine.ErrSealed):
		return newProblem(http.StatusConflict, "sealed", "the turn is sealed: its answer has already gone out")
	case errors.Is(err, engine.ErrTicket):
		return newProblem(http.StatusConflict, "ticket", err.Error())
	case errors.Is(err, engine.ErrConflict):
		return newProblem(http.StatusConflict, "conflict", "the session was changed by somebody else at the same time; try again")
	case errors.Is(err, engine.ErrHost):
		return badRequest("ctx.dialog: " + engine.ErrHost.Error())
	case errors.Is(err, engine.ErrRef):
		return badRequest("sessionKey, branch and runId: a session must be named, and no name may be longer than 512 bytes")
	case errors.Is(err, engine.ErrProof):
		return newProblem(http.StatusForbidden, "proof-required", err.Error())
	case errors.Is(err, question.ErrApart):
		return newProblem(http.StatusConflict, "one-by-one", err.Error())
	case errors.Is(err, approval.ErrUsage):
		return badRequest(err.Error())
	case errors.As(err, &answer):
		return newProblem(http.StatusConflict, "answered", answer.Error())
	case errors.Is(err, engine.ErrNotFound), errors.Is(err, graph.ErrNoTurn):
		return notFound("nobody knows what this request names")
	}
	return a.logged(ctx, err, internal())
}

// givenUp is what is said of a request that nobody waits for any more.
const givenUp = "the request was given up before it was decided"

// hungUp reports whether the work failed because its client has left: the log is as well as it was, and nobody need look.
func hungUp(ctx context.Context, err error) bool {
	return errors.Is(ctx.Err(), context.Canceled) && (errors.Is(err, context.Canceled) || errors.Is(err, engine.ErrUnavailable))
}

func internal() *Problem {
	return newProblem(http.StatusInternalServerError, "internal", "something went wrong inside; the server's log says more")
}

// logged writes the cause to the log and its id into the problem.
func (a *API) logged(ctx context.Context, cause error, p *Problem) *Problem {
	p.Instance = "urn:uuid:" + uuid.New()
	a.logger.LogAttrs(ctx, slog.LevelError, "request not served",
		slog.String("instance", p.Instance), slog.Int("status", p.Status), slog.String("error", cause.Error()))
	return p
}

// blockingProblem is a problem on a hook that gates: a host that looks at nothing but
// the fields of the hook's result must not act either.
type blockingProblem struct {
	Problem
	Block       bool     `json:"block"`
	BlockReason string   `json:"blockReason"`
	Tools       []string `json:"tools,omitzero"`
	ToolCalls   []string `json:"toolCalls,omitzero"`
}

// cancelingProblem is the same for message_sending.
type cancelingProblem struct {
	Problem
	Cancel       bool   `json:"cancel"`
	CancelReason string `json:"cancelReason"`
}

// closed is the problem in the shape that stops the hook's host.
func (p *Problem) closed(name hook.Name) any {
	reason := fmt.Sprintf("Tidemark could not decide, so this may not go on: %s", p.Detail)
	switch name {
	case hook.NameBeforeLLMCall:
		return &blockingProblem{Problem: *p, Block: true, BlockReason: reason, Tools: []string{}}
	case hook.NameAfterLLMCall:
		return &blockingProblem{Problem: *p, Block: true, BlockReason: reason, ToolCalls: []string{}}
	case hook.NameBeforeToolCall, hook.NameBeforeResponseEmit:
		return &blockingProblem{Problem: *p, Block: true, BlockReason: reason}
	case hook.NameMessageSending:
		return &cancelingProblem{Problem: *p, Cancel: true, CancelReason: reason}
	}
	return p
}

// writeProblem answers with p; name is the hook it happened on, if any.
func (a *API) writeProblem(w http.ResponseWriter, name hook.Name, p *Problem) {
	h := w.Header()
	for k, v := range p.header {
		h[k] = v
	}
	body, err := strictjson.Marshal(p.closed(name))
	if err != nil { // a detail that is no UTF-8
		p.Detail = ""
		body, _ = strictjson.Marshal(p.closed(name))
	}
	h.Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	_, _ = w.Write(body) //nolint:gosec // JSON, typed as such and not sniffed; a client that is gone cannot be told
}
