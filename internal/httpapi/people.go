package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tidemark/tidemark/internal/people/accounts"
)

func (m *management) peopleRoutes() {
	route(m, operation{http.MethodGet, "/v1/people", "listPeople", "People who have a token of their own"}, m.listPeople)
	route(m, operation{
		http.MethodPost, "/v1/people", "addPerson",
		"Make a token for somebody; it is shown here once. Where approving takes a proof it is made in the console",
	}, m.addPerson)
	route(m, operation{
		http.MethodPost, "/v1/agents", "addAgent",
		"Make a token that is one agent's, shown here once: the server sets the id of what comes with it and refuses another. " +
			"The common token of agents may do so: it can speak for any of them already",
	}, m.addAgent)
	route(m, operation{
		http.MethodDelete, "/v1/people/{name}", "revokePerson",
		"Take somebody's token away at once, and sign them out of the console",
	}, m.revokePerson)
}

type personRow struct {
	Name  string `json:"name"`
	Role  string `json:"role" enum:"reader,approver,admin,agent"`
	Agent string `json:"agent,omitzero" doc:"of an agent's token: its id"`
	// Machine is that of an agent's token whose agent runs elsewhere.
	Machine string    `json:"machine,omitzero" doc:"of an agent's token: the machine elsewhere that it runs on"`
	Made    time.Time `json:"made"`
}

type peopleList struct {
	People []personRow `json:"people"`
}

func (m *management) listPeople(context.Context, *struct{}) (peopleList, error) {
	out := peopleList{People: []personRow{}}
	for _, p := range m.keys.people.List() {
		out.People = append(out.People, personRow{p.Name, p.Role, p.Agent, p.Machine, p.Made})
	}
	return out, nil
}

type newPerson struct {
	Name  string `json:"name"`
	Role  string `json:"role"`
	Agent string `json:"agent,omitzero" doc:"of an agent's token: its id"`
	Token string `json:"token" doc:"known here once: only its hash is kept"`
	By    string `json:"by" doc:"how the log will name them"`
}

func (m *management) addPerson(ctx context.Context, in *struct {
	Body struct {
		Name string `json:"name" doc:"small letters, digits, dots, dashes and underscores"`
		Role string `json:"role" enum:"reader,viewer,approver,admin,machine" doc:"viewer is reader; machine: of one elsewhere"`
	}
}) (newPerson, error) {
	if in.Body.Role == accounts.MachineRole { // it approves nothing
		return m.added(func(r *accounts.Roster) (string, error) {
			return r.AddMachine(ctx, accounts.Actor{By: by(ctx), Via: via}, in.Body.Name)
		})
	}
	if err := m.proven(); err != nil {
		return newPerson{}, err
	}
	return m.added(func(r *accounts.Roster) (string, error) {
		return r.Add(ctx, accounts.Actor{By: by(ctx), Via: via}, in.Body.Name, in.Body.Role)
	})
}

// addAgent needs no proof: what it makes may do less than what asks for it.
func (m *management) addAgent(ctx context.Context, in *struct {
	Body struct {
		Name  string `json:"name" doc:"of the token: small letters, digits, dots, dashes and underscores"`
		Agent string `json:"agent" doc:"the id of the agent"`
	}
}) (newPerson, error) {
	if own := callerOf(ctx).agent; own != "" {
		return newPerson{}, newProblem(http.StatusForbidden, "role", "this token is the agent "+own+"'s, and makes no others")
	}
	if machine := callerOf(ctx).machine; machine != "" {
		return m.added(func(r *accounts.Roster) (string, error) {
			return r.AddAgentOf(ctx, accounts.Actor{By: by(ctx), Via: via}, machine, in.Body.Agent)
		})
	}
	return m.added(func(r *accounts.Roster) (string, error) {
		return r.AddAgent(ctx, accounts.Actor{By: by(ctx), Via: via}, in.Body.Name, in.Body.Agent)
	})
}

// added tells a token that was just made, or why it was not.
func (m *management) added(add func(r *accounts.Roster) (string, error)) (newPerson, error) {
	if m.keys.people == nil {
		return newPerson{}, notFound("this server keeps no tokens of people")
	}
	token, err := add(m.keys.people)
	switch {
	case errors.Is(err, accounts.ErrBad):
		return newPerson{}, badRequest(err.Error())
	case errors.Is(err, accounts.ErrTaken):
		return newPerson{}, newProblem(http.StatusConflict, "taken", err.Error())
	case err != nil:
		return newPerson{}, err
	}
	p, _ := m.keys.people.Find(token) // it was just added
	return newPerson{Name: p.Name, Role: p.Role, Agent: p.Agent, Token: token, By: p.By()}, nil
}

// revokePerson needs no proof: it takes something away.
func (m *management) revokePerson(ctx context.Context, in *struct {
	Name string `path:"name" doc:"the person's name"`
}) (personRow, error) {
	if m.keys.people == nil {
		return personRow{}, notFound("this server keeps no tokens of people")
	}
	p, err := m.keys.people.Revoke(ctx, accounts.Actor{By: by(ctx), Via: via}, in.Name)
	if errors.Is(err, accounts.ErrNobody) {
		return personRow{}, notFound(err.Error())
	}
	if err == nil && m.desk != nil {
		err = m.desk.EndOf(ctx, p.By(), by(ctx))
	}
	return personRow{p.Name, p.Role, p.Agent, p.Machine, p.Made}, err
}
