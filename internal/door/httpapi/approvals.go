package httpapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/store"
)

// pending is the state of a question that waits for its answer.
const pending = "pending"

func (m *management) approvalRoutes() {
	route(m, operation{http.MethodGet, "/v1/approvals", "listApprovals", "Held calls, oldest first"}, m.listApprovals)
	route(m, operation{http.MethodGet, "/v1/approvals/{id}", "viewApproval", "One held call"}, m.viewApproval)
	route(m, operation{http.MethodPost, "/v1/approvals/{id}", "answerApproval", "Approve or deny a held call"}, m.answerApproval)
	route(m, operation{http.MethodGet, "/v1/grants", "listGrants", "Grants in force, by session, newest session first"}, m.listGrants)
	route(m, operation{http.MethodDelete, "/v1/grants/{id}", "revokeGrant", "End a grant before its time"}, m.revokeGrant)
}

type approvalList struct {
	Approvals []tidemark.Question `json:"approvals"`
}

func (m *management) listApprovals(ctx context.Context, in *struct {
	Session string `query:"session" doc:"only this session"`
	State   string `query:"state" enum:"pending,approved,dead,expired" doc:"only this state"`
}) (approvalList, error) {
	questions := m.monitor.Questions()
	if in.Session != "" {
		v, err := m.monitor.View(ctx, in.Session)
		if err != nil {
			return approvalList{}, err
		}
		questions = v.Questions
	}
	questions = slices.DeleteFunc(questions, func(q tidemark.Question) bool { return in.State != "" && q.State != in.State })
	return approvalList{Approvals: questions}, nil
}

// questionOf finds a question by its id.
func (m *management) questionOf(id string) (tidemark.Question, error) {
	all := m.monitor.Questions()
	i := slices.IndexFunc(all, func(q tidemark.Question) bool { return q.ID == id })
	if i < 0 {
		return tidemark.Question{}, notFound("no question has this id, or it was answered and its call has run")
	}
	return all[i], nil
}

func (m *management) viewApproval(_ context.Context, in *struct {
	ID string `path:"id"`
}) (tidemark.Question, error) {
	return m.questionOf(in.ID)
}

type answerDone struct {
	Resolved []string `json:"resolved" doc:"questions it answered"`
	Grant    string   `json:"grant,omitzero" doc:"id of the grant it made"`
	Notice   string   `json:"notice" doc:"what happened, for the person who answered"`
}

func (m *management) answerApproval(ctx context.Context, in *struct {
	ID   string `path:"id"`
	Body struct {
		Decision string `json:"decision" enum:"approve,deny"`
		Minutes  int    `json:"minutes,omitempty" minimum:"0" maximum:"1440" doc:"0: this one call; more: every call of the tool for so long"`
		Reason   string `json:"reason,omitempty" maxLength:"2000"`
		Session  string `json:"session,omitempty" doc:"looked up if absent"`
	}
}) (answerDone, error) {
	session := in.Body.Session
	if session == "" {
		q, err := m.questionOf(in.ID)
		if err != nil {
			return answerDone{}, err
		}
		session = q.Session
	}
	out, err := m.monitor.Answer(ctx, tidemark.Vote{
		Session: session, IDs: []string{in.ID}, Approve: in.Body.Decision == "approve",
		For: time.Duration(in.Body.Minutes) * time.Minute, By: by(ctx), Via: via, Reason: in.Body.Reason,
	})
	if err != nil {
		return answerDone{}, err
	}
	return answerDone{Resolved: out.IDs, Grant: out.Grant, Notice: out.Notice}, nil
}

// pageInput asks for a page of what sessions hold. A page covers sessions, so it may be
// empty and still have a next one.
type pageInput struct {
	Session string `query:"session" doc:"only this session"`
	After   string `query:"after" doc:"the next of the page before"`
	Limit   int    `query:"limit" default:"200" minimum:"1" maximum:"1000" doc:"how many sessions a page covers"`
}

// pageOf visits the readable sessions of a page.
func (m *management) pageOf(ctx context.Context, in *pageInput, visit func(*tidemark.View)) (next string, err error) {
	if in.Session != "" {
		v, err := m.monitor.View(ctx, in.Session)
		if err == nil {
			visit(&v)
		}
		return "", err
	}
	return m.eachSession(ctx, store.SessionQuery{Limit: in.Limit, After: in.After}, func(_ store.Session, v *tidemark.View) bool {
		if v != nil {
			visit(v)
		}
		return true
	})
}

type grantRow struct {
	Session string `json:"session"`
	tidemark.GrantView
}

type grantPage struct {
	Grants []grantRow `json:"grants"`
	Next   string     `json:"next,omitzero" doc:"the after of the next page; absent on the last"`
}

func (m *management) listGrants(ctx context.Context, in *pageInput) (grantPage, error) {
	page := grantPage{Grants: []grantRow{}}
	next, err := m.pageOf(ctx, in, func(v *tidemark.View) {
		for _, g := range v.Grants {
			page.Grants = append(page.Grants, grantRow{v.Session, g})
		}
	})
	page.Next = next
	return page, err
}

type revokeDone struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	Revoked bool   `json:"revoked"`
}

func (m *management) revokeGrant(ctx context.Context, in *struct {
	ID      string `path:"id"`
	Session string `query:"session" doc:"looked up among the newest sessions if absent"`
}) (revokeDone, error) {
	v, err := m.findSession(ctx, in.Session, func(v *tidemark.View) bool {
		return slices.ContainsFunc(v.Grants, func(g tidemark.GrantView) bool { return g.ID == in.ID })
	})
	if err != nil {
		return revokeDone{}, err
	}
	err = m.monitor.Revoke(ctx, v.Session, in.ID, by(ctx), via)
	return revokeDone{ID: in.ID, Session: v.Session, Revoked: true}, err
}
