package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/base/alarm"
	"github.com/tidemark/tidemark/internal/base/patience"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/sight"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/waiting"
)

func (m *management) approvalRoutes() {
	route(m, operation{
		http.MethodGet, "/v1/approvals", "listApprovals", "Held calls, oldest first, and hidden definitions of MCP servers",
	}, m.listApprovals)
	route(m, operation{http.MethodGet, "/v1/approvals/{id}", "viewApproval", "One held call"}, m.viewApproval)
	route(m, operation{
		http.MethodPost, "/v1/approvals/{id}", "answerApproval", "Approve or deny a held call, or a hidden definition of an MCP server",
	}, m.answerApproval)
	route(m, operation{
		http.MethodPost, "/v1/approvals", "answerApprovals",
		"Approve or deny a few held calls of one session at once: all of them, or none. What is final, dangerous or runs a command is " +
			"approved alone. With a session instead of ids, deny all of its calls that wait",
	}, m.answerApprovals)
	route(m, operation{http.MethodGet, "/v1/grants", "listGrants", "Grants in force, those of every session first"}, m.listGrants)
	route(m, operation{http.MethodDelete, "/v1/grants/{id}", "revokeGrant", "End a grant before its time"}, m.revokeGrant)
}

type approvalList struct {
	Approvals []engine.Question `json:"approvals"`
	// Definitions are no calls: nobody waits for them, and they do not expire.
	Definitions []pins.Notice `json:"definitions,omitzero" doc:"of MCP servers, hidden until a person accepts them"`
	Seen        string        `json:"seen" doc:"give it back as seen, with wait, to be told of the next change"`
}

func (m *management) listApprovals(ctx context.Context, in *struct {
	Session string `query:"session" doc:"only this session"`
	State   string `query:"state" enum:"pending,approved,dead,expired" doc:"only this state"`
	Wait    int    `query:"wait" minimum:"0" maximum:"300" doc:"seconds to wait for a change"`
	Seen    string `query:"seen" maxLength:"64" doc:"the seen of the last answer"`
}) (approvalList, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(in.Wait)*time.Second)
	defer cancel()
	for {
		asked := m.feed.QuestionsChanged()
		list, err := m.questions(context.WithoutCancel(ctx), in.Session, in.State)
		if err != nil || in.Wait == 0 || list.Seen != in.Seen {
			return list, err
		}
		expiry := time.NewTimer(waiting.UntilNext(list.Approvals))
		select {
		case <-asked:
		case <-expiry.C:
		case <-ctx.Done():
			expiry.Stop()
			return list, nil
		}
		expiry.Stop()
	}
}

func (m *management) questions(ctx context.Context, session, state string) (approvalList, error) {
	var list []engine.Question
	var err error
	if session != "" {
		var v engine.View
		if v, err = m.seenView(ctx, session); err == nil {
			list = v.Questions
		}
	} else {
		list, err = m.monitor.Questions(ctx)
	}
	if err != nil {
		return approvalList{}, err
	}
	list = seen(ctx, list)
	list = slices.DeleteFunc(list, func(q engine.Question) bool { return state != "" && q.State != state })
	h := sha256.New()
	for _, q := range list {
		fmt.Fprintf(h, "%s %s %v\n", q.ID, q.State, q.Abandoned)
	}
	out := approvalList{Approvals: list}
	if session == "" && (state == "" || state == "pending") && sight.From(ctx).Whole() {
		if out.Definitions, err = m.notices(ctx); err != nil {
			return approvalList{}, err
		}
	}
	for _, n := range out.Definitions {
		fmt.Fprintln(h, n.ID)
	}
	out.Seen = hex.EncodeToString(h.Sum(nil)[:8])
	return out, nil
}

// ticketOf is by what an agent may look at the question about its own call. The id cannot be told
// from it: whoever asks is not told what an answer is given with (decision 19).
func ticketOf(id string) string {
	sum := sha256.Sum256([]byte("ticket\x00" + id))
	return "t-" + hex.EncodeToString(sum[:16])
}

