package auditor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
)

var _ engine.Reader = (*Client)(nil)

// maxContracts is how many contracts are remembered, besides what the cache keeps: one is
// wanted again within the same turn, whatever the cache is set to.
const maxContracts = 4096

// KindContract is the kind of a request for a contract.
const KindContract = "contract"

// contract is the request for a contract.
func (c *Client) contract(session string, r *intent.Request) request {
	system, user := r.Prompt()
	return request{
		kind: KindContract, session: session, apart: c.o.Lent != nil,
		system: system, user: user, maxTokens: max(planTokens, c.o.MaxTokens), timeout: c.o.PlanTimeout, queue: c.o.Queue,
		schema: intent.ContractSchema,
		check: func(text string) error {
			_, err := intent.ParseContract(text, r.Tools)
			return err
		},
	}
}

// Prepare implements engine.Reader.
func (c *Client) Prepare(session string, r intent.Request) {
	if c.replay != nil || !c.o.Contracts {
		return
	}
	q := c.contract(session, &r)
	key := q.key(c.o.Model)
	if _, known := c.contracts.get(key); known || c.flights.flying(key) || !c.spend(session) {
		return
	}
	// Nobody leaves it, so it goes on to its own end. An error is found when it is wanted.
	_, _ = c.flights.join(context.Background(), key, q.limit(), c.fetchDrawn(key, &q)) //nolint:contextcheck // see above
}

func (c *Client) fetchDrawn(key string, q *request) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if text, known := c.contracts.get(key); known {
			return text, nil // it came while this request was on its way here
		}
		text, err := c.fetch(ctx, key, q)
		if err == nil {
			c.contracts.put(key, text)
		}
		return text, err
	}
}

// errNoContracts is what a client says that draws none.
var errNoContracts = errors.New("contracts are switched off")

// Contract implements engine.Reader.
func (c *Client) Contract(
	ctx context.Context, session string, r intent.Request, wait bool,
) (out intent.Contract, model string, err error) {
	if !c.o.Contracts {
		return intent.Contract{}, "", errNoContracts
	}
	q := c.contract(session, &r)
	text, err := c.contractText(ctx, session, &q, wait)
	if err == nil {
		out, err = intent.ParseContract(text, r.Tools)
	}
	late := errors.Is(err, engine.ErrLate)
	if wait || !late {
		c.status.drew(c.o.Now(), late, err)
	}
	if err != nil {
		return intent.Contract{}, "", wrap("draw contract", err)
	}
	return out, c.o.Model, nil
}

// contractText finds the answer, or waits for it as long as a call may be kept waiting. The
// question then goes on, so that a later call finds it.
func (c *Client) contractText(ctx context.Context, session string, q *request, waits bool) (string, error) {
	key := q.key(c.o.Model)
	if c.replay != nil {
		text, known := c.replay[key]
		if !known {
			return "", fmt.Errorf("%w: question %s", ErrUnrecorded, key)
		}
		return text, nil
	}
	if text, known := c.contracts.get(key); known {
		return text, nil
	}
	if !waits {
		return "", engine.ErrLate
	}
	if !c.flights.flying(key) && !c.spend(session) {
		return "", ErrBudget
	}
	wait := max(0, c.o.ContractWait-intent.Waited(ctx))
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	text, err := c.flights.do(waiting, key, q.limit(), c.fetchDrawn(key, q))
	switch {
	case !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
	case waiting.Err() != nil:
		err = fmt.Errorf("%w: after %s", engine.ErrLate, wait.Round(time.Millisecond))
	default: // its own time is up, and not the caller's
		err = fmt.Errorf("%w: %s", engine.ErrLate, strings.TrimSuffix(err.Error(), ": "+context.DeadlineExceeded.Error()))
	}
	return text, err
}

// Definition implements engine.Reader.
func (c *Client) Definition(d tool.Definition) *tool.Reading {
	if !c.o.Contracts || c.o.NoReadings || c.replay != nil {
		return nil
	}
	key := definitionKey(d)
	if r, known := c.read.get(key); known {
		return r
	}
	q := c.definition(d)
	if flight := q.key(c.o.Model); !c.flights.flying(flight) && c.read.begin(key) {
		_, _ = c.flights.join(context.Background(), flight, q.limit(), func(ctx context.Context) (string, error) {
			text, err := c.fetchReading(ctx, key, &q)
			if err != nil && !errors.Is(err, intent.ErrForm) && !errors.Is(err, intent.ErrReading) {
				c.read.forget(key) // the endpoint may be back when the tool is offered again
			}
			return text, err
		}) // one that fails is none
	}
	return nil
}

// ReadDefinition reads one definition now, unless it was read before.
func (c *Client) ReadDefinition(ctx context.Context, d tool.Definition) (*tool.Reading, error) {
	key := definitionKey(d)
	if r, known := c.read.get(key); known && r != nil {
		return r, nil
	}
	if c.replay != nil {
		return nil, wrap("read definition", ErrUnrecorded)
	}
	q := c.definition(d)
	_, err := c.flights.do(ctx, q.key(c.o.Model), q.limit(), func(ctx context.Context) (string, error) {
		return c.fetchReading(ctx, key, &q)
	})
	if err != nil {
		return nil, wrap("read definition", err)
	}
	r, _ := c.read.get(key)
	return r, nil
}

// definition is the request for a reading.
func (c *Client) definition(d tool.Definition) request {
	system, user := intent.DefinitionPrompt(d)
	return request{
		kind: "definition", system: system, user: user, maxTokens: max(planTokens, c.o.MaxTokens),
		timeout: c.o.PlanTimeout, queue: c.o.Queue,
		check: func(text string) error {
			_, err := intent.ParseReading(text)
			return err
		},
	}
}

func (c *Client) fetchReading(ctx context.Context, key string, q *request) (string, error) {
	text, err := c.fetch(ctx, q.key(c.o.Model), q)
	if err != nil {
		return "", err
	}
	r, err := intent.ParseReading(text)
	if err != nil {
		return "", err
	}
	r.Model = c.o.Model
	if err := c.read.put(key, r); err != nil {
		c.o.Logger.Error("auditor", "error", err)
		c.status.noted(c.o.Now(), err)
	}
	return text, nil
}
