package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/audit"
	"github.com/tidemark/tidemark/bench/question"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/store/sqlite"
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
	refs, err := begin(ctx, m)
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

// begin opens one session for each client.
func begin(ctx context.Context, m *tidemark.Monitor) ([]tidemark.Ref, error) {
	refs := make([]tidemark.Ref, 2*clients)
	for i := range refs {
		var err error
		if refs[i], err = question.Begin(ctx, m, fmt.Sprintf("session-%d", i)); err != nil {
			return nil, err
		}
	}
	return refs, nil
}

// decisionRecord makes a decision and reads back what was written for it.
func decisionRecord(ctx context.Context, m *tidemark.Monitor, log *sqlite.Store, ref tidemark.Ref) (audit.Record, error) {
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