// questionOf finds a question by its id.
func (m *management) questionOf(ctx context.Context, id string) (engine.Question, error) {
	ctx = patience.Unhurried(ctx) // a person looks, or answers
	if session, ok := m.monitor.Find(ctx, id); ok {
		q, err := m.monitor.Question(ctx, session, id)
		if !errors.Is(err, engine.ErrNotFound) && (err != nil || sight.From(ctx).Agent(q.Agent)) {
			return q, err
		}
	}
	return engine.Question{}, notFound("no question has this id, or it was answered long ago")
}

func (m *management) viewApproval(ctx context.Context, in *struct {
	ID   string `path:"id" doc:"for an agent, the ticket that came with the answer to its call"`
	Wait int    `query:"wait" minimum:"0" maximum:"3600" doc:"seconds to wait for its outcome"`
}) (engine.Question, error) {
	patience := time.Duration(in.Wait) * time.Second
	if roleOf(ctx) == agent {
		return m.viewOwn(ctx, in.ID, patience)
	}
	q, err := m.questionOf(ctx, in.ID)
	if err != nil {
		return q, err
	}
	return m.waiter.Outcome(ctx, q, patience)
}

// viewOwn shows an agent the question about a call of its own, which it alone has the ticket of.
// While it waits somebody waits for the answer. Who answers is not told.
func (m *management) viewOwn(ctx context.Context, ticket string, patience time.Duration) (engine.Question, error) {
	id, _ := m.monitor.FindBy(func(id string) bool { return ticketOf(id) == ticket })
	q, err := m.questionOf(ctx, id)
	if err != nil {
		return q, err
	}
	if patience > 0 {
		done := m.monitor.Await(id)
		m.feed.QuestionsMoved()
		defer m.feed.QuestionsMoved()
		defer done()
	}
	q, err = m.waiter.Outcome(ctx, q, patience)
	q.ID, q.By, q.Agreed = ticket, "", nil
	return q, err
}

type answerDone struct {
	Resolved []string `json:"resolved" doc:"questions it answered"`
	Grant    string   `json:"grant,omitzero" doc:"id of the grant it made"`
	Notice   string   `json:"notice" doc:"what happened, for the person who answered"`
}

// patterns are what a grant asks of the arguments at each path.
type patterns = map[string]string

func (m *management) answerApproval(ctx context.Context, in *struct {
	ID   string `path:"id" doc:"the question's id"`
	Body struct {
		Decision string `json:"decision" enum:"approve,deny"`

		Minutes int `json:"minutes,omitempty" minimum:"0" maximum:"1440" doc:"0: this one call; more: every call of the tool for so long"`

		Reason  string `json:"reason,omitempty" maxLength:"2000"`
		Session string `json:"session,omitempty" doc:"looked up if absent"`

		Calls int `json:"calls,omitempty" minimum:"0" maximum:"1000" doc:"with minutes: how many calls it covers; 0: as many as come"`

		Task bool `json:"task,omitempty" doc:"this call, and those like it until the task ends; goes with nothing else"`

		Always bool `json:"always,omitempty" doc:"this call, and what the question says in every session; goes with nothing else"`

		Reads bool `json:"reads,omitempty" doc:"this call, and that its tool only reads as it is defined now; goes with nothing else"`

		Where patterns `json:"where,omitempty" doc:"with minutes: only calls whose arguments fit, path to exact value or pattern with *"`
	}
}) (answerDone, error) {
	if whole := sight.From(ctx).Whole(); !whole && (alarm.Is(in.ID) || pins.IsNotice(in.ID)) {
		return answerDone{}, errHidden // of hosts and servers, which are everybody's
	}
	if alarm.Is(in.ID) { // whatever is said of it: it was seen, and nothing is opened
		if m.alarms == nil || !m.alarms.Seen(in.ID) {
			return answerDone{}, newProblem(http.StatusNotFound, "not-found", "nobody tells this any more")
		}
		return answerDone{Resolved: []string{in.ID}, Notice: "Noted. Nothing was opened."}, nil
	}
	if pins.IsNotice(in.ID) {
		if in.Body.Minutes > 0 || in.Body.Calls > 0 || len(in.Body.Where) > 0 || in.Body.Task || in.Body.Always || in.Body.Reads {
			return answerDone{}, badRequest("a definition is accepted as it is, or not at all: leave all but the decision out")
		}
		return m.answerNotice(ctx, in.ID, in.Body.Decision == "approve", in.Body.Reason)
	}
	session := in.Body.Session
	if session == "" {
		q, err := m.questionOf(ctx, in.ID)
		if err != nil {
			return answerDone{}, err
		}
		session = q.Session
	} else if !sight.At(ctx, m.monitor).Session(ctx, session) {
		return answerDone{}, errHidden
	}
	out, err := m.monitor.Answer(ctx, engine.Vote{
		Session: session, IDs: []string{in.ID}, Approve: in.Body.Decision == "approve",
		For: time.Duration(in.Body.Minutes) * time.Minute, By: by(ctx), Via: via, Reason: in.Body.Reason,
		Where: in.Body.Where, Calls: in.Body.Calls, Task: in.Body.Task, Always: in.Body.Always, Reads: in.Body.Reads,
	})
	if err != nil {
		return answerDone{}, err
	}
	return answerDone{Resolved: out.IDs, Grant: out.Grant, Notice: out.Notice}, nil
}

