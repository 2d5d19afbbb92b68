package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/bench/question"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// keptVsForgotten compares a server that keeps what agents read, sealed, with one that would keep nothing: each client reads a page
// and makes the call that its owner asked for, by the shipped policy, on the durable log.
func keptVsForgotten(ctx context.Context) (_ result, err error) {
	dir, err := os.MkdirTemp("", "tidemark-ratios-")
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var sides [2]side
	for i, open := range []func(string, engine.Store) (*engine.Monitor, error){question.NewMonitor, question.NewForgetful} {
		log, fault := sqlite.Open(ctx, filepath.Join(dir, fmt.Sprint(i, ".db")), sqlite.Options{})
		if fault != nil {
			return result{}, fault
		}
		defer func() { err = errors.Join(err, log.Close()) }()
		m, fault := open(question.Shipped, log)
		if fault != nil {
			return result{}, fault
		}
		sides[i] = readers(ctx, m)
	}
	return rates(compare(sides[0], sides[1]))
}

// visitsOfASession is how many pages an agent reads before it begins anew.
const visitsOfASession = 16

// readers read one page after the other and make a call after each, every client in sessions of its own.
func readers(ctx context.Context, m *engine.Monitor) side {
	var sessions atomic.Int64
	return run(func(b *testing.B) {
		refs, visits := make([]engine.Ref, 2*clients), make([]int, 2*clients)
		together(b, func(client int) (err error) {
			if visits[client]%visitsOfASession == 0 {
				if refs[client], err = question.BeginAsked(ctx, m, fmt.Sprint("session-", sessions.Add(1))); err != nil {
					return err
				}
			}
			visits[client]++
			result := tool.Result{Name: question.Tool, Args: question.Call().Args, Content: harbourPage(visits[client])}
			if _, err := m.Observe(ctx, engine.Observation{Ref: refs[client], Result: result}); err != nil {
				return err
			}
			return question.Decide(ctx, m, refs[client], question.Call(), policy.Allow)
		})
	})
}

// harbourPage is 2 kB of prose that is not quite the same each time.
func harbourPage(n int) []byte {
	const line = "The tide turns at %d past the hour, and boats that lie in the outer basin have to be moved by then to berth %d. "
	var b strings.Builder
	for i := 0; b.Len() < 2<<10; i++ {
		fmt.Fprintf(&b, line, (n*7+i*13)%60, n*31+i)
	}
	return []byte(b.String())
}
