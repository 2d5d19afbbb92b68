package judge

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/patience"
	"github.com/tidemark/tidemark/internal/base/sameorigin"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/mcp/wire"
	"github.com/tidemark/tidemark/tool"
)

// Admission lets in whoever shows the agents' token, in a header and nowhere else.
type Admission struct {
	Guard *sameorigin.Guard
	Open  bool // nobody needs a token
	// Machine knows the tokens of other machines and of their agents; nil: there are none.
	Machine func(token string) (machine string, ok bool)
	hash    [sha256.Size]byte
	some    bool
}

// NewAdmission makes an Admission; with an empty token it lets nobody in.
func NewAdmission(g *sameorigin.Guard, token string) *Admission {
	return &Admission{Guard: g, hash: sha256.Sum256([]byte(token)), some: token != ""}
}

// Check is the status and the reason for which a request may not go on; 0 where it may.
func (a *Admission) Check(r *http.Request) (int, string) {
	if refused := a.Guard.Check(r); refused != nil {
		return refused.Status, refused.Text
	}
	if a.Open || a.Apart(r) {
		return 0, ""
	}
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return http.StatusUnauthorized, "this needs the agent token as bearer token in the Authorization header"
	}
	scheme, secret, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || !a.is(secret) {
		return http.StatusUnauthorized, "nobody has this token"
	}
	return 0, ""
}

// TokenHeader is where a client puts the token whose Authorization header is for somebody else.
const TokenHeader = "X-Tidemark-Token"

// Apart reports whether the token came in a header of its own, so that the Authorization header, which
// does not hold it, is the client's.
func (a *Admission) Apart(r *http.Request) bool {
	values := r.Header[TokenHeader]
	if len(values) != 1 || !a.is(values[0]) {
		return false
	}
	for _, v := range r.Header["Authorization"] {
		if _, secret, _ := strings.Cut(v, " "); a.is(secret) {
			return false
		}
	}
	return true
}

func (a *Admission) is(secret string) bool {
	given := sha256.Sum256([]byte(strings.TrimSpace(secret)))
	if a.some && subtle.ConstantTimeCompare(given[:], a.hash[:]) == 1 {
		return true
	}
	if a.Machine == nil {
		return false
	}
	_, ok := a.Machine(strings.TrimSpace(secret))
	return ok
}

// MachineOf is the machine elsewhere whose token a request came with; "": none's.
func (a *Admission) MachineOf(r *http.Request) string {
	if a.Machine == nil {
		return ""
	}
	shown := slices.Clone(r.Header[TokenHeader])
	for _, v := range r.Header["Authorization"] {
		_, secret, _ := strings.Cut(v, " ") // as Check reads it: however the scheme is spelled
		shown = append(shown, secret)
	}
	for _, secret := range shown {
		if machine, ok := a.Machine(strings.TrimSpace(secret)); ok {
			return machine
		}
	}
	return ""
}

// PortHandler serves the port to relays that agents start.
type PortHandler struct {
	Port      Port
	Admission *Admission
	Logger    *slog.Logger
	MaxBody   int64
}