func (m *management) answerApprovals(ctx context.Context, in *struct {
	Body struct {
		IDs      []string `json:"ids,omitempty" maxItems:"50" doc:"the questions, all of one session"`
		Session  string   `json:"session,omitempty" doc:"instead of ids: every call of it that waits now, to be denied"`
		Decision string   `json:"decision" enum:"approve,deny" doc:"for all of them"`
		Reason   string   `json:"reason,omitempty" maxLength:"2000"`
	}
}) (answerDone, error) {
	switch ids, session := len(in.Body.IDs) > 0, in.Body.Session != ""; {
	case ids == session:
		return answerDone{}, badRequest("body: give ids, or a session")
	case session && in.Body.Decision != "deny":
		return answerDone{}, badRequest("body.decision: all calls of a session can be denied at once; approving takes looking at each")
	case session:
		return m.denyAll(ctx, in.Body.Session, in.Body.Reason)
	}
	list := make([]engine.Question, len(in.Body.IDs))
	for i, id := range in.Body.IDs {
		var err error
		if list[i], err = m.questionOf(ctx, id); err != nil {
			return answerDone{}, err
		}
		if list[i].Session != list[0].Session {
			return answerDone{}, badRequest("body.ids: these are questions of several sessions, which are answered one by one")
		}
	}
	v := engine.Vote{Session: list[0].Session, IDs: in.Body.IDs, By: by(ctx), Via: via, Reason: in.Body.Reason}
	if v.Approve = in.Body.Decision == "approve"; v.Approve {
		if err := question.Together(list); err != nil {
			return answerDone{}, err
		}
	}
	out, err := m.monitor.Answer(ctx, v)
	if err != nil {
		return answerDone{}, err
	}
	return answerDone{Resolved: out.IDs, Grant: out.Grant, Notice: out.Notice}, nil
}

// denyAll says no to every call of a session that waits now.
func (m *management) denyAll(ctx context.Context, session, reason string) (answerDone, error) {
	view, err := m.seenView(ctx, session)
	if err != nil {
		return answerDone{}, err
	}
	v := engine.Vote{Session: session, By: by(ctx), Via: via, Reason: reason}
	for i := range view.Questions {
		if view.Questions[i].Pending() {
			v.IDs = append(v.IDs, view.Questions[i].ID)
		}
	}
	if len(v.IDs) == 0 {
		return answerDone{}, notFound("no call of this session waits")
	}
	out, err := m.monitor.Answer(ctx, v)
	return answerDone{Resolved: out.IDs, Notice: out.Notice}, err
}

