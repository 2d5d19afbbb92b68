// Command felt measures what people would feel of `tidemark serve`: the program as it is given to them, with its durable log and the
// shipped policy, a process of its own. It prints one line for each measure:
//
//	felt NAME VALUE what it is, and what it is compared with
//
// Times of a busy machine mean little, so most are quotients of two measures that were taken in turns in one run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tidemark/tidemark/bench/rig"
	"github.com/tidemark/tidemark/internal/test/pgtest"
)

// measure is something that is felt.
type measure struct {
	name string
	take func(ctx context.Context, o options) ([]line, error)
}

// line is one line of the output.
type line struct {
	name  string
	value float64
	what  string
}

type options struct {
	seconds  time.Duration // of each run of the mixed load
	sessions int           // of the large one
	calls    int           // that are timed beside something, all in all
}

func measures() []measure {
	return []measure{
		{"mixed_small", func(ctx context.Context, o options) ([]line, error) { return mixed(ctx, o, 100, 8_000) }},
		{"mixed_large", func(ctx context.Context, o options) ([]line, error) { return mixed(ctx, o, o.sessions, 20_000) }},
		{"beside_bomb", besideBomb},
		{"beside_watchers", besideWatchers},
		{"dead_database", deadDatabase},
	}
}

func main() {
	var o options
	flag.DurationVar(&o.seconds, "seconds", 20*time.Second, "how long each mixed load runs")
	flag.IntVar(&o.sessions, "sessions", 10_000, "sessions of the large mixed load")
	flag.IntVar(&o.calls, "calls", 2000, "calls that are timed beside something")
	only := flag.String("only", "", "measure only what begins so")
	flag.Parse()
	defer rig.Clean()
	for _, m := range measures() {
		if !strings.HasPrefix(m.name, *only) {
			continue
		}
		lines, err := m.take(context.Background(), o)
		if errors.Is(err, pgtest.ErrMissing) {
			fmt.Printf("# %s: %v\n", m.name, err)
			continue
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "felt: %s: %v\n", m.name, err)
			rig.Clean()
			os.Exit(1)
		}
		for _, l := range lines {
			fmt.Printf("felt %s %.2f %s\n", l.name, l.value, l.what)
		}
	}
}
