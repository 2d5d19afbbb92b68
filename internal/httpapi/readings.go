package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
)

// Readings are questions about what users ask for, which an agent's own model answers where the policy says so. The agent's program
// comes for them: it has the connection, and nobody has to reach it.
type Readings interface {
	// Heard notes that a session is an agent's, which came with a token of its own, and which tools are its program's own.
	Heard(session, agent string, own []string)
	// Offered notes which tools the agent has.
	Offered(agent string, own []string, tools []tool.Definition)
	// Next is the agent's next question; nil: there was none for so long.
	Next(ctx context.Context, agent string, wait time.Duration) (*Reading, error)
	// Answer takes what the model said, or why it said nothing.
	Answer(agent, id, text, fault string) error
	// Return takes back a question that a program had no time for.
	Return(agent, id string) error
}

// Why a program gets no question, or its answer is not taken.
var (
	ErrReadingRefused = errors.New("this agent's own model may not read for it")
	ErrReadingCrowd   = errors.New("too many programs of this agent wait")
	ErrReadingGone    = errors.New("nobody waits for this answer")
	ErrReadingLong    = errors.New("the answer is too long")
)

// Reading is one question.
type Reading struct {
	ID          string `json:"id" doc:"the answer goes to POST /v1/readings/{id}"`
	Kind        string `json:"kind" enum:"contract,act" doc:"what a message asks for, or whether it wants an act"`
	System      string `json:"system" doc:"the instructions, for the model's system prompt"`
	User        string `json:"user" doc:"what the model is to read: words of users, names of tools, parameters and listed choices"`
	Schema      string `json:"schema,omitzero" doc:"of the answer, as JSON Schema"`
	ExpiresInMs int64  `json:"expiresInMs" doc:"later nobody waits for it"`
}

// maxReadingWait is how long a program may wait for a question, in seconds.
const maxReadingWait = 25

func (m *management) readingRoutes() {
	route(m, operation{http.MethodPost, "/v1/readings/next", "nextReading", "Wait for a question that the agent's own model is to answer"},
		m.nextReading)
	route(m, operation{http.MethodPost, "/v1/readings/{id}", "answerReading", "Answer a question with what the agent's own model said"},
		m.answerReading)
	route(m, operation{http.MethodPost, "/v1/readers/confirm", "confirmReader", "Say whether a hook is of a program that reads"},
		m.confirmReader)
}

type readerConfirmed struct {
	Reader bool `json:"reader" doc:"it is: its events are not recorded, and its calls refused"`
}

// confirmReader answers a hook that was started with the word of a reader. A word alone is anybody's: the process must descend from
// the one that it was given to. A session that is known is no reader's: who could become one in between could hide what it
// reads, and what it is told not to do.
func (m *management) confirmReader(ctx context.Context, in *struct {
	Body struct {
		Word    string `json:"word" maxLength:"128" doc:"that the process was started with"`
		Session string `json:"session" maxLength:"512" doc:"of the event"`
	}
}) (readerConfirmed, error) {
	if m.peers == nil || !m.peers.Reads(ctx, in.Body.Word) {
		return readerConfirmed{}, nil
	}
	at, err := m.monitor.Standing(ctx, engine.Ref{Session: in.Body.Session})
	if err != nil {
		return readerConfirmed{}, err
	}
	return readerConfirmed{Reader: !at.Begun && at.Agent == "" && at.Holder.Nobody()}, nil
}

// nextAnswer holds a question, or none.
type nextAnswer struct {
	Reading *Reading `json:"reading,omitzero" doc:"missing: there was none in that time; ask again"`
}

func (m *management) nextReading(ctx context.Context, in *struct {
	Body struct {
		Wait int `json:"wait,omitempty" minimum:"0" maximum:"25" doc:"seconds to wait for one"`
	}
}) (nextAnswer, error) {
	agent, err := m.ownReader(ctx)
	if err != nil {
		return nextAnswer{}, err
	}
	q, err := m.asks.Next(ctx, agent, time.Duration(min(in.Body.Wait, maxReadingWait))*time.Second)
	return nextAnswer{q}, readingProblem(err)
}

type readingTaken struct {
	Taken bool `json:"taken" doc:"somebody waited for it; whether it is of the form is checked there"`
}

func (m *management) answerReading(ctx context.Context, in *struct {
	ID   string `path:"id" doc:"of the question"`
	Body struct {
		Text  string `json:"text,omitempty" doc:"all that the model said"`
		Fault string `json:"fault,omitempty" doc:"why it said nothing"`
		Back  bool   `json:"back,omitempty" doc:"the program ends and did not ask its model: the question is for another of the agent's"`
	}
}) (readingTaken, error) {
	agent, err := m.ownReader(ctx)
	if err != nil {
		return readingTaken{}, err
	}
	if in.Body.Back {
		err = m.asks.Return(agent, in.ID)
	} else {
		err = m.asks.Answer(agent, in.ID, in.Body.Text, in.Body.Fault)
	}
	return readingTaken{Taken: err == nil}, readingProblem(err)
}

// ownReader is the agent whose token came. The common token of agents is nobody's own: whoever has it could answer for any of them.
func (m *management) ownReader(ctx context.Context) (string, error) {
	switch agent := callerOf(ctx).agent; {
	case agent == "":
		return "", newProblem(http.StatusForbidden, "reader", "an agent's own model reads only with a token that is that agent's own "+
			"(tidemark token add NAME --role agent --agent ID), and where the policy says agents.ID.reader: host")
	case m.asks == nil:
		return "", newProblem(http.StatusForbidden, "reader",
			"the policy does not say that the agent's own model reads (agents."+agent+".reader: host, read when the server starts)")
	default:
		return agent, nil
	}
}

// readingProblem says what is wrong in the words of the error: they hold nothing but names of the policy and of tools.
func readingProblem(err error) error {
	switch {
	case errors.Is(err, ErrReadingRefused):
		return newProblem(http.StatusForbidden, "reader", err.Error())
	case errors.Is(err, ErrReadingCrowd):
		return newProblem(http.StatusTooManyRequests, "reader", err.Error()).with("Retry-After", "5")
	case errors.Is(err, ErrReadingGone):
		return notFound(err.Error())
	case errors.Is(err, ErrReadingLong):
		return newProblem(http.StatusRequestEntityTooLarge, "reader", err.Error())
	}
	return err
}
