package httpapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"time"

	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
)

// Joins lets other machines in, each by a code that counts once.
type Joins interface {
	// Invite makes a code; ErrUnreachable where no other machine could use it.
	Invite(ctx context.Context, by, machine string, life time.Duration) (Invitation, error)
	// Join spends one, and returns the machine's name and its token.
	Join(ctx context.Context, secret string) (machine, token string, err error)
	// Keys are the hashes of the codes that are open: by them the server shows who it is.
	Keys() [][sha256.Size]byte
}

// ErrUnreachable is for a server that no other machine reaches.
var ErrUnreachable = errors.New("this server is reached from this machine alone: set server.tls (it speaks TLS itself) or " +
	"server.address (something before it does) and start it anew; see docs/deploy.md")

// Invitation is what somebody carries to a machine.
type Invitation struct {
	Machine string    `json:"machine" doc:"what it will be called"`
	Code    string    `json:"code" doc:"shown here once; it holds part of the server's key, so that it opens no other server"`
	URLs    []string  `json:"urls" doc:"where the server is reached"`
	Expires time.Time `json:"expiresAt" doc:"the code opens nothing afterwards"`
}

func (m *management) machineRoutes() {
	route(m, operation{
		http.MethodPost, "/v1/machines", "inviteMachine",
		"Make a code with which another machine joins, once and not for long",
	}, m.inviteMachine)
	route(m, operation{http.MethodGet, "/v1/machine", "machine", "What the machine is called whose token this is"}, m.ownMachine)
	route(m, operation{
		http.MethodPost, "/v1/join", "joinMachine",
		"A machine joins with a code, and gets a token that speaks for its own agents and for no others",
	}, m.joinMachine)
}

type ownMachine struct {
	Machine string `json:"machine,omitzero" doc:"whose token it is"`
}

// ownMachine tells a machine what it is called here.
func (m *management) ownMachine(ctx context.Context, _ *struct{}) (ownMachine, error) {
	return ownMachine{callerOf(ctx).machine}, nil
}

// defaultInvite is how long a code holds where nobody says.
const defaultInvite = 15

func (m *management) inviteMachine(ctx context.Context, in *struct {
	Body struct {
		Machine string `json:"machine" doc:"what it will be called: up to 16 small letters, digits and dashes"`
		Minutes int    `json:"minutes,omitempty" doc:"how long the code holds; 15 where nothing is said" minimum:"0" maximum:"1440"`
	}
}) (Invitation, error) {
	name := in.Body.Machine
	switch {
	case m.keys.joins == nil:
		return Invitation{}, newProblem(http.StatusConflict, "unreachable", ErrUnreachable.Error())
	case !accounts.MachineName(name):
		return Invitation{}, badRequest("body.machine: want up to 16 small letters, digits and dashes, and no name of a role")
	case m.keys.people.Named(name):
		return Invitation{}, newProblem(http.StatusConflict, "taken",
			"somebody or some machine has this name; if it is the same machine, take its tokens away first "+
				"(tidemark token revoke "+name+")")
	}
	if in.Body.Minutes == 0 {
		in.Body.Minutes = defaultInvite
	}
	out, err := m.keys.joins.Invite(ctx, by(ctx), name, time.Duration(in.Body.Minutes)*time.Minute)
	if errors.Is(err, ErrUnreachable) {
		return Invitation{}, newProblem(http.StatusConflict, "unreachable", err.Error())
	}
	return out, err
}

type joined struct {
	Machine string `json:"machine" doc:"what it is called here"`
	Token   string `json:"token" doc:"speaks for the agents of this machine; known here once"`
	Version string `json:"version" doc:"of this server"`
}

func (m *management) joinMachine(ctx context.Context, in *struct {
	Body struct {
		Secret string `json:"secret" doc:"of the code"`
	}
}) (joined, error) {
	if m.keys.joins == nil {
		return joined{}, newProblem(http.StatusConflict, "unreachable", ErrUnreachable.Error())
	}
	machine, token, err := m.keys.joins.Join(ctx, in.Body.Secret)
	switch {
	case errors.Is(err, approvalproof.ErrCode):
		return joined{}, newProblem(http.StatusForbidden, "code", err.Error())
	case errors.Is(err, approvalproof.ErrJoins):
		return joined{}, newProblem(http.StatusTooManyRequests, "code", err.Error())
	case errors.Is(err, accounts.ErrTaken):
		return joined{}, newProblem(http.StatusConflict, "taken", err.Error())
	case err != nil:
		return joined{}, err
	}
	return joined{Machine: machine, Token: token, Version: m.version}, nil
}
