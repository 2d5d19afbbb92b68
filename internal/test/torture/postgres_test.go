package torture_test

import (
	"context"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/test/pgtest"
)

// SEQ-09 BEY-12: a database that stops answering, with its connections open, holds calls up or has them refused; nothing is lost, and when it goes on
// so does the server.
func TestPaused(t *testing.T) {
	rounds, began := many("TORTURE_ROUNDS", 1, 20), time.Now()
	cluster := pgtest.Start(t)
	f, dice := &faults{}, rand.New(rand.NewPCG(rand.Uint64(), 0))
	g := newSiege(newHouse(t, cluster.New(t)), f, dice.Uint64N(1e6))
	s := g.house.must(t)
	for round := range rounds {
		held := time.Duration(100+dice.IntN(900)) * time.Millisecond
		if long() && round%5 == 4 {
			held = 25 * time.Second // longer than any limit of ours: commits are given up, and come later or never
		}
		ctx, stop := context.WithCancel(t.Context())
		var busy sync.WaitGroup
		busy.Go(func() { g.press(ctx, s) })
		g.burst(ctx, dice)
		cluster.Pause()
		pause(ctx, held)
		cluster.Resume()
		err := ready(ctx, s)
		g.burst(ctx, dice)
		stop()
		busy.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if err := g.look(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if err := g.examine(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		say("round %d of %d: paused for %s", round+1, rounds, held)
	}
	table(t, "PostgreSQL paused (SIGSTOP)", []string{"", ""}, g.figures(rounds, began))
	f.none(t)
}

func (g *siege) figures(rounds int, began time.Time) [][]string {
	return [][]string{
		{"rounds", strconv.Itoa(rounds)}, {"took", time.Since(began).Round(time.Second).String()},
		{"acts acknowledged", strconv.FormatInt(g.acked.Load(), 10)}, {"acts nobody knows of", strconv.FormatInt(g.fails.Load(), 10)},
		{"records", strconv.FormatInt(g.log.after, 10)}, {"approvals spent", strconv.Itoa(len(g.log.spent))},
		{"violations", strconv.Itoa(g.count())},
	}
}

// SEQ-09 BEY-12: the first of two databases dies, and the second, which had everything that was acknowledged, takes over: the server
// finds it by itself and goes on.
func TestFailover(t *testing.T) {
	rounds, began := many("TORTURE_FAILOVERS", 1, 5), time.Now()
	f, dice := &faults{}, rand.New(rand.NewPCG(rand.Uint64(), 0))
	var rows [][]string
	for round := range rounds {
		first := pgtest.Start(t)
		address := first.New(t)
		second := first.Standby(t)
		both := strings.Replace(address, url.QueryEscape(first.Dir()), url.QueryEscape(first.Dir()+","+second.Dir()), 1)
		g := newSiege(newHouse(t, both+"&port=5432,5432&target_session_attrs=read-write"), f, dice.Uint64N(1e6))
		took, err := g.failover(t, dice, first, second)
		if err != nil {
			t.Fatal(err)
		}
		say("failover %d of %d: decided again after %s", round+1, rounds, took)
		rows = append(rows, []string{
			strconv.Itoa(round + 1), took.Round(time.Millisecond).String(), strconv.FormatInt(g.acked.Load(), 10), strconv.FormatInt(g.fails.Load(), 10),
			strconv.FormatInt(g.log.after, 10), strconv.Itoa(f.count()),
		})
	}
	table(t, "PostgreSQL failed over, "+time.Since(began).Round(time.Second).String(),
		[]string{"round", "ready again after", "acknowledged", "unknown", "records", "violations"}, rows)
	f.none(t)
}

func (g *siege) failover(t *testing.T, dice *rand.Rand, first, second *pgtest.Cluster) (took time.Duration, err error) {
	s, err := g.house.start(t)
	if err != nil {
		return 0, err
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var busy sync.WaitGroup
	busy.Go(func() { g.press(ctx, s) })
	g.burst(ctx, dice)
	first.Crash()
	at := time.Now()
	if err = second.Promote(); err == nil {
		err = ready(ctx, s)
	}
	took = time.Since(at)
	g.burst(ctx, dice)
	stop()
	busy.Wait()
	if err != nil {
		return took, err
	}
	if err := g.look(t.Context(), s); err != nil {
		return took, err
	}
	return took, g.examine(t.Context(), true)
}