// pageInput asks for a page of what sessions hold. A page covers sessions, so it may be
// empty and still have a next one.
type pageInput struct {
	Session string `query:"session" doc:"only this session"`
	After   string `query:"after" doc:"the next of the page before"`
	Limit   int    `query:"limit" default:"200" minimum:"1" maximum:"1000" doc:"how many sessions a page covers"`
}

// pageOf visits the readable sessions of a page.
func (m *management) pageOf(ctx context.Context, in *pageInput, visit func(*engine.View)) (next string, err error) {
	if in.Session != "" {
		v, err := m.seenView(ctx, in.Session)
		if err == nil {
			visit(&v)
		}
		return "", err
	}
	return m.eachSession(ctx, store.SessionQuery{Limit: in.Limit, After: in.After}, func(_ store.Session, v *engine.View) bool {
		if v != nil {
			visit(v)
		}
		return true
	})
}

type grantRow struct {
	Session string `json:"session" doc:"empty: it holds in every session of the agent"`
	engine.GrantView
}

type grantPage struct {
	Grants []grantRow `json:"grants"`
	Next   string     `json:"next,omitzero" doc:"the after of the next page; absent on the last"`
}

func (m *management) listGrants(ctx context.Context, in *pageInput) (grantPage, error) {
	page := grantPage{Grants: []grantRow{}}
	if in.After == "" && in.Session == "" {
		always, err := m.monitor.Lasting(ctx)
		if err != nil {
			return page, err
		}
		m.countUses(ctx, always)
		for _, g := range always {
			if seenGrant(ctx, &g) {
				page.Grants = append(page.Grants, grantRow{"", g})
			}
		}
	}
	next, err := m.pageOf(ctx, in, func(v *engine.View) {
		for _, g := range v.Grants {
			page.Grants = append(page.Grants, grantRow{v.Session, g})
		}
	})
	page.Next = next
	return page, err
}

// countUses says of what holds in every session how often it was used. Where the log cannot be counted nothing is said: what is in
// force must be seen to be taken back.
func (m *management) countUses(ctx context.Context, list []engine.GrantView) {
	uses, err := m.counts.Uses(ctx)
	if err != nil {
		m.logger.LogAttrs(ctx, slog.LevelError, "what was allowed for good cannot be counted", slog.String("error", err.Error()))
		return
	}
	for i := range list {
		if g := &list[i]; !g.Pair {
			u := uses[g.ID]
			g.Counted(u.Times, u.Last)
		}
	}
}

type revokeDone struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	Revoked bool   `json:"revoked"`
}

func (m *management) revokeGrant(ctx context.Context, in *struct {
	ID      string `path:"id" doc:"the grant's id"`
	Session string `query:"session" doc:"looked up among what holds in every session, and then the newest sessions, if absent"`
}) (revokeDone, error) {
	if in.Session == "" {
		always, err := m.monitor.Lasting(ctx)
		if err != nil {
			return revokeDone{}, err
		}
		is := func(g engine.GrantView) bool { return g.ID == in.ID && seenGrant(ctx, &g) }
		if err = engine.ErrNotFound; slices.ContainsFunc(always, is) {
			err = m.monitor.Revoke(ctx, "", in.ID, by(ctx), via)
		}
		if !errors.Is(err, engine.ErrNotFound) {
			return revokeDone{ID: in.ID, Revoked: err == nil}, err
		}
	}
	v, err := m.findSession(ctx, in.Session, func(v *engine.View) bool {
		return slices.ContainsFunc(v.Grants, func(g engine.GrantView) bool { return g.ID == in.ID })
	})
	if err != nil {
		return revokeDone{}, err
	}
	err = m.monitor.Revoke(ctx, v.Session, in.ID, by(ctx), via)
	return revokeDone{ID: in.ID, Session: v.Session, Revoked: true}, err
}
