package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/signin"
)

func (m *management) consoleRoutes() {
	route(m, operation{
		http.MethodPost, "/v1/console/links", "consoleLink",
		"A way into the console that works once, for a minute, with the role of the token",
	}, m.consoleLink)
	route(m, operation{http.MethodGet, "/v1/console/links/{id}", "viewConsoleLink", "What became of a way into the console"},
		m.viewConsoleLink)
	route(m, operation{
		http.MethodPost, "/v1/console/links/{id}", "confirmConsoleLink",
		"Say whether the page shows the digits that the link does; only then is anybody signed in",
	}, m.confirmConsoleLink)
}

type consoleLink struct {
	ID      string    `json:"id" doc:"of the link, for whoever asked for it"`
	URL     string    `json:"url" doc:"where the code is typed; the code is not in it"`
	Code    string    `json:"code" doc:"goes behind a # of the address, in a private file"`
	Short   string    `json:"short" doc:"the code for typing"`
	Expires time.Time `json:"expires"`
}

func (m *management) consoleLink(ctx context.Context, _ *struct{}) (consoleLink, error) {
	if m.desk == nil || m.console == nil {
		return consoleLink{}, notFound("this server has no console")
	}
	l, err := m.desk.Mint(ctx, by(ctx), callerOf(ctx).role.String())
	if errors.Is(err, signin.ErrBusy) {
		return consoleLink{}, newProblem(http.StatusTooManyRequests, "busy", err.Error())
	}
	return consoleLink{ID: l.ID, URL: m.console() + "/console/login", Code: l.Code, Short: l.Short, Expires: l.Expires}, err
}

type linkState struct {
	State  string `json:"state" enum:"waiting,opened,confirmed,refused,expired"`
	Digits string `json:"digits,omitzero" doc:"what the page shows that opened it"`
}

func (m *management) viewConsoleLink(ctx context.Context, in *struct {
	ID string `path:"id" doc:"the link's id"`
}) (linkState, error) {
	if m.desk == nil {
		return linkState{}, notFound("this server has no console")
	}
	s, err := m.desk.Look(ctx, in.ID)
	return stateOf(s, err)
}

func (m *management) confirmConsoleLink(ctx context.Context, in *struct {
	ID   string `path:"id" doc:"the link's id"`
	Body struct {
		Match bool `json:"match" doc:"whether the page shows the same digits"`
	}
}) (linkState, error) {
	if m.desk == nil {
		return linkState{}, notFound("this server has no console")
	}
	s, err := m.desk.Confirm(ctx, in.ID, by(ctx), in.Body.Match)
	return stateOf(s, err)
}

func stateOf(s signin.State, err error) (linkState, error) {
	if errors.Is(err, signin.ErrNoLink) {
		return linkState{}, notFound("no link has this id, or it is long over")
	}
	return linkState{State: s.State, Digits: s.Digits}, err
}

// wantsOf is what approving takes, never nil.
func wantsOf(proof func() string) func() string {
	if proof == nil {
		return func() string { return "" }
	}
	return proof
}

// headLimit is how long a look at the log may take before it counts as one that cannot be read.
const headLimit = 5 * time.Second

// proven refuses what takes a proof that this door has no way to bring.
func (m *management) proven() error {
	if m.wants() == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), headLimit)
	defer cancel()
	if _, err := m.log.Head(ctx); err != nil { // where keys cannot be read a proof is wanted, and this is why
		return m.explain(ctx, err)
	}
	return newProblem(http.StatusForbidden, "proof-required", engine.ErrProof.Error()+": do it in the console (tidemark console)")
}
