package policies

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/people/policyfile"
	"github.com/tidemark/tidemark/internal/reports/learn"
	"github.com/tidemark/tidemark/internal/reports/replay"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/policy"
)

// maxCompared bounds how many recorded sessions a policy is held against, and for how long.
const (
	maxCompared  = 500
	compareLimit = 20 * time.Second
)

// comparePolicy replays what is recorded under the policy in force and under another.
func (k *Keeper) comparePolicy(ctx context.Context, text string) (policyfile.Comparison, error) {
	cfg, faults := config.Parse(k.Paths().Config, []byte(text), os.LookupEnv)
	if faults.Err() != nil {
		return policyfile.Comparison{}, faults.Err()
	}
	select { // one at a time: it takes a whole processor
	case k.comparing <- struct{}{}:
		defer func() { <-k.comparing }()
	case <-ctx.Done():
		return policyfile.Comparison{}, ctx.Err()
	}
	c := comparison{before: k.Monitor.Policy(), after: cfg.Policy}
	c.Runs, c.Rest, c.Looser = []string{}, []string{}, append(looser(c.before, c.after), looserSections(k.start, cfg)...)
	limited, cancel := context.WithTimeout(ctx, compareLimit)
	defer cancel()
	query := store.SessionQuery{Limit: 100}
	for c.Sessions < maxCompared {
		page, err := k.Log.Sessions(ctx, query)
		if err != nil {
			return policyfile.Comparison{}, fmt.Errorf("read sessions: %w", err)
		}
		for _, s := range page {
			query.After = s.Name
			if limited.Err() != nil {
				c.Partial = true
				return c.Comparison, ctx.Err()
			}
			c.session(ctx, k, s.Name)
		}
		if len(page) < query.Limit {
			return c.Comparison, nil
		}
	}
	c.Partial = true
	return c.Comparison, nil
}

// looser are the places where a policy says less strictly what happens to a tool.
func looser(before, after *policy.Set) []string {
	tools := append(before.Tools(), after.Tools()...)
	slices.Sort(tools)
	out := append([]string{}, learn.Standing(before, after)...)
	for _, name := range append([]string{""}, slices.Compact(tools)...) {
		grid := learn.Grid{}
		if name != "" {
			grid.Tools = []string{name}
		}
		if _, err := grid.Compare(before, after); err != nil && !slices.Contains(out, err.Error()) {
			out = append(out, err.Error())
		}
	}
	return out
}

// comparison counts what differs.
type comparison struct {
	policyfile.Comparison
	before, after *policy.Set
}

// session replays one session under both.
func (c *comparison) session(ctx context.Context, k *Keeper, name string) {
	c.Sessions++
	run, err := replay.FromLog(name, k.Log.Load(ctx, name, 0), k.Monitor.Arguments)
	if err != nil {
		c.Failed++
		return
	}
	was, err := replay.Play(ctx, c.before, replay.Person{}, &run)
	if err != nil {
		c.Failed++
		return
	}
	now, err := replay.Play(ctx, c.after, replay.Person{}, &run)
	if err != nil || len(now) != len(was) {
		c.Failed++
		return
	}
	for i := range was {
		c.Calls++
		switch {
		case was[i].Unkept:
			c.Unjudged++
		case was[i].Redacted:
			c.Redacted++
		}
		c.call(name, &was[i], &now[i])
	}
}

func (c *comparison) call(session string, was, now *replay.Decision) {
	if was.Decision == now.Decision {
		return
	}
	text := fmt.Sprintf("%s, call %d: %s was %s and would be %s (%s)", session, was.Step+1, was.Tool, was.Decision,
		now.Decision, now.Rule)
	switch {
	case now.Decision == replay.Ask:
		c.More++
	case was.Decision == replay.Ask:
		c.Fewer++
	}
	if now.Decision == replay.Deny {
		c.Denied++
	}
	if now.Decision == replay.Allow {
		c.Runs = append(c.Runs, text)
		return
	}
	c.Rest = append(c.Rest, text)
}
