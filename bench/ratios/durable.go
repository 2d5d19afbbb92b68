package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tidemark/tidemark/bench/question"
	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/postgres"
	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/internal/test/pgtest"
	"github.com/tidemark/tidemark/policy"
)

func procs() int { return runtime.GOMAXPROCS(0) }

// durableVsBare compares durable decisions of many sessions per second with bare inserts
// of the same bytes per second, grouped into commits in the same way, on the same disk.
func durableVsBare(ctx context.Context) (_ result, err error) {
	dir, err := os.MkdirTemp("", "tidemark-ratios-")
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	log, err := sqlite.Open(ctx, filepath.Join(dir, "ours.db"), sqlite.Options{})
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	m, err := question.NewMonitor(question.Plain, log)
	if err != nil {
		return result{}, err
	}
	refs, err := begin(ctx, m, question.Begin)
	if err != nil {
		return result{}, err
	}
	record, err := decisionRecord(ctx, m, log, refs[0])
	if err != nil {
		return result{}, err
	}
	bare, err := openBare(ctx, filepath.Join(dir, "bare.db"), record)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	return rates(compare(
		run(func(b *testing.B) {
			call := question.Call()
			together(b, func(client int) error { return question.Decide(ctx, m, refs[client], call, policy.Allow) })
		}),
		run(func(b *testing.B) { together(b, bare.insert) }),
	))
}

// open makes a monitor over a log, with a session for each client.
func open(ctx context.Context, log engine.Store) (*engine.Monitor, []engine.Ref, error) {
	m, err := question.NewMonitor(question.Plain, log)
	if err != nil {
		return nil, nil, err
	}
	refs, err := begin(ctx, m, question.Begin)
	return m, refs, err
}

// decisions is one durable decision after the other, by every client in a session of its own.
func decisions(ctx context.Context, m *engine.Monitor, of func(client int) engine.Ref) side {
	return run(func(b *testing.B) {
		call := question.Call()
		together(b, func(client int) error { return question.Decide(ctx, m, of(client), call, policy.Allow) })
	})
}

// hotVsMany compares callers that all speak in one session, where a call waits for the one before it, with as many that each have
// their own.
func hotVsMany(ctx context.Context) (_ result, err error) {
	dir, err := os.MkdirTemp("", "tidemark-ratios-")
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	log, err := sqlite.Open(ctx, filepath.Join(dir, "hot.db"), sqlite.Options{})
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	m, refs, err := open(ctx, log)
	if err != nil {
		return result{}, err
	}
	return rates(compare(
		decisions(ctx, m, func(int) engine.Ref { return refs[0] }),
		decisions(ctx, m, func(client int) engine.Ref { return refs[client] }),
	))
}

// postgresVsSQLite compares the two stores on one disk, each with its own fsync.
func postgresVsSQLite(ctx context.Context) (_ result, err error) {
	dir, err := os.MkdirTemp("", "tidemark-ratios-")
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cluster, err := pgtest.Open()
	defer cluster.Close()
	if err != nil {
		return result{}, err
	}
	theirs, err := sqlite.Open(ctx, filepath.Join(dir, "one.db"), sqlite.Options{})
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, theirs.Close()) }()
	ours, err := postgres.Open(ctx, cluster.Address(), postgres.Options{})
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, ours.Close()) }()
	var sides [2]side
	for i, log := range []engine.Store{ours, theirs} {
		m, refs, err := open(ctx, log)
		if err != nil {
			return result{}, err
		}
		sides[i] = decisions(ctx, m, func(client int) engine.Ref { return refs[client] })
	}
	return rates(compare(sides[0], sides[1]))
}

// begin opens one session for each client.
func begin(
	ctx context.Context, m *engine.Monitor, one func(context.Context, *engine.Monitor, string) (engine.Ref, error),
) ([]engine.Ref, error) {
	refs := make([]engine.Ref, 2*clients)
	for i := range refs {
		var err error
		if refs[i], err = one(ctx, m, fmt.Sprintf("session-%d", i)); err != nil {
			return nil, err
		}
	}
	return refs, nil
}

// decisionRecord makes a decision and reads back what was written for it.
func decisionRecord(ctx context.Context, m *engine.Monitor, log *sqlite.Store, ref engine.Ref) (audit.Record, error) {
	if err := question.Decide(ctx, m, ref, question.Call(), policy.Allow); err != nil {
		return audit.Record{}, err
	}
	for rec, err := range log.Load(ctx, ref.Session, 1) {
		if err != nil {
			return audit.Record{}, err
		}
		return rec, nil
	}
	return audit.Record{}, errors.New("the decision is not in the log")
}
