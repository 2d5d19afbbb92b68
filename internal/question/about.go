package question

import (
	"cmp"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/policy"
)

// About is the session of a question.
type About struct {
	Session string
	State   *session.State
	Defined func(tool string) bool      // a tool has a definition, which a yes for good can name
	Bodies  func(ask *event.Ask) string // the arguments as they were shown with what is written; empty: they are shown as the log has them
}

// Of is a request as people see it.
func (a About) Of(r approval.Request, now int64) Question {
	q := Question{
		ID: r.ID, Session: a.Session, Branch: r.Branch, Tool: r.Tool, Args: r.Args, Kind: r.Kind, Rule: r.Rule, Reason: r.Reason,
		Level: r.Level.String(), Step: r.Step, Digest: r.Digest.String(), Asked: time.Unix(0, r.Asked).UTC(),
		Expires: time.Unix(0, r.Expires).UTC(), State: r.State.String(), timeLeft: time.Duration(max(0, r.Expires-now)),
		codeLeft: time.Duration(max(0, r.CodeLives()-now)),
	}
	q.By, q.Agent, q.Agreed, q.People, q.UserUnheard = r.By, a.State.Agent, r.Agreed, r.People, a.State.WordsUnknown()
	if r.State == approval.Pending && now >= r.Expires {
		q.State = "expired"
	}
	const allows = "exactly this call of %s, once; if the policy changes first, or something less trusted is read, it is asked again"
	q.Allows = fmt.Sprintf(allows, r.Tool)
	q.Opens = "nothing further: it is dangerous by itself"
	if r.Kind != policy.KindDanger {
		q.Opens = fmt.Sprintf("%s %s, in this context", r.Tool, r.Keeps.String())
	}
	switch {
	case r.Keeps.Grave():
		q.Opens = "nothing further: such calls are asked about each time"
	case r.Kind != policy.KindDanger && r.Keeps.Act != "" && r.Keeps.Salt != "":
		q.Task = r.Keeps.Opens(TaskCalls(&r.Keeps))
	}
	if confined.Verb(r.Tool) != "" {
		q.Allows = "exactly this, until the command that wants it has ended"
		if confined.Verb(r.Tool) == confined.Keep {
			q.Allows = "exactly these files, as they are shown here. A file that changes meanwhile is not kept"
		}
	}
	if ask, opinion := a.State.Evidence(r.ID); ask != nil {
		q.Args = cmp.Or(a.Bodies(ask), q.Args)
		q.Show(ask, opinion, a.State.Item(r.ID))
	} else {
		q.Prompt = q.card().Head()
	}
	q.Always, q.Reads = Lasting(&r, q.Act, a.Defined(r.Tool))
	return q
}

// Outcome is a closed question as people see it.
func (a About) Outcome(c approval.Closed, now int64) Question {
	q := a.Of(c.Request, now)
	q.State, q.By, q.Note, q.Answered = c.State.String(), c.By, c.Reason, time.Unix(0, c.At).UTC()
	return q
}