// ServeHTTP answers one question of a relay.
func (h *PortHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status, why := h.Admission.Check(r); status != 0 {
		WriteProblem(w, status, why)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		WriteProblem(w, http.StatusMethodNotAllowed, "this takes POST")
		return
	}
	raw, err := wire.Whole(r.Body, r.ContentLength, h.MaxBody)
	if err != nil {
		WriteProblem(w, http.StatusRequestEntityTooLarge, "the body could not be read, or is too large")
		return
	}
	answer, err := h.answer(r.Context(), r.URL.Path, raw, h.Admission.MachineOf(r))
	if err == nil {
		raw, err = strictjson.Marshal(answer)
	}
	if err != nil {
		h.problem(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw) //nolint:gosec // JSON, for a program; one that is gone cannot be told
}

var (
	errBody   = errors.New("the body cannot be read")
	errNoSuch = errors.New("there is no such path")
)

func (h *PortHandler) answer(ctx context.Context, path string, raw []byte, machine string) (any, error) {
	none := struct{}{}
	switch path {
	case decidePath:
		var b askBody
		if strictjson.UnmarshalKnown(raw, &b) != nil {
			return nil, errBody
		}
		r, err := h.Port.Decide(ctx, Ask{
			Place: b.Place.on(machine), Call: tool.Call{ID: b.ID, Name: b.Tool, Args: b.Args}, Patience: wait(b.WaitMs), Elicits: b.Elicits,
			Gated: b.Gated, Client: b.Client, Looks: b.Looks,
		})
		body := rulingBody{
			Allowed: r.Allowed(), Place: r.Place, Refusal: r.Refusal, Held: r.Held, Approved: r.Approved, Args: r.Args, Answer: r.Answer,
		}
		for _, l := range r.LookUps {
			body.LookUps = append(body.LookUps, lookUpBody{l.ID, l.Name, l.Args})
		}
		return body, err
	case observePath:
		var b cameBody
		if strictjson.UnmarshalKnown(raw, &b) != nil {
			return nil, errBody
		}
		res := tool.Result{CallID: b.ID, Name: b.Tool, Args: b.Args, Content: b.Content, Error: b.Error, Labels: b.Labels}
		return h.Port.Observe(ctx, Came{Place: b.Place.on(machine), Result: res, Argues: b.Argues, Holds: b.Holds})
	case offerPath:
		var b offerBody
		if strictjson.UnmarshalKnown(raw, &b) != nil {
			return nil, errBody
		}
		defs := make([]tool.Definition, 0, len(b.Tools))
		for _, t := range b.Tools {
			defs = append(defs, tool.Definition{
				Name: t.Name, Description: t.Description, Schema: t.Schema,
				ReadOnly: t.ReadOnly, Destructive: t.Destructive, OpenWorld: t.OpenWorld,
			})
		}
		held, err := h.Port.Offer(ctx, b.Place.on(machine), b.Server, defs)
		return offeredBody{held}, err
	case giveUpPath:
		var b giveUpBody
		if strictjson.UnmarshalKnown(raw, &b) != nil {
			return nil, errBody
		}
		return none, h.Port.GiveUp(ctx, GivenUp{
			Place: b.Place.on(machine), Call: tool.Call{Name: b.Tool, Args: b.Args}, Client: b.Client, After: wait(b.AfterMs),
		})
	case answerPath:
		var b saidBody
		if strictjson.UnmarshalKnown(raw, &b) != nil {
			return nil, errBody
		}
		where := Place{Session: b.Session}.on(machine)
		return none, h.Port.Answer(ctx, Said{Question: b.Question, Session: where.Session, Approve: b.Approve, For: wait(b.ForMs)})
	}
	return nil, errNoSuch
}

// problem is the one table from errors to what the relay is told.
func (h *PortHandler) problem(w http.ResponseWriter, r *http.Request, err error) {
	var no *engine.AnswerError
	switch {
	case errors.Is(err, errNoSuch):
		WriteProblem(w, http.StatusNotFound, err.Error())
	case errors.Is(err, errBody), errors.Is(err, engine.ErrRef):
		WriteProblem(w, http.StatusBadRequest, err.Error())
	case errors.Is(err, ErrNotHere), errors.As(err, &no), errors.Is(err, engine.ErrNotFound):
		WriteProblem(w, http.StatusConflict, ErrNotHere.Error())
	case errors.Is(err, context.Canceled):
		WriteProblem(w, http.StatusServiceUnavailable, "the request was given up")
	case errors.Is(err, patience.ErrLate):
		h.Logger.LogAttrs(r.Context(), slog.LevelError, "mcp: not decided", slog.String("error", err.Error()))
		WriteProblem(w, http.StatusServiceUnavailable,
			"the log did not answer in time (server.deadlineMs): nothing was decided, nothing may run")
	default:
		h.Logger.LogAttrs(r.Context(), slog.LevelError, "mcp: not decided", slog.String("error", err.Error()))
		WriteProblem(w, http.StatusServiceUnavailable, "the log cannot be written or read: nothing was decided, nothing may run")
	}
}

// WriteProblem answers a request that is not served.
func WriteProblem(w http.ResponseWriter, status int, detail string) {
	raw, err := strictjson.Marshal(map[string]any{"title": http.StatusText(status), "status": status, "detail": detail})
	if err != nil {
		raw = []byte("{}")
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="tidemark"`)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // a client that is gone cannot be told
}
