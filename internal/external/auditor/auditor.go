// Package auditor asks a model whether a call is what the user wants: engine.Auditor
// over any endpoint that speaks the OpenAI or the Anthropic protocol, a local one
// included, or over recorded answers.
//
// The package does network I/O. What it sends is what intent's prompts hold and nothing
// else: the session is only counted. Connections are reused and end with Close.
//
// Invariants:
//   - an opinion comes only from a complete answer that intent.Parse accepts; everything
//     else is an error, and the caller's fail mode decides;
//   - one deadline covers the wait for a free slot, every attempt and every pause; a reading that may wait longer for its slot
//     (Options.Queue) has the whole of its time once it has one, so that nothing is begun that cannot end;
//   - text an answer is made of cannot open the breaker: whoever can make the model talk
//     beside the point must not be able to switch the auditor off for others;
//   - an error never holds the key, and of what the endpoint wrote at most the status and
//     a short piece of the model's answer, quoted;
//   - nothing is taken from the environment: no proxy, no key, no address, no tracing.
package auditor

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/engine"
)

var (
	_ engine.Auditor    = (*Client)(nil)
	_ engine.ActAuditor = (*Client)(nil)
	_ engine.Audited    = (*Client)(nil)
)

var (
	// ErrBudget is returned once a session has used up its audits.
	ErrBudget = errors.New("the session has used up its audits")
	// ErrOpen is returned while the endpoint is left alone after failing in a row.
	ErrOpen = errors.New("the endpoint failed too often and is left alone for a while")
	// ErrUnrecorded is returned by a client that answers from a recording, for a question
	// that is not in it.
	ErrUnrecorded = errors.New("no recorded answer")
	// ErrSpent is returned once the requests of the hour or of the day are used up.
	ErrSpent = errors.New("the requests of this hour or day are used up")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("the auditor is closed")
)

// The providers.
const (
	OpenAI    = "openai"    // and everything that speaks its chat completions
	Anthropic = "anthropic" // the messages API
	Gemini    = "gemini"    // at Google's own endpoint for chat completions
	Ollama    = "ollama"    // its own API, which cuts no prompt short unseen
	Program   = "program"   // a program of this machine that answers
	Host      = "host"      // the agent's own program, which asks for questions; only for agents that the file marks
	Upstream  = "upstream"  // where a client of the LLM proxy asks anyway, with the credential that it came with
)

// Providers are all of them.
func Providers() []string { return []string{OpenAI, Anthropic, Gemini, Ollama, Program} }

// The breaker: so many failures in a row open it, and after a while one question is let
// through to see whether the endpoint is back.
const (
	tripAfter = 5
	openFor   = 15 * time.Second
)

// Options describe an auditor. Model is required, and Provider unless Replay is set.
type Options struct {
	Provider  string
	BaseURL   string // of the API, as its clients take it; empty is the provider's own
	Model     string
	Key       string   // empty: none is sent
	PlainHTTP bool     // allow http:// beyond this machine
	Program   Answerer // of the providers program and host
	// Lent are the headers with the credential that a session came with; they are asked for before each request and not kept. An
	// answer is then that session's alone: another's credential may be another's account. nil: Key is what there is.
	Lent func(session string) (http.Header, error)
	// Wire is what an upstream speaks: openai, responses, anthropic or gemini.
	Wire string
	// Before looks whether whoever would be asked is who was agreed to, before each request; nil: nobody looks.
	Before func() error

	Timeout       time.Duration // of one audit, all in all; 0 is 3 s
	PlanTimeout   time.Duration // of one plan; 0 is 15 s
	MaxConcurrent int           // requests at a time; 0 is 8
	Queue         time.Duration // what a contract or a reading waits for a slot beside its time; 0: nothing, of programs 2 min
	PerSession    int           // audits and plans of one session; 0 is 500
	PerHour       int           // requests of all sessions; 0: as many as there are
	PerDay        int           // likewise
	CacheFor      time.Duration // how long an answer is good for the same question; 0: not at all
	MaxTokens     int           // of an answer, a model's thoughts included; 0 is 512

	Contracts    bool          // requests and definitions are read too (engine.Reader)
	ContractWait time.Duration // how long a call waits for a contract; 0 is 2 s
	Readings     *Readings     // of definitions, from before; nil: none
	NoReadings   bool          // definitions are not read
	KeepReadings io.Writer     // gets a line for every reading; nil: none
	Answers      *Answers      // from before; nil: none
	KeepAnswers  io.Writer     // gets a line for every request, so that a later start knows it; nil: none
	// SpentAs is who is asked, in a file that several share: then only that they were asked is kept, and no answer. Empty: it is ours.
	SpentAs string

	Record io.Writer // gets a line for every answer; nil: none
	Replay io.Reader // lines of Record, the only source of answers where it is set

	Now    func() time.Time // the clock of the cache and the recording; nil is time.Now
	Logger *slog.Logger     // nil: nothing is logged
	HTTP   *http.Client     // nil is one without a proxy; redirects are never followed
}

