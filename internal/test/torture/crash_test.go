package torture_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/test/pgtest"
)

// siege is one log under attack: its house, the sessions in it, and what is known of them.
type siege struct {
	*faults
	house *house
	lives []*life
	log   *ledger
	heads []store.Head
	acked atomic.Int64 // acts, all in all
	fails atomic.Int64 // acts of which nobody knows what came of them
}

const crowd = 8 // sessions that are busy at once

func newSiege(h *house, f *faults, seed uint64) *siege {
	g := &siege{faults: f, house: h, log: newLedger()}
	for i := range crowd {
		g.lives = append(g.lives, newLife(fmt.Sprintf("s%d-%d", seed, i), seed*100+uint64(i), f))
	}
	return g
}

// press has all sessions act until the context ends.
func (g *siege) press(ctx context.Context, s *server) {
	var all sync.WaitGroup
	for _, l := range g.lives {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := l.step(ctx, s); err != nil {
					g.fails.Add(1)
					pause(ctx, 5*time.Millisecond)
				} else {
					g.acked.Add(1)
				}
			}
		})
	}
	all.Wait()
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// look checks a server against what all sessions were told.
func (g *siege) look(ctx context.Context, s *server) error {
	for _, l := range g.lives {
		if err := l.check(ctx, s); err != nil {
			return fmt.Errorf("look at %s: %w: %s", l.name, err, s.said.String())
		}
	}
	return nil
}

// examine reads the log itself; whole says that every chain is checked too.
func (g *siege) examine(ctx context.Context, whole bool) error {
	log, err := g.house.openLog(ctx)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := g.log.read(ctx, log); err != nil {
		return err
	}
	g.log.holds(g.lives, g.faults)
	if !whole {
		return nil
	}
	if err := verify(ctx, log, g.heads, g.faults); err != nil {
		return err
	}
	head, err := log.Head(ctx)
	if head.Batch > 0 {
		g.heads = append(g.heads, head)
	}
	return err
}

// burst waits until sessions have done something, more or less, or cannot.
func (g *siege) burst(ctx context.Context, dice *rand.Rand) {
	want, end := g.acked.Load()+1+dice.Int64N(150), time.Now().Add(3*time.Second)
	for g.acked.Load() < want && time.Now().Before(end) && ctx.Err() == nil {
		pause(ctx, time.Duration(dice.IntN(2000))*time.Microsecond)
	}
}

// cycle lets the server work for a moment, and has it killed.
func (g *siege) cycle(t *testing.T, dice *rand.Rand) error {
	s, err := g.house.start(t)
	if err != nil {
		return err
	}
	defer s.kill()
	if err := g.look(t.Context(), s); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var busy sync.WaitGroup
	busy.Go(func() { g.press(ctx, s) })
	g.burst(ctx, dice)
	s.kill()
	stop()
	busy.Wait()
	return nil
}

// perRound is how many cycles a log goes through before another begins: a start and a check read all of it.
const perRound = 50

// crashes is the table of a run.
type crashes struct {
	cycles, acts, unknown int
	kinds                 map[event.Kind]int
	spent, records        int
}

func (c *crashes) take(g *siege) {
	c.acts, c.unknown, c.spent = c.acts+int(g.acked.Load()), c.unknown+int(g.fails.Load()), c.spent+len(g.log.spent)
	for k, n := range g.log.kinds {
		c.kinds[k] += n
		c.records += n
	}
}

func (c *crashes) show(t testing.TB, name string, f *faults, took time.Duration) {
	rows := [][]string{
		{"cycles", strconv.Itoa(c.cycles)}, {"took", took.Round(time.Second).String()}, {"acts acknowledged", strconv.Itoa(c.acts)},
		{"acts nobody knows of", strconv.Itoa(c.unknown)}, {"records", strconv.Itoa(c.records)}, {"approvals spent", strconv.Itoa(c.spent)},
	}
	var kinds []string
	for k := range c.kinds {
		kinds = append(kinds, string(k))
	}
	slices.Sort(kinds)
	for _, k := range kinds {
		rows = append(rows, []string{"  " + k, strconv.Itoa(c.kinds[event.Kind(k)])})
	}
	table(t, name, []string{"", ""}, append(rows, []string{"violations", strconv.Itoa(f.count())}))
}

