package auditor

import "context"

// kindExtract is what a request for a value of a text is called. Its answer is of what others wrote, and is not kept.
const kindExtract = "extract"

// extractTokens is the room for values of a closed shape.
const extractTokens = 800

// Extract asks for values of a text. Whoever asks checks them.
func (c *Client) Extract(ctx context.Context, session, system, user, schema string) (string, error) {
	r := request{
		kind: kindExtract, system: system, user: user, schema: schema,
		maxTokens: max(extractTokens, c.o.MaxTokens), timeout: c.o.PlanTimeout,
		check: func(string) error { return nil },
	}
	text, _, err := c.answer(ctx, session, &r)
	if err != nil {
		return "", wrap("extract", err)
	}
	return text, nil
}

// kindProposal is what a request for a change of the policy is called.
const kindProposal = "proposal"

// proposalTokens is the room for a few rules.
const proposalTokens = 3000

// Propose asks what a person's words about the policy come to. Whoever asks checks it, and a person agrees or not.
func (c *Client) Propose(ctx context.Context, system, user, schema string) (string, error) {
	r := request{
		kind: kindProposal, system: system, user: user, schema: schema,
		maxTokens: max(proposalTokens, c.o.MaxTokens), timeout: c.o.PlanTimeout,
		check: func(string) error { return nil },
	}
	text, _, err := c.answer(ctx, "policy", &r)
	if err != nil {
		return "", wrap("propose a policy", err)
	}
	return text, nil
}
