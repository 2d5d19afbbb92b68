package installation

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/pins"
)

// Keys reads the keys of people, by which approvals are proven.
func Keys(ctx context.Context, cfg *config.Config, s engine.Store, shared bool) (*approvalproof.Keeper, error) {
	return approvalproof.Open(ctx, approvalproof.Options{
		Store: s, Shared: shared, Now: time.Now, Rand: rand.Reader, Want: cfg.Approvals.Proof, Also: cfg.Approvals.Also,
		Inviters: inviters(cfg),
	})
}

// inviters is how many key holders invite a further one: as many as must agree to anything, and two at most. Who could invite alone
// could be two people alone.
func inviters(cfg *config.Config) int {
	for _, r := range cfg.Approvals.Who.List {
		if r.People > 1 {
			return 2
		}
	}
	return 1
}

// ForgetKeys drops every key and the typed secret of an installation whose server does not
// run. It is recorded, and the console says so for a month.
func ForgetKeys(ctx context.Context, p datafolder.Paths, by string) (n int, err error) {
	log, err := OpenLogForAnswers(ctx, p)
	if err != nil {
		return 0, err
	}
	n = len(log.keys.State().Keys)
	if err := log.keys.Forget(ctx, by); err != nil {
		_ = log.Close() // the first error says more
		return 0, err
	}
	return n, log.Close()
}

// PinMode is what of servers counts as accepted without a person.
func PinMode(cfg *config.Config) pins.Mode {
	if cfg.MCP.Pin == "first-use" {
		return pins.First
	}
	return pins.Mode(cfg.MCP.Pin)
}

// Pins reads what MCP servers looked like when they were accepted. A tool of a server must
// not have a name that policies know by itself.
func Pins(ctx context.Context, s engine.Store, mode pins.Mode, shared bool) (*pins.Keeper, error) {
	return pins.Open(ctx, pins.Options{
		Store: s, Now: time.Now, Mode: mode, Reserved: append(catalogue.Reserved(), judge.OwnNames()...), Shared: shared,
	})
}
