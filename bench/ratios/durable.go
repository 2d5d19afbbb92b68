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
	"github.com/tidemark/tidemark/bench/question"
	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/policy"
)

func procs() int { return runtime.GOMAXPROCS(0) }

// durableVsBare compares durable decisions of many sessions with bare inserts of the
// same bytes, grouped into commits in the same way, on the same disk.
func durableVsBare(ctx context.Context) (_ float64, err error) {
	dir, err := os.MkdirTemp("", "tidemark-ratios-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	log, err := sqlite.Open(ctx, filepath.Join(dir, "ours.db"), sqlite.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	m, err := question.NewMonitor(question.Plain, log)
	if err != nil {
		return 0, err
	}
	refs, err := begin(ctx, m)
	if err != nil {
		return 0, err
	}
	body, err := decisionBody(ctx, m, log, refs[0])
	if err != nil {
		return 0, err
	}
	bare, err := openBare(ctx, filepath.Join(dir, "bare.db"), body)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	return compare(
		run(func(b *testing.B) {
			call := question.Call()
			together(b, func(client int) error { return question.Decide(ctx, m, refs[client], call, policy.Allow) })
		}),
		run(func(b *testing.B) { together(b, bare.insert) }),
	)
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

// decisionBody makes a decision and reads back what was written for it.
func decisionBody(ctx context.Context, m *tidemark.Monitor, log *sqlite.Store, ref tidemark.Ref) ([]byte, error) {
	if err := question.Decide(ctx, m, ref, question.Call(), policy.Allow); err != nil {
		return nil, err
	}
	for rec, err := range log.Load(ctx, ref.Session, 1) {
		if err != nil {
			return nil, err
		}
		return rec.Body, nil
	}
	return nil, errors.New("the decision is not in the log")
}
