package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tidemark/tidemark/internal/people/roster"
)

func (m *management) peopleRoutes() {
	route(m, operation{http.MethodGet, "/v1/people", "listPeople", "People who have a token of their own"}, m.listPeople)
	route(m, operation{
		http.MethodPost, "/v1/people", "addPerson",
		"Make a token for somebody; it is shown here once. Where approving takes a proof it is made in the console",
	}, m.addPerson)
	route(m, operation{
		http.MethodDelete, "/v1/people/{name}", "revokePerson",
		"Take somebody's token away at once, and sign them out of the console",
	}, m.revokePerson)
}

type personRow struct {
	Name string    `json:"name"`
	Role string    `json:"role" enum:"reader,approver,admin"`
	Made time.Time `json:"made"`
}

type peopleList struct {
	People []personRow `json:"people"`
}

func (m *management) listPeople(context.Context, *struct{}) (peopleList, error) {
	out := peopleList{People: []personRow{}}
	for _, p := range m.keys.people.List() {
		out.People = append(out.People, personRow{p.Name, p.Role, p.Made})
	}
	return out, nil
}

type newPerson struct {
	Name  string `json:"name"`
	Role  string `json:"role"`
	Token string `json:"token" doc:"known here once: only its hash is kept"`
	By    string `json:"by" doc:"how the log will name them"`
}

func (m *management) addPerson(ctx context.Context, in *struct {
	Body struct {
		Name string `json:"name" doc:"small letters, digits, dots, dashes and underscores"`
		Role string `json:"role" enum:"reader,viewer,approver,admin" doc:"viewer is another word for reader"`
	}
}) (newPerson, error) {
	if m.keys.people == nil {
		return newPerson{}, notFound("this server keeps no tokens of people")
	}
	if err := m.proven(); err != nil {
		return newPerson{}, err
	}
	token, err := m.keys.people.Add(ctx, roster.Actor{By: by(ctx), Via: via}, in.Body.Name, in.Body.Role)
	switch {
	case errors.Is(err, roster.ErrBad):
		return newPerson{}, badRequest(err.Error())
	case errors.Is(err, roster.ErrTaken):
		return newPerson{}, newProblem(http.StatusConflict, "taken", err.Error())
	case err != nil:
		return newPerson{}, err
	}
	p, _ := m.keys.people.Find(token) // it was just added
	return newPerson{Name: p.Name, Role: p.Role, Token: token, By: p.By()}, nil
}

// revokePerson needs no proof: it takes something away.
func (m *management) revokePerson(ctx context.Context, in *struct {
	Name string `path:"name" doc:"the person's name"`
}) (personRow, error) {
	if m.keys.people == nil {
		return personRow{}, notFound("this server keeps no tokens of people")
	}
	p, err := m.keys.people.Revoke(ctx, roster.Actor{By: by(ctx), Via: via}, in.Name)
	if errors.Is(err, roster.ErrNobody) {
		return personRow{}, notFound(err.Error())
	}
	if err == nil && m.desk != nil {
		err = m.desk.EndOf(ctx, p.By(), by(ctx))
	}
	return personRow{p.Name, p.Role, p.Made}, err
}
