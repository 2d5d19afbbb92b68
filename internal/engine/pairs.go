package engine

import (
	"context"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/standing"
	"github.com/tidemark/tidemark/internal/warrant"
)

// pairsLog is where is kept which values the names of people's words stand for, and pairID begins their ids.
const (
	pairsLog = reserved + "pairs"
	pairID   = "pair"
)

// recallPairs tells judgement which pairs the user of a session confirmed.
func (m *Monitor) recallPairs(ctx context.Context, s *sessionEntry, c *warrant.Context) error {
	known, err := m.pairs.Known(ctx, standing.Whose(s.State), m.now().UnixNano())
	if err == nil {
		c.Known(known)
	}
	return unavailableIf(err)
}

// givePairs writes pairs. One that cannot be kept is asked about again.
func (m *Monitor) givePairs(ctx context.Context, list []event.Pair, now int64, by *event.Answer) error {
	for _, p := range list {
		var err error
		if p.ID, err = m.newID(pairID); err == nil {
			err = m.pairs.Give(ctx, now, p, by)
		}
		if err != nil {
			return unavailableIf(err)
		}
	}
	return nil
}

// pairs are what a call would make known, but for what is kept from the log.
func (x *step) pairs(found *warrant.Warrant) []event.Pair {
	if found == nil || len(found.Pairs) == 0 {
		return nil
	}
	return standing.Pairs(found.Pairs, x.entry.State, x.entry.Name, func(path, value string) bool {
		return redactValue(x.set, x.decided.Tool, path, value) == value
	})
}