// Client is an auditor.
type Client struct {
	o         Options
	model     model             // nil where answers are replayed
	replay    map[string]string // question key to answer
	cache     *lru[answer]
	contracts *lru[string] // contracts by question key, as they were answered
	read      *Readings
	budget    *lru[int]
	flights   *flights
	slots     chan struct{} // holds one for each request that is out
	breaker   *breaker
	spent     *ledger
	status    tally
	idle      func() // closes idle connections

	recordMu sync.Mutex // serialises writes to Options.Record
}

// Name says who answers: provider and model.
func (c *Client) Name() string {
	if c.replay != nil {
		return "replay/" + c.o.Model
	}
	return c.o.Provider + "/" + c.o.Model
}

// Audit asks one question.
func (c *Client) Audit(ctx context.Context, session string, q intent.Question) (intent.Opinion, error) {
	system, user := q.Prompt()
	r := request{
		kind: q.Kind.String(), system: system, user: user, maxTokens: c.o.MaxTokens, timeout: c.o.Timeout,
		check: func(text string) error {
			_, err := intent.Parse(q.Kind, text)
			return err
		},
	}
	text, cached, err := c.answer(ctx, session, &r)
	var opinion intent.Opinion
	if err == nil {
		opinion, err = intent.Parse(q.Kind, text)
	}
	if err != nil {
		err = wrap("ask auditor", err)
		c.status.audited(c.o.Now(), intent.Unsure, false, err)
		return intent.Opinion{}, err
	}
	opinion.Model, opinion.Cached = c.o.Model, cached
	c.status.audited(c.o.Now(), opinion.Answer, cached, nil)
	return opinion, nil
}

// AuditAct asks whether the user's words want an act.
func (c *Client) AuditAct(ctx context.Context, session string, q intent.ActQuestion) (intent.ActOpinion, error) {
	system, user := q.Prompt()
	r := request{
		kind: "act", system: system, user: user, maxTokens: c.o.MaxTokens, timeout: c.o.Timeout, schema: intent.ActSchema,
		check: func(text string) error {
			_, err := intent.ParseAct(text)
			return err
		},
	}
	text, cached, err := c.answer(ctx, session, &r)
	var opinion intent.ActOpinion
	if err == nil {
		opinion, err = intent.ParseAct(text)
	}
	if err != nil {
		err = wrap("ask about an act", err)
		c.status.audited(c.o.Now(), intent.Unsure, false, err)
		return intent.ActOpinion{}, err
	}
	opinion.Model, opinion.Cached = c.o.Model, cached
	counted := map[intent.Act]intent.Answer{
		intent.ActAsked: intent.Consistent, intent.ActStep: intent.Consistent, intent.ActNeither: intent.Inconsistent,
	}[opinion.Answer]
	c.status.audited(c.o.Now(), counted, cached, nil)
	return opinion, nil
}

// planTokens is what a plan may take at least: it has a line for each tool.
const planTokens = 2048

// Plan draws up constraints for a task, as one JSON object.
func (c *Client) Plan(ctx context.Context, session string, t intent.Task) (rules, model string, err error) {
	system, user := t.Prompt()
	r := request{
		kind: "plan", system: system, user: user, maxTokens: max(planTokens, c.o.MaxTokens), timeout: c.o.PlanTimeout,
		check: func(text string) error {
			_, err := intent.ParseRules(text)
			return err
		},
	}
	text, _, err := c.answer(ctx, session, &r)
	if err == nil {
		rules, err = intent.ParseRules(text)
	}
	if err != nil {
		err = wrap("plan task", err)
		c.status.planned(c.o.Now(), err)
		return "", "", err
	}
	c.status.planned(c.o.Now(), nil)
	return rules, c.o.Model, nil
}

// Check reports whether the endpoint can be reached and takes the key. It costs nothing
// where models can be listed, and a few tokens where they cannot.
func (c *Client) Check(ctx context.Context) error {
	if c.replay != nil || c.o.Lent != nil { // without a session there is no credential to look with
		return nil
	}
	if c.o.Before != nil {
		if err := c.o.Before(); err != nil {
			return wrap("check auditor", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	err := c.model.list(ctx)
	var r *refusal
	if errors.As(err, &r) && r.noSuchPath() {
		_, err = c.model.ask(ctx, &request{system: "Reply with one word.", user: "Ready?", maxTokens: 16})
	}
	if err == nil || errors.Is(err, errTooLarge) || errors.Is(err, errNoAnswer) {
		return nil // it answered, and what it said does not matter here
	}
	return wrap("check auditor", err)
}

// Status is what became of the questions so far.
func (c *Client) Status() Status {
	s := c.status.snapshot()
	s.Name = c.Name()
	s.LastHour, s.LastDay = c.spent.count(c.o.Now())
	s.PerHour, s.PerDay = c.o.PerHour, c.o.PerDay
	s.Breaker = breakerClosed
	if c.breaker != nil {
		s.Breaker = c.breaker.state()
	}
	return s
}

// Close ends what is under way and idle connections.
func (c *Client) Close() {
	c.flights.close()
	c.idle()
}