// every is the kinds of records that sessions here bring about. The others take an auditor or an MCP server.
var every = []event.Kind{
	event.TurnBegan, event.ModelCalled, event.ModelAnswered, event.CallDecided, event.ResultSeen, event.Answered,
	event.TrustReset, event.WriteReviewed, event.GrantRevoked, event.Labelled, event.LabelCleared, event.TurnSealed,
	event.SessionSpawned, event.ToolsOffered, event.PersonActed,
}

// besiege goes through cycles of crashes, in one log after the other.
func besiege(t *testing.T, name string, store func() string, kill func(g *siege, n int, dice *rand.Rand) error) {
	t.Helper()
	cycles, began := many("TORTURE_CYCLES", 4, 200), time.Now()
	f, c := &faults{}, &crashes{kinds: map[event.Kind]int{}}
	dice := rand.New(rand.NewPCG(rand.Uint64(), 0))
	for c.cycles < cycles && f.count() == 0 {
		g := newSiege(newHouse(t, store()), f, dice.Uint64N(1e6))
		for range min(perRound, cycles-c.cycles) {
			if err := kill(g, c.cycles, dice); err != nil {
				t.Fatal(err)
			}
			c.cycles++
			if err := g.examine(t.Context(), c.cycles%10 == 0); err != nil {
				t.Fatal(err)
			}
			if c.cycles%20 == 0 {
				say("%d of %d cycles, %d records in this log", c.cycles, cycles, g.log.after)
			}
		}
		if err := g.examine(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		c.take(g)
	}
	c.show(t, name, f, time.Since(began))
	f.none(t)
	c.complete(t)
}

// SEQ-09 BEY-10 BEY-12: kill -9 of the server at any moment loses nothing that was acknowledged, spends no approval twice and leaves no
// session less tainted.
func TestCrashSQLite(t *testing.T) {
	besiege(t, "kill -9 of tidemark serve, SQLite", func() string { return "" },
		func(g *siege, _ int, dice *rand.Rand) error { return g.cycle(t, dice) })
}

// The same with the log in PostgreSQL, where the server and the database are killed in turn: the database under a server that goes
// on, and is there again without being started anew.
//
// SEQ-09 BEY-10 BEY-12
func TestCrashPostgres(t *testing.T) {
	cluster := pgtest.Start(t)
	besiege(t, "kill -9 of tidemark serve and of PostgreSQL in turn", func() string { return cluster.New(t) },
		func(g *siege, n int, dice *rand.Rand) error {
			if n%2 == 1 {
				return g.outage(t, dice, cluster)
			}
			return g.cycle(t, dice)
		})
}

// complete fails a long run in which some kind of record never came.
func (c *crashes) complete(t testing.TB) {
	t.Helper()
	for _, k := range every {
		if long() && c.cycles >= 50 && c.kinds[k] == 0 {
			t.Errorf("no record of kind %s: nothing was proven about it", k)
		}
	}
}

// outage kills the database under a server that is busy, and starts it again.
func (g *siege) outage(t *testing.T, dice *rand.Rand, cluster *pgtest.Cluster) error {
	s, err := g.house.start(t)
	if err != nil {
		return err
	}
	defer s.kill()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var busy sync.WaitGroup
	busy.Go(func() { g.press(ctx, s) })
	g.burst(ctx, dice)
	cluster.Crash()
	err = cluster.Start()
	if err == nil {
		err = ready(ctx, s)
	}
	g.burst(ctx, dice)
	stop()
	busy.Wait()
	if err != nil {
		return err
	}
	return g.look(t.Context(), s)
}

// ready waits until a server can decide.
func ready(ctx context.Context, s *server) error {
	end := time.Now().Add(startLimit)
	for {
		err := s.call(ctx, http.MethodGet, "/readyz", nil, nil)
		if err == nil {
			return nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return fmt.Errorf("the server does not recover: %w", err)
		}
		pause(ctx, 20*time.Millisecond)
	}
}
